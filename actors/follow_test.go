package actors_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// followed returns the batches that a reader gets, until the terminal.
func followed(t *testing.T, s *actors.System, id messages.RunID, o messages.FollowOptions) (batches [][]messages.Event) {
	t.Helper()
	for batch, err := range s.Follow(t.Context(), id, o) {
		noError(t, err)
		batches = append(batches, slices.Clone(batch))
	}
	return batches
}

// murmur says n pieces 10 ms apart, and a milestone.
func murmur(n int) actors.Job {
	return job(func(_ context.Context, task *actors.TaskContext) error {
		for range n {
			if err := task.AppendText("answer", "x"); err != nil {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
		return task.FinishText("answer", strings.Repeat("x", n))
	})
}

// "A reader may ask for a rate: deltas are then merged up to it and milestones flush at once": the law holds, and no
// delta comes behind a milestone that it was before.
func TestFollowAtARate(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(murmur(1017)) // ten seconds, and deltas are held when the milestone comes
		events := slices.Concat(followed(t, s.System, run.ID(), messages.FollowOptions{Rate: 2})...)
		if err := testkit.CheckLog(0, events); err != nil {
			t.Error(err)
		}
		deltas := 0
		for _, e := range events {
			if e.IsDelta() {
				deltas++
			}
		}
		if deltas < 10 || deltas > 25 {
			t.Errorf("%d deltas in ten seconds", deltas)
		}
	})
}

// "The filtered reader's cursor advances with what was passed over": who asks for milestones alone goes on from there.
func TestFollowMilestones(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(murmur(2000))
		last, passed := uint64(0), 0
		for _, e := range slices.Concat(followed(t, s.System, run.ID(), messages.FollowOptions{Filter: messages.Filter{MilestonesOnly: true}})...) {
			switch {
			case e.Seq <= last:
				t.Errorf("%d follows %d", e.Seq, last)
			case e.Body == nil:
				passed++
			case e.IsDelta():
				t.Errorf("a delta: %s", e.Kind())
			}
			last = e.Seq
		}
		if passed < 4 || passed > 10 || last != s.Ends(run, messages.Completed, "").Seq {
			t.Errorf("the cursor moved %d times between milestones, to %d", passed, last)
		}
	})
}

// "snapshot first where asked": the State, and then what comes after it. A live run's last State comes before its terminal.
func TestFollowFromASnapshot(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(murmur(100))
		time.Sleep(500 * time.Millisecond)
		var state, ended messages.State
		for batch, err := range s.Follow(t.Context(), run.ID(), messages.FollowOptions{Snapshot: func(s messages.State) { state = s },
			Ended: func(s messages.State) { ended = s }}) {
			noError(t, err)
			for _, e := range batch {
				if e.IsTerminal() && (ended.Seq != e.Seq || ended.Status != messages.Completed) {
					t.Errorf("at the terminal the State is %s at %d", ended.Status, ended.Seq)
				}
				if e.Seq <= state.Seq {
					t.Fatalf("event %d is in the snapshot at %d", e.Seq, state.Seq)
				}
				state, err = state.Apply(e)
				noError(t, err)
			}
		}
		if answer, _ := state.Stream("answer"); state.Status != messages.Completed || answer.Len() != 100 {
			t.Errorf("%s, %d bytes", state.Status, answer.Len())
		}
	})
}

// "A watcher of `parent.**` gets the law per run, a child's events after child.started, child.ended and the parent's
// terminal after the child's terminal."
func TestFollowTree(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		child := murmur(3)
		run := s.Run(job(func(ctx context.Context, task *actors.TaskContext) error {
			for range 3 {
				if _, err := task.Start(ctx, child, actors.Options{}); err != nil {
					return err
				}
			}
			return nil
		}))
		logs := map[messages.RunID][]messages.Event{}
		for _, e := range slices.Concat(followed(t, s.System, run.ID(), messages.FollowOptions{Tree: true})...) {
			switch b := e.Body.(type) {
			case messages.ChildStarted:
				if len(logs[b.Child]) > 0 {
					t.Errorf("%s speaks before it is started", b.Child)
				}
			case messages.ChildEnded:
				if err := testkit.CheckLog(0, logs[b.Child]); err != nil {
					t.Errorf("%s is said to have ended: %v", b.Child, err)
				}
			}
			if e.Body != nil {
				logs[e.RunID] = append(logs[e.RunID], e)
			}
		}
		for id, events := range logs {
			if err := testkit.CheckLog(0, events); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		if len(logs) != 4 {
			t.Errorf("%d runs", len(logs))
		}
	})
}

// endingReads ends a read with its context, as a database does.
type endingReads struct{ actors.Journal }

func (j endingReads) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if ctx.Err() != nil {
		return journal.Page{}, context.Cause(ctx)
	}
	return j.Journal.Read(ctx, run, after)
}

// A reader that cannot wait gets what there is, also of a run that only the journal knows.
func TestFollowWithoutWaiting(t *testing.T) {
	journal := endingReads{journal.NewMemory()}
	var id messages.RunID
	testkit.System(t, actors.Config{Journal: journal}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(murmur(10))
		id = run.ID()
		_, err := run.Wait(t.Context())
		noError(t, err)
	})
	testkit.System(t, actors.Config{Journal: journal}, func(t *testing.T, s *testkit.Stage) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var last messages.Event
		for batch, err := range s.Follow(ctx, id, messages.FollowOptions{}) {
			if err == nil && len(batch) > 0 {
				last = batch[len(batch)-1]
			}
		}
		if !last.IsTerminal() {
			t.Errorf("the last event is %d, %s", last.Seq, last.Kind())
		}
	})
}

// blockedReads lets no read end before its context, once it is blocked.
type blockedReads struct {
	actors.Journal
	blocked atomic.Bool
}

func (j *blockedReads) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if j.blocked.Load() {
		<-ctx.Done()
		return journal.Page{}, context.Cause(ctx)
	}
	return j.Journal.Read(ctx, run, after)
}

// A journal that blocks does not hold a caller who has left: Wait asks it nothing, Follow waits a bounded time.
func TestCancelledReadersOfABlockedJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := &blockedReads{Journal: journal.NewMemory()}
		wait(t, start(t, open(t, actors.Config{Journal: journal.Journal}), job(nothing), actors.Options{Key: "k"}))
		s := open(t, actors.Config{Journal: journal})
		run := start(t, s, job(nothing), actors.Options{Key: "k"}) // the same
		journal.blocked.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begun := time.Now()
		if _, err := run.Wait(ctx); !errors.Is(err, context.Canceled) || time.Since(begun) > 0 {
			t.Errorf("Wait: %v after %v", err, time.Since(begun))
		}
		for _, err := range s.Follow(ctx, run.ID(), messages.FollowOptions{}) {
			if err == nil || time.Since(begun) > time.Minute {
				t.Errorf("Follow: %v after %v", err, time.Since(begun))
			}
		}
	})
}

// lookedAt is a journal whose next read, once it is armed, ends after something has happened.
type lookedAt struct {
	actors.Journal
	during atomic.Pointer[func()]
}

func (j *lookedAt) Read(ctx context.Context, id messages.RunID, after uint64) (journal.Page, error) {
	page, err := j.Journal.Read(ctx, id, after)
	if f := j.during.Swap(nil); f != nil {
		(*f)()
	}
	return page, err
}

// A reader at a node that does not own the run is woken by what comes while it takes its first look.
func TestFirstLookLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		speak := make(chan struct{})
		run := start(t, open(t, actors.Config{Journal: j, Node: "a"}), job(func(_ context.Context, task *actors.TaskContext) error {
			<-speak
			return task.FinishText("answer", "Hello")
		}), actors.Options{})
		looked := &lookedAt{Journal: j}
		s := open(t, actors.Config{Journal: looked, Node: "b"})
		synctest.Wait()
		state, err := s.State(t.Context(), run.ID())
		noError(t, err)
		during := func() { close(speak); synctest.Wait() }
		looked.during.Store(&during)
		begin := time.Now()
		if batches := followed(t, s, run.ID(), messages.FollowOptions{After: state.Seq}); len(batches) == 0 {
			t.Error("the reader got nothing")
		}
		if slept := time.Since(begin); slept > time.Second {
			t.Errorf("the reader slept for %s", slept)
		}
	})
}
