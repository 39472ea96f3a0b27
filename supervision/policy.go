package supervision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Policy decides about failed attempts. The zero value makes a crash final and retries a retryable error: 3 attempts
// in all, with jittered delays from 100 ms, doubling up to 10 s.
type Policy struct {
	// Attempts is the number of attempts in all; 0 means 3.
	Attempts int
	// Backoff is the longest wait after the first attempt, and doubles with each; 0 means 100 ms.
	Backoff time.Duration
	// MaxBackoff bounds the doubling, but not what [RetryAfter] asks for; 0 means 10 s.
	MaxBackoff time.Duration
	// RetryCrash retries a crash like a retryable error.
	RetryCrash bool
}

// Failure is a failed attempt, numbered from 1.
type Failure struct {
	Attempt int
	Err     error
}

// Decision is what follows a failure. Delay is for a Retry.
type Decision struct {
	Retry bool
	Delay time.Duration
	Cause messages.Cause
	// Error describes the failure. It can be Retryable with no attempts left.
	Error *messages.Error
}

// Decide decides. jitter in [0,1) puts the delay between half the backoff and all of it. An error is retryable if it
// is from [RetryAfter] or is a *[messages.Error] with Retryable set, unless it is from [Permanent].
func (p Policy) Decide(f Failure, jitter float64) Decision {
	shown := describe(f.Err)
	shown.Retryable = p.retryable(f.Err)
	d := Decision{Cause: causeOf(f.Err), Error: shown}
	if shown.Retryable && f.Attempt < orDefault(p.Attempts, 3) {
		d.Retry, d.Delay = true, p.delay(f, jitter)
	}
	return d
}

func (p Policy) retryable(err error) bool {
	if _, final := errors.AsType[*permanentError](err); final {
		return false
	}
	if crashOf(err) != nil {
		return p.RetryCrash
	}
	if _, ok := errors.AsType[*retryError](err); ok {
		return true
	}
	e, ok := errors.AsType[*messages.Error](err)
	return ok && e.Retryable
}

func (p Policy) delay(f Failure, jitter float64) time.Duration {
	if e, ok := errors.AsType[*retryError](f.Err); ok && e.after > 0 {
		return e.after
	}
	d, limit := orDefault(p.Backoff, 100*time.Millisecond), orDefault(p.MaxBackoff, 10*time.Second)
	for i := 1; i < f.Attempt && d < limit; i++ {
		d *= 2
	}
	half := min(d, limit) / 2
	return half + time.Duration(jitter*float64(half))
}

func orDefault[T int | time.Duration](v, zero T) T {
	if v == 0 {
		return zero
	}
	return v
}

func causeOf(err error) messages.Cause {
	switch crash := crashOf(err); {
	case crash != nil && injected(crash) != nil:
		return messages.CauseInjected
	case crash != nil:
		return messages.CausePanic
	case errors.Is(err, ErrAbandoned):
		return messages.CauseStalled
	case errors.Is(err, context.DeadlineExceeded):
		return messages.CauseDeadline
	}
	if cause := messages.Cause(messages.CodeOf(err)); slices.Contains(messages.Causes(), cause) {
		return cause
	}
	return messages.CauseError
}

// injected returns the error of a crash that a test injected, or nil.
func injected(crash *Crash) error {
	if err := crash.Unwrap(); messages.CodeOf(err) == messages.Code(messages.CauseInjected) {
		return err
	}
	return nil
}

// describe makes the error for the log.
func describe(err error) *messages.Error {
	shown := messages.Errorf(messages.Code(causeOf(err)), "%v", err)
	if crash := crashOf(err); crash != nil {
		shown.Message, shown.Stack = fmt.Sprintf("%s crashed: %v", crash.During, crash.Value), string(crash.Stack)
		if fault := injected(crash); fault != nil {
			shown.Message = fault.Error()
		}
	} else if e, ok := errors.AsType[*messages.Error](err); ok {
		shown.Code, shown.Stack = e.Code, e.Stack
	}
	return shown
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// Permanent makes err final, even if it is retryable. A nil err stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type retryError struct {
	error
	after time.Duration
}

func (e *retryError) Unwrap() error { return e.error }

// RetryAfter makes err retryable, after d if d is positive. A nil err stays nil.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &retryError{err, d}
}
