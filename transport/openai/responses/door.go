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
	"github.com/seed889630bf/lastword/transport/door/transcript"
	"github.com/seed889630bf/lastword/transport/openai"
)

type handler struct{ *door.Door }

// Paths are those of the API.
func Paths() []string { return []string{"/v1/responses", "/v1/responses/"} }

// New returns the handler of the Paths. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{to}
	return openai.Routes(map[string]openai.Handler{
		"POST /v1/responses":             d.create,
		"GET /v1/responses/{id}":         d.retrieve,
		"POST /v1/responses/{id}/cancel": d.cancel,
	})
}

// responseID names a segment of a run.
func responseID(run messages.RunID, segment int) string {
	return "resp_" + string(run) + "_" + strconv.Itoa(segment)
}

// find returns the response of the id, which has nothing yet, and its run. Errors: not_found.
func (d handler) find(ctx context.Context, id string) (*response, messages.State, error) {
	rest, named := strings.CutPrefix(id, "resp_")
	cut := strings.LastIndexByte(rest, '_')
	segment, err := strconv.Atoi(rest[cut+1:])
	if !named || cut < 0 || err != nil || segment < 1 {
		return nil, messages.State{}, messages.Errorf(messages.CodeNotFound, "there is no response %.200q", id)
	}
	run, err := d.Run(ctx, messages.RunID(rest[:cut]))
	return &response{run: run.RunID, segment: segment}, run, err
}

// create answers POST /v1/responses.
func (d handler) create(w http.ResponseWriter, r *http.Request) error {
	var q request
	if err := door.ReadJSON(r, &q); err != nil {
		return err
	}
	out, err := d.begin(r, &q)
	switch {
	case err != nil:
	case q.Stream:
		d.stream(w, r, out, !q.Background)
		return nil
	case q.Background:
		err = d.upToNow(r.Context(), out)
	default:
		if err = door.Fold(r.Context(), d.Door, out.run, responding, out, out.over); err != nil {
			openai.Leave(r.Context(), d.Door, out.run)
		}
	}
	return d.answer(w, out, err)
}

func (d handler) answer(w http.ResponseWriter, out *response, err error) error {
	if err != nil {
		return err
	}
	return openai.Answer(d.Door, w, out.object())
}

// begin starts a run, or answers the questions of the response before.
func (d handler) begin(r *http.Request, q *request) (*response, error) {
	ctx := r.Context()
	var turn door.Turn
	var before messages.State
	var next *response
	if q.Previous != "" {
		var err error
		if next, before, err = d.find(ctx, q.Previous); err != nil {
			return nil, err
		}
		turn.Earlier, q.Model = d.Said(before), cmp.Or(q.Model, before.Queued.Job)
		next.segment++
	}
	asked, waits := door.Question(before)
	answers, err := q.add(&turn)
	switch {
	case err != nil:
		return nil, err
	case len(answers) > 0 && next == nil:
		return nil, messages.InvalidInput("a function_call_output needs previous_response_id")
	case len(answers) > 0:
		for call, text := range answers {
			err = errors.Join(err, d.AnswerText(ctx, before, call, text))
		}
		return next, err
	case waits:
		return nil, messages.InvalidInput("there is no function_call_output for the call %s", asked.Request)
	case next != nil && !before.Status.IsEnded():
		return nil, messages.Errorf(messages.CodeConflict,
			"the previous response is in progress; wait for its end, or cancel it")
	}
	run, err := d.StartTurn(ctx, q.Model, turn, q.Metadata, r.Header.Get("Idempotency-Key"))
	return &response{run: run, segment: 1}, err
}

// retrieve answers GET /v1/responses/{id}. openai-go sends the member stream in a body.
func (d handler) retrieve(w http.ResponseWriter, r *http.Request) error {
	var body struct{ Stream bool }
	if r.ContentLength > 0 {
		if err := door.ReadJSON(r, &body); err != nil {
			return err
		}
	}
	out, _, err := d.find(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	query := r.URL.Query()
	after := query.Get("starting_after")
	if !body.Stream && query.Get("stream") != "true" {
		return d.answer(w, out, d.upToNow(r.Context(), out))
	}
	if after != "" && after != "0" {
		if out.after, err = strconv.ParseUint(after, 10, 63); err != nil {
			return messages.InvalidInput("starting_after must be a sequence_number")
		}
		trial := *out
		if err := d.upToNow(r.Context(), &trial); err != nil {
			return err
		}
		if !trial.found {
			return messages.InvalidInput("no event has the sequence_number %d any more; leave starting_after out", out.after)
		}
	}
	d.stream(w, r, out, false)
	return nil
}

// upToNow plays what the log holds. Errors: not_found where the segment has not begun.
func (d handler) upToNow(ctx context.Context, out *response) error {
	state, err := d.Run(ctx, out.run)
	if err == nil {
		err = door.Fold(ctx, d.Door, out.run, responding, out, func(t *transcript.Transcript) bool {
			return out.ended || t.Seq >= state.Seq
		})
	}
	if err == nil && out.status == "" {
		err = messages.Errorf(messages.CodeNotFound, "there is no response %s", responseID(out.run, out.segment))
	}
	return err
}

// stream writes the response as it comes. If its client leaves, an attached one is cancelled.
func (d handler) stream(w http.ResponseWriter, r *http.Request, out *response, attached bool) {
	out.stream = d.Stream(w, "text/event-stream")
	err := door.Play(r.Context(), d.Door, out.stream, out.run, messages.Follow{}, responding, out, out.over)
	if err != nil && attached {
		openai.Leave(r.Context(), d.Door, out.run)
	}
	if err != nil {
		out.stream.Break()
	}
}

// cancelTimeout bounds the wait for the end of a cancelled run.
const cancelTimeout = 20 * time.Second

// cancel answers POST /v1/responses/{id}/cancel at the end of the run.
func (d handler) cancel(w http.ResponseWriter, r *http.Request) error {
	ctx, stop := context.WithTimeout(r.Context(), cancelTimeout)
	defer stop()
	out, run, err := d.find(ctx, r.PathValue("id"))
	if err == nil {
		err = d.Cancel(ctx, run.RunID, "")
	}
	if err == nil {
		err = door.Fold(ctx, d.Door, run.RunID, responding, out, out.over)
	}
	return d.answer(w, out, err)
}
