package supervision_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

func TestPolicyDecides(t *testing.T) {
	const ms = time.Millisecond
	busy := &messages.Error{Code: "provider_error", Message: "busy", Retryable: true}
	crash := &supervision.Crash{Value: "nil map", Stack: []byte("stack"), During: "analyze"}
	injected := messages.Errorf("injected", "panic at start")
	type policy = supervision.Policy
	for name, c := range map[string]struct {
		policy  policy
		attempt int
		err     error
		jitter  float64
		retry   bool
		delay   time.Duration
		told    messages.Error
	}{
		"plain error": {policy{}, 1, errBroken, 0, false, 0, messages.Error{Code: "error", Message: "broken"}},
		"retryable":   {policy{}, 1, busy, 0, true, 50 * ms, *busy},
		"wrapped": {policy{}, 1, fmt.Errorf("fetch: %w", busy), 0, true, 50 * ms,
			messages.Error{Code: "provider_error", Message: "fetch: busy", Retryable: true}},
		"half jitter":     {policy{}, 1, busy, 0.5, true, 75 * ms, *busy},
		"second attempt":  {policy{}, 2, busy, 0, true, 100 * ms, *busy},
		"last attempt":    {policy{}, 3, busy, 0, false, 0, *busy},
		"more attempts":   {policy{Attempts: 5}, 4, busy, 0, true, 400 * ms, *busy},
		"one attempt":     {policy{Attempts: 1}, 1, busy, 0, false, 0, *busy},
		"limited":         {policy{Attempts: 1000}, 999, busy, 0, true, 5 * time.Second, *busy},
		"own limit":       {policy{MaxBackoff: 150 * ms}, 2, busy, 0, true, 75 * ms, *busy},
		"own backoff":     {policy{Backoff: time.Second}, 2, busy, 0, true, time.Second, *busy},
		"backoff > limit": {policy{Backoff: time.Minute}, 1, busy, 0, true, 5 * time.Second, *busy},
		"retry after": {policy{}, 1, supervision.RetryAfter(time.Minute, errBroken), 0.5, true, time.Minute,
			messages.Error{Code: "error", Message: "broken", Retryable: true}},
		"retry after 0": {policy{}, 1, supervision.RetryAfter(0, errBroken), 0, true, 50 * ms,
			messages.Error{Code: "error", Message: "broken", Retryable: true}},
		"permanent": {policy{}, 1, supervision.Permanent(busy), 0, false, 0,
			messages.Error{Code: "provider_error", Message: "busy"}},
		"permanent within retry": {policy{}, 1, supervision.RetryAfter(1, supervision.Permanent(errBroken)), 0, false, 0,
			messages.Error{Code: "error", Message: "broken"}},
		"permanent crash": {policy{RetryCrash: true}, 1, supervision.Permanent(crash), 0, false, 0,
			messages.Error{Code: "panic", Message: "analyze crashed: nil map", Stack: "stack"}},
		"crash": {policy{}, 1, crash, 0, false, 0,
			messages.Error{Code: "panic", Message: "analyze crashed: nil map", Stack: "stack"}},
		"crash of a retryable error": {policy{}, 1, &supervision.Crash{Value: busy, During: "analyze"}, 0, false, 0,
			messages.Error{Code: "panic", Message: "analyze crashed: busy"}},
		"crash retried": {policy{RetryCrash: true}, 1, fmt.Errorf("x: %w", crash), 0, true, 50 * ms,
			messages.Error{Code: "panic", Message: "analyze crashed: nil map", Stack: "stack", Retryable: true}},
		"goexit": {policy{}, 1, &supervision.Crash{Value: supervision.ErrGoexit, During: "write"}, 0, false, 0,
			messages.Error{Code: "panic", Message: "write crashed: the goroutine ended by runtime.Goexit"}},
		"injected": {policy{}, 1, &supervision.Crash{Value: injected, Stack: []byte("stack"), During: "x"}, 0, false, 0,
			messages.Error{Code: "injected", Message: "panic at start", Stack: "stack"}},
		"injected, wrapped, retried": {policy{RetryCrash: true}, 1,
			fmt.Errorf("x: %w", &supervision.Crash{Value: fmt.Errorf("y: %w", injected)}), 0, true, 50 * ms,
			messages.Error{Code: "injected", Message: "y: panic at start", Retryable: true}},
		"killed": {policy{RetryCrash: true}, 1, supervision.ErrKilled, 0, false, 0,
			messages.Error{Code: "error", Message: "stopped from outside"}},
		"abandoned": {policy{RetryCrash: true}, 1, supervision.ErrAbandoned, 0, false, 0,
			messages.Error{Code: "stalled", Message: "abandoned: it did not stop in time"}},
		"deadline": {policy{}, 1, fmt.Errorf("fetch: %w", context.DeadlineExceeded), 0, false, 0,
			messages.Error{Code: "deadline", Message: "fetch: context deadline exceeded"}},
		"code of a cause": {policy{}, 1, messages.Errorf("invalid_output", "no text"), 0, false, 0,
			messages.Error{Code: "invalid_output", Message: "no text"}},
		"code that is no cause": {policy{}, 1, messages.Errorf("not_found", "no run"), 0, false, 0,
			messages.Error{Code: "not_found", Message: "no run"}},
		"stack of the error": {policy{}, 1, &messages.Error{Code: "panic", Message: "m", Stack: "s"}, 0, false, 0,
			messages.Error{Code: "panic", Message: "m", Stack: "s"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.policy.Decide(supervision.Failure{Attempt: c.attempt, Err: c.err}, c.jitter)
			if d.Retry != c.retry || d.Delay != c.delay {
				t.Errorf("retry %t after %v, want %t after %v", d.Retry, d.Delay, c.retry, c.delay)
			}
			if *d.Error != c.told {
				t.Errorf("told %+v, want %+v", *d.Error, c.told)
			}
			want := c.told.Code
			if c.told.Code == "not_found" {
				want = messages.CauseError
			}
			if d.Cause != want {
				t.Errorf("cause %s, want %s", d.Cause, want)
			}
		})
	}
}

func TestSteeringErrorsKeepTheError(t *testing.T) {
	for _, err := range []error{supervision.Permanent(errBroken), supervision.RetryAfter(1, errBroken)} {
		if !errors.Is(err, errBroken) || err.Error() != "broken" {
			t.Errorf("%v is no longer what it was", err)
		}
	}
	if supervision.Permanent(nil) != nil || supervision.RetryAfter(1, nil) != nil {
		t.Error("nil became an error")
	}
	final := supervision.RetryAfter(1, supervision.Permanent(errBroken))
	if !supervision.IsPermanent(final) || supervision.IsPermanent(errBroken) || supervision.IsPermanent(nil) {
		t.Error("IsPermanent does not know what is from Permanent")
	}
}

func TestIsCrash(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {errBroken, false}, {context.Canceled, false}, {supervision.ErrStopping, false},
		{&supervision.Crash{Value: "nil map"}, true},
		{fmt.Errorf("x: %w", &supervision.Crash{Value: supervision.ErrGoexit}), true},
		{fmt.Errorf("x: %w", supervision.ErrKilled), true},
		{fmt.Errorf("x: %w", supervision.ErrAbandoned), true},
		{&supervision.Escalation{Reason: supervision.ErrKilled}, true},
		{&supervision.Escalation{}, false},
	} {
		if got := supervision.IsCrash(c.err); got != c.want {
			t.Errorf("IsCrash(%v) is %t", c.err, got)
		}
	}
}
