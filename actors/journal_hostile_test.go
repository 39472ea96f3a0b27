package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// forgetful does not know the claims that have ended.
type forgetful struct{ *journal.Memory }

func (j forgetful) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	if k == journal.Ended {
		return errors.New("there is no such claim")
	}
	return j.Memory.Keep(ctx, c, k)
}

// A claim that the journal does not close costs the other runs nothing: their claims are held, and no other node ends them.
func TestUnclosedClaimsHarmNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := forgetful{journal.NewMemory()}
		s := open(t, actors.Config{Journal: j})
		wait(t, start(t, s, job(nothing), actors.Options{}))
		run := start(t, s, job(heed), actors.Options{})
		open(t, actors.Config{Journal: j})
		time.Sleep(time.Minute)
		if state, err := run.State(t.Context()); err != nil || state.Status.IsEnded() {
			t.Errorf("a healthy run: %s, %+v, %v", state.Status, state.End, err)
		}
		noError(t, run.Cancel(t.Context(), ""))
		wait(t, run)
	})
}

// clinging answers its second append, and does not return from it.
type clinging struct {
	*journal.Memory
	appends int
	free    chan struct{}
}

func (j *clinging) Append(b journal.Block, done func(error)) {
	j.Memory.Append(b, done)
	if j.appends++; j.appends == 2 {
		<-j.free
	}
}

// An Append that answers and does not return is in the way of the next block: the run is told as of any other refusal.
func TestAppendThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &clinging{Memory: journal.NewMemory(), free: make(chan struct{})}
		run := start(t, open(t, actors.Config{Journal: j}), job(nothing), actors.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := run.Wait(ctx); messages.CodeOf(err) != messages.CauseJournalUnavailable {
			t.Errorf("Wait: %v", err)
		}
		close(j.free)
		synctest.Wait()
		if state, err := run.Wait(ctx); err != nil || !state.Status.IsEnded() {
			t.Errorf("when it had returned: %s, %v", state.Status, err)
		}
	})
}

// slow answers an append half a second after everybody can read the block. The second read of p.c1 takes 12.8 s.
type slow struct {
	*journal.Memory
	reads atomic.Int32
}

func (j *slow) Append(b journal.Block, done func(error)) {
	j.Memory.Append(b, func(err error) { time.AfterFunc(500*time.Millisecond, func() { done(err) }) })
}

func (j *slow) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if run == "p.c1" && j.reads.Add(1) == 2 {
		time.Sleep(12800 * time.Millisecond)
	}
	return j.Memory.Read(ctx, run, after)
}

// Who has read the terminal gets it from State as well, though the journal has not answered yet.
func TestStateAfterTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &slow{Memory: journal.NewMemory()}
		s := open(t, actors.Config{Journal: j})
		leave(t, j.Memory, "r", messages.RunQueued{Job: "test", Mode: messages.Detached}, messages.RunStarted{Node: "gone", Epoch: 1})
		time.Sleep(100 * time.Millisecond)
		for _, err := range s.Events(t.Context(), "r", 0) {
			noError(t, err)
		}
		if state, err := s.State(t.Context(), "r"); err != nil || !state.Status.IsEnded() {
			t.Errorf("after the terminal: %s, %v", state.Status, err)
		}
	})
}

// A run that is started again hears how its child has ended, though the journal has not answered yet: it does not wait
// for ever.
func TestChildEndsBeforeTheJournalAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &slow{Memory: journal.NewMemory()}
		child := left("p.c1", messages.RunQueued{Job: "gone", Mode: messages.Detached, Parent: "p"}, messages.RunStarted{Node: "gone", Epoch: 1})
		child.Writer = "gone" // for 10 s
		j.Memory.Append(child, func(error) {})
		leaveParent(t, j.Memory)
		again := job(nothing)
		again.Restart = true
		known := []actors.Definition{{Name: "test", New: func(json.RawMessage) (actors.Job, error) { return again, nil }}}
		s := open(t, actors.Config{Journal: j, Jobs: known})
		time.Sleep(20 * time.Second)
		settled(t, s, "p.c1", "p")
	})
}

// left is the beginning of a log.
func left(run messages.RunID, bodies ...messages.Body) journal.Block {
	b := journal.Block{Run: run, ID: journal.BlockID([]byte(run + "0123456789abcdef")[:16])}
	for i, body := range bodies {
		seq := uint64(i) + 1
		b.Events = append(b.Events, messages.Event{RunID: run, From: seq, Seq: seq, Time: time.Now().UTC(), Body: body})
	}
	if i := slices.IndexFunc(bodies, func(b messages.Body) bool { return messages.KindOf(b) == messages.KindRunStarted }); i >= 0 {
		b.Epoch = 1
	}
	return b
}

// leave writes the beginning of a log, as a node that is gone.
func leave(t *testing.T, j actors.Journal, run messages.RunID, bodies ...messages.Body) {
	t.Helper()
	j.Append(left(run, bodies...), func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
}

func leaveParent(t *testing.T, j actors.Journal) {
	leave(t, j, "p", messages.RunQueued{Job: "test", Mode: messages.Detached}, messages.RunStarted{Node: "gone", Epoch: 1},
		messages.TaskStarted{Task: "work", Attempt: 1}, messages.ChildStarted{Child: "p.c1", Job: "test", Task: "work", Name: "#1"})
}

func settled(t *testing.T, s *actors.System, runs ...messages.RunID) {
	t.Helper()
	time.Sleep(5 * time.Second)
	for _, run := range runs {
		if state, err := s.State(t.Context(), run); err != nil || !state.Status.IsEnded() {
			t.Errorf("%s has no terminal: %s, %v", run, state.Status, err)
		}
	}
}

// A child that was queued when its node was lost, and whose job the next one knows, ends with its parent.
func TestRecoveryEndsQueuedChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		leaveParent(t, j)
		leave(t, j, "p.c1", messages.RunQueued{Job: "test", Mode: messages.Detached, Parent: "p"})
		known := []actors.Definition{{Name: "test", New: func(json.RawMessage) (actors.Job, error) { return job(heed), nil }}}
		settled(t, open(t, actors.Config{Journal: j, Jobs: known}), "p", "p.c1")
	})
}

// stumbling panics once, when the run is read.
type stumbling struct {
	*journal.Memory
	over messages.RunID
}

func (j *stumbling) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if run == j.over {
		j.over = ""
		panic("the journal stumbles")
	}
	return j.Memory.Read(ctx, run, after)
}

// A journal that crashes while a run's children are ended is asked again: the run gets its terminal.
func TestRecoveryGoesOnAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &stumbling{Memory: journal.NewMemory(), over: "p.c1"}
		leaveParent(t, j)
		settled(t, open(t, actors.Config{Journal: j}), "p", "p.c1")
	})
}

// A job that panics at its input ends its run alone.
func TestRecoveryOfJobsThatPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		leave(t, j, "r", messages.RunQueued{Job: "test", Mode: messages.Detached})
		bad := []actors.Definition{{Name: "test", New: func(json.RawMessage) (actors.Job, error) { panic("bad input") }}}
		s := open(t, actors.Config{Journal: j, Jobs: bad})
		settled(t, s, "r")
		wait(t, start(t, s, job(nothing), actors.Options{}))
	})
}

// unreadable lends a run that cannot be read.
type unreadable struct {
	*journal.Memory
	lends atomic.Int64 // how often it still does
	read  func(context.Context) (journal.Page, error)
}

func (j *unreadable) Claim(ctx context.Context, node string) (journal.Claim, error) {
	if j.lends.Add(-1) >= 0 {
		return journal.Claim{Run: "r"}, nil
	}
	return j.Memory.Claim(ctx, node)
}

func (j *unreadable) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if run == "r" {
		return j.read(ctx)
	}
	return j.Memory.Read(ctx, run, after)
}

// A run whose log cannot be read, however that fails, keeps neither the node nor another run from starting.
func TestUnreadableLogs(t *testing.T) {
	for name, read := range map[string]func(context.Context) (journal.Page, error){
		"panics": func(context.Context) (journal.Page, error) { panic("unreadable") },
		"blocks": func(ctx context.Context) (journal.Page, error) { <-ctx.Done(); return journal.Page{}, ctx.Err() },
		"empty":  func(context.Context) (journal.Page, error) { return journal.Page{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &unreadable{Memory: journal.NewMemory(), read: read}
				j.lends.Store(2)
				s := open(t, actors.Config{Journal: j})
				wait(t, start(t, s, job(nothing), actors.Options{}))
				if aside := s.Stats().SetAside; !slices.Equal(aside, []messages.RunID{"r"}) {
					t.Errorf("set aside: %v", aside)
				}
			})
		})
	}
	t.Run("lent for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			empty := func(context.Context) (journal.Page, error) { return journal.Page{}, nil }
			j := &unreadable{Memory: journal.NewMemory(), read: empty}
			j.lends.Store(1 << 40)
			open(t, actors.Config{Journal: j})
			time.Sleep(time.Minute)
			if lent := 1<<40 - j.lends.Load(); lent > 100 {
				t.Errorf("claimed %d times in a minute", lent)
			}
		})
	})
}

// tardy takes two blocks, and keeps the third back.
type tardy struct {
	*journal.Memory
	appends int
	late    func()
}

func (j *tardy) Append(b journal.Block, done func(error)) {
	switch j.appends++; {
	case j.appends < 3:
		j.Memory.Append(b, done)
	case j.appends == 3:
		j.late = func() { j.Memory.Append(b, done) }
	}
}

// A slow reader of a run that the System was closed on is told so, also where the journal has taken something since.
func TestReaderOutlivesItsSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &tardy{Memory: journal.NewMemory()}
		s, err := actors.New(t.Context(), actors.Config{Journal: j})
		noError(t, err)
		run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
			return task.Emit(messages.ToolStarted{Call: "1", Tool: "disk"}, "")
		}), actors.Options{})
		told := make(chan error, 1)
		go func() {
			for e, err := range run.Events(context.Background(), 0) {
				if err != nil {
					told <- err
				} else if e.Seq == 2 {
					time.Sleep(time.Hour)
				}
			}
		}()
		synctest.Wait()
		_ = s.Close(t.Context())
		j.late()
		if err := <-told; messages.CodeOf(err) != messages.CodeUnavailable {
			t.Errorf("the reader got %v", err)
		}
	})
}

// split does not answer reads of half of the runs while it is broken, and counts the beats of the others.
type split struct {
	*journal.Memory
	broken atomic.Bool
	silent sync.Map // of the runs
	beats  atomic.Int64
}

func (j *split) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if _, silent := j.silent.Load(run); silent && j.broken.Load() {
		<-ctx.Done()
		return journal.Page{}, context.Cause(ctx)
	}
	return j.Memory.Read(ctx, run, after)
}

func (j *split) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	if k == journal.Held {
		j.beats.Add(1)
	}
	return j.Memory.Keep(ctx, c, k)
}

// A part of the store that does not answer for some runs delays the beats of no other. Held is called again only when
// the store has answered about each run.
func TestSilentPartOfAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &split{Memory: journal.NewMemory()}
		var held atomic.Int64
		s := open(t, actors.Config{Journal: j, Held: func() { held.Add(1) }})
		const each = 40
		var all []*actors.Run
		for i := range 2 * each {
			run := start(t, s, job(heed), actors.Options{})
			if all = append(all, run); i%2 == 0 {
				j.silent.Store(run.ID(), true)
			}
		}
		time.Sleep(10 * time.Second)
		j.broken.Store(true)
		time.Sleep(journal.LeaseTerm) // a round may have begun
		held.Store(0)
		j.beats.Store(0)
		time.Sleep(8 * journal.LeaseTerm)
		if got := j.beats.Load(); got < 7*each {
			t.Errorf("%d beats of the sound runs, want %d", got, 8*each)
		}
		if got := held.Load(); got > 0 {
			t.Errorf("held %d times while half of the runs are unknown", got)
		}
		j.broken.Store(false)
		time.Sleep(4 * journal.LeaseTerm)
		if held.Load() == 0 {
			t.Error("the node is never held again")
		}
		for _, run := range all {
			noError(t, s.Cancel(t.Context(), run.ID(), "", ""))
			wait(t, run)
		}
	})
}
