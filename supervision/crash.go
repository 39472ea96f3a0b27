package supervision

import (
	"errors"
	"fmt"
	"runtime/debug"
)

var (
	// ErrGoexit is the Value of a Crash whose goroutine was ended by runtime.Goexit.
	ErrGoexit = errors.New("the goroutine ended by runtime.Goexit")
	// ErrKilled is the end of a child that neither its parent nor itself stopped.
	ErrKilled = errors.New("stopped from outside")
	// ErrAbandoned is the end of a child that did not stop in time. It may still be running.
	ErrAbandoned = errors.New("abandoned: it did not stop in time")
	// ErrStopping refuses a child to an actor that is stopping.
	ErrStopping = errors.New("the parent is stopping")
)

// Crash is a panic or a Goexit that was caught.
type Crash struct {
	// Value is what was panicked with; panic(nil) is a *runtime.PanicNilError, Goexit is [ErrGoexit].
	Value any
	// Stack is the goroutine's stack at the panic, as text.
	Stack []byte
	// During is the type of the message, or the name of the task.
	During string
}

// Error says what happened.
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

// IsCrash reports whether err is the end of an actor or a goroutine that did not end by itself: a [*Crash], [ErrKilled]
// or [ErrAbandoned].
func IsCrash(err error) bool {
	return crashOf(err) != nil || errors.Is(err, ErrKilled) || errors.Is(err, ErrAbandoned)
}

// crashOf returns the Crash in err's tree, or nil.
func crashOf(err error) *Crash {
	crash, _ := errors.AsType[*Crash](err)
	return crash
}

// caught makes a Crash of what recover returned in a goroutine that did not return. It must be called by the deferred
// function itself, where the stack still shows the panic. A Crash that is thrown again stays as it is.
func caught(recovered any, during string) *Crash {
	if crash, ok := recovered.(*Crash); ok {
		return crash
	}
	if recovered == nil {
		recovered = ErrGoexit
	}
	return &Crash{Value: recovered, Stack: debug.Stack(), During: during}
}
