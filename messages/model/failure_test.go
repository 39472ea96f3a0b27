package model_test

import (
	"errors"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// A failure keeps its class: its code, whether a retry may help, and what the server said.
func TestClassOfFailures(t *testing.T) {
	for _, c := range []struct {
		status    int
		failure   model.Failure
		code      messages.Code
		retryable bool
		class     int
	}{
		{429, model.Failure{Code: "rate_limit_exceeded", RetryAfterMS: 600_000, RequestID: "req_1"}, messages.CauseProviderError, true, 429},
		{429, model.Failure{Code: "insufficient_quota"}, messages.CauseProviderError, false, 429},
		{429, model.Failure{Message: "the limit is 9000 input tokens per minute"}, messages.CauseProviderError, true, 429},
		{401, model.Failure{Code: "invalid_api_key"}, messages.CodeProviderAuth, false, 401},
		{403, model.Failure{}, messages.CodeProviderAuth, false, 403},
		{503, model.Failure{}, messages.CauseProviderError, true, 503},
		{529, model.Failure{Type: "overloaded_error"}, messages.CauseProviderError, true, 529},
		{404, model.Failure{Code: "model_not_found"}, messages.CauseProviderError, false, 404},
		{500, model.Failure{Type: "exceed_context_size_error"}, messages.CauseContextExceeded, false, 500},
		{200, model.Failure{Code: "429"}, messages.CauseProviderError, true, 429},
		{200, model.Failure{Type: "overloaded_error"}, messages.CauseProviderError, true, 503},
		{200, model.Failure{Code: "context_length_exceeded"}, messages.CauseContextExceeded, false, 0},
		{200, model.Failure{Message: "boom"}, messages.CauseProviderError, false, 0},
	} {
		err := model.Judge(model.Strict, model.Evidence{Status: c.status, Failure: &c.failure}).Err()
		e, _ := errors.AsType[*messages.Error](err)
		var said messages.Provider
		if e.Provider != nil {
			said = *e.Provider
		}
		if e.Code != c.code || e.Retryable != c.retryable || said.Status != c.class || said.RetryAfterMS != c.failure.RetryAfterMS ||
			said.RequestID != c.failure.RequestID {
			t.Errorf("%d %+v: %+v, %+v", c.status, c.failure, e, said)
		}
	}
}
