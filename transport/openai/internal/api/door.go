package api

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

type handler struct{ *door.Door }

// Handler handles a request. It returns an error if it has not answered.
type Handler = func(http.ResponseWriter, *http.Request) error

// Routes serves each pattern with its handler. Errors have the format of the API.
func Routes(routes map[string]Handler) *door.Handler {
	return door.Routes(routes, refuse)
}

// Paths returns the paths for models.
func Paths() []string { return []string{"/v1/models", "/v1/models/"} }

// New returns the handler for the Paths. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{to}
	return Routes(map[string]Handler{"GET /v1/models": d.models, "GET /v1/models/{model...}": d.model})
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

// FailureOf returns an error object. server says that the caller is not at fault.
func FailureOf(code, message string, server bool) (f Failure) {
	f.Error.Message, f.Error.Code, f.Error.Type = message, code, "invalid_request_error"
	if server {
		f.Error.Type = "server_error"
	}
	return f
}

// refuse answers with the error.
func refuse(w http.ResponseWriter, err error) {
	p := auth.ProblemOf(err)
	maps.Copy(w.Header(), p.Headers())
	if !p.Retryable { // else the official clients would retry, and start another run
		w.Header().Set("X-Should-Retry", "false")
	}
	Write(w, p.Status, FailureOf(p.Code, p.Detail, p.Status >= http.StatusInternalServerError))
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
type Tally messages.Usage

// Add adds the token counts in an operation, if it has any.
func (t *Tally) Add(op *transcript.Op) {
	if b, ok := op.Event.Body.(messages.LLMCompleted); ok && op.Do == transcript.Update && b.Usage != nil {
		t.PromptTokens += b.Usage.PromptTokens
		t.CompletionTokens += b.Usage.CompletionTokens
		t.ReasoningTokens += b.Usage.ReasoningTokens
	}
}
