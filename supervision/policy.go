package supervision

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Policy decides what follows a failed attempt. The zero value makes a crash final, and retries a retryable error: 3
// attempts in all, with jittered delays from 100 ms, doubling up to 10 s.
type Policy struct {
	// Attempts is the number of attempts in all; 0 means 3.
	Attempts int
	// Backoff is the longest wait after the first attempt; it doubles with each attempt. 0 means 100 ms.
	Backoff time.Duration
	// MaxBackoff bounds the doubling, but not the delay of [RetryAfter]; 0 means 10 s.
	MaxBackoff time.Duration
	// RetryCrash retries a crash like a retryable error.
	RetryCrash bool
}

// Failure is a failed attempt, numbered from 1.
type Failure struct {
	Attempt int
	Err     error
}

// Decision is what follows a failure. Delay counts only with Retry.
type Decision struct {
	Retry bool
	Delay time.Duration
	Cause messages.Code
	// Error describes the failure. It can be Retryable with no attempts left.
	Error *messages.Error
}

// Decide returns what follows a failure. jitter in [0,1) puts the delay between half the backoff and all of it. An
// error is retryable if it is from [RetryAfter] or is a *[messages.Error] with Retryable set, unless it is from
// [Permanent]. Decide is a pure function.
func (p Policy) Decide(f Failure, jitter float64) Decision {
	d := SnapshotError(f.Err)
	shown := d.shown
	if shown.Retryable = d.retry; d.caught {
		shown.Retryable = p.RetryCrash && !d.final
	}
	out := Decision{Cause: d.cause, Error: &shown}
	if shown.Retryable && f.Attempt < cmp.Or(p.Attempts, 3) {
		out.Retry, out.Delay = true, p.delay(f.Attempt, d.after, jitter)
	}
	return out
}

// delay returns how long to wait before the next attempt.
func (p Policy) delay(attempt int, after time.Duration, jitter float64) time.Duration {
	if after > 0 {
		return after
	}
	d, limit := cmp.Or(p.Backoff, 100*time.Millisecond), cmp.Or(p.MaxBackoff, 10*time.Second)
	for i := 1; i < attempt && d < limit; i++ {
		d *= 2
	}
	half := min(d, limit) / 2
	return half + time.Duration(jitter*float64(half))
}

// ErrorSnapshot is an error that was asked for everything it can say. Its methods do not call the error again: it may
// be foreign code that blocks, or says something else the next time.
type ErrorSnapshot struct {
	shown messages.Error
	cause messages.Code
	// is holds the error of this package or of package context that the error matches; nil if it matches none.
	is     error
	crash  bool // result of IsCrash
	caught bool // the error is a Crash
	retry  bool
	final  bool
	after  time.Duration // delay of RetryAfter
}

func (d *ErrorSnapshot) Error() string { return d.shown.Message }
func (d *ErrorSnapshot) Unwrap() error { return d.is }

// Cause returns the cause of a run that fails with the error.
func (d *ErrorSnapshot) Cause() messages.Code { return d.cause }

// mostSnapshot bounds the bytes of a snapshot's texts: a longer message or stack is cut.
const mostSnapshot = 64 << 10

// SnapshotError asks the error once, in the caller's goroutine. It returns an ErrorSnapshot unchanged.
func SnapshotError(err error) *ErrorSnapshot {
	if d, ok := err.(*ErrorSnapshot); ok {
		return d
	}
	d := &ErrorSnapshot{cause: messages.CauseError}
	asking(err, func() { d.final = IsPermanent(err) })
	if crash, ok := errors.AsType[*Crash](err); ok {
		d.crashed(crash.withText())
	} else {
		d.returned(err)
	}
	d.shown.Message, d.shown.Stack = messages.Bound(d.shown.Message, mostSnapshot), messages.Bound(d.shown.Stack, mostSnapshot)
	return d
}

// Described is ErrorSnapshot.
//
// Deprecated: Use [ErrorSnapshot].
type Described = ErrorSnapshot

// Describe is SnapshotError.
//
// Deprecated: Use [SnapshotError].
func Describe(err error) *ErrorSnapshot { return SnapshotError(err) }

// crashed fills in the snapshot of a crash.
func (d *ErrorSnapshot) crashed(c Crash) {
	d.crash, d.caught = true, true
	d.cause, d.shown.Message = messages.CausePanic, c.During+" crashed: "+c.text
	if c.injected {
		d.cause, d.shown.Message = messages.CauseInjected, c.text
	}
	d.shown.Code, d.shown.Stack = d.cause, string(c.Stack)
}

// returned fills in the description of an error that a task returned.
func (d *ErrorSnapshot) returned(err error) {
	for _, is := range []error{context.Canceled, context.DeadlineExceeded, ErrKilled, ErrAbandoned} {
		if errors.Is(err, is) {
			d.is = is
		}
	}
	own, _ := errors.AsType[*messages.Error](err)
	switch {
	case d.is == ErrAbandoned:
		d.cause = messages.CauseStalled
	case d.is == context.DeadlineExceeded:
		d.cause = messages.CauseDeadline
	case own != nil:
		d.cause = own.Code.Cause()
	}
	d.shown = messages.Error{Code: d.cause, Message: err.Error()}
	if own != nil {
		d.shown.Code, d.shown.Stack, d.shown.Provider = own.Code, own.Stack, own.Provider
	}
	again, retry := errors.AsType[*retryError](err)
	if retry {
		d.after = again.after
	}
	d.crash = d.is == ErrKilled || d.is == ErrAbandoned
	d.retry = !d.final && (retry || own != nil && own.Retryable)
}

// permanentError is the result of Permanent.
type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// Permanent makes err final, even if it is retryable. A nil err stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether err is from [Permanent].
func IsPermanent(err error) bool {
	_, ok := errors.AsType[*permanentError](err)
	return ok
}

// retryError is the result of RetryAfter.
type retryError struct {
	error
	after time.Duration
}

func (e *retryError) Unwrap() error { return e.error }

// RetryAfter makes err retryable, after d if that is positive. A nil err stays nil.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &retryError{err, d}
}
