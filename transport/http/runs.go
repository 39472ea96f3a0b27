package http

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed889630bf/lastword/internal/explain"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
)

// pathID is the path parameter of operations on one run.
type pathID struct {
	ID messages.RunID `path:"id" maxLength:"200" doc:"The run's id" example:"r_k66hldz6ofnwat4rgzpadp2myg"`
}

// start is the body of POST /v1/runs.
type start struct {
	Job      string            `json:"job" doc:"The name of the job" example:"generate"`
	Input    json.RawMessage   `json:"input,omitempty" doc:"The job's input, as /v1/jobs/{name} describes it"`
	Detached *bool             `json:"detached,omitempty" default:"true" doc:"false: the run is cancelled when this request ends; the answer is then a stream, or waits for the end"`
	Labels   map[string]string `json:"labels,omitempty" maxProperties:"32" doc:"The caller's own words, which lists can be filtered by"`
	Limits   startLimits       `json:"limits,omitzero" doc:"Limits of the run; the server's limits where the request has none"`
	Busy     messages.Busy     `json:"busy,omitempty" enum:"queue,steer,reject,interrupt" default:"queue" doc:"What to do while another turn of the conversation works: wait, send the message to that turn, or refuse"`
	Replaces messages.RunID    `json:"replaces,omitempty" maxLength:"200" doc:"A waiting run of the conversation: the new run takes its place, and the server cancels it"`
	Callback string            `json:"callback_url,omitempty" maxLength:"2000" doc:"Where the server sends the run's questions and its end, as Standard Webhooks; its host must be one that the server calls back"`
}

// startLimits are the limits of a start. A budget of zero is refused.
type startLimits struct{ messages.Limits }

func (l *startLimits) UnmarshalJSON(data []byte) error {
	var given struct{ Budget json.RawMessage }
	err := json.Unmarshal(data, &given)
	if err == nil {
		_, err = messages.ReadBudget(given.Budget)
	}
	if err == nil {
		err = json.Unmarshal(data, &l.Limits)
	}
	return err
}

// startInput holds the parameters of a start.
type startInput struct {
	Key    string `header:"Idempotency-Key" maxLength:"256" doc:"A repeated request with the same key and body gets the same run"`
	Done   string `query:"done" enum:"digest" doc:"For an answer with events: as in GET /v1/runs/{id}/events"`
	Prefer string `header:"Prefer" doc:"wait=SECONDS answers with the State once the run has ended, or when the time is over" example:"wait=30"`
	Accept string `header:"Accept" doc:"text/event-stream or application/x-ndjson answers with the run's events"`
	Body   start
}

// toolStart is a start whose body is the arguments of a tool.
type toolStart struct {
	Server string          `path:"name" doc:"The name of the other server" example:"files"`
	Tool   string          `path:"tool" doc:"The name of its tool" example:"read_file"`
	Key    string          `header:"Idempotency-Key" maxLength:"256" doc:"A repeated request with the same key and body gets the same run"`
	Prefer string          `header:"Prefer" doc:"wait=SECONDS answers with the State once the run has ended, or when the time is over" example:"wait=30"`
	Accept string          `header:"Accept" doc:"text/event-stream or application/x-ndjson answers with the run's events"`
	Body   json.RawMessage `doc:"The tool's arguments"`
}

func (s *Server) startTool(w http.ResponseWriter, r *http.Request, in *toolStart) error {
	return s.startRun(w, r, &startInput{Key: in.Key, Prefer: in.Prefer, Accept: in.Accept, Body: start{Job: in.Server + "/" + in.Tool, Input: in.Body}})
}

// startRun starts a run and answers with its State, its events or its end. It refuses an attached run that would be
// cancelled at once because nobody stays to read it.
func (s *Server) startRun(w http.ResponseWriter, r *http.Request, in *startInput) error {
	wait, err := preferred(in.Prefer)
	if err != nil {
		return err
	}
	form, err := formOf(in.Accept)
	if err != nil {
		return err
	}
	if err := s.CheckCallback(in.Body.Callback); err != nil {
		return err
	}
	q := in.Body.request(in.Key)
	in.Body.Input = nil // the job has a copy soon, and the framework keeps in until the answer
	if q.Mode == messages.Attached && form == formJSON && wait == 0 {
		return messages.InvalidInput("an attached run is cancelled when this request ends; " +
			"ask for text/event-stream, or wait for the end with Prefer: wait=SECONDS")
	}
	id, err := s.Start(r.Context(), q)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/runs/"+string(id))
	if form != formJSON {
		s.stream(w, r, id, form, messages.FollowOptions{}, s.feed(r.Context(), cursor.Cursors{id: {}}, in.Done != ""))
		return nil
	}
	return s.answerStart(w, r, id, wait)
}

// request returns the request to the runtime.
func (b start) request(key string) messages.Request {
	q := messages.Request{Job: b.Job, Input: b.Input, Labels: b.Labels, Limits: b.Limits.Limits, Busy: b.Busy, Replaces: b.Replaces, Key: key}
	if b.Detached != nil && !*b.Detached {
		q.Mode = messages.Attached
	}
	if b.Callback != "" {
		if q.Labels == nil {
			q.Labels = map[string]string{}
		}
		q.Labels[messages.CallbackLabel] = b.Callback // the map came from this request
	}
	return q
}

// answerStart answers with 202, or waits and answers with the State at the run's end.
func (s *Server) answerStart(w http.ResponseWriter, r *http.Request, id messages.RunID, wait time.Duration) error {
	status := http.StatusAccepted
	if wait > 0 {
		w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait.Seconds())))
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		defer cancel()
		status = http.StatusOK
		// The terminal passes every filter, so a filter for another kind awaits it.
		for _, err := range s.Runs.Follow(ctx, id, messages.FollowOptions{Filter: messages.Filter{Kinds: []messages.Kind{messages.KindRunCompleted}}}) {
			if err != nil {
				status = http.StatusAccepted
			}
		}
	}
	state, err := s.Runs.State(r.Context(), id)
	if err != nil {
		return err
	}
	return s.writeState(w, r, status, state)
}

// writeState answers with the State. The ETag changes with every event.
func (s *Server) writeState(w http.ResponseWriter, r *http.Request, status int, state messages.State) error {
	tag := etagOf(state.Seq)
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	if status == http.StatusOK && r.Method == http.MethodGet && matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return s.writeJSON(w, status, state)
}

// writeJSON writes a response. It encodes the whole value first, so that an error can still have its own status.
func (s *Server) writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := s.encode(v)
	if err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that left needs no answer
	return nil
}

func etagOf(seq uint64) string { return `"` + strconv.FormatUint(seq, 10) + `"` }

// matches reports whether an If-None-Match field names the tag. A weak tag matches too.
func matches(field, tag string) bool {
	for one := range strings.SplitSeq(field, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}

// getInput holds the parameters that read a State.
type getInput struct {
	ID    messages.RunID `path:"id" maxLength:"200" doc:"The run's id" example:"r_k66hldz6ofnwat4rgzpadp2myg"`
	Wait  waitTime       `query:"wait" doc:"Longest to wait for a change: 5s or a number of seconds, up to 5 minutes"`
	After uint64         `query:"after" doc:"The seq of the State that the caller has; with wait, the answer comes when there is a newer one"`
	None  string         `header:"If-None-Match" doc:"The ETag of the State that the caller has"`
}

// getRun answers with the State. With wait it answers when the State has changed, or when the time is over.
func (s *Server) getRun(w http.ResponseWriter, r *http.Request, in *getInput) error {
	state, err := s.Run(r.Context(), in.ID)
	if err == nil && r.Method == http.MethodGet && in.Wait.Duration > 0 && !state.Status.IsEnded() &&
		(in.After == 0 || in.After >= state.Seq) {
		limit, cancel := context.WithTimeout(r.Context(), in.Wait.Duration)
		defer cancel()
		for _, err := range s.Runs.Follow(limit, in.ID, messages.FollowOptions{After: max(in.After, state.Seq)}) {
			if err != nil && limit.Err() == nil {
				return err
			}
			break // one event, or the end of the time
		}
		state, err = s.Runs.State(r.Context(), in.ID)
	}
	if err != nil {
		return err
	}
	return s.writeState(w, r, http.StatusOK, state)
}

type explanation struct {
	Sentences []string `json:"sentences" doc:"What happened and why, from the events alone"`
}

// explainRun tells a run from its events up to the last milestone.
func (s *Server) explainRun(ctx context.Context, in *pathID) (explanation, error) {
	state, err := s.Run(ctx, in.ID)
	if err != nil {
		return explanation{}, err
	}
	sentences, err := explain.Read(messages.Each(s.Runs.Follow(ctx, in.ID, messages.FollowOptions{})), state.Milestone)
	return explanation{sentences}, err
}

// listInput holds the parameters of the list of runs.
type listInput struct {
	Status []messages.Status `query:"status" enum:"pending,processing,completed,failed,canceled" doc:"Runs with this status"`
	Job    string            `query:"job" doc:"Runs of this job"`
	Label  []string          `query:"label,explode" doc:"Runs with this label, as name:value"`
	Limit  int               `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"Most runs of a page"`
	Cursor string            `query:"cursor" doc:"The value next of the previous page"`
	Accept string            `header:"Accept" doc:"text/event-stream or application/x-ndjson answers with the first page and then with what changes"`
}

// runList is a page of runs.
type runList struct {
	Runs []messages.Summary `json:"runs" doc:"The caller's runs, the newest first"`
	// Next is set if there may be more runs.
	Next string `json:"next,omitempty" doc:"The cursor of the next page"`
}

// listRuns answers with a page of the caller's runs, or with a stream of the changes.
func (s *Server) listRuns(w http.ResponseWriter, r *http.Request, in *listInput) error {
	q := messages.Query{Job: in.Job, Status: in.Status, Limit: in.Limit}
	for _, label := range in.Label {
		name, value, found := strings.Cut(label, ":")
		if !found {
			return messages.InvalidInput("label %.100q is not name:value", label)
		}
		if q.Labels == nil {
			q.Labels = map[string]string{}
		}
		q.Labels[name] = value
	}
	form, err := formOf(in.Accept)
	if err != nil {
		return err
	}
	if form != formJSON {
		s.streamList(w, r, form, q)
		return nil
	}
	list, err := s.page(r.Context(), q, in.Cursor)
	if err != nil {
		return err
	}
	return s.writeJSON(w, http.StatusOK, list)
}

func (s *Server) page(ctx context.Context, q messages.Query, cursor string) (runList, error) {
	runs, next, err := s.Page(ctx, q, cursor)
	return runList{Runs: append([]messages.Summary{}, runs...), Next: next}, err
}

func (s *Server) forgetRun(w http.ResponseWriter, r *http.Request, in *pathID) error {
	err := s.DeleteLog(r.Context(), in.ID)
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// cancelInput holds the parameters of a cancellation. The body may be missing.
type cancelInput struct {
	ID   messages.RunID `path:"id" maxLength:"200" doc:"The run's id" example:"r_k66hldz6ofnwat4rgzpadp2myg"`
	Body *struct {
		Reason string `json:"reason,omitempty" maxLength:"1000" doc:"Why, for the run's log"`
	} `required:"false"`
}

func (s *Server) cancelRun(w http.ResponseWriter, r *http.Request, in *cancelInput) error {
	reason := ""
	if in.Body != nil {
		reason = in.Body.Reason
	}
	return s.accepted(w, r, in.ID, s.Cancel(r.Context(), in.ID, reason))
}

// accepted answers with the State after a command that is in the log, or returns the command's error.
func (s *Server) accepted(w http.ResponseWriter, r *http.Request, id messages.RunID, err error) error {
	if err != nil {
		return err
	}
	state, err := s.Runs.State(r.Context(), id)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/runs/"+string(id))
	return s.writeState(w, r, http.StatusAccepted, state)
}

// answerInput holds the answer to a question.
type answerInput struct {
	ID      messages.RunID `path:"id" maxLength:"200" doc:"The run's id" example:"r_k66hldz6ofnwat4rgzpadp2myg"`
	Request string         `path:"request" doc:"The request of input.required"`
	Body    struct {
		Value json.RawMessage `json:"value" doc:"The answer, which fits the request's schema"`
	}
}

func (s *Server) answerRun(w http.ResponseWriter, r *http.Request, in *answerInput) error {
	return s.accepted(w, r, in.ID, s.Answer(r.Context(), door.Client, in.ID, in.Request, in.Body.Value))
}

// sayInput holds a message to a run.
type sayInput struct {
	ID   messages.RunID `path:"id" maxLength:"200" doc:"The run's id" example:"r_k66hldz6ofnwat4rgzpadp2myg"`
	Body struct {
		Message string           `json:"id,omitempty" maxLength:"128" doc:"Your name for the message: with it, the same request is safe to repeat"`
		Mode    messages.SayMode `json:"mode,omitempty" enum:"steer,interrupt" default:"steer" doc:"steer is seen at the next call of the model; interrupt ends the model's answer first, and declines open questions"`
		Content string           `json:"content" doc:"The message, 32 KiB at most"`
	}
}

// sent says where a message is in the run's log, and among those that wait.
type sent struct {
	Message  string `json:"message" doc:"The message's name"`
	Seq      uint64 `json:"seq" doc:"The number of its message.queued"`
	Position int    `json:"position" doc:"Its place, from 1, among the messages that waited when it came"`
}

func (s *Server) sayRun(w http.ResponseWriter, r *http.Request, in *sayInput) error {
	m, err := s.Say(r.Context(), door.Client, in.ID, messages.Said{Message: in.Body.Message, Mode: in.Body.Mode, Content: in.Body.Content})
	if err != nil {
		return s.withEnd(r.Context(), in.ID, err)
	}
	return s.writeJSON(w, http.StatusAccepted, sent{m.Message, m.Seq, m.Position})
}

// withEnd adds the run's end to the refusal of a message.
func (s *Server) withEnd(ctx context.Context, id messages.RunID, err error) error {
	if messages.CodeOf(err) != messages.CodeConflict {
		return err
	}
	p := auth.ProblemOf(err)
	if state, failed := s.Own(ctx, id); failed == nil {
		p.End = state.End
	}
	return p
}

// messagePath names a message of a run.
type messagePath struct {
	ID      messages.RunID `path:"id" maxLength:"200" doc:"The run's id" example:"r_k66hldz6ofnwat4rgzpadp2myg"`
	Message string         `path:"message" doc:"The message's name"`
}

func (s *Server) releaseRun(w http.ResponseWriter, r *http.Request, in *pathID) error {
	return s.accepted(w, r, in.ID, s.Release(r.Context(), in.ID))
}

// moveInput holds a new place.
type moveInput struct {
	ID   messages.RunID `path:"id" maxLength:"200" doc:"The run's id" example:"r_k66hldz6ofnwat4rgzpadp2myg"`
	Body *struct {
		Before messages.RunID `json:"before,omitempty" maxLength:"200" doc:"Move the run to the place before this run; without it, to the first place"`
	} `required:"false"`
}

func (s *Server) moveRun(w http.ResponseWriter, r *http.Request, in *moveInput) error {
	before := messages.RunID("")
	if in.Body != nil {
		before = in.Body.Before
	}
	return s.accepted(w, r, in.ID, s.Move(r.Context(), in.ID, before))
}

func (s *Server) revokeMessage(w http.ResponseWriter, r *http.Request, in *messagePath) error {
	err := s.Revoke(r.Context(), in.ID, in.Message)
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// waitTime is a duration in a query: "5s", or a number of seconds.
type waitTime struct{ time.Duration }

// longestWait limits long polls, so that a proxy's own limit does not cut them first.
const longestWait = 5 * time.Minute

// UnmarshalText parses the duration.
func (d *waitTime) UnmarshalText(text []byte) error {
	t, err := time.ParseDuration(string(text))
	if err != nil {
		t, err = time.ParseDuration(string(text) + "s")
	}
	if err != nil || t < 0 {
		return errors.New("wait is a time such as 5s, or a number of seconds")
	}
	d.Duration = min(t, longestWait)
	return nil
}

// Schema returns the JSON Schema of the duration.
func (d waitTime) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: `^[0-9.]+(ms|s|m|h)?$`, Examples: []any{"5s"}}
}

// preferred returns the wait=SECONDS of a Prefer field (RFC 7240). It ignores other preferences.
func preferred(field string) (time.Duration, error) {
	for one := range strings.SplitSeq(field, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(one), "=")
		if !strings.EqualFold(name, "wait") {
			continue
		}
		seconds, err := strconv.ParseUint(strings.Trim(value, `" `), 10, 31)
		if err != nil {
			return 0, messages.InvalidInput("Prefer: wait needs a number of seconds, such as wait=30")
		}
		return min(time.Duration(seconds)*time.Second, longestWait), nil
	}
	return 0, nil
}
