package responses

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/dialect"
	"github.com/seed889630bf/lastword/transport/dialect/openai"
	"github.com/seed889630bf/lastword/transport/view"
)

type door struct{ *dialect.Door }

// Paths are those of the API.
func Paths() []string { return []string{"/v1/responses", "/v1/responses/"} }

// New returns the handler of the Paths. Put it behind a gate.Gate.
func New(c dialect.Config) http.Handler {
	d := door{dialect.NewDoor(c)}
	return openai.Routes(map[string]openai.Handler{
		"POST /v1/responses":             d.respond,
		"GET /v1/responses/{id}":         d.retrieve,
		"POST /v1/responses/{id}/cancel": d.cancel,
	})
}

// responseID names a segment of a run.
func responseID(run messages.RunID, segment int) string {
	return "resp_" + string(run) + "_" + strconv.Itoa(segment)
}

// response returns the caller's run of the id, and the segment. Errors: not_found.
func (d door) response(ctx context.Context, id string) (messages.State, int, error) {
	rest, named := strings.CutPrefix(id, "resp_")
	cut := strings.LastIndexByte(rest, '_')
	segment, err := strconv.Atoi(rest[cut+1:])
	if !named || cut < 0 || err != nil || segment < 1 {
		return messages.State{}, 0, messages.Errorf(messages.CodeNotFound, "there is no response %.200q", id)
	}
	state, err := d.Run(ctx, messages.RunID(rest[:cut]))
	return state, segment, err
}

// respond answers POST /v1/responses.
func (d door) respond(w http.ResponseWriter, r *http.Request) error {
	var q request
	err := dialect.ReadJSON(r, &q)
	if err == nil && len(q.Conversation) > 0 && string(q.Conversation) != "null" {
		err = messages.InvalidInput("conversation is not offered; give previous_response_id")
	}
	if err != nil {
		return err
	}
	out, err := d.continued(r, &q)
	if err != nil {
		return err
	}
	ctx := r.Context()
	switch {
	case q.Stream:
		d.stream(w, ctx, out, !q.Background)
		return nil
	case q.Background:
		err = d.upToNow(ctx, out)
	default:
		if err = dialect.Fold(ctx, d.Door, out.run, responding, out, out.over); err != nil {
			openai.Leave(ctx, d.Door, out.run)
		}
	}
	if err != nil {
		return err
	}
	return openai.Answer(d.Door, w, out.object())
}

// continued starts a run, or answers the questions of the response before.
func (d door) continued(r *http.Request, q *request) (*response, error) {
	ctx := r.Context()
	var before dialect.Turn
	var previous messages.State
	segment := 0
	if q.Previous != "" {
		var err error
		if previous, segment, err = d.response(ctx, q.Previous); err != nil {
			return nil, err
		}
		if q.Model == "" {
			q.Model = previous.Queued.Job
		}
		if before, err = d.before(ctx, previous); err != nil {
			return nil, err
		}
	}
	turn, answers, err := q.turn(before)
	if err != nil {
		return nil, err
	}
	if answers != nil {
		return newResponse(previous.RunID, segment+1), d.answerAll(ctx, previous, answers)
	}
	if asked, waits := dialect.Question(previous); waits {
		return nil, messages.InvalidInput("there is no function_call_output for the call %s", asked.Request)
	}
	job, err := d.TextJob(q.Model)
	if err != nil {
		return nil, err
	}
	run, err := d.StartTurn(ctx, job, turn, q.Metadata, r.Header.Get("Idempotency-Key"))
	return newResponse(run, 1), err
}

// before is what was said before a run and in it. Errors: conflict while it goes on.
func (d door) before(ctx context.Context, previous messages.State) (turn dialect.Turn, err error) {
	if _, waits := dialect.Question(previous); waits {
		return turn, nil
	}
	if !previous.Status.IsEnded() {
		return turn, messages.Errorf(messages.CodeConflict, "the previous response is in progress; wait for its end, or cancel it")
	}
	var run *view.Transcript
	err = dialect.Fold(ctx, d.Door, previous.RunID, &view.Dialect[door]{}, d, func(t *view.Transcript) bool {
		run = t
		return false
	})
	if err == nil {
		turn.Earlier = d.Said(previous, openai.Text(run))
	}
	return turn, err
}

func (d door) answerAll(ctx context.Context, run messages.State, answers map[string]string) error {
	if run.RunID == "" {
		return messages.InvalidInput("a function_call_output needs previous_response_id")
	}
	for call, text := range answers {
		if err := d.AnswerText(ctx, run, call, text); err != nil {
			return err
		}
	}
	return nil
}

// retrieve answers GET /v1/responses/{id}. openai-go sends the member stream in a body.
func (d door) retrieve(w http.ResponseWriter, r *http.Request) error {
	var body struct{ Stream bool }
	if r.ContentLength > 0 {
		if err := dialect.ReadJSON(r, &body); err != nil {
			return err
		}
	}
	state, segment, err := d.response(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	out := newResponse(state.RunID, segment)
	query := r.URL.Query()
	if !body.Stream && query.Get("stream") != "true" {
		if err := d.upToNow(r.Context(), out); err != nil {
			return err
		}
		return openai.Answer(d.Door, w, out.object())
	}
	if after := query.Get("starting_after"); after != "" && after != "0" {
		if out.after, err = strconv.ParseUint(after, 10, 63); err != nil {
			return messages.InvalidInput("starting_after must be a sequence_number")
		}
		trial := newResponse(state.RunID, segment)
		trial.after = out.after
		if err := d.upToNow(r.Context(), trial); err != nil {
			return err
		}
		if trial.lost || !trial.known || trial.ended && trial.after > trial.number() {
			return messages.InvalidInput("no event has the sequence_number %d any more; leave starting_after out", out.after)
		}
	}
	d.stream(w, r.Context(), out, false)
	return nil
}

// upToNow plays what the log holds. Errors: not_found where the segment has not begun.
func (d door) upToNow(ctx context.Context, out *response) error {
	state, err := d.Run(ctx, out.run)
	if err == nil {
		err = dialect.Fold(ctx, d.Door, out.run, responding, out, func(t *view.Transcript) bool {
			return out.over(t) || t.Seq >= state.Seq
		})
	}
	if err == nil && out.status == "" {
		err = messages.Errorf(messages.CodeNotFound, "there is no response %s", responseID(out.run, out.segment))
	}
	return err
}

// stream writes the response as it comes. If its client leaves, an attached one is cancelled.
func (d door) stream(w http.ResponseWriter, ctx context.Context, out *response, attached bool) {
	out.stream = d.Stream(w, "text/event-stream")
	err := dialect.Play(ctx, out.stream, out.run, messages.Follow{}, responding, out, out.over)
	if err != nil && attached {
		openai.Leave(ctx, d.Door, out.run)
	}
	if err != nil || out.lost {
		out.stream.Break()
	}
}

// cancelTimeout bounds the wait for the end of a cancelled run.
const cancelTimeout = 20 * time.Second

// cancel answers POST /v1/responses/{id}/cancel at the end of the run.
func (d door) cancel(w http.ResponseWriter, r *http.Request) error {
	state, segment, err := d.response(r.Context(), r.PathValue("id"))
	if err == nil {
		err = d.Cancel(r.Context(), state.RunID, "")
	}
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(r.Context(), cancelTimeout)
	defer stop()
	out := newResponse(state.RunID, segment)
	if err := dialect.Fold(ctx, d.Door, state.RunID, responding, out, out.over); err != nil {
		return err
	}
	return openai.Answer(d.Door, w, out.object())
}
