package messages

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Code classifies an [Error] for programs. Doors map it to an HTTP status or a JSON-RPC code, and the command to an
// exit code.
type Code string

// The causes: why a run or an attempt did not succeed. They are a closed set.
const (
	CauseError           Code = "error"
	CausePanic           Code = "panic"
	CauseCanceledByUser  Code = "canceled_by_user"
	CauseDeadline        Code = "deadline"
	CauseStalled         Code = "stalled"
	CauseShutdown        Code = "shutdown"
	CauseNodeLost        Code = "node_lost"
	CauseProviderError   Code = "provider_error"
	CauseTransportClosed Code = "transport_closed"
	CauseEmptyCompletion Code = "empty_completion"
	CauseInvalidOutput   Code = "invalid_output"
	CauseContextExceeded Code = "context_exceeded"
	CauseLimitExceeded   Code = "limit_exceeded"
	CauseInvalidInput    Code = "invalid_input"
	CauseInjected        Code = "injected"

	// CauseJournalUnavailable: the journal took nothing for too long.
	CauseJournalUnavailable Code = "journal_unavailable"
)

// Causes returns the closed set of causes.
func Causes() []Code { return slices.Clone(causes) }

var causes = []Code{
	CauseError, CausePanic, CauseCanceledByUser, CauseDeadline, CauseStalled, CauseShutdown, CauseNodeLost,
	CauseProviderError, CauseTransportClosed, CauseEmptyCompletion, CauseInvalidOutput, CauseContextExceeded,
	CauseLimitExceeded, CauseInvalidInput, CauseInjected, CauseJournalUnavailable,
}

func (c Code) isCause() bool { return slices.Contains(causes, c) }

// The codes that are not causes.
const (
	// CodeNotFound: there is no such run, or it belongs to another principal.
	CodeNotFound Code = "not_found"
	// CodeConflict: somebody else was first. The idempotency key was used with other input, the question was
	// answered, or another turn of the conversation works.
	CodeConflict Code = "conflict"
	// CodeEventsGone: the run's log was removed after Config.Retention.
	CodeEventsGone Code = "events_gone"
	// CodeReset: the cursor cannot be served; drop the State and begin at 0.
	CodeReset Code = "reset"
	// CodeUnavailable: the node cannot do this now; try again later.
	CodeUnavailable Code = "unavailable"
	// CodeBudget: the run has used up its budget. The cause is [CauseLimitExceeded].
	CodeBudget Code = "budget"
	// CodeProviderAuth: the model server does not accept this server's key. The cause is [CauseProviderError].
	CodeProviderAuth Code = "provider_auth"
	// CodeAuthRequired: an agent wants its user to log in. The cause is [CauseProviderError].
	CodeAuthRequired Code = "auth_required"
	// CodeCompactionLoop: an agent shortens its history again and again, and does nothing else. The cause is
	// [CauseStalled].
	CodeCompactionLoop Code = "compaction_loop"
	// CodeWithdrawn: whoever asked has taken the question back.
	CodeWithdrawn Code = "withdrawn"
)

// Cause returns the cause of a run that fails with the code.
func (c Code) Cause() Code {
	switch {
	case c.isCause():
		return c
	case c == CodeBudget:
		return CauseLimitExceeded
	case c == CodeProviderAuth, c == CodeAuthRequired:
		return CauseProviderError
	case c == CodeCompactionLoop:
		return CauseStalled
	}
	return CauseError
}

// Error is a failure, with a code for programs and a sentence for people that says what to do.
type Error struct {
	// Code is for programs; the codes do not change.
	Code Code `json:"code"`
	// Message is one sentence for people, without a full stop at its end.
	Message string `json:"message" text:"any"`
	// Retryable says that the same request may succeed later.
	Retryable bool `json:"retryable,omitempty"`
	// Provider is what the model server said about its failure; nil for other failures.
	Provider *Provider `json:"provider,omitempty"`
	// Stack is the stack of the goroutine where a panic was caught.
	Stack string `json:"stack,omitempty" text:"any"`
}

// Provider is what a model server says about a failure.
type Provider struct {
	// Status is the HTTP status; 0 if the failure came without one.
	Status int `json:"status,omitempty"`
	// Code is the server's own, such as insufficient_quota.
	Code string `json:"code,omitempty" text:"any"`
	// RetryAfterMS is how long the server asks to wait, in milliseconds; 0 if it does not ask.
	RetryAfterMS int64 `json:"retry_after_ms,omitempty"`
	// RequestID is the server's name for the request.
	RequestID string `json:"request_id,omitempty" text:"any"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Is reports whether target is an *Error with the same code, so that errors.Is(err, &Error{Code: c}) asks for a code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Message == ""
}

// Bound returns text as valid UTF-8 of at most so many bytes. A longer text is cut, and ends with its length.
func Bound(text string, most int) string {
	if len(text) > most {
		text = fmt.Sprintf("%s… (%d bytes)", text[:most-32], len(text))
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Errorf returns an Error with the code and a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// InvalidInput returns an Error that says what to change in the input.
func InvalidInput(format string, args ...any) *Error {
	return Errorf(CauseInvalidInput, format, args...)
}

// LimitExceeded returns an Error that says which limit was reached.
func LimitExceeded(format string, args ...any) *Error {
	return Errorf(CauseLimitExceeded, format, args...)
}

// CodeOf returns the code of the first Error in err's tree, or "" when there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// Rule names the rule that a refused event breaks.
type Rule string

// The rules that [State.Apply] holds events to.
const (
	RuleEnded    Rule = "ended"    // nothing follows a terminal
	RuleRun      Rule = "run"      // all events of a log belong to one run
	RuleOrder    Rule = "order"    // b.From <= a.Seq+1 and b.Seq > a.Seq
	ruleSpan     Rule = "span"     // only a delta or a recovery spans numbers, and never over a milestone
	ruleOpening  Rule = "opening"  // run.queued is number 1, and nothing else is; run.started comes once, before any work
	ruleCancel   Rule = "cancel"   // after run.canceling no task begins, and only run.canceled ends the run
	ruleTask     Rule = "task"     // a task starts once, fails or completes once per attempt, restarts after a failure
	ruleStream   Rule = "stream"   // a stream has one kind and one task, no gaps, and ends with its done event
	RuleDigest   Rule = "digest"   // a done text matches its digest
	ruleLog      Rule = "log"      // log lines are numbered without a gap
	ruleMerged   Rule = "merged"   // a merged event has one part per stream, at least two
	ruleCall     Rule = "call"     // a model or tool call starts once and completes once, by its own task
	RuleArtifact Rule = "artifact" // artifacts have a name; after a cancel they are partial
	ruleInput    Rule = "input"    // a request has its own name, unless a secret is asked for again; its answer names it
	ruleMessage  Rule = "message"  // a message is delivered in its order or dropped, once, before its run ends
	ruleChild    Rule = "child"    // a sub-run starts once, ends once, and before its parent ends
	ruleStep     Rule = "step"     // a step ends after it started; what is kept of a task's step is kept once
	ruleTerminal Rule = "terminal" // a terminal has an author, a cause, and no task still running
	ruleRewind   Rule = "rewind"   // a rewind goes back to what the journal holds
	RuleBody     Rule = "body"     // the body's own fields make sense
)

// Refusal is the error of [State.Apply] for an event that is not legal.
type Refusal struct {
	// RunID is the run whose log refused the event.
	RunID RunID
	// Seq and Kind identify the event.
	Seq  uint64
	Kind Kind
	// Rule is the rule that it breaks.
	Rule Rule
	// Reason is one sentence.
	Reason string
}

// Error names the event, the rule and the reason.
func (r *Refusal) Error() string {
	return fmt.Sprintf("event %d (%s) refused: %s [%s]", r.Seq, r.Kind, r.Reason, r.Rule)
}

// violates returns a Refusal that does not name its event yet.
func violates(rule Rule, format string, args ...any) *Refusal {
	return &Refusal{Rule: rule, Reason: fmt.Sprintf(format, args...)}
}

// when returns a Refusal if the event is bad, and otherwise nil.
func when(bad bool, rule Rule, format string, args ...any) *Refusal {
	if bad {
		return violates(rule, format, args...)
	}
	return nil
}
