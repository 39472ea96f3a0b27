package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/seed889630bf/lastword/actors"
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

// Timeout is the timeout of a tool without one of its own.
const Timeout = time.Minute

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
