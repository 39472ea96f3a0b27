package api

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

type handler struct{ *door.Door }

// Handler handles a request. It returns an error if it has not answered.
type Handler = func(http.ResponseWriter, *http.Request) error

// Routes serves each pattern with its handler. Errors have the format of the API.
func Routes(routes map[string]Handler) *door.Handler { return door.Routes(routes, Refuse) }

// Paths returns the paths for models.
func Paths() []string { return []string{"/v1/models", "/v1/models/"} }

// New returns the handler for the Paths. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{to}
	return Routes(map[string]Handler{"GET /v1/models": d.models, "GET /v1/models/{model...}": d.model})
}

// Usage is the API's object of token counts: with the names of completions or of responses. It is nil without counts.
func (t *Tally) Usage(in, out string) map[string]any {
	u := t.Tokens
	if u == nil {
		return nil
	}
	all := map[string]any{}
	add := func(to map[string]any, name string, count *int64) {
		if count != nil {
			to[name] = *count
		}
	}
	detail := func(name, of string, count *int64) {
		if count != nil {
			all[of+"_details"] = map[string]int64{name: *count}
		}
	}
	add(all, in, u.PromptTokens)
	add(all, out, u.CompletionTokens)
	add(all, "total_tokens", u.Total())
	detail("cached_tokens", in, u.CachedTokens)
	detail("reasoning_tokens", out, u.ReasoningTokens)
	return all
}

// Failure is the API's error object. go-openai recognizes it in a stream by its first member.
type Failure struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

// FailureOf returns the problem as an error object.
func FailureOf(p *auth.Problem) (f Failure) {
	f.Error.Message, f.Error.Code, f.Error.Type = p.Detail, codeOf(p), "invalid_request_error"
	if p.Status >= http.StatusInternalServerError || p.Status == http.StatusFailedDependency {
		f.Error.Type = "server_error" // the caller is not at fault
	}
	if f.Error.Code == rateLimited {
		f.Error.Type = "rate_limit_error"
	}
	if wait := p.Headers().Get("Retry-After"); f.Error.Code == rateLimited && wait != "" && !strings.Contains(p.Detail, "try again in") {
		f.Error.Message += "; try again in " + wait + " s" // Codex waits as long as these words say
	}
	return f
}

const rateLimited = "rate_limit_exceeded"

// codeOf returns the code of the API, which agents act on: they compact after context_length_exceeded, and give up
// after insufficient_quota. A model server's own code is kept.
func codeOf(p *auth.Problem) string {
	server := p.Provider()
	switch {
	case p.Code == string(messages.CauseContextExceeded):
		return "context_length_exceeded"
	case server == nil || p.Code != string(messages.CauseProviderError):
		return p.Code
	case server.Code != "":
		return server.Code
	case server.Status == http.StatusTooManyRequests && p.Retryable:
		return rateLimited
	case server.Status == http.StatusTooManyRequests, server.Status == http.StatusPaymentRequired:
		return "insufficient_quota"
	}
	return p.Code
}

// Refuse answers with the error.
func Refuse(w http.ResponseWriter, err error) {
	p := auth.ProblemOf(err)
	fail(w, p, FailureOf(p))
}

// fail answers with the problem, in its own body.
func fail(w http.ResponseWriter, p *auth.Problem, body any) {
	maps.Copy(w.Header(), p.Headers())
	if !p.Retryable { // else the official clients would retry, and start another run
		w.Header().Set("X-Should-Retry", "false")
	}
	Write(w, p.Status, body)
}

// Write answers with JSON.
func Write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(door.JSON(body)) // a client that left needs no answer
}

// Answer writes a body after removing the process's secrets. It returns nil.
func Answer(d *door.Door, w http.ResponseWriter, body any) error {
	Write(w, http.StatusOK, json.RawMessage(d.Redact(door.JSON(body))))
	return nil
}

// Fail is Answer for a run that failed, with the status of the problem.
func Fail(d *door.Door, w http.ResponseWriter, p *auth.Problem, body any) error {
	fail(w, p, json.RawMessage(d.Redact(door.JSON(body))))
	return nil
}

// model is an entry in the list of models: a job, or one of the server's models.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func modelOf(name string) model { return model{ID: name, Object: "model", OwnedBy: "lastword"} }

// models lists the jobs that take a text, and the models.
func (d handler) models(w http.ResponseWriter, r *http.Request) error {
	list := []model{}
	for _, job := range d.Jobs {
		if job.PromptField != "" {
			list = append(list, modelOf(job.Name))
		}
	}
	if d.Models != nil {
		names, _ := d.Models(r.Context(), "") // an error leaves only the jobs
		for _, name := range names {
			list = append(list, modelOf(name))
		}
	}
	// Codex reads the member models. If it is empty, Codex uses its own configuration.
	return Answer(d.Door, w, map[string]any{"object": "list", "data": list, "models": []model{}})
}

func (d handler) model(w http.ResponseWriter, r *http.Request) error {
	job, name, err := d.Answerer(r.Context(), r.PathValue("model"))
	if err != nil {
		return err
	}
	return Answer(d.Door, w, modelOf(cmp.Or(name, job.Name)))
}

// Tally adds up the tokens that the models report.
type Tally struct {
	Tokens *messages.Usage // nil if no server told them
}

// Add adds the token counts that a server told in an operation. The API has no word for an estimate.
func (t *Tally) Add(op *transcript.Op) {
	var used *messages.Usage
	switch b := op.Event.Body.(type) {
	case messages.LLMCompleted:
		if op.Do == transcript.Update {
			used = b.Usage
		}
	case messages.UsageReported:
		used = &b.Usage
	}
	if used != nil && !used.Estimated {
		t.Tokens = t.Tokens.Sum(used)
	}
}
