package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Problem is the body of every error response (RFC 9457). It is an error itself.
type Problem struct {
	Type   string `json:"type" format:"uri" doc:"The page that explains the code"`
	Title  string `json:"title" doc:"What the code means, in a few words"`
	Status int    `json:"status" doc:"The HTTP status"`
	Detail string `json:"detail" doc:"What happened, and what to do"`
	Code   string `json:"code" doc:"The code, for programs"`
	// Retryable says that the same request may succeed later.
	Retryable bool          `json:"retryable,omitempty" doc:"The same request may succeed later"`
	Errors    []ProblemPart `json:"errors,omitempty" doc:"Which parts of the request are wrong"`
	// End is the terminal of a run that accepts no more messages.
	End      *messages.End `json:"end,omitempty" doc:"The end of a run that accepts no more messages"`
	wait     time.Duration // earliest time for a retry; 0 if unknown
	provider *messages.Provider
}

// ProblemPart says what is wrong with one part of a request.
type ProblemPart struct {
	Message  string `json:"message,omitempty" doc:"What is wrong"`
	Location string `json:"location,omitempty" doc:"Where: body.input, query.after and so on"`
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// Provider returns what a model server said about its failure, or nil.
func (p *Problem) Provider() *messages.Provider { return p.provider }

// Headers returns a Retry-After field if the problem is retryable, and what a model server said about its failure.
func (p *Problem) Headers() http.Header {
	h := http.Header{}
	if p.wait > 0 || p.Retryable && p.provider == nil {
		h.Set("Retry-After", strconv.FormatInt(max(seconds(p.wait), 1), 10))
	}
	if p.provider != nil && p.provider.RequestID != "" {
		h.Set("X-Request-Id", p.provider.RequestID)
	}
	return h
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// retryAfter is an error with the time after which a retry makes sense.
type retryAfter struct {
	error
	wait time.Duration
}

func (e *retryAfter) Unwrap() error { return e.error }

// RetryAfter adds a waiting time to an error. It becomes the Retry-After field of the response.
func RetryAfter(wait time.Duration, err error) error { return &retryAfter{err, wait} }

// ContentType returns the media type of problem details.
func (p *Problem) ContentType(string) string { return problemType }

const (
	problemType = "application/problem+json"
	errorPage   = "https://github.com/seed889630bf/lastword/blob/main/docs/errors.md#"
)

// Error codes that only HTTP responses have.
const (
	// CodeBadRequest means that the request cannot be read.
	CodeBadRequest messages.Code = "bad_request"
	// CodeUnauthorized means that the token is missing or not valid.
	CodeUnauthorized messages.Code = "unauthorized"
	// CodeForbidden means that the token lacks a scope, or that the Host or the Origin is not allowed.
	CodeForbidden messages.Code = "forbidden"
	// CodeNotAllowed means that the path does not take the method.
	CodeNotAllowed messages.Code = "method_not_allowed"
	// CodeNotAcceptable means that the path has nothing that the Accept field asks for.
	CodeNotAcceptable messages.Code = "not_acceptable"
	// CodeTooLarge means that the body has too many bytes.
	CodeTooLarge messages.Code = "too_large"
	// codeUnsupported means that the body is compressed, or of a media type that the path does not take.
	codeUnsupported messages.Code = "unsupported_media_type"
	// CodeInternal means that the server failed.
	CodeInternal messages.Code = "internal"
)

// codes holds every code of an HTTP response. docs/errors.md is generated from it.
var codes = []struct {
	code   messages.Code
	status int
	title  string
	// remedy says what the caller can do. It appears in docs/errors.md only.
	remedy string
}{
	{CodeBadRequest, http.StatusBadRequest, "The request cannot be read",
		"Send JSON with Content-Type: application/json; `detail` says what else is wrong."},
	{CodeUnauthorized, http.StatusUnauthorized, "A token is needed",
		"Send Authorization: Bearer TOKEN. `lastword token add NAME` makes a token."},
	{CodeForbidden, http.StatusForbidden, "The caller may not do this",
		"Ask the operator for a token with the scope, or for the host or origin to be allowed."},
	{messages.CodeNotFound, http.StatusNotFound, "There is no such thing, or it belongs to somebody else",
		"Check the id. Runs are forgotten after the retention."},
	{CodeNotAllowed, http.StatusMethodNotAllowed, "The path does not take this method", "The Allow field lists those it takes."},
	{CodeNotAcceptable, http.StatusNotAcceptable, "The path has no answer of a media type that Accept asks for",
		"Ask for one that `detail` lists, or leave Accept out."},
	{messages.CodeConflict, http.StatusConflict, "The request contradicts an earlier one",
		"Use another idempotency key; an answer cannot be changed; only ended runs can be forgotten."},
	{messages.CodeReset, http.StatusConflict, "The log has no such event", "Drop the State and read from 0."},
	{messages.CodeEventsGone, http.StatusGone, "The retention has ended the run's log", "Start the run again."},
	{CodeTooLarge, http.StatusRequestEntityTooLarge, "The request is too large", "Send less, or raise `serve --max-body`."},
	{codeUnsupported, http.StatusUnsupportedMediaType, "The form of the body is not taken",
		"Send JSON that is not compressed, with Content-Type: application/json."},
	{messages.CauseInvalidInput, http.StatusUnprocessableEntity, "A part of the request is wrong", "`detail` and `errors` name the part."},
	{messages.CauseLimitExceeded, http.StatusTooManyRequests, "A limit is reached",
		"Wait as long as Retry-After says, end runs, or raise the limit that `detail` names."},
	{messages.CauseContextExceeded, http.StatusBadRequest, "The prompt is longer than the model's context",
		"Send less, or load the model with a larger context."},
	{messages.CodeBudget, http.StatusPaymentRequired, "The run has used up its budget",
		"Start it with a larger `limits.budget`, or with `on_budget: ask`, so that people can add to it."},
	{messages.CodeProviderAuth, http.StatusFailedDependency, "The model server does not accept this server's key",
		"Your own token is fine: the operator sets the key of the model server."},
	{messages.CodeAuthRequired, http.StatusFailedDependency, "A coding agent wants its user to log in",
		"Run the command that `detail` names as the user of the server, and start the run again."},
	{messages.CauseProviderError, http.StatusBadGateway, "The model server refused the request, or failed",
		"`detail` has its words. The status is its own, if it sent one."},
	{messages.CauseTransportClosed, http.StatusBadGateway, "The connection to the model server ended early", "Try again."},
	{messages.CauseEmptyCompletion, http.StatusBadGateway, "The model server sent an empty answer", "Try again."},
	{messages.CauseInvalidOutput, http.StatusBadGateway, "The model's answer does not have the form that was asked for",
		"Ask for another form, or use a larger model."},
	{messages.CauseStalled, http.StatusGatewayTimeout, "Nothing happened for too long", "Try again."},
	{messages.CodeCompactionLoop, http.StatusGatewayTimeout, "A coding agent shortens its history again and again, and does nothing else",
		"Begin a new session with a smaller task."},
	{messages.CauseDeadline, http.StatusGatewayTimeout, "The time is over", "Ask for less, or raise the limit that `detail` names."},
	{CodeInternal, http.StatusInternalServerError, "The server failed", "Report it with the server's log."},
	{messages.CodeUnavailable, http.StatusServiceUnavailable, "The server does not take this now", "Try again."},
	{messages.CauseShutdown, http.StatusServiceUnavailable, "The server is stopping", "Come back with the cursor."},
	{messages.CauseJournalUnavailable, http.StatusServiceUnavailable, "The journal does not answer",
		"Try again; the operator finds the reason in the server's log."},
}

// ProblemOf returns the error as problem details. Errors without a known code are internal errors of the server.
func ProblemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return NewProblem(CodeTooLarge, fmt.Sprintf("the body has more than %d bytes", tooLarge.Limit))
	}
	known, ok := errors.AsType[*messages.Error](err)
	if !ok {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return NewProblem(messages.CodeUnavailable, "the request ended before there was an answer")
		}
		return NewProblem(CodeInternal, err.Error())
	}
	p := NewProblem(known.Code, known.Message)
	p.Retryable = known.Retryable || p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests
	if s := known.Provider; s != nil {
		p.provider, p.Retryable, p.wait = s, known.Retryable, time.Duration(s.RetryAfterMS)*time.Millisecond
		if known.Code == messages.CauseProviderError && s.Status >= http.StatusBadRequest && s.Status < 600 {
			p.Status = s.Status
		}
	}
	if later, ok := errors.AsType[*retryAfter](err); ok {
		p.wait = later.wait
	}
	return p
}

// NewProblem returns a problem with the code. An unknown code becomes an internal error.
func NewProblem(code messages.Code, detail string) *Problem {
	for _, row := range codes {
		if row.code == code {
			return &Problem{Type: errorPage + string(code), Title: row.title, Status: row.status, Detail: detail, Code: string(code)}
		}
	}
	return NewProblem(CodeInternal, detail)
}

// CodeOfStatus returns the code for an HTTP status that another library chose.
func CodeOfStatus(status int) messages.Code {
	for _, row := range codes {
		if row.status == status {
			return row.code
		}
	}
	if status < http.StatusInternalServerError {
		return CodeBadRequest
	}
	return CodeInternal
}

// Refuse answers a request with the error as problem details, which must not be cached.
func Refuse(w http.ResponseWriter, err error) {
	p := ProblemOf(err)
	body, marshalErr := json.Marshal(p)
	if marshalErr != nil {
		panic(marshalErr) // it has only strings and numbers
	}
	h := w.Header()
	h.Set("Content-Type", problemType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body))) // the client has all of it before its own body is drained
	maps.Copy(h, p.Headers())
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // a client that left needs no answer
}

// Require returns an error (forbidden) that names the scope, if the caller in ctx lacks it. WriteRuns is enough for
// AnswerRuns here: a door decides by the question what the caller may answer.
func Require(ctx context.Context, s Scope) error {
	if p := From(ctx); p.May(s) || s == AnswerRuns && p.May(WriteRuns) {
		return nil
	}
	return messages.Errorf(CodeForbidden, "your token lacks the scope %s; ask for one that has it", s)
}

// Challenge returns the WWW-Authenticate field for a response with status 403 to a caller that lacks the scope. ctx is
// the context of a request behind [Middleware.Wrap].
func Challenge(ctx context.Context, s Scope) string {
	params := []string{`error="insufficient_scope"`, `scope="` + string(s) + `"`}
	if p, ok := ctx.Value(grantKey{}).(*grant); ok {
		return p.checks.challenge(p.request, params...)
	}
	return new(Middleware).challenge(nil, params...)
}

// challenge returns a WWW-Authenticate field (RFC 6750), with the metadata URL of RFC 9728 if there is one.
func (m *Middleware) challenge(r *http.Request, params ...string) string {
	first := `realm="lastword"`
	if m.config.Metadata != "" {
		first = `resource_metadata="` + absolute(r, m.config.Metadata) + `"`
	}
	return "Bearer " + strings.Join(append([]string{first}, params...), ", ")
}

// unauthenticated answers a request without a valid token. The challenge names the scopes that the client should ask
// for.
func (m *Middleware) unauthenticated(w http.ResponseWriter, r *http.Request, err *messages.Error, params ...string) {
	params = append(params, `scope="`+string(ReadRuns)+" "+string(WriteRuns)+`"`)
	w.Header().Set("WWW-Authenticate", m.challenge(r, params...))
	m.refuse(w, err)
}

// tooMany answers that a limit is exceeded; what names the limit.
func (m *Middleware) tooMany(w http.ResponseWriter, wait time.Duration, what string) {
	m.refuse(w, RetryAfter(wait, messages.LimitExceeded("%s; try again in %d s", what, seconds(wait))))
}
