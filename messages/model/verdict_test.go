package model_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Contract, section 7: "Completion is decided by this table and nothing else."
func TestVerdicts(t *testing.T) {
	failure := &model.Failure{Message: "overloaded"}
	for _, row := range []struct {
		words    string // of the table
		profile  model.Profile
		evidence model.Evidence
		want     model.Verdict // Message is a part of the verdict's
	}{
		{"cancelled by the user", model.Strict, model.Evidence{Stopped: messages.CauseCanceledByUser, Read: "context canceled", Output: true},
			model.Verdict{Outcome: model.Canceled, Cause: messages.CauseCanceledByUser}},
		{"cancelled by the user, whatever else", model.Strict, model.Evidence{Stopped: messages.CauseCanceledByUser, Done: true, Failure: failure},
			model.Verdict{Outcome: model.Canceled, Cause: messages.CauseCanceledByUser}},
		{"a watchdog", model.Strict, model.Evidence{Stopped: messages.CauseStalled, Read: "context canceled"},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseStalled}},
		{"a limit of this side", model.Generic, model.Evidence{Stopped: messages.CauseLimitExceeded, Read: "larger than 8 MiB", Output: true},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseLimitExceeded, Message: "larger than 8 MiB"}},
		{"[DONE], no error frame, some output", model.Strict, model.Evidence{Done: true, Output: true},
			model.Verdict{Outcome: model.Completed, Signal: "done"}},
		{"read error after [DONE]", model.Strict, model.Evidence{Done: true, Output: true, Read: "connection reset"},
			model.Verdict{Outcome: model.Completed, Signal: "done"}},
		{"error frame", model.Generic, model.Evidence{Failure: failure, Output: true, Framed: true},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseProviderError, Message: "overloaded"}},
		{"error frame, then [DONE]", model.Strict, model.Evidence{Failure: failure, Done: true, Output: true},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseProviderError, Message: "overloaded"}},
		{"HTTP >= 400", model.Strict, model.Evidence{Status: 503, Failure: failure, Framed: true},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseProviderError, Message: "http 503: overloaded"}},
		{"usage shows that the prompt was cut", model.Strict, model.Evidence{Done: true, Output: true, Sent: 276001, Taken: 4096},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseContextExceeded, Message: "about 276001 tokens, and the server read only 4096"}},
		{"repetition without end", model.Strict, model.Evidence{Output: true, Endless: "it repeats itself"},
			model.Verdict{Outcome: model.Completed, Signal: "endless", Truncated: true, Message: "it repeats itself"}},
		{"read error before [DONE]", model.Generic, model.Evidence{Output: true, Read: "connection reset"},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseTransportClosed, Message: "connection reset"}},
		{"read error even after a finish_reason", model.Generic, model.Evidence{Output: true, Read: "reset", Finish: "stop", FinishLast: true},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseTransportClosed, Message: "reset"}},
		{"cut frame", model.Generic, model.Evidence{Output: true, Cut: true, Framed: true, Finish: "stop", FinishLast: true},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseTransportClosed}},
		{"unframed EOF", model.Generic, model.Evidence{Output: true, Finish: "stop", FinishLast: true},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseTransportClosed}},
		{"framed EOF, no [DONE], strict", model.Strict, model.Evidence{Output: true, Framed: true, Finish: "stop", FinishLast: true},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseTransportClosed, Message: "ended without terminator"}},
		{"framed EOF, no [DONE], no finish_reason", model.Generic, model.Evidence{Output: true, Framed: true},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseTransportClosed, Message: "ended without terminator"}},
		{"framed EOF, generic, finish_reason not last", model.Generic, model.Evidence{Output: true, Framed: true, Finish: "stop"},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseTransportClosed, Message: "ended without terminator"}},
		{"framed EOF, generic, finish_reason last", model.Generic, model.Evidence{Output: true, Framed: true, Finish: "stop", FinishLast: true},
			model.Verdict{Outcome: model.Completed, Signal: "eof+finish"}},
		{"[DONE] with no output at all", model.Strict, model.Evidence{Done: true, Finish: "stop"},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseEmptyCompletion}},
		{"an undecodable frame", model.Strict, model.Evidence{Done: true, Output: true, Broken: 1},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseProviderError, Message: "protocol error"}},
		{"finish_reason length", model.Strict, model.Evidence{Done: true, Output: true, Finish: "length"},
			model.Verdict{Outcome: model.Completed, Signal: "done", Truncated: true}},
		{"finish_reason content_filter", model.Strict, model.Evidence{Done: true, Output: true, Finish: "content_filter"},
			model.Verdict{Outcome: model.Completed, Signal: "done", Filtered: true}},
		{"finish_reason error", model.Strict, model.Evidence{Done: true, Output: true, Finish: "error"},
			model.Verdict{Outcome: model.Failed, Cause: messages.CauseProviderError}},
	} {
		got := model.Judge(row.profile, row.evidence)
		message := got.Message
		got.Message, got.Retryable, got.Provider = row.want.Message, false, messages.Provider{}
		if got != row.want || !strings.Contains(message, row.want.Message) {
			t.Errorf("%s: %+v (%s), want %+v", row.words, got, message, row.want)
		}
		if err := got.Err(); (err == nil) != (got.Outcome == model.Completed) || err != nil && messages.CodeOf(err) != got.Cause {
			t.Errorf("%s: the error is %v", row.words, err)
		}
		if row.evidence.String() == "" {
			t.Errorf("%s: the evidence has no words", row.words)
		}
	}
}
