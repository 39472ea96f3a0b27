package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
)

// Access is what a tool does outside of its run.
type Access int

const (
	None  Access = 0
	Read  Access = 1
	Write Access = 2
	All          = Read | Write
)

// defaultTimeout is the timeout of a tool that sets none.
const defaultTimeout = time.Minute

// Tool is something that a model may call.
type Tool struct {
	// Name has at most 64 letters, digits, "_" and "-".
	Name        string
	Description string
	// Origin is the program or the address that an external tool comes from.
	Origin string
	// Parameters is the JSON Schema of the arguments, which are an object.
	Parameters json.RawMessage
	Access     Access
	// Timeout bounds a call; 0 means the constant [Timeout].
	Timeout time.Duration
	// Idempotent: two calls with the same arguments have the effect of one, so a call may be repeated after a crash.
	Idempotent bool
	// Network: a call may send its arguments to another machine.
	Network bool
	// Outside: results contain text of strangers, who may try to give the model instructions.
	Outside bool
	// Named: the user has allowed the tool by its name; [Set.Allow] sets it.
	Named bool
	// Poll: the same call may be repeated until its result changes.
	Poll bool
	// InOrder: calls of such tools in one answer run one after the other.
	InOrder bool
	// Sources returns the names of what a call has read, for citations: files, addresses. nil means the tool itself.
	Sources func(arguments json.RawMessage, result string) []string
	// Run returns a text for the model. The call's arguments fit the Parameters. Run must return soon after ctx is
	// done, because the turn waits for it.
	Run func(ctx context.Context, c *Call) (string, error)

	fault error // of Func, reported by NewSet
}

// Pin identifies what the tool says about itself and where it comes from. An approval of one tool does not hold for
// another.
func (t Tool) Pin() string {
	data, _ := json.Marshal([]string{t.Name, t.Description, string(t.Parameters), t.Origin}) // texts always are JSON
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Call is one call of a tool.
type Call struct {
	// ID is the id of the call in the run's events.
	ID string
	// Key is the same for every repetition of the call, and different from every other call in any run.
	Key       string
	Arguments json.RawMessage
	// Task is the turn's task, for progress, questions and sub-runs.
	Task *actors.TaskContext
	// Unattended: nobody is there, so every question is declined.
	Unattended bool

	questions int
	secrets   []string // answers that nobody else may see
}

// Progress reports how far the call is; total is 0 if unknown.
func (c *Call) Progress(done, total int64, unit string) error {
	return c.Task.Emit(messages.ToolProgress{Call: c.ID, Done: done, Total: total, Unit: unit}, "")
}

// Func makes t run f. The Parameters are derived from the type In, a struct: a field without omitempty is required,
// and a jsonschema tag describes it.
func Func[In any](t Tool, f func(ctx context.Context, in In) (string, error)) Tool {
	return TaskFunc(t, func(ctx context.Context, _ *Call, in In) (string, error) { return f(ctx, in) })
}

// TaskFunc is [Func] for a function that uses the turn's task.
func TaskFunc[In any](t Tool, f func(ctx context.Context, c *Call, in In) (string, error)) Tool {
	schema, err := jsonschema.ForType(reflect.TypeFor[In](), nil)
	if err == nil {
		t.Parameters, err = json.Marshal(schema)
	}
	if err != nil {
		t.fault = fmt.Errorf("tool %s: %w", t.Name, err)
	}
	t.Run = func(ctx context.Context, c *Call) (string, error) {
		var in In
		if err := json.Unmarshal(c.Arguments, &in); err != nil {
			return "", err
		}
		return f(ctx, c, in)
	}
	return t
}

// WithTimeout is context.WithTimeoutCause with a timeout that stands still while [Ask] waits for people. stop returns
// the rest of the limit.
func WithTimeout(ctx context.Context, limit time.Duration, late error) (timed context.Context, stop func() time.Duration) {
	outer, _ := ctx.Value(timeoutKey{}).(*timeout)
	inner, cancel := context.WithCancelCause(ctx)
	t := &timeout{outer: outer, left: limit, late: func() { cancel(late) }, pauses: 1}
	t.resume()
	return context.WithValue(inner, timeoutKey{}, t), func() time.Duration {
		t.pause()
		cancel(nil)
		return t.left
	}
}

// Ask asks people as [actors.TaskContext.Ask] does. The timeouts of ctx stand still meanwhile.
func Ask(ctx context.Context, task *actors.TaskContext, in messages.InputRequired) (json.RawMessage, error) {
	innermost, _ := ctx.Value(timeoutKey{}).(*timeout)
	for t := innermost; t != nil; t = t.outer {
		t.pause()
		defer t.resume()
	}
	return task.Ask(ctx, in)
}

// timeoutKey is the context key of the time that a call may take.
type timeoutKey struct{}

// timeout is a timer that can be paused, several times at once. mu guards the fields below it.
type timeout struct {
	outer *timeout
	late  func()

	mu     sync.Mutex
	pauses int // number of pauses that are not over
	left   time.Duration
	since  time.Time
	timer  *time.Timer
}

// pause stops the timer, unless another pause has done so.
func (t *timeout) pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pauses++; t.pauses == 1 {
		t.timer.Stop()
		t.left -= time.Since(t.since)
	}
}

// resume starts the timer with the time that is left, once no other pause lasts.
func (t *timeout) resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pauses--; t.pauses == 0 {
		t.since, t.timer = time.Now(), time.AfterFunc(t.left, t.late)
	}
}

// Ask asks people. If the question has no name, it gets one of the call. The call's timeout stands still meanwhile,
// and a repeated call finds its earlier answers. The answer fits the schema, or is null, which declines. Secrets are
// removed from the call's result. After the question's timeout the error is a deadline.
func (c *Call) Ask(ctx context.Context, in messages.InputRequired) (json.RawMessage, error) {
	if c.Unattended {
		return json.RawMessage("null"), nil
	}
	if in.Request == "" {
		c.questions++
		in.Request = fmt.Sprintf("%s.q%d", c.ID, c.questions)
	}
	if _, err := validate.Compile(in.Schema); err != nil {
		return nil, err
	}
	value, err := Ask(ctx, c.Task, in)
	c.keepSecret(in.InputKind, value)
	return value, err
}

// declines reports whether an answer declines the question.
func declines(value json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(value), []byte("null")) }

func (c *Call) keepSecret(kind messages.InputKind, value json.RawMessage) {
	if text := messages.Plain(value); kind == messages.InputSecret && text != "" {
		c.secrets = append(c.secrets, text)
	}
}

// withoutSecrets returns the text without the secrets that people have given to the call.
func (c *Call) withoutSecrets(text string) string {
	for _, s := range c.secrets {
		text = strings.ReplaceAll(text, s, "[secret]")
	}
	return text
}

// inquiry is the arguments of ask_user.
type inquiry struct {
	Question string         `json:"question" jsonschema:"what to ask, with all that the user must know to answer"`
	Options  []string       `json:"options,omitempty" jsonschema:"the answers to choose from"`
	Confirm  bool           `json:"confirm,omitempty" jsonschema:"the answer is yes or no"`
	Schema   map[string]any `json:"schema,omitempty" jsonschema:"a JSON Schema of the answer, if it is data"`
}

// AskUser returns the tool with which a model asks the user: for words, a choice, yes or no, or data.
func AskUser() Tool {
	t := Tool{Name: "ask_user", Access: Read, Idempotent: true,
		Description: "Ask the user a question and wait for the answer. Ask only for what you cannot find out."}
	return TaskFunc(t, func(ctx context.Context, c *Call, in inquiry) (string, error) {
		value, err := c.Ask(ctx, in.required())
		if err == nil && declines(value) {
			err = errors.New("the user declined to answer")
		}
		return messages.Plain(value), err
	})
}

// required converts the arguments to a question.
func (in inquiry) required() messages.InputRequired {
	kind, schema := messages.InputClarification, map[string]any{"type": "string"}
	switch {
	case len(in.Options) > 0:
		kind, schema["enum"] = messages.InputSelection, in.Options
	case in.Confirm:
		kind, schema["type"] = messages.InputConfirmation, "boolean"
	case len(in.Schema) > 0:
		kind, schema = messages.InputData, in.Schema
	}
	q := messages.InputRequired{Prompt: in.Question, InputKind: kind}
	q.Schema, _ = json.Marshal(schema) // plain JSON values
	return q
}
