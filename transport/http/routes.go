package http

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// runRoutes adds the routes that change runs or return their State.
func (s *Server) runRoutes() {
	tags, path := []string{"runs"}, "/v1/runs/{id}"
	started := map[string]*huma.Response{"202": s.json("The run", messages.State{}),
		"200": s.streams("The run at its end, or its events", messages.State{})}
	raw(s, auth.WriteRuns, huma.Operation{OperationID: "startTool", Method: http.MethodPost, Path: toolPath, Tags: tags,
		Summary: "Start a run of another server's tool", Description: "The body is the tool's arguments. Otherwise as POST /v1/runs.", Responses: started}, s.startTool)
	raw(s, auth.WriteRuns, huma.Operation{OperationID: "startRun", Method: http.MethodPost, Path: "/v1/runs", Tags: tags,
		Summary: "Start a run", Description: "Answers 202 with the run's State once the start is in the log. With an " +
			"Accept of text/event-stream or application/x-ndjson it answers with the run's events, with Prefer: " +
			"wait=SECONDS with the State at its end.", Responses: started}, s.startRun)
	raw(s, auth.ReadRuns, huma.Operation{OperationID: "listRuns", Method: http.MethodGet, Path: "/v1/runs", Tags: tags,
		Summary: "List the caller's runs", Description: "The newest first, in pages. A stream has the first page as list, and then " +
			"the runs that are new, have another status, ask something else or have spent more as runs.",
		Responses: map[string]*huma.Response{"200": s.streams("The list", runList{})}}, s.listRuns)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		raw(s, auth.ReadRuns, huma.Operation{OperationID: strings.ToLower(method) + "Run", Method: method, Path: path, Tags: tags,
			Hidden: method == http.MethodHead, Summary: "Get a run's State",
			Description: "With wait the answer comes at the next event.", Responses: map[string]*huma.Response{
				"200": s.json("The State", messages.State{}), "304": {Description: "The caller has this State"}}}, s.getRun)
	}
	raw(s, auth.WriteRuns, huma.Operation{OperationID: "forgetRun", Method: http.MethodDelete, Path: path, Tags: tags,
		Summary: "Forget an ended run", Description: "Its log is deleted; its files stay.",
		Responses: map[string]*huma.Response{"204": {Description: "The run was removed"}}}, s.forgetRun)
	accepted := map[string]*huma.Response{"202": s.json("The State, with the command in the log", messages.State{})}
	raw(s, auth.WriteRuns, huma.Operation{OperationID: "cancelRun", Method: http.MethodPost, Path: path + "/cancel",
		Tags: tags, Summary: "Cancel a run", Responses: accepted,
		Description: "Answers once the cancel is in the log; the terminal follows. Asking again changes nothing."}, s.cancelRun)
	raw(s, auth.AnswerRuns, huma.Operation{OperationID: "answerRun", Method: http.MethodPost,
		Path: path + "/input/{request}", Tags: tags, Summary: "Answer what a run asked",
		Responses: accepted,
		Description: "Answers once the value is in the log. A second answer is a conflict. Questions other than " +
			"confirmations take run:write too."}, s.answerRun)
	raw(s, auth.WriteRuns, huma.Operation{OperationID: "releaseRun", Method: http.MethodPost, Path: path + "/release",
		Tags: tags, Summary: "Let a held run begin", Responses: accepted,
		Description: "A run that waits in a conversation is held if the run before it failed or was canceled."}, s.releaseRun)
	raw(s, auth.WriteRuns, huma.Operation{OperationID: "moveRun", Method: http.MethodPost, Path: path + "/move",
		Tags: tags, Summary: "Give a run that waits another place", Responses: accepted,
		Description: "Of the runs that wait in its conversation it becomes the first, or the one before another. A run that has begun is a conflict."}, s.moveRun)
	raw(s, auth.WriteRuns, huma.Operation{OperationID: "sayRun", Method: http.MethodPost, Path: path + "/messages",
		Tags: tags, Summary: "Say something to a run that works", Responses: map[string]*huma.Response{"202": s.json("The message is in the log", sent{})},
		Description: "Answers once the message is in the log. Then exactly one of message.delivered and message.dropped " +
			"follows. A run that has ended answers 409 with its end. More than 16 that wait are 429."}, s.sayRun)
	raw(s, auth.WriteRuns, huma.Operation{OperationID: "revokeMessage", Method: http.MethodDelete, Path: path + "/messages/{message}",
		Tags: tags, Summary: "Take a message back", Description: "A message that the run has already is a conflict.",
		Responses: map[string]*huma.Response{"204": {Description: "The run will not see it"}}}, s.revokeMessage)
	raw(s, auth.WriteRuns, huma.Operation{OperationID: "attachRun", Method: http.MethodPost, Path: path + "/attach",
		Tags: tags, Summary: "Keep an attached run going while this request is open",
		Description: "Answers with the run's events. The run is cancelled when the last such request ends.",
		Responses: map[string]*huma.Response{"200": s.streams("The run's events", nil),
			"204": {Description: "The run has ended, and the reader has its terminal"}}}, s.attachRun)
}

// readerRoutes adds the routes that read events, artifacts and proofs.
func (s *Server) readerRoutes() {
	path := "/v1/runs/{id}"
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		raw(s, auth.ReadRuns, huma.Operation{OperationID: strings.ToLower(method) + "Events", Method: method, Path: path + "/events",
			Hidden: method == http.MethodHead, Tags: []string{"events"}, Summary: "Read a run's events",
			Description: "Server-sent events, JSON lines or a page of JSON, as Accept asks. A stream ends after the " +
				"terminal. A reader whose stream was cut goes on after its cursor.",
			Responses: map[string]*huma.Response{"200": s.streams("Events", page{}),
				"204": {Description: "The run has ended, and the reader has its terminal"},
				"304": {Description: "The reader has all of this run"}}}, s.getEvents)
	}
	add(s, auth.ReadRuns, huma.Operation{OperationID: "explainRun", Method: http.MethodGet, Path: path + "/explanation",
		Tags: []string{"events"}, Summary: "Explain a run", Description: "What has happened so far and why, in sentences."}, s.explainRun)
	raw(s, auth.ReadRuns, huma.Operation{OperationID: "getProof", Method: http.MethodGet, Path: path + "/proof",
		Tags: []string{"events"}, Summary: "Get a run's log with its proof",
		Description: "The log as it is kept, the chain of its digests, and the signature of the server's key on the last line. " +
			"lastword verify FILE checks it anywhere.",
		Responses: map[string]*huma.Response{"200": {Description: "The proof", Content: map[string]*huma.MediaType{
			string(formNDJSON): {Schema: &huma.Schema{Type: huma.TypeString}}}}}}, s.getProof)
	add(s, auth.ReadRuns, huma.Operation{OperationID: "listArtifacts", Method: http.MethodGet, Path: path + "/artifacts",
		Tags: []string{"artifacts"}, Summary: "List a run's files",
		Description: "Those of an ended run are what its terminal names."}, s.listArtifacts)
	file := &huma.Response{Description: "The file, or the range of it", Content: map[string]*huma.MediaType{
		"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		raw(s, auth.ReadRuns, huma.Operation{OperationID: strings.ToLower(method) + "Artifact", Method: method,
			Path: filePath, Hidden: method == http.MethodHead, Tags: []string{"artifacts"},
			Summary:     "Download a file",
			Description: "Ranges and conditional requests work. The ETag is the digest. A / in a name is written %2F.",
			Responses: map[string]*huma.Response{"200": file, "206": file,
				"304": {Description: "The caller has the file"}}}, s.getArtifact)
	}
}

// serverRoutes adds the routes that are not about one run.
func (s *Server) serverRoutes() {
	tags := []string{"server"}
	add(s, auth.ReadRuns, huma.Operation{OperationID: "listJobs", Method: http.MethodGet, Path: "/v1/jobs", Tags: tags,
		Summary: "List the jobs that can be started", Description: "Each with the JSON Schema of its input."}, s.listJobs)
	raw(s, auth.ReadRuns, huma.Operation{OperationID: "openSession", Method: http.MethodPost, Path: "/v1/session",
		Tags: tags, Summary: "Open a browser's session",
		Description: "A cookie stands for the token: EventSource and WebSocket cannot set header fields.",
		Responses:   map[string]*huma.Response{"204": {Description: "The cookie is set"}}}, s.openSession)
	raw(s, auth.ReadRuns, huma.Operation{OperationID: "closeSession", Method: http.MethodDelete, Path: "/v1/session",
		Tags: tags, Summary: "Close a browser's session", Description: "Deletes the cookie.",
		Responses: map[string]*huma.Response{"204": {Description: "The cookie was removed"}}}, s.closeSession)
	raw(s, auth.ReadRuns, huma.Operation{OperationID: "openWebSocket", Method: http.MethodGet, Path: socketPath, Tags: tags,
		Summary:     "Follow many runs on one WebSocket",
		Description: "docs/http.md has the messages.",
		Responses:   map[string]*huma.Response{"101": {Description: "The connection is a WebSocket"}}}, s.serveWebSocket)
	add(s, auth.ReadRuns, huma.Operation{OperationID: "getKey", Method: http.MethodGet, Path: "/v1/key", Tags: tags,
		Summary: "Get the keys that sign proofs", Description: "Their public halves (Ed25519), the newest first."}, s.getKey)
	add(s, auth.ReadRuns, huma.Operation{OperationID: "getBudget", Method: http.MethodGet, Path: "/v1/budget", Tags: tags,
		Summary: "Get what is left of today", Description: "The tokens of models that the caller may still use or, with the scope " +
			"admin, every principal that has used some. Empty if the server sets no ceiling."}, s.getBudget)
	add(s, auth.ReadRuns, huma.Operation{OperationID: "getJob", Method: http.MethodGet, Path: "/v1/jobs/{name}",
		Tags: tags, Summary: "Get a job", Description: "With the JSON Schema of its input."}, s.getJob)
}

// add registers an operation that answers with JSON of type O.
func add[I, O any](s *Server, scope auth.Scope, op huma.Operation, handler func(context.Context, *I) (O, error)) {
	var body O
	op.Responses = map[string]*huma.Response{"200": s.json("The answer", body)}
	raw(s, scope, op, func(w http.ResponseWriter, r *http.Request, in *I) error {
		out, err := handler(r.Context(), in)
		if err != nil {
			return err
		}
		return s.writeJSON(w, http.StatusOK, out)
	})
}

// raw registers an operation that writes its response itself.
func raw[I any](s *Server, scope auth.Scope, op huma.Operation, handler func(http.ResponseWriter, *http.Request, *I) error) {
	s.register(scope, op, reflect.TypeFor[I](), func(w http.ResponseWriter, r *http.Request, in any) error { return handler(w, r, in.(*I)) })
}

// secured adds what all operations share: the scope and the possible errors.
func secured(scope auth.Scope, op huma.Operation) huma.Operation {
	op.Security = []map[string][]string{{"bearer": {}}, {"session": {}}}
	op.Description += " Scope: " + string(scope) + "."
	op.MaxBodyBytes, op.BodyReadTimeout = -1, -1 // package auth limits the body, and ServeHTTP has read it
	op.Errors = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusNotAcceptable,
		http.StatusConflict, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusServiceUnavailable}
	return op
}

// job describes a job that callers may start.
type job struct {
	Name        string          `json:"name" doc:"The name that a request gives" example:"generate"`
	Description string          `json:"description" doc:"What the job does"`
	Schema      json.RawMessage `json:"schema" doc:"The JSON Schema of the input"`
	Server      string          `json:"server,omitempty" doc:"The server whose tool a run calls"`
	Tool        string          `json:"tool,omitempty" doc:"The tool of the other server"`
	Messages    bool            `json:"messages,omitempty" doc:"Whether every run of the job takes messages while it works; a plan does if it has a step with receive"`
}

func describe(of messages.JobInfo) job {
	return job{of.Name, of.Description, of.Input.JSON(), of.Server, of.Tool, of.Messages}
}

type jobList struct {
	Jobs []job `json:"jobs" doc:"The jobs that can be started"`
}

func (s *Server) listJobs(ctx context.Context, _ *struct{}) (jobList, error) {
	list := jobList{Jobs: []job{}}
	all, err := s.Listed(ctx, "")
	if err != nil {
		return list, err
	}
	for _, one := range all {
		list.Jobs = append(list.Jobs, describe(one))
	}
	return list, nil
}

type jobInput struct {
	Name string `path:"name" doc:"The job's name" example:"generate"`
}

func (s *Server) getJob(ctx context.Context, in *jobInput) (job, error) {
	if known, err := s.Job(in.Name); err == nil { // no server behind this one need be asked
		return describe(known), nil
	}
	all, err := s.Listed(ctx, in.Name)
	if err != nil {
		return job{}, err
	}
	i := slices.IndexFunc(all, func(j messages.JobInfo) bool { return j.Name == in.Name })
	if i < 0 {
		return job{}, messages.Errorf(messages.CodeNotFound, "there is no job %.100q; GET /v1/jobs lists them", in.Name)
	}
	return describe(all[i]), nil
}

type dayList struct {
	Days []messages.DayTokens `json:"days" doc:"One for each principal"`
}

func (s *Server) getBudget(ctx context.Context, _ *struct{}) (list dayList, err error) {
	list.Days = []messages.DayTokens{}
	if p := auth.From(ctx); s.Days != nil {
		list.Days, err = s.Days(ctx, p.Name, p.May(auth.Admin))
	}
	return list, err
}

// openSession sets a session cookie, which the browser then sends instead of the token.
func (s *Server) openSession(w http.ResponseWriter, r *http.Request, _ *struct{}) error {
	return auth.OpenSession(w, r, s.Secure)
}

func (s *Server) closeSession(w http.ResponseWriter, r *http.Request, _ *struct{}) error {
	return auth.CloseSession(w, r)
}
