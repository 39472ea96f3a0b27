package actors_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// disturbed is a memory journal whose appends go through d.
func disturbed(d func(journal.Block) testkit.Disturbance) (*testkit.Journal, *journal.Memory) {
	kept := journal.NewMemory()
	return &testkit.Journal{Journal: kept, Disturb: d}, kept
}

func stored(t *testing.T, j actors.Journal, id messages.RunID) messages.State {
	t.Helper()
	page, err := j.Read(t.Context(), id, 0)
	if err != nil && messages.CodeOf(err) != messages.CodeNotFound {
		t.Fatal(err)
	}
	return folded(t, page.Events)
}

// chatter says ten pieces and two milestones, three times.
func chatter(_ context.Context, task *actors.TaskContext) error {
	for i := range 3 {
		for range 10 {
			time.Sleep(10 * time.Millisecond)
			if err := task.AppendText("answer", "x"); err != nil {
				return err
			}
		}
		call := strconv.Itoa(i)
		if err := task.Emit(messages.ToolStarted{Call: call, Tool: "disk"}, ""); err != nil {
			return err
		}
		if err := task.Emit(messages.ToolCompleted{Call: call}, ""); err != nil {
			return err
		}
	}
	return nil
}

// "Durable mode: a milestone is in the journal (synced) before anyone sees it. Deltas are shown as soon as the
// milestones before them are durable."
func TestNothingIsSeenBeforeItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, kept := disturbed(func(journal.Block) testkit.Disturbance { return testkit.Disturbance{Delay: 30 * time.Millisecond} })
		s := open(t, actors.Config{Journal: j})
		began := time.Now()
		run := start(t, s, job(chatter), actors.Options{})
		if took := time.Since(began); took != 30*time.Millisecond {
			t.Errorf("Start returned after %s: run.queued was not awaited", took)
		}
		ahead := 0
		for e, err := range run.Events(t.Context(), 0) {
			noError(t, err)
			held := stored(t, kept, run.ID())
			switch {
			case !e.IsDelta() && e.Seq > held.Seq:
				t.Errorf("%s %d was seen while the journal was at %d", e.Kind(), e.Seq, held.Seq)
			case e.Seq > held.Seq:
				ahead++
			}
		}
		if ahead == 0 {
			t.Error("no delta was shown before the journal had it: deltas were held back")
		}
	})
}

// "Deltas are ... journaled merged, at most 100 ms late and before the next milestone."
func TestDeltasAreJournaledInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var blocks atomic.Int64
		j, kept := disturbed(func(journal.Block) testkit.Disturbance { blocks.Add(1); return testkit.Disturbance{} })
		s := open(t, actors.Config{Journal: j})
		run := start(t, s, talk(1000), actors.Options{}) // one a millisecond
		time.Sleep(500*time.Millisecond + time.Microsecond)
		answer, _ := stored(t, kept, run.ID()).Stream("answer")
		if answer.Len() < 400 || blocks.Load() > 12 {
			t.Errorf("after 500 ms the journal holds %d of 500 deltas, in %d blocks", answer.Len(), blocks.Load())
		}
		expect(t, wait(t, run), messages.Completed, messages.ByRun, "")
	})
}

// While the journal stands still no milestone is shown, a task that says much waits, and a cancel is not yet accepted;
// when it moves again everything goes on.
func TestJournalStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var shut atomic.Bool
		var said atomic.Int64
		j, _ := disturbed(func(journal.Block) testkit.Disturbance {
			if shut.Load() {
				return testkit.Disturbance{Gate: gate}
			}
			return testkit.Disturbance{}
		})
		s := open(t, actors.Config{Journal: j})
		run := start(t, s, job(func(_ context.Context, task *actors.TaskContext) error {
			time.Sleep(time.Second)
			for range 20_000 {
				if err := task.AppendText("answer", "x"); err != nil {
					return err
				}
				said.Add(1)
			}
			return nil
		}), actors.Options{})
		synctest.Wait()
		shut.Store(true)
		time.Sleep(10 * time.Second)
		if n := said.Load(); n < 1000 || n > 6000 {
			t.Errorf("the task said %d pieces to a journal that stands still", n)
		}
		if state, err := run.State(t.Context()); err != nil || state.Status != messages.Processing {
			t.Errorf("%s, %v", state.Status, err)
		}
		impatient, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		if err := run.Cancel(impatient, ""); err == nil {
			t.Error("a cancel was accepted that is not in the journal")
		}
		shut.Store(false)
		close(gate)
		expect(t, wait(t, run), messages.Canceled, messages.ByRun, messages.CauseCanceledByUser)
	})
}

// "A fenced owner drops its live log and its readers go on from the journal."
func TestFencedOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		s := open(t, actors.Config{Journal: j})
		run := start(t, s, talk(100_000), actors.Options{})
		time.Sleep(time.Second)
		usurp(t, j, run.ID())
		var last messages.Event
		var state messages.State
		for e, err := range run.Events(t.Context(), 0) {
			noError(t, err)
			state, err = state.Apply(e)
			noError(t, err)
			last = e
		}
		expect(t, state, messages.Failed, messages.ByRecovery, messages.CauseNodeLost)
		if held := stored(t, j, run.ID()); held.Seq != last.Seq {
			t.Errorf("the reader ended at %d, the journal at %d", last.Seq, held.Seq)
		}
		time.Sleep(10 * time.Second)
		if n := s.Stats().Active; n != 0 {
			t.Errorf("%d runs are still active on the fenced node", n)
		}
	})
}

// usurp writes the terminal as another node would.
func usurp(t *testing.T, j *journal.Memory, id messages.RunID) {
	t.Helper()
	state := stored(t, j, id)
	from, seq, rewind := state.Recovery()
	b := journal.Block{Run: id, After: journal.Head{Seq: state.Seq, Epoch: 1}, ID: journal.BlockID{1}, Epoch: 2, Events: []messages.Event{{RunID: id, From: from, Seq: seq, Time: time.Now(),
		Body: messages.RunFailed{By: messages.ByRecovery, Cause: messages.CauseNodeLost, Rewind: rewind,
			Artifacts: []messages.Artifact{}, Error: messages.Errorf("node_lost", "taken over")}}}}
	j.Append(b, func(err error) { noError(t, err) })
}
