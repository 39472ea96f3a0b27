package stories

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/messages"
)

// Teller is a runtime whose runs play stories, for tests of doors. It accepts every job; the input names the story in
// its member text, prompt, message, goal or story; without a name it is plain. A run continues up to its first question without an answer. The
// zero Teller plays [All]. It is safe for concurrent use.
type Teller struct {
	mu   sync.Mutex
	runs []*told
}

// told is one run as its readers see it. The Teller's mutex guards it.
type told struct {
	id     messages.RunID
	key    string
	events []messages.Event
	more   chan struct{} // closed when the run continues
}

// seen returns the events up to the first question without an answer.
func (r *told) seen() []messages.Event {
	for i, e := range r.events {
		if b, ok := e.Body.(messages.InputReceived); ok && b.Principal == unanswered {
			return r.events[:i]
		}
	}
	return r.events
}

// unanswered marks an answer in a story that nobody has given yet.
const unanswered = "\x00"

// find returns the run. The caller holds mu.
func (t *Teller) find(id messages.RunID) (*told, error) {
	for _, r := range t.runs {
		if r.id == id {
			return r, nil
		}
	}
	return nil, messages.Errorf(messages.CodeNotFound, "there is no run %s", id)
}

// Submit starts a story, or returns the run with the same key.
func (t *Teller) Submit(_ context.Context, q messages.Request) (messages.RunID, error) {
	var in struct{ Text, Prompt, Message, Goal, Story string }
	if err := json.Unmarshal(q.Input, &in); err != nil {
		return "", messages.InvalidInput("the input is not an object: %v", err)
	}
	name := cmp.Or(in.Story, in.Text, in.Prompt, in.Message, in.Goal, "plain")
	all := All()
	i := slices.IndexFunc(all, func(s Story) bool { return s.Name == name })
	if i < 0 {
		return "", messages.InvalidInput("there is no story %q", name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.IndexFunc(t.runs, func(r *told) bool { return q.Key != "" && r.key == q.Key }); i >= 0 {
		return t.runs[i].id, nil
	}
	r := &told{key: q.Key, id: messages.RunID(fmt.Sprintf("%s%d", Run, len(t.runs)+1)), more: make(chan struct{})}
	for _, e := range all[i].Events {
		e.RunID = r.id
		switch b := e.Body.(type) {
		case messages.RunQueued:
			b.Job, b.Input, b.Principal, b.Mode, b.Labels = q.Job, q.Input, q.Principal, q.Mode, q.Labels
			e.Body = b
		case messages.ChildStarted:
			b.Child = messages.RunID(strings.Replace(string(b.Child), string(Run), string(r.id), 1))
			e.Body = b
		case messages.ChildEnded:
			b.Child = messages.RunID(strings.Replace(string(b.Child), string(Run), string(r.id), 1))
			e.Body = b
		case messages.InputReceived:
			b.Principal = unanswered
			e.Body = b
		}
		r.events = append(r.events, e)
	}
	t.runs = append(t.runs, r)
	return r.id, nil
}

// State returns the sum of what the run has played.
func (t *Teller) State(_ context.Context, id messages.RunID) (messages.State, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(id)
	if err != nil {
		return messages.State{}, err
	}
	return Fold(r.seen())
}

// Follow yields the events one by one.
func (t *Teller) Follow(ctx context.Context, id messages.RunID, f messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		for after := f.After; ; {
			t.mu.Lock()
			r, err := t.find(id)
			if err != nil {
				t.mu.Unlock()
				yield(nil, err)
				return
			}
			events, more := slices.Clone(r.seen()), r.more
			t.mu.Unlock()
			for _, e := range events {
				if e.Seq <= after {
					continue
				}
				after = e.Seq
				shown, ok := f.Filter.Select(e)
				if !ok {
					continue
				}
				if !yield([]messages.Event{shown}, nil) || e.IsTerminal() {
					return
				}
			}
			if len(events) > 0 && events[len(events)-1].IsTerminal() {
				return
			}
			select {
			case <-more:
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			}
		}
	}
}

// List returns the caller's runs with the labels, the newest first.
func (t *Teller) List(_ context.Context, q messages.Query) ([]messages.Summary, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []messages.Summary
	for _, r := range slices.Backward(t.runs) {
		state, err := Fold(r.seen())
		if err != nil {
			return nil, err
		}
		one := messages.Summary{RunID: r.id, Job: state.Queued.Job, Labels: state.Queued.Labels, Status: state.Status,
			Seq: state.Seq, Principal: state.Queued.Principal, QueuedAt: state.QueuedAt}
		if q.Selects(&one) && len(all) < q.Most() {
			all = append(all, one)
		}
	}
	return all, nil
}

// Cancel ends a run that waits for an answer. A run that has ended stays as it is.
func (t *Teller) Cancel(_ context.Context, id messages.RunID, by, reason string) error {
	return t.change(id, func(r *told) error {
		seen := r.seen()
		last := seen[len(seen)-1]
		if last.IsTerminal() {
			return nil
		}
		for i, body := range []messages.Body{messages.RunCanceling{By: by, Reason: reason},
			messages.RunCanceled{By: messages.ByRun, Cause: messages.CauseCanceledByUser, Artifacts: []messages.Artifact{}}} {
			e := last
			e.Seq, e.Body = last.Seq+uint64(i)+1, body
			e.From = e.Seq
			seen = append(slices.Clip(seen), e)
		}
		r.events = seen
		return nil
	})
}

// Send and Revoke refuse: a story has its end already.
func (t *Teller) Send(_ context.Context, id messages.RunID, _ messages.Said) (messages.Message, error) {
	return messages.Message{}, messages.Errorf(messages.CodeConflict, "run %s takes no message", id)
}

// Revoke is as Send.
func (t *Teller) Revoke(ctx context.Context, id messages.RunID, _ string) error {
	_, err := t.Send(ctx, id, messages.Said{})
	return err
}

// Release is as Send.
func (t *Teller) Release(ctx context.Context, id messages.RunID, _ string) error {
	return t.Revoke(ctx, id, "")
}

// Move is as Send.
func (t *Teller) Move(ctx context.Context, id, _ messages.RunID, _ string) error {
	return t.Revoke(ctx, id, "")
}

// Answer lets a run that asked continue.
func (t *Teller) Answer(_ context.Context, id messages.RunID, request string, value json.RawMessage, by string) error {
	return t.change(id, func(r *told) error {
		for i, e := range r.events {
			b, ok := e.Body.(messages.InputReceived)
			if !ok || b.Request != request {
				continue
			}
			if b.Principal != unanswered || len(r.seen()) < i {
				return messages.Errorf(messages.CodeConflict, "request %q is not open", request)
			}
			b.Value, b.Principal = value, by
			r.events[i].Body = b
			return nil
		}
		return messages.Errorf(messages.CodeNotFound, "run %s asks no %q", id, request)
	})
}

// Attach does nothing, because a story does not end with its caller.
func (t *Teller) Attach(context.Context, messages.RunID) error { return nil }

// Watch reports no change.
func (t *Teller) Watch(ctx context.Context, _ func(messages.RunID)) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// DeleteLog deletes the run.
func (t *Teller) DeleteLog(_ context.Context, id messages.RunID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = slices.DeleteFunc(t.runs, func(r *told) bool { return r.id == id })
	return nil
}

// change changes a run and wakes its readers.
func (t *Teller) change(id messages.RunID, do func(*told) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(id)
	if err == nil {
		err = do(r)
	}
	if err == nil {
		close(r.more)
		r.more = make(chan struct{})
	}
	return err
}

// CutTeller is a Teller whose events stop after some batches: with Err or, if that is nil, with silence until the
// reader leaves.
type CutTeller struct {
	Teller
	After int
	Err   error
}

// Follow yields the events before the cut.
func (c *CutTeller) Follow(ctx context.Context, id messages.RunID, f messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		n := 0
		for batch, err := range c.Teller.Follow(ctx, id, f) {
			if n++; n > c.After && c.Err != nil {
				yield(nil, c.Err)
				return
			} else if n > c.After {
				<-ctx.Done()
				yield(nil, context.Cause(ctx))
				return
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}

// Cuts yields each story's name with a CutTeller that breaks off after one of the story's events, for every event up
// to a question.
func Cuts(err error) iter.Seq2[string, *CutTeller] {
	return func(yield func(string, *CutTeller) bool) {
		for _, story := range All() {
			for n, e := range story.Events {
				if !yield(story.Name, &CutTeller{After: n, Err: err}) {
					return
				}
				if e.Kind() == messages.KindInputRequired {
					break
				}
			}
		}
	}
}
