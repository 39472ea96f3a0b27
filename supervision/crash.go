package supervision

import (
	"errors"
	"fmt"
	"runtime/debug"
)

var (
	// ErrGoexit is the Value of a Crash after runtime.Goexit.
	ErrGoexit = errors.New("the goroutine ended by runtime.Goexit")
	// ErrKilled is the end of a child that neither stopped itself nor was stopped by its parent.
	ErrKilled = errors.New("stopped from outside")
	// ErrAbandoned is the end of a child that did not stop in time. It may still run.
	ErrAbandoned = errors.New("abandoned: it did not stop in time")
	// ErrStopping: an actor that is stopping gets no more children.
	ErrStopping = errors.New("the parent is stopping")
)

// Crash is a panic or a Goexit that was caught.
type Crash struct {
	// Value is the argument of panic; a *runtime.PanicNilError for panic(nil), [ErrGoexit] for Goexit.
	Value any
	// Stack is the goroutine's stack at the panic, as text.
	Stack []byte
	// During is the type of the message, or the name of the task.
	During string
}

func (c *Crash) Error() string {
	if c.Value == ErrGoexit {
		return ErrGoexit.Error()
	}
	return fmt.Sprintf("panic: %v", c.Value)
}

// Unwrap returns the Value if it is an error.
func (c *Crash) Unwrap() error {
	err, _ := c.Value.(error)
	return err
}

// IsCrash reports whether err is a [*Crash], [ErrKilled] or [ErrAbandoned]: an actor or a goroutine that did not end
// by itself.
func IsCrash(err error) bool {
	return crashOf(err) != nil || errors.Is(err, ErrKilled) || errors.Is(err, ErrAbandoned)
}

// crashOf returns the Crash in err's tree, or nil.
func crashOf(err error) *Crash {
	crash, _ := errors.AsType[*Crash](err)
	return crash
}

// caught makes a Crash of what recover returned. The deferred function itself must call it, while the stack still
// shows the panic. A Crash that was thrown again is returned unchanged.
func caught(recovered any, during string) *Crash {
	if crash, ok := recovered.(*Crash); ok {
		return crash
	}
	if recovered == nil {
		recovered = ErrGoexit
	}
	return &Crash{Value: recovered, Stack: debug.Stack(), During: during}
}
