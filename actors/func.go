package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Func is a plain function as a job of one task, both of the name. The input is the JSON of an In: fields that an In
// does not have, and values that do not fit, are invalid_input; no input is In's zero value. What f returns is the run's
// result; its error or panic is the run's failure, as any task's. f may say things with its TaskContext, and need not.
//
//	actors.Func("greet", func(_ context.Context, _ *actors.TaskContext, name string) (string, error) {
//		return "Hello, " + name + ".", nil
//	})
func Func[In, Out any](name string, f func(ctx context.Context, t *TaskContext, in In) (Out, error)) NewJob {
	return func(input json.RawMessage) (Job, error) {
		in, err := strictly[In](input)
		if err != nil {
			return Job{}, err
		}
		work := func(ctx context.Context, t *TaskContext) error {
			out, err := f(ctx, t, in)
			if err != nil {
				return err
			}
			return t.Result(out, false)
		}
		return Job{Name: name, Input: in, Tasks: []Task{{Name: name, Run: work}}}, nil
	}
}

// strictly reads JSON that an In is the whole of.
func strictly[In any](input json.RawMessage) (in In, err error) {
	if len(bytes.TrimSpace(input)) == 0 {
		return in, nil
	}
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	if err = d.Decode(&in); err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return in, nil
		}
		return in, invalid("the input is more than one JSON value")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return in, invalid("the input's field %q cannot be a JSON %s", wrong.Field, wrong.Value)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return in, invalid("the input has no field %s", field)
	}
	return in, invalid("the input cannot be read: %v", err)
}
