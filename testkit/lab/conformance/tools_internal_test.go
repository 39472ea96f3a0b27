package conformance

import (
	"encoding/json"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

func TestSaidBy(t *testing.T) {
	for want, ended := range map[string]messages.State{
		"Hello.":                 {Status: messages.Completed, End: &messages.End{Result: json.RawMessage(`"Hello."`)}},
		"The job has no result.": {Status: messages.Completed, End: &messages.End{}},
		"The job was canceled.":  {Status: messages.Canceled, End: &messages.End{Cause: messages.CauseCanceledByUser}},
		"too late":               {Status: messages.Failed, End: &messages.End{Error: &messages.Error{Message: "too late"}}},
	} {
		if got := saidBy(ended); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
