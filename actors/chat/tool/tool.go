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

// Access says what a tool does to things outside its run.
type Access int

const (
	None  Access = 0
	Read  Access = 1
	Write Access = 2
	All          = Read | Write
)

// Timeout is the timeout of a tool that names none.
const Timeout = time.Minute

// Tool is something that a model may call.
type Tool struct {
	// Name has letters, digits, "_" and "-", 64 at most.
	Name        string
	Description string
	// Origin is the program or the address that a tool of others comes from.
	Origin string
	// Parameters is the JSON Schema of the arguments, an object.
	Parameters json.RawMessage
	Access     Access
	// Timeout of a call; zero is [Timeout].
	Timeout time.Duration
	// Idempotent: two calls with the same arguments do no more than one, so that a call may be repeated after a crash.
	Idempotent bool
	// Network: a call may send what its arguments say to another machine.
	Network bool
	// Outside: results have text of strangers, who may try to give the model orders.
	Outside bool
	// Named: the user has allowed the tool by its name, as [Set.Allow] says of those that it is given.
	Named bool
	// Poll: the same call may be made again and again, until the result is another.
	Poll bool
	// InOrder: calls of such tools in one answer run one after the other.
	InOrder bool
	// Sources names what a call has read, which an answer may cite: files, addresses. Nil is the tool itself.
	Sources func(arguments json.RawMessage, result string) []string
	// Run returns a text for the model. The call's arguments fit the Parameters. Run must return soon after ctx is done:
	// the turn waits for it.
	Run func(ctx context.Context, c *Call) (string, error)

	fault error // of Func, for NewSet
}

// Pin changes when the tool says something else of itself or comes from elsewhere, so that what was allowed for one is
// not for the other.
func (t Tool) Pin() string {
	data, _ := json.Marshal([]string{t.Name, t.Description, string(t.Parameters), t.Origin}) // texts always are JSON
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Call is a call of a tool.
type Call struct {
	// ID is the call's in the run's events.
	ID string
	// Key is the same however often the call is repeated, and is of no other call in any run.
	Key       string
	Arguments json.RawMessage
	// Task is the turn's, to report progress, ask people and start sub-runs.
	Task *actors.TaskContext
	// Unattended: nobody is there, and every question is declined.
	Unattended bool

	questions int
	secrets   []string // answers that nobody else may know
}

// Progress reports how far the call is; total is 0 if unknown.
func (c *Call) Progress(done, total int64, unit string) error {
	return c.Task.Emit(messages.ToolProgress{Call: c.ID, Done: done, Total: total, Unit: unit}, "")
}

// Func makes t run f. The Parameters come from the type In, a struct: a field without omitempty is required, and a
// jsonschema tag describes it.
func Func[In any](t Tool, f func(ctx context.Context, in In) (string, error)) Tool {
	return TaskFunc(t, func(ctx context.Context, _ *Call, in In) (string, error) { return f(ctx, in) })
}

// TaskFunc is [Func] for a function that speaks as the turn's task.
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
