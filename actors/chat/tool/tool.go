package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
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
	// Parameters is the JSON Schema of the arguments, an object.
	Parameters json.RawMessage
	Access     Access
	// Timeout of a call; zero is [Timeout].
	Timeout time.Duration
	// Idempotent: two calls with the same arguments do no more than one, so that a call may be repeated after a crash.
	Idempotent bool
	// Call gets arguments that fit the Parameters, and returns a text for the model. It must return soon after ctx is
	// done: the turn waits for it.
	Call func(ctx context.Context, arguments json.RawMessage) (string, error)

	fault error // of Func, for NewSet
}

// Func makes t call f. The Parameters come from the type In, a struct: a field without omitempty is required, and a
// jsonschema tag describes it.
func Func[In any](t Tool, f func(ctx context.Context, in In) (string, error)) Tool {
	schema, err := jsonschema.ForType(reflect.TypeFor[In](), nil)
	if err == nil {
		t.Parameters, err = json.Marshal(schema)
	}
	if err != nil {
		t.fault = fmt.Errorf("tool %s: %w", t.Name, err)
	}
	t.Call = func(ctx context.Context, arguments json.RawMessage) (string, error) {
		var in In
		if err := json.Unmarshal(arguments, &in); err != nil {
			return "", err
		}
		return f(ctx, in)
	}
	return t
}
