package model

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Profile says what a server can be trusted to do.
type Profile string

const (
	// Strict servers end every answer with [DONE].
	Strict Profile = "strict"
	// Generic servers may end an answer by a finish_reason and the end of the body.
	Generic Profile = "generic"
)

// Evidence is what the transport saw of an answer.
type Evidence struct {
	// Stopped is why this side ended the call, "" where it did not: canceled_by_user, deadline, stalled, shutdown,
	// limit_exceeded, or invalid_input where it was never sent. Read has the words to it.
	Stopped messages.Cause `json:"stopped,omitempty"`
	Status  int            `json:"status,omitempty"` // of HTTP; 0 where there was no answer
	Done    bool           `json:"done,omitempty"`   // [DONE] was read
	// Failure is what the server said of its own failure: an error frame, a status of 400 and above, or a body that is
	// no stream.
	Failure *Failure `json:"failure,omitempty"`
	Broken  int      `json:"broken,omitempty"` // frames that could not be decoded
	Read    string   `json:"read,omitempty"`   // why reading failed; "" where the body ended
	Cut     bool     `json:"cut,omitempty"`    // the body ended inside a frame
	Framed  bool     `json:"framed,omitempty"` // the protocol shows that the server meant the body to end there
	// Finish is the last finish_reason as the server spells it, or a graver one right before it; a failure stays.
	Finish string `json:"finish,omitempty"`
	// FinishLast says that no output came after the finish_reason.
	FinishLast bool `json:"finish_last,omitempty"`
	Output     bool `json:"output,omitempty"` // text, a thought or a call has come
}

// Failure is a server's own words.
type Failure struct {
	Code    string `json:"code,omitempty"` // the server's own, or "html", "json" for a body that is no stream
	Message string `json:"message"`
	// Type is the server's kind of the failure, and Param the member of the request that it is about.
	Type  string `json:"type,omitempty"`
	Param string `json:"param,omitempty"`
	// RetryAfterMS is how long the server asks to wait, 0 where it does not say.
	RetryAfterMS int64 `json:"retry_after_ms,omitempty"`
}

// Outcome of an answer.
type Outcome string

const (
	Completed Outcome = "completed"
	Failed    Outcome = "failed"
	Canceled  Outcome = "canceled"
)

// Verdict says how an answer ended.
type Verdict struct {
	Outcome Outcome
	// Signal is what a completion rests on: "done" or "eof+finish".
	Signal  string
	Cause   messages.Cause // of one that is not completed
	Message string
	// Truncated and Filtered say that the server cut the answer, for its length or its content.
	Truncated, Filtered bool
}

// Err is the verdict as an error, nil for completed.
func (v Verdict) Err() error {
	if v.Outcome == Completed {
		return nil
	}
	return messages.Errorf(messages.Code(v.Cause), "%s", v.Message)
}

// Judge decides by the evidence and nothing else. The order is that of the contract: who stopped it, what the server
// said of its own failure, the terminator, how the body ended.
func Judge(p Profile, e Evidence) Verdict {
	switch {
	case e.Stopped == messages.CauseCanceledByUser:
		return Verdict{Outcome: Canceled, Cause: e.Stopped, Message: "canceled"}
	case e.Stopped != "":
		return failed(e.Stopped, "%s", cmp.Or(e.Read, "ended by this side: "+string(e.Stopped)))
	case e.Failure != nil:
		return failed(messages.CauseProviderError, "%s", e.Failure.message(e.Status))
	case FinishOf(e.Finish) == Broken:
		return failed(messages.CauseProviderError, "the server ended the answer with finish_reason %s", e.Finish)
	case e.Done && e.Broken > 0, e.Broken > 0 && e.Read == "" && !e.Cut:
		return failed(messages.CauseProviderError, "protocol error: frames that could not be decoded: %d", e.Broken)
	case e.Done:
		return e.completed("done")
	case e.Read != "":
		return failed(messages.CauseTransportClosed, "transport closed: %s", e.Read)
	case e.Cut || !e.Framed:
		return failed(messages.CauseTransportClosed, "transport closed: the body ended in the middle")
	case p == Generic && FinishOf(e.Finish) != Unfinished && e.FinishLast:
		return e.completed("eof+finish")
	}
	return failed(messages.CauseTransportClosed, "transport closed: the answer ended without terminator")
}

func failed(cause messages.Cause, format string, args ...any) Verdict {
	return Verdict{Outcome: Failed, Cause: cause, Message: fmt.Sprintf(format, args...)}
}

// Words are all that the server said, in lower case.
func (f *Failure) Words() string {
	return strings.ToLower(strings.Join([]string{f.Code, f.Type, f.Param, f.Message}, " "))
}

func (f *Failure) message(status int) string {
	if status >= 400 {
		return fmt.Sprintf("http %d: %s", status, f.Message)
	}
	return f.Message
}

// completed is the verdict on an answer that has its end.
func (e Evidence) completed(signal string) Verdict {
	finish := FinishOf(e.Finish)
	switch {
	case !e.Output && finish > Stopped:
		return failed(messages.CauseEmptyCompletion,
			"empty completion: the server ended the answer without a word, with finish_reason %s", e.Finish)
	case !e.Output:
		return failed(messages.CauseEmptyCompletion, "empty completion: the server ended the answer without a word")
	}
	return Verdict{Outcome: Completed, Signal: signal, Truncated: finish == Truncated, Filtered: finish == Filtered}
}

// String is the evidence in a few words, for events and for people.
func (e Evidence) String() string {
	switch {
	case e.Stopped != "":
		return "stopped: " + string(e.Stopped)
	case e.Failure != nil:
		return "error from the server"
	case e.Done:
		return "done" + e.unknown()
	case e.Read != "":
		return "read error"
	case e.Cut:
		return "cut inside a frame"
	case !e.Framed:
		return "unframed end"
	case e.Finish != "":
		return "eof+finish" + e.unknown()
	}
	return "eof"
}

// unknown tells of a finish_reason that nobody knows.
func (e Evidence) unknown() string {
	if FinishOf(e.Finish) != Unknown {
		return ""
	}
	return ", unknown finish_reason " + e.Finish
}
