package model_test

import (
	"encoding/json"
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

// Every reader takes the end of a run's answer from here. A text that is empty and a result without a text are two things.
func TestEndings(t *testing.T) {
	failed := &messages.End{Cause: messages.CauseStalled, Error: messages.Errorf(messages.CauseStalled, "late")}
	for name, c := range map[string]struct {
		end          *messages.End
		finish, text string
		want         string
	}{
		"goes on":          {nil, "length", "Hel", `{"Reason":"length","Code":"","Text":"Hel","Thoughts":false,"Calls":null}`},
		"stop":             {completed(`{"text":"Hello"}`), "stop", "Hello", `{"Reason":"stop","Code":"","Text":"Hello","Thoughts":false,"Calls":null}`},
		"a cut":            {completed(`{"text":"Hel"}`), "MAX_TOKENS", "Hel", `{"Reason":"length","Code":"","Text":"Hel","Thoughts":false,"Calls":null}`},
		"by its result":    {completed(`{"text":"","finish_reason":"x","filtered":true}`), "", "", `{"Reason":"content_filter","Code":"","Text":"","Thoughts":true,"Calls":null}`},
		"of another type":  {completed(`{"truncated":true}`), "", "", `{"Reason":"stop","Code":"","Text":"{\"truncated\":true}","Thoughts":false,"Calls":null}`},
		"thoughts alone":   {completed(`{"text":""}`), "stop", "", `{"Reason":"stop","Code":"","Text":"","Thoughts":true,"Calls":null}`},
		"a call":           {completed(`{"text":"","calls":[{"id":"c","name":"f","arguments":"{}"}]}`), "stop", "", `{"Reason":"tool_calls","Code":"","Text":"","Thoughts":false,"Calls":[{"id":"c","name":"f","arguments":"{}"}]}`},
		"a cut call":       {completed(`{"text":"","calls":[{"id":"c","name":"f","arguments":"{"}]}`), "length", "", `{"Reason":"length","Code":"","Text":"","Thoughts":true,"Calls":null}`},
		"a declined call":  {completed(`{"text":"","finish_reason":"denied"}`), "tool_calls", "", `{"Reason":"stop","Code":"","Text":"","Thoughts":false,"Calls":null}`},
		"failed":           {failed, "length", "Hel", `{"Reason":"failed","Code":"stalled","Text":"Hel","Thoughts":false,"Calls":null}`},
		"canceled":         {&messages.End{Cause: messages.CauseCanceledByUser}, "", "", `{"Reason":"canceled","Code":"canceled_by_user","Text":"","Thoughts":false,"Calls":null}`},
		"text of a result": {completed(`"plain"`), "", "", `{"Reason":"stop","Code":"","Text":"plain","Thoughts":false,"Calls":null}`},
	} {
		got, err := json.Marshal(model.Ended(c.end, c.finish, c.text, true))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, want %s, %v", name, got, c.want, err)
		}
	}
}

func completed(result string) *messages.End { return &messages.End{Result: json.RawMessage(result)} }
