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

// Crash is a panic or a Goexit that was caught. Its methods do not call the Value: that was asked for its text when
// it was caught, in a goroutine that it may end.
type Crash struct {
	// Value is the argument of panic. It is a *runtime.PanicNilError for panic(nil), and [ErrGoexit] for Goexit.
	Value any
	// Stack is the stack of the goroutine at the panic, as text.
	Stack []byte
	// During is the type of the handled message, or the name of the task.
	During string

	text     string // the Value's text; "" until it was asked
	injected bool   // by a test: the Value is an error with that code
}

func (c *Crash) Error() string {
	if c.Value == ErrGoexit {
		return ErrGoexit.Error()
	}
	return "panic: " + c.withText().text
}

// Unwrap returns the Value if it is an error.
func (c *Crash) Unwrap() error {
	err, _ := c.Value.(error)
	return err
}

// withText returns the Crash with the text of its Value.
func (c *Crash) withText() Crash {
	if c.text != "" {
		return *c
	}
	asked := Crash{c.Value, c.Stack, c.During, fmt.Sprintf("a %T, which gives no text", c.Value), false}
	asking(c, func() {
		asked.text = fmt.Sprint(c.Value)
		asked.injected = messages.CodeOf(c.Unwrap()) == messages.CauseInjected
	})
	return asked
}

// asking calls f, which asks err. What somebody has thrown is asked in its own goroutine, because its methods may
// panic or call Goexit.
func asking(err error, f func()) {
	if !isCaught(err) {
		f()
		return
	}
	done := make(chan struct{})
	launch(func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
	})
	<-done
}

// IsCrash reports whether err is a [*Crash], [ErrKilled] or [ErrAbandoned]: an actor or a goroutine did not end by
// itself.
func IsCrash(err error) bool { return err != nil && SnapshotError(err).crash }

// isCaught reports whether err wraps a Crash.
func isCaught(err error) bool {
	_, ok := errors.AsType[*Crash](err)
	return ok
}

// crashOf makes a Crash of what recover returned. The deferred function itself must call it, while the stack still
// shows the panic. A Crash that was raised again is returned unchanged.
func crashOf(recovered any, during string) *Crash {
	if crash, ok := recovered.(*Crash); ok {
		return crash
	}
	if recovered == nil {
		recovered = ErrGoexit
	}
	crash := (&Crash{Value: recovered, Stack: debug.Stack(), During: during}).withText()
	return &crash
}
