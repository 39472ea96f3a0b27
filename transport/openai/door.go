package openai

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

type handler struct{ *door.Door }

// Handler answers a request, or says why it cannot.
type Handler = func(http.ResponseWriter, *http.Request) error

// Routes serves each pattern with its handler. Errors have the form of the API.
func Routes(routes map[string]Handler) *door.Handler {
	return door.Routes(routes, refuse)
}

// Paths are those of the models.
func Paths() []string { return []string{"/v1/models", "/v1/models/"} }

// New returns the handler of the Paths. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{to}
	return Routes(map[string]Handler{"GET /v1/models": d.models, "GET /v1/models/{model...}": d.model})
}

// Failure is how the API says what went wrong. The stream of go-openai knows it by its first member.
type Failure struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

// FailureOf returns the failure. server says that the caller did nothing wrong.
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
	if !p.Retryable { // or the official clients ask again, which would start another run
		w.Header().Set("X-Should-Retry", "false")
	}
	Write(w, p.Status, FailureOf(p.Code, p.Detail, p.Status >= http.StatusInternalServerError))
}

// Write answers with JSON.
func Write(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":{"message":"the answer is not JSON"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(data) // a client that left misses nothing
}

// Answer writes a body without the process's secrets.
func Answer(d *door.Door, w http.ResponseWriter, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	Write(w, http.StatusOK, json.RawMessage(d.Redact(data)))
	return nil
}

// model is a model of the list: a job, or one of the server's.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func modelOf(name string) model { return model{ID: name, Object: "model", OwnedBy: "lastword"} }

func (d handler) models(w http.ResponseWriter, r *http.Request) error {
	list := []model{}
	for _, job := range d.Jobs {
		if job.Text != "" {
			list = append(list, modelOf(job.Name))
		}
	}
	if d.Models != nil {
		names, _ := d.Models(r.Context(), "") // the jobs are there without the server of models
		for _, name := range names {
			list = append(list, modelOf(name))
		}
	}
	// Codex looks for models: without any it takes what its configuration says.
	return Answer(d.Door, w, map[string]any{"object": "list", "data": list, "models": []model{}})
}

func (d handler) model(w http.ResponseWriter, r *http.Request) error {
	job, name, err := d.Answerer(r.Context(), r.PathValue("model"))
	if err != nil {
		return err
	}
	return Answer(d.Door, w, modelOf(cmp.Or(name, job.Name)))
}
