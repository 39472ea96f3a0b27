package model_test

import (
	"errors"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// A failure keeps its class: its code, whether a retry may help, and what the server said.
func TestClassOfFailures(t *testing.T) {
	for _, c := range fatal.Table[[]struct {
		Status    int
		Failure   model.Failure
		Code      messages.Code
		Retryable bool
		Class     int
	}](t, "testdata/failures.json") {
		err := model.Judge(model.Strict, model.Evidence{Status: c.Status, Failure: &c.Failure}).Err()
		e, _ := errors.AsType[*messages.Error](err)
		var said messages.Provider
		if e.Provider != nil {
			said = *e.Provider
		}
		if e.Code != c.Code || e.Retryable != c.Retryable || said.Status != c.Class || said.RetryAfterMS != c.Failure.RetryAfterMS ||
			said.RequestID != c.Failure.RequestID {
			t.Errorf("%d %+v: %+v, %+v", c.Status, c.Failure, e, said)
		}
	}
}
