package responses

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/openai/internal/api"
)

type handler struct{ *api.Retries }

// Paths returns the paths that this package serves.
func Paths() []string { return []string{"/v1/responses", "/v1/responses/"} }

// New returns the handler for the Paths. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{&api.Retries{Door: to}}
	return api.Routes(map[string]api.Handler{
		"POST /v1/responses":             d.create,
		"GET /v1/responses/{id}":         d.retrieve,
		"DELETE /v1/responses/{id}":      d.remove,
		"POST /v1/responses/{id}/cancel": d.cancel,
	})
}

// storeLabel is the label of a run whose request has a member store. If it is notStored, nobody finds the response after
// its end; the log is the operator's, and ends with the retention.
const (
	storeLabel = "openai.store"
	notStored  = "false"
)

// find returns an empty response for the id, and its run. Errors: not_found.
func (d handler) find(ctx context.Context, id string) (*response, messages.State, error) {
	rest, named := strings.CutPrefix(id, "resp_")
	cut := strings.LastIndexByte(rest, '_')
	segment, err := strconv.Atoi(rest[cut+1:])
	if !named || cut < 0 || err != nil || segment < 1 {
		return nil, messages.State{}, messages.Errorf(messages.CodeNotFound, "there is no response %.200q", id)
	}
	run, err := d.Run(ctx, messages.RunID(rest[:cut]))
	forgotten := err == nil && run.Status.IsEnded() && run.Queued.Labels[storeLabel] == notStored
	if err == nil && (forgotten || segment > len(run.Inputs)+1) {
		err = messages.Errorf(messages.CodeNotFound, "there is no response %.200q", id)
	}
	if err != nil || segment == 1 {
		return &response{SegmentWriter: door.SegmentWriter{Run: run.RunID}, segment: 1}, run, err
	}
	return after(run, segment-1), run, nil
}

// after returns the response after the question that ended the segment, or after the newest question.
func after(run messages.State, segment int) *response {
	segment = min(segment, len(run.Inputs))
	return &response{SegmentWriter: door.SegmentWriter{Run: run.RunID, Seen: run.Inputs[segment-1].Request}, segment: segment + 1}
}

// create handles POST /v1/responses.
func (d handler) create(w http.ResponseWriter, r *http.Request) error {
	var q request
	rest, err := api.Read(r, &q)
	if err != nil {
		return err
	}
	q.rest = rest
	out, requested, err := d.begin(r, &q)
	if err != nil {
		return err
	}
	if q.Background {
		requested = ""
	}
	out.Attached = requested == "" && !q.Background
	return d.Deliver(r, out.Run, requested, func() (bool, error) {
		err := d.write(w, r, out, &q)
		return out.problem == nil, err
	})
}

// write writes the response: as a stream, as its current state, or as a whole.
func (d handler) write(w http.ResponseWriter, r *http.Request, out *response, q *request) error {
	switch {
	case q.Stream:
		door.Serve(w, r, d.Door, responding, out)
		return nil
	case q.Background:
		run, err := d.Run(r.Context(), out.Run)
		if err != nil {
			return err
		}
		return d.answer(w, out, d.upToNow(r.Context(), out, run))
	}
	if err := door.Fold(r.Context(), d.Door, responding, out); err != nil || out.problem == nil {
		return d.answer(w, out, err)
	}
	return api.Fail(d.Door, w, out.problem, out.object()) // the official clients read its error
}

func (d handler) answer(w http.ResponseWriter, out *response, err error) error {
	if err != nil {
		return err
	}
	return api.Answer(d.Door, w, out.object())
}

// begin starts a run, or answers questions of the previous response. asked comes from [api.Retries.Start], and may
// be "".
func (d handler) begin(r *http.Request, q *request) (out *response, requested string, err error) {
	ctx := r.Context()
	var turn door.Turn
	var before messages.State
	var previous *response
	if q.Previous != "" {
		if previous, before, err = d.find(ctx, q.Previous); err != nil {
			return nil, "", err
		}
		turn.Earlier, q.Model = d.Conversation(before), cmp.Or(q.Model, api.Model(*before.Queued))
	}
	answers, err := q.add(&turn, before.Inputs)
	question, waits := door.Question(before)
	switch {
	case err != nil:
		return nil, "", err
	case len(answers) > 0:
		for call, text := range answers {
			err = errors.Join(err, d.AnswerText(ctx, door.Client, before, call, text))
		}
		return after(before, previous.segment), "", err
	case waits:
		return nil, "", messages.InvalidInput("there is no function_call_output for the call %s", question.Request)
	case previous != nil && !before.Status.IsEnded():
		return nil, "", messages.Errorf(messages.CodeConflict, "the previous response is in progress; wait for its end, or cancel it")
	}
	labels := q.Labels(q.Context(r, turn))
	if string(q.Store) == notStored {
		if q.Background {
			return nil, "", messages.InvalidInput("a response in the background is read later; leave store out")
		}
		labels[storeLabel] = notStored
	}
	run, requested, err := d.Start(r, &q.Options, turn, labels, q.Client.Turn)
	return &response{SegmentWriter: door.SegmentWriter{Run: run}, segment: 1}, requested, err
}

// remove handles DELETE /v1/responses/{id}. It removes the whole run of the response.
func (d handler) remove(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	_, run, err := d.find(r.Context(), id)
	if err == nil {
		err = d.DeleteLog(r.Context(), run.RunID)
	}
	if err != nil {
		return err
	}
	return api.Answer(d.Door, w, fields{"id": id, "object": "response", "deleted": true})
}

// retrieve handles GET /v1/responses/{id}. openai-go sends the member stream in a body.
func (d handler) retrieve(w http.ResponseWriter, r *http.Request) error {
	var body struct{ Stream bool }
	if r.ContentLength > 0 {
		if err := door.ReadJSON(r, &body); err != nil {
			return err
		}
	}
	out, run, err := d.find(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	query := r.URL.Query()
	after := query.Get("starting_after")
	if !body.Stream && query.Get("stream") != "true" {
		return d.answer(w, out, d.upToNow(r.Context(), out, run))
	}
	if after != "" && after != "0" {
		if out.after, err = strconv.ParseUint(after, 10, 63); err != nil {
			return messages.InvalidInput("starting_after must be a sequence_number")
		}
		trial := *out
		if err := d.upToNow(r.Context(), &trial, run); err != nil {
			return err
		}
		if !trial.found {
			return messages.InvalidInput("no event has the sequence_number %d any more; leave starting_after out", out.after)
		}
	}
	door.Serve(w, r, d.Door, responding, out)
	return nil
}

// upToNow reads the events that exist into the response.
func (d handler) upToNow(ctx context.Context, out *response, run messages.State) error {
	out.Until = run.Seq
	return door.Fold(ctx, d.Door, responding, out)
}

// cancelTimeout limits the wait for the end of a cancelled run.
const cancelTimeout = 20 * time.Second

// cancel handles POST /v1/responses/{id}/cancel. It answers when the run has ended.
func (d handler) cancel(w http.ResponseWriter, r *http.Request) error {
	ctx, stop := context.WithTimeout(r.Context(), cancelTimeout)
	defer stop()
	out, run, err := d.find(r.Context(), r.PathValue("id"))
	if err == nil {
		err = d.Cancel(ctx, run.RunID, "")
	}
	if err == nil {
		err = door.Fold(ctx, d.Door, responding, out)
	}
	return d.answer(w, out, err)
}
