package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/supervision/fault"
)

// Name is the name of the job that delivers events. Callers cannot start it.
const Name = "webhook"

// deliveryInput is the job's input.
type deliveryInput struct {
	Target string         `json:"target"`
	Run    messages.RunID `json:"run"`
	// After is the cursor before the first event.
	After uint64 `json:"after,omitempty"`
}

// deliveryResult is the result of a delivery.
type deliveryResult struct {
	Delivered int `json:"delivered"`
}

const (
	// patience is how long delivery of an event is tried.
	patience = 72 * time.Hour
	// longest bounds a delivery. It leaves an event that arrives while another one is tried its own full time.
	longest = 3 * patience
	// mostTaken bounds the events of a step. mostBody bounds one event without its labels, in bytes: a step holds 1
	// MiB.
	mostTaken = 25
	mostBody  = 16 << 10
)

// policy retries after 2 to 4 s, and after twice as long each time, up to one hour: so a retry comes before --retention
// removes the events.
var policy = supervision.Policy{Attempts: 10_000, Backoff: 4 * time.Second, MaxBackoff: time.Hour}

// principal returns the owner of the deliveries to the target; all callbacks have one. No token's name has a space, so no
// caller can be it.
func principal(target string) string { return "webhook " + webhookOf(target) }

// Define returns the definition of the job.
func (h *Hooks) Define() actors.Definition {
	d := actors.Func(Name, h.deliver)
	plain := d.New
	d.New = func(input json.RawMessage) (actors.Job, error) {
		job, err := plain(input)
		if err == nil {
			job.Tasks[0].Policy = policy
		}
		return job, err
	}
	d.Restart, d.Limits = true, messages.Limits{WallClockMS: longest.Milliseconds(), StallMS: longest.Milliseconds()}
	return d
}

// message is an event in the form that the receiver gets.
type message struct {
	Seq   uint64          `json:"seq"`
	ID    string          `json:"id"` // webhook-id
	Body  json.RawMessage `json:"body"`
	Taken time.Time       `json:"taken"`
}

// taken is what a delivery found in the log of its run.
type taken struct {
	Messages []message `json:"messages,omitempty"`
	// Cursor is where the next step begins.
	Cursor uint64 `json:"cursor"`
}

// outcome says how sending an event ended.
type outcome struct {
	GivenUp string `json:"given_up,omitempty"` // the reason
}

const (
	takeStep = "take "
	sendStep = "send "
)

// deliver sends what the log holds. Each attempt first takes the events that have arrived since the attempt before,
// so that they are kept even if the log is removed while the receiver is away.
func (h *Hooks) deliver(ctx context.Context, t *actors.TaskContext, in deliveryInput) (deliveryResult, error) {
	if t.Principal() != principal(in.Target) {
		return deliveryResult{}, supervision.Permanent(messages.Errorf(messages.CodeNotFound, "there is no job %q", Name))
	}
	to, err := h.target(ctx, in)
	if err != nil {
		return deliveryResult{}, supervision.Permanent(err)
	}
	var queue []message
	var sent, lost int
	var why string
	for n, cursor := 1, in.After; ; n++ {
		fresh := false // not from an earlier attempt
		got, err := actors.Do(ctx, t, fmt.Sprint(takeStep, n), func(ctx context.Context) (taken, error) {
			fresh = true
			return h.readEvents(ctx, to, in.Run, cursor)
		})
		if err != nil {
			return deliveryResult{}, err
		}
		cursor, queue = got.Cursor, append(queue, got.Messages...)
		if !fresh {
			continue
		}
		if sent == len(queue) {
			break
		}
		for ; sent < len(queue); sent++ {
			m := queue[sent]
			out, err := actors.Do(ctx, t, fmt.Sprint(sendStep, m.Seq), func(ctx context.Context) (outcome, error) { return h.send(ctx, to, m) })
			if err != nil {
				return deliveryResult{}, err
			}
			if out.GivenUp != "" {
				lost, why = lost+1, out.GivenUp
			}
		}
	}
	if lost > 0 {
		return deliveryResult{}, supervision.Permanent(messages.Errorf(messages.CauseError, "gave up %d of %d events for %s: %s; "+
			"lastword webhooks resend %s sends them again", lost, sent, in.Target, why, in.Run))
	}
	return deliveryResult{Delivered: sent}, nil
}

// target returns the target of the delivery.
func (h *Hooks) target(ctx context.Context, in deliveryInput) (*Target, error) {
	if webhookOf(in.Target) != callback {
		return h.find(in.Target)
	}
	state, err := h.System().State(ctx, in.Run)
	if err != nil {
		return nil, err
	}
	all, err := h.callbacks(ctx, state)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(to *Target) bool { return to.Name == in.Target }); i >= 0 {
		return all[i], nil
	}
	return nil, messages.Errorf(messages.CodeNotFound, "the server no longer calls back at the URL of run %s", in.Run)
}

// send sends a message once. It gives the message up when its time is over.
func (h *Hooks) send(ctx context.Context, to *Target, m message) (outcome, error) {
	var pause time.Duration
	var err error
	if fault.Hit(ctx, fault.WebhookFail) != nil {
		err = &messages.Error{Code: messages.CauseInjected, Message: "injected", Retryable: true}
	} else {
		pause, err = h.Send(ctx, to, m.ID, m.Body)
	}
	e, coded := errors.AsType[*messages.Error](err)
	switch {
	case err == nil:
		return outcome{}, nil
	case ctx.Err() != nil:
		return outcome{}, context.Cause(ctx)
	case coded && !e.Retryable, time.Since(m.Taken) >= patience:
		return outcome{GivenUp: err.Error()}, nil
	}
	return outcome{}, supervision.RetryAfter(pause, err)
}

// readEvents reads the log past the cursor. A log that was removed holds nothing.
func (h *Hooks) readEvents(ctx context.Context, to *Target, run messages.RunID, cursor uint64) (taken, error) {
	got := taken{Cursor: cursor}
	state, err := h.System().State(ctx, run)
	if messages.CodeOf(err) == messages.CodeNotFound {
		return got, nil
	}
	if err != nil {
		return got, err
	}
	if got.Cursor >= state.Seq {
		return got, nil
	}
	for e, err := range h.System().Events(ctx, run, cursor) {
		switch code := messages.CodeOf(err); {
		case code == messages.CodeEventsGone, code == messages.CodeNotFound:
			return got, nil
		case err != nil:
			return got, err
		}
		got.Cursor = e.Seq
		if to.acceptsEvent(state.Queued, e) {
			body, err := h.body(to, state.Queued, e)
			if err != nil {
				return got, err
			}
			got.Messages = append(got.Messages, message{Seq: e.Seq, ID: idOf(e), Body: body, Taken: time.Now().UTC()})
		}
		if e.Seq >= state.Seq || len(got.Messages) == mostTaken {
			break
		}
	}
	return got, nil
}

// idOf returns the webhook-id, which is the same for every attempt and every resending. The standard allows no full
// stop in it.
func idOf(e messages.Event) string {
	return fmt.Sprintf("%s:%d", strings.ReplaceAll(string(e.RunID), ".", "_"), e.Seq)
}

// body returns the body that is sent for the event.
func (h *Hooks) body(to *Target, q *messages.RunQueued, e messages.Event) ([]byte, error) {
	if form := h.Forms[to.form]; form != nil {
		return h.Redact(form(q, e)), nil
	}
	payload, err := json.Marshal(e.Body)
	if err != nil {
		return nil, err
	}
	var b struct {
		Type      messages.Kind `json:"type"`
		Timestamp time.Time     `json:"timestamp"`
		Data      struct {
			RunID   messages.RunID    `json:"run_id"`
			Seq     uint64            `json:"seq"`
			Job     string            `json:"job"`
			Title   string            `json:"title,omitempty"`
			Parent  messages.RunID    `json:"parent,omitempty"`
			Labels  map[string]string `json:"labels,omitempty"`
			Message string            `json:"message,omitempty"`
			Payload json.RawMessage   `json:"payload,omitempty"`
			// Omitted says that the payload is too long, and only in the run's log.
			Omitted bool `json:"omitted,omitempty"`
		} `json:"data"`
	}
	b.Type, b.Timestamp = e.Kind(), e.Time
	d := &b.Data
	d.RunID, d.Seq, d.Job, d.Title, d.Parent, d.Labels, d.Message = e.RunID, e.Seq, q.Job, q.Title, q.Parent, q.Labels, e.Message
	if d.Payload = payload; len(payload)+len(e.Message) > mostBody {
		d.Payload, d.Message, d.Omitted = nil, "", true
	}
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	if err := out.Encode(b); err != nil {
		return nil, err
	}
	return h.Redact(bytes.TrimSpace(text.Bytes())), nil
}
