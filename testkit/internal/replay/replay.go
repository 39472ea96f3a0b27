package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// Difference runs the recorded run of the file again, with the given definition of its job. It returns the first
// difference.
func Difference(t *testing.T, file string, d actors.Definition) (difference error) {
	r, err := read(file)
	if err != nil {
		return err
	}
	queued, ok := r.root.log[0].Body.(messages.RunQueued)
	if !ok || queued.Job != d.Name {
		return fmt.Errorf("the run is one of the job %s, and the definition is of %s", queued.Job, d.Name)
	}
	synctest.Test(t, func(t *testing.T) { difference = (&replay{recording: r}).run(t.Context(), queued, d) })
	return difference
}

// replay is the second run of a recording.
type replay struct {
	*recording
	system *actors.System
	logs   map[messages.RunID][]messages.Event

	mu      sync.Mutex
	refused error // an answer that the replayed run refused
}

// run starts the recorded job in a bubble whose clock shows the recorded time, with the recorded cancels and messages, and
// compares the events.
func (r *replay) run(ctx context.Context, queued messages.RunQueued, d actors.Definition) (err error) {
	until(ctx, r.root.log[0])
	config := actors.Config{Jobs: []actors.Definition{d}, Recorded: r.told}
	if cause := r.root.fold.Peek().End.Cause; cause != messages.CauseDeadline && cause != messages.CauseStalled {
		config.WallClock, config.Stall = math.MaxInt64/4, math.MaxInt64/4 // virtual time passes without any events
	}
	if r.system, err = actors.New(ctx, config); err != nil {
		return err
	}
	defer r.system.Close(context.Background())
	id, err := r.system.Submit(ctx, messages.Request{Job: queued.Job, Input: queued.Input, Principal: queued.Principal,
		Mode: queued.Mode, Labels: queued.Labels, Limits: queued.Limits})
	if err != nil {
		return fmt.Errorf("the run does not start: %w", err)
	}
	for _, e := range r.root.log {
		again := func() error { return nil }
		switch b := e.Body.(type) {
		case messages.RunCanceling:
			again = func() error { return r.system.Cancel(ctx, id, b.By, b.Reason) }
		case messages.MessageQueued:
			again = func() error { _, err := r.system.Send(ctx, id, b.Said); return err }
		case messages.MessageDropped:
			if b.Reason == messages.DropRevoked {
				again = func() error { return r.system.Revoke(ctx, id, b.Message) }
			}
		default:
			continue
		}
		defer time.AfterFunc(time.Until(e.Time), func() { _ = again() }).Stop()
	}
	if err := r.follow(ctx, id); err != nil {
		return err
	}
	return r.compare(ctx)
}

// follow reads the events of the run and its sub-runs, and answers their questions.
func (r *replay) follow(ctx context.Context, id messages.RunID) error {
	r.logs = map[messages.RunID][]messages.Event{}
	for e, err := range messages.Each(r.system.Follow(ctx, id, messages.FollowOptions{Tree: true})) {
		if err != nil {
			return err
		}
		r.logs[e.RunID] = append(r.logs[e.RunID], e)
		if b, ok := e.Body.(messages.InputRequired); ok {
			r.answer(ctx, e.RunID, b)
		}
	}
	return nil
}

// answer answers a question when and as people did, if they did.
func (r *replay) answer(ctx context.Context, id messages.RunID, question messages.InputRequired) {
	of := r.recorded(ctx, id)
	if of == nil || len(of.inputs[question.Request]) == 0 {
		return
	}
	e := of.inputs[question.Request][0]
	of.inputs[question.Request] = of.inputs[question.Request][1:]
	in, value := e.Body.(messages.InputReceived), json.RawMessage(`"a secret"`)
	if question.InputKind != messages.InputSecret {
		value = in.Value
	}
	time.AfterFunc(time.Until(e.Time), func() {
		if err := r.system.Answer(ctx, id, question.Request, value, in.Principal); err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.refused = fmt.Errorf("the answer to %s is refused: %w", question.Request, err)
		}
	})
}

// recorded finds the recorded run that a run of the replay repeats, by the names that its parents gave; nil if there
// is none.
func (r *replay) recorded(ctx context.Context, id messages.RunID) *run {
	end := strings.LastIndex(string(id), ".")
	if end < 0 {
		return r.root
	}
	parent := r.recorded(ctx, id[:end])
	state, err := r.system.State(ctx, id[:end])
	if parent == nil || err != nil {
		return nil
	}
	for _, c := range state.Children {
		for _, then := range parent.fold.Peek().Children {
			if c.Child == id && then.Task == c.Task && then.Name == c.Name {
				return r.runs[then.Child]
			}
		}
	}
	return nil
}

// told returns the recorded answer to a task, at its recorded time.
func (r *replay) told(ctx context.Context, t *actors.TaskContext, request messages.Body) ([]messages.Body, error) {
	of := r.recorded(ctx, t.RunID())
	if of == nil {
		return nil, fmt.Errorf("the recording has no such sub-run as %s", t.RunID())
	}
	var a *answer
	what := ""
	switch b := request.(type) {
	case messages.LLMStarted:
		a, what = of.answers[b.Call], "call of a model "+b.Call
	case messages.ToolStarted:
		a, what = of.answers[b.Call], "call of a tool "+b.Call
	case messages.StepKept:
		if a, what = of.answers[stepOf(t.Name(), b.Step, t.Attempt())], "step "+b.Step; a == nil {
			a = of.answers[failureOf(t.Name(), t.Attempt())] // by an error that was not kept
		}
	}
	switch {
	case a == nil && of.canceled == 0:
		return nil, fmt.Errorf("the recorded run has no %s", what)
	case a == nil || of.canceled > 0 && a.end.Seq > of.canceled:
		<-ctx.Done() // it was under way at the cancel
	}
	if a == nil {
		return nil, context.Cause(ctx)
	}
	for _, e := range a.said {
		until(ctx, e)
		var err error
		if q, ok := e.Body.(messages.InputRequired); ok {
			_, err = t.Ask(ctx, q)
		} else {
			err = t.Emit(e.Body, e.Message)
		}
		if err != nil {
			break // the call ends as it did
		}
	}
	until(ctx, a.end)
	return a.told, a.err
}

// until waits for the time of a recorded event, or until ctx is done.
func until(ctx context.Context, e messages.Event) {
	select {
	case <-time.After(time.Until(e.Time)):
	case <-ctx.Done():
	}
}
