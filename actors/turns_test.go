package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// talks are jobs that are turns of one conversation, and end as they are told.
func talks(end <-chan error) []actors.Definition {
	type words struct {
		Message string `json:"message"`
	}
	return []actors.Definition{{Name: "talk", JobSpec: messages.JobSpec{PromptField: "message", Messages: true}, Restart: true, New: actors.Typed(func(in words) (actors.Job, error) {
		return actors.Job{Name: "talk", Input: in, Conversation: "c", Tasks: []actors.Task{{Name: "turn", Run: func(ctx context.Context, task *actors.TaskContext) error {
			if in.Message == "ask" {
				_, err := task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?"})
				return err
			}
			select {
			case err := <-end:
				_, _ = task.Messages(ctx, "end")
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}}}}, nil
	})}}
}

// "A start in a conversation whose turn works is a run that waits: the first begins when the run before completes, and is
// held if that failed or was canceled. It can be taken back, and counts against no limit."
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan error)
		s := open(t, actors.Config{MaxRuns: 2, WallClock: 10 * time.Minute, Stall: time.Hour, Jobs: talks(end)})
		begin := func(message string, busy messages.Busy, code messages.Code) messages.RunID {
			t.Helper()
			id, err := s.Submit(t.Context(), messages.Request{Job: "talk", Input: fmt.Appendf(nil, `{"message":%q}`, message), Busy: busy})
			if messages.CodeOf(err) != code {
				t.Errorf("%s: %v, want %q", message, err, code)
			}
			synctest.Wait()
			return id
		}
		is := func(id messages.RunID, status messages.Status, after messages.RunID, held bool) messages.State {
			t.Helper()
			synctest.Wait()
			state, err := s.State(t.Context(), id)
			if noError(t, err); state.Status != status || state.After != after || state.HeldAt.IsZero() == held {
				t.Errorf("%s is %s after %q, held %v", id, state.Status, state.After, state.HeldAt)
			}
			return state
		}
		a := begin("a", "", "")
		b, c, d := begin("b", "", ""), begin("c", "", ""), begin("d", "", "")
		is(b, messages.Pending, a, false)
		is(d, messages.Pending, c, false)
		begin("no", messages.BusyReject, messages.CodeConflict)
		begin("no", "later", messages.CauseInvalidInput)
		if _, err := s.Start(t.Context(), job(heed), actors.Options{Busy: "later"}); messages.CodeOf(err) != messages.CauseInvalidInput {
			t.Errorf("a start with an unknown busy: %v", err)
		}
		steer := func(text string) (messages.RunID, error) {
			return s.Submit(t.Context(), messages.Request{Job: "talk", Input: fmt.Appendf(nil, `{"message":%q}`, text), Busy: messages.BusySteer, Key: strings.Repeat("k", 200), Door: "agent", Agent: true})
		}
		if id, err := steer("steered"); id != a || err != nil {
			t.Errorf("a steer is run %s, not %s, %v", id, a, err)
		}
		if id, err := steer("other words"); messages.CodeOf(err) != messages.CodeConflict {
			t.Errorf("the same key with other words is run %s, %v", id, err)
		}
		noError(t, s.Cancel(t.Context(), c, "", "taken back"))
		if state := is(c, messages.Canceled, b, false); len(state.Tasks) > 0 {
			t.Error("a run that was taken back has begun")
		}
		time.Sleep(6 * time.Minute)
		end <- nil
		if said := is(a, messages.Completed, "", false).Messages; len(said) != 1 || said[0].Content != "steered" || said[0].At == "" || said[0].Door != "agent" || !said[0].Agent {
			t.Errorf("the turn was told %+v", said)
		}
		is(b, messages.Processing, "", false)
		time.Sleep(6 * time.Minute) // its wall clock began with it
		is(b, messages.Processing, "", false)
		end <- messages.Errorf(messages.CauseError, "no")
		is(b, messages.Failed, "", false)
		is(d, messages.Pending, c, true)
		late := begin("late", "", "")
		noError(t, s.Release(t.Context(), d, "ann"))
		is(d, messages.Processing, "", false)
		if err := s.Release(t.Context(), late, "ann"); messages.CodeOf(err) != messages.CodeConflict {
			t.Errorf("a run that is not held was released: %v", err)
		}
		noError(t, s.Cancel(t.Context(), d, "", ""))
		is(late, messages.Pending, d, true)
		time.Sleep(messages.HeldFor)
		is(late, messages.Canceled, d, true)
		if err := s.Release(t.Context(), late, "ann"); messages.CodeOf(err) != messages.CodeConflict {
			t.Errorf("a run that was canceled while it was held was released: %v", err)
		}
		asks := begin("ask", "", "")
		over := begin("answer", "", "")
		is(asks, messages.Processing, "", false)
		is(over, messages.Processing, "", false)
		noError(t, s.Cancel(t.Context(), over, "", ""))
		noError(t, s.Cancel(t.Context(), asks, "", ""))
	})
}

// "Until they begin they can be reordered, and replaced", also at another node and after a restart; a steer that is sent again after its turn
// has ended is the same message.
func TestTurnsMove(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		turnsMove(t, elsewhere, func(m *journal.Memory) actors.Journal { return m })
		turnsMove(t, elsewhere, func(m *journal.Memory) actors.Journal { return slowly{m, new(atomic.Int64)} })
	}
}

// slowly is a journal that takes a while for each block, as one with a disk does.
type slowly struct {
	*journal.Memory
	reads *atomic.Int64
}

func (s slowly) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	s.reads.Add(1)
	return s.Memory.Read(ctx, run, after)
}

func (s slowly) Append(b journal.Block, done func(error)) {
	time.AfterFunc(time.Millisecond, func() { s.Memory.Append(b, done) })
}

// A start that steers reads an ended turn once, to find out whether an earlier try has steered it.
func TestSteerReadsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end, store := make(chan error), slowly{journal.NewMemory(), new(atomic.Int64)}
		s := open(t, actors.Config{Journal: store, Jobs: talks(end)})
		submit := func(q messages.Request) {
			q.Job, q.Input = "talk", json.RawMessage(`{"message":"x"}`)
			_, err := s.Submit(t.Context(), q)
			noError(t, err)
		}
		for range 5 {
			submit(messages.Request{})
			end <- nil
			time.Sleep(time.Second)
		}
		submit(messages.Request{})
		time.Sleep(time.Second)
		var reads []int64
		for _, key := range []string{"a", "b"} {
			store.reads.Store(0)
			submit(messages.Request{Busy: messages.BusySteer, Key: key})
			reads = append(reads, store.reads.Load())
		}
		if !slices.Equal(reads, []int64{6, 1}) {
			t.Errorf("the starts read %d times", reads)
		}
		end <- nil
	})
}

func turnsMove(t *testing.T, elsewhere bool, in func(*journal.Memory) actors.Journal) {
	synctest.Test(t, func(t *testing.T) {
		end, store := make(chan error), in(journal.NewMemory())
		s := open(t, actors.Config{Journal: store, Jobs: talks(end), HandOver: true})
		at := s // the node that is asked to move and to replace
		if elsewhere {
			at = open(t, actors.Config{Journal: store, Jobs: talks(end), HandOver: true})
		}
		submit := func(q messages.Request, code messages.Code) messages.RunID {
			t.Helper()
			if q.Job = "talk"; q.Input == nil {
				q.Input = json.RawMessage(`{"message":"x"}`)
			}
			id, err := map[bool]*actors.System{false: s, true: at}[q.Replaces != ""].Submit(t.Context(), q)
			if messages.CodeOf(err) != code {
				t.Errorf("%+v: %v, want %q", q, err, code)
			}
			synctest.Wait()
			return id
		}
		move := func(id, before messages.RunID, code messages.Code) {
			t.Helper()
			if err := at.Move(t.Context(), id, before, "ann"); messages.CodeOf(err) != code {
				t.Errorf("%s is moved: %v, want %q", id, err, code)
			}
		}
		begins := func(id messages.RunID) {
			t.Helper()
			time.Sleep(time.Second)
			works, err := s.List(t.Context(), messages.Query{Status: []messages.Status{messages.Processing}})
			if noError(t, err); len(works) != 1 || works[0].RunID != id {
				t.Fatalf("%+v work, want %s", works, id)
			}
		}
		_, y, z := submit(messages.Request{}, ""), submit(messages.Request{}, ""), submit(messages.Request{}, "")
		move(z, "", "")
		for _, id := range []messages.RunID{z, y} {
			end <- nil
			begins(id)
		}
		end <- nil
		a, b, c, d, e := submit(messages.Request{}, ""), submit(messages.Request{}, ""), submit(messages.Request{}, ""), submit(messages.Request{}, ""), submit(messages.Request{}, "")
		move(d, "", "")
		move(e, c, "")
		move(b, "", "")
		move(b, c, "") // d e b c
		move(a, "", messages.CodeConflict)
		move(b, a, messages.CauseInvalidInput)
		move("r_none", "", messages.CodeNotFound)
		for _, id := range []messages.RunID{a, "r_none"} {
			submit(messages.Request{Replaces: id}, messages.CodeConflict)
		}
		submit(messages.Request{Replaces: b, Busy: messages.BusySteer}, messages.CauseInvalidInput)
		instead := messages.Request{Replaces: e, Key: "instead"}
		f := submit(instead, "") // d f b c
		state, err := s.State(t.Context(), b)
		noError(t, err)
		var moved messages.RunMoved
		for events, err := range s.Follow(t.Context(), b, messages.FollowOptions{After: state.Seq - 1}) {
			noError(t, err)
			moved, _ = events[0].Body.(messages.RunMoved)
			break
		}
		if moved.Replaces != e || moved.After != f {
			t.Errorf("what waits behind the replacement says %+v", moved)
		}
		if state, err := s.State(t.Context(), e); submit(instead, "") != f || err != nil || state.Status != messages.Canceled || len(state.Tasks) > 0 {
			t.Errorf("the same replacement is another, or what was replaced is %s, %v", state.Status, err)
		}
		steer := messages.Request{Busy: messages.BusySteer, Key: "k"}
		first := submit(steer, "")
		end <- nil
		begins(d)
		if second := submit(steer, ""); first != a || second != a {
			t.Errorf("the same steer is one to %s and %s, not to %s", first, second, a)
		}
		steer.Input = json.RawMessage(`{"message":"other"}`)
		submit(steer, messages.CodeConflict)
		end <- nil
		begins(f)
		closed, cancel := context.WithCancel(t.Context())
		cancel()
		_ = s.Close(closed)
		s = open(t, actors.Config{Journal: store, Jobs: talks(end)})
		for _, id := range []messages.RunID{f, b, c} {
			begins(id)
			end <- nil
		}
	})
}

// A run that waits is still there after a restart, in its order, and so is one that is held.
func TestTurnsOutliveTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end, store := make(chan error), journal.NewMemory()
		event := func(id messages.RunID, seq uint64, b messages.Body) messages.Event {
			return messages.Event{RunID: id, Seq: seq, From: seq, Time: time.Now(), Body: b}
		}
		queued := func(after messages.RunID) messages.RunQueued {
			return messages.RunQueued{Job: "talk", Input: json.RawMessage(`{"message":"x"}`), Mode: messages.Detached, After: after}
		}
		for _, log := range [][]messages.Event{
			{event("r_a", 1, queued("")), event("r_a", 2, messages.RunStarted{Node: "dead", Epoch: 1}), event("r_a", 3, messages.TaskStarted{Task: "turn", Attempt: 1})},
			{event("r_b", 1, queued("r_a"))}, {event("r_c", 1, queued("r_b"))},
			{event("r_h", 1, queued("r_z")), event("r_h", 2, messages.RunHeld{After: "r_z"})},
		} {
			store.Append(journal.Block{Run: log[0].RunID, Epoch: uint64(len(log) / 2), Events: log}, func(err error) { noError(t, err) })
		}
		s := open(t, actors.Config{Journal: store, Jobs: talks(end)})
		for _, id := range []messages.RunID{"r_a", "r_b", "r_c"} {
			synctest.Wait()
			end <- nil
			synctest.Wait()
			if state, err := s.State(t.Context(), id); err != nil || state.Status != messages.Completed {
				t.Errorf("%s is %s, %v", id, state.Status, err)
			}
		}
		if state, _ := s.State(t.Context(), "r_h"); state.Status != messages.Pending || state.HeldAt.IsZero() {
			t.Errorf("the held run is %+v", state)
		}
		noError(t, s.Release(t.Context(), "r_h", ""))
		end <- nil
	})
}
