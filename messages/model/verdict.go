package model

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Profile says how a server ends its answers.
type Profile string

const (
	// Strict servers end every answer with [DONE].
	Strict Profile = "strict"
	// Generic servers may end an answer with a finish_reason and the end of the body.
	Generic Profile = "generic"
)

// Evidence is what the transport observed of an answer.
type Evidence struct {
	// Stopped is why this side ended the call; "" if it did not. Values: canceled_by_user, deadline, stalled,
	// shutdown, limit_exceeded, or invalid_input if the request was never sent. Read has the message.
	Stopped messages.Code `json:"stopped,omitempty"`
	Status  int           `json:"status,omitempty"` // of HTTP; 0 without an answer
	Done    bool          `json:"done,omitempty"`   // [DONE] was read
	// Failure is the server's error: an error frame, a status from 400 on, or a body that is not a stream.
	Failure *Failure `json:"failure,omitempty"`
	Broken  int      `json:"broken,omitempty"` // frames that could not be decoded
	Read    string   `json:"read,omitempty"`   // why reading failed; "" if the body ended
	Cut     bool     `json:"cut,omitempty"`    // the body ended inside a frame
	Framed  bool     `json:"framed,omitempty"` // HTTP shows that the body is complete
	// Finish is the last finish_reason in the server's spelling, or a worse one right before it. A failure is not
	// overwritten.
	Finish string `json:"finish,omitempty"`
	// FinishLast says that no output came after the finish_reason.
	FinishLast bool `json:"finish_last,omitempty"`
	Output     bool `json:"output,omitempty"` // text, a thought or a call came
	// Endless is why this side ended an answer that repeated itself; "" if it did not.
	Endless string `json:"endless,omitempty"`
	// Sent is the estimated number of tokens in the prompt, and Taken how many of them the server read, if it cut the
	// prompt without an error. Sent is 0 if nothing was cut.
	Sent  int `json:"sent,omitempty"`
	Taken int `json:"taken,omitempty"`
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
	// Signal is the evidence of completion: "done", "eof+finish" or "endless".
	Signal  string
	Cause   messages.Code // "" if completed
	Message string        // of a completed answer: why this side ended it
	// Truncated and Filtered: the answer was cut for its length, or by the server for its content.
	Truncated, Filtered bool
	// Retryable says that the same request may succeed later. Provider is what the server said about its failure.
	Retryable bool
	Provider  messages.Provider
}

// Err returns the verdict as an error, or nil for completed.
func (v Verdict) Err() error {
	if v.Outcome == Completed {
		return nil
	}
	err := messages.Errorf(v.Cause, "%s", v.Message)
	err.Retryable = v.Retryable
	if p := v.Provider; p != (messages.Provider{}) {
		err.Provider = &p
	}
	if s := v.Provider.Status; v.Cause == messages.CauseProviderError && (s == 401 || s == 403) {
		err.Code = messages.CodeProviderAuth
	}
	return err
}

// Judge derives the verdict from the evidence alone. It looks, in this order, at whether this side stopped the call,
// the server's error, the terminator, and how the body ended.
func Judge(p Profile, e Evidence) Verdict {
	v := judge(p, e)
	if v.Outcome == Failed {
		v.Retryable = e.retryable(v.Cause)
		if e.Stopped == "" {
			v.Provider = e.provider()
		}
	}
	return v
}

func judge(p Profile, e Evidence) Verdict {
	switch {
	case e.Stopped == messages.CauseCanceledByUser:
		return Verdict{Outcome: Canceled, Cause: e.Stopped, Message: "canceled"}
	case e.Stopped != "":
		return failed(e.Stopped, "%s", cmp.Or(e.Read, "ended by this side: "+string(e.Stopped)))
	case e.Failure != nil && e.Overflows():
		return failed(messages.CauseContextExceeded, "%s", e.Failure.message(e.Status))
	case e.Failure != nil:
		return failed(messages.CauseProviderError, "%s", e.Failure.message(e.Status))
	case FinishOf(e.Finish) == Broken:
		return failed(messages.CauseProviderError, "the server ended the answer with finish_reason %s", e.Finish)
	case e.Endless != "":
		return e.completed("endless")
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

func failed(cause messages.Code, format string, args ...any) Verdict {
	return Verdict{Outcome: Failed, Cause: cause, Message: fmt.Sprintf(format, args...)}
}

// Overflows reports whether the server refused a request that is longer than the model's context.
func (e Evidence) Overflows() bool {
	return e.Sent > 0 || e.Failure != nil && e.class() != 429 && holdsAny(e.Failure.Words(), overflowWords)
}

// Loading reports whether the server is not ready because it is loading the model.
func (e Evidence) Loading() bool {
	return e.Status == 503 && e.Failure != nil && strings.Contains(e.Failure.Words(), "loading")
}

var overflowWords = []string{"n_ctx", "n_keep", "context length", "context size", "context window", "context_length",
	"context_window", "exceed_context", "maximum context", "max_model_len", "prompt is too long", "input is too long",
	"too many tokens", "input tokens", "input length"}

// completed returns the verdict on an answer that has an end.
func (e Evidence) completed(signal string) Verdict {
	finish := FinishOf(e.Finish)
	v := Verdict{Outcome: Completed, Signal: signal, Message: e.Endless}
	switch {
	case e.Sent > 0:
		return failed(messages.CauseContextExceeded, "the prompt has about %d tokens, and the server read only %d of them",
			e.Sent, e.Taken)
	case !e.Output && finish > Stopped:
		v = failed(messages.CauseEmptyCompletion, "empty completion: the server sent no text, and finish_reason %s", e.Finish)
	case !e.Output:
		v = failed(messages.CauseEmptyCompletion, "empty completion: the server sent no text")
	}
	v.Truncated, v.Filtered = finish == Truncated || e.Endless != "", finish == Filtered
	return v
}

// String summarizes the evidence.
func (e Evidence) String() string {
	switch {
	case e.Stopped != "":
		return "stopped: " + string(e.Stopped)
	case e.Failure != nil:
		return "error from the server"
	case e.Sent > 0:
		return "the prompt was cut"
	case e.Endless != "":
		return "endless"
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

// unknown names an unknown finish_reason, for String.
func (e Evidence) unknown() string {
	if FinishOf(e.Finish) != Unknown {
		return ""
	}
	return ", unknown finish_reason " + e.Finish
}
