package supervision

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/seed889630bf/lastword/messages"
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

// Crash is a panic or a Goexit that was caught. Its methods call none of the Value's: that was asked for its text when
// it was caught, in the goroutine that crashed.
type Crash struct {
	// Value is the argument of panic; a *runtime.PanicNilError for panic(nil), [ErrGoexit] for Goexit.
	Value any
	// Stack is the goroutine's stack at the panic, as text.
	Stack []byte
	// During is the type of the message, or the name of the task.
	During string

	text     string // of the Value, once it was asked
	injected bool   // by a test: the Value is an error with that code
}

func (c *Crash) Error() string {
	if c.Value == ErrGoexit {
		return ErrGoexit.Error()
	}
	return "panic: " + c.asked().text
}

// Unwrap returns the Value if it is an error.
func (c *Crash) Unwrap() error {
	err, _ := c.Value.(error)
	return err
}

// asked is the Crash with what its Value says.
func (c *Crash) asked() Crash {
	if c.text != "" {
		return *c
	}
	return Crash{c.Value, c.Stack, c.During, fmt.Sprint(c.Value), c.isInjected()}
}

// isInjected asks the Value, which may panic.
func (c *Crash) isInjected() (yes bool) {
	defer func() { _ = recover() }()
	return messages.CodeOf(c.Unwrap()) == messages.CauseInjected
}

// IsCrash reports whether err is a [*Crash], [ErrKilled] or [ErrAbandoned]: an actor or a goroutine that did not end
// by itself.
func IsCrash(err error) bool { return err != nil && Describe(err).crash }

// isCaught reports whether err's tree has a Crash.
func isCaught(err error) bool {
	_, ok := errors.AsType[*Crash](err)
	return ok
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
	crash := (&Crash{Value: recovered, Stack: debug.Stack(), During: during}).asked()
	return &crash
}
