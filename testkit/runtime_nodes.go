package testkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
)

// errand is a job of three tasks. The second must not run twice, and calls called.
func errand(called func()) actors.Job {
	talk := func(ctx context.Context, t *actors.TaskContext, stream string) error {
		for range 3 {
			if err := errors.Join(t.AppendText(stream, "word "), faultplan.Pause(ctx, 60*time.Millisecond)); err != nil {
				return err
			}
		}
		return t.FinishText(stream, "word word word ")
	}
	return actors.Job{Name: "errand", Tasks: []actors.Task{
		{Name: faultplan.Fetch, Run: func(ctx context.Context, t *actors.TaskContext) error { return talk(ctx, t, "first") }},
		{Name: faultplan.Analyze, Once: true, Run: func(ctx context.Context, t *actors.TaskContext) error {
			called()
			return faultplan.Pause(ctx, 10*time.Millisecond)
		}},
		{Name: faultplan.Write, Run: func(ctx context.Context, t *actors.TaskContext) error { return talk(ctx, t, "last") }},
	}}
}

var request = messages.Request{Job: "errand", Principal: "ann", Key: "the errand", Mode: messages.Detached}

// troubled answers every third append with an error; the run goes on.
func (s runtimeSuite) troubled() {
	for name, trouble := range map[string]Disturbance{
		"landed unheard":         {Unknown: true},
		"lost unheard":           {Unknown: true, Lose: true},
		"refused":                {Refuse: true},
		"landed late, after all": {Late: true},
		"answered twice":         {Twice: true},
		"slow":                   {Delay: 3 * time.Second},
		"very slow":              {Delay: 20 * time.Second},
		"blocked":                {Delay: 3 * time.Second, Block: true},
	} {
		for offset := range 3 {
			s.in(fmt.Sprintf("%s, from %d", name, offset), func(w *world) {
				var n, calls atomic.Int64
				j := &Journal{Journal: w.journal, Disturb: func(b journal.Block) (d Disturbance) {
					if n.Add(1)%3 == int64(offset) {
						d = trouble
					}
					return d
				}}
				a := w.node("a", j, errand(func() { calls.Add(1) }))
				id, err := a.Submit(w.within(time.Minute), request)
				if err != nil {
					w.Fatalf("%s: %v", w.what, err)
				}
				seen := w.follow(a, id, 0).all(w, 5*time.Minute)
				w.ends(w.end(id), completed)
				w.agree(w.log(id), seen)
				if calls.Load() != 1 {
					w.complain("the task that runs once was called %d times", calls.Load())
				}
			})
		}
	}
}

var fates = []fate{dies, deaf, sleeps}

// atEachAppend tests a node that each of the fates strikes at its first append, then at its second, and so on, until
// the node makes no more appends.
func (s runtimeSuite) atEachAppend(what string, fates []fate, test func(w *world, m *mortal)) {
	for _, f := range fates {
		for pos, struck := 1, true; struck && !s.t.Failed(); pos++ {
			s.in(fmt.Sprintf("%s%s %d", what, f, pos), func(w *world) {
				m := w.mortal(f, pos)
				test(w, m)
				struck = !m.alive()
			})
		}
	}
}

// successors starts a run at the mortal node a or, if that is impossible, at b, which takes over. It counts the calls
// of the job, except those that a dead node still makes.
func (w *world) successors(m *mortal, job func(called func()) actors.Job) (a, b *actors.System, id messages.RunID,
	calls *atomic.Int64) {
	calls = new(atomic.Int64)
	a = w.node("a", m, job(func() {
		if m.alive() || m.fate == sleeps {
			calls.Add(1)
		}
	}))
	b = w.node("b", w.journal, job(func() { calls.Add(1) }))
	id, err := a.Submit(w.within(5*time.Second), request)
	if err != nil {
		if id, err = b.Submit(w.within(5*time.Second), request); err != nil {
			w.Fatalf("%s: started again at another node: %v", w.what, err)
		}
	}
	return a, b, id, calls
}

// successor kills a node, or lets it sleep, at each of its appends. Another node takes over, with and without a
// cancel.
func (s runtimeSuite) successor() {
	for _, cancel := range []time.Duration{0, 20 * time.Millisecond, 250 * time.Millisecond} {
		s.atEachAppend(fmt.Sprintf("cancel after %s, ", cancel), fates, func(w *world, m *mortal) { w.successor(m, cancel, false) })
	}
}

// continued does the same with a run that another node may start again.
func (s runtimeSuite) continued() {
	s.atEachAppend("", fates, func(w *world, m *mortal) { w.successor(m, 0, true) })
}

// successor lets a node die or sleep, and checks that the other one ends the run once and that all readers agree.
func (w *world) successor(m *mortal, cancelAfter time.Duration, restart bool) {
	a, b, id, calls := w.successors(m, func(called func()) actors.Job {
		job := errand(called)
		job.Restart = restart
		return job
	})
	atA, atB := w.follow(a, id, 0), w.follow(b, id, 0)
	asked := make(chan struct{})
	if cancelAfter > 0 {
		go func() {
			defer close(asked)
			time.Sleep(cancelAfter)
			w.cancels(b, id)
		}()
	} else {
		close(asked)
	}
	seen := atB.all(w, 5*time.Minute)
	<-asked
	if m.fate == sleeps && !m.alive() {
		time.Sleep(2 * time.Minute) // it wakes and finds out
		if n := a.Stats().Active; n != 0 {
			w.complain("the node that slept has %d active runs", n)
		}
		if len(m.keeps) > 0 {
			w.complain("the node that slept said of its claim %+v", m.keeps)
		}
	}
	before := atA.seen()
	w.agree(w.log(id), seen, w.goOn(b, id, before))
	if n := calls.Load(); n > 1 {
		w.complain("the task that runs once was called %d times", n)
	}
	end, allowed := w.end(id), []outcome{completed}
	switch {
	case cancelAfter > 0 && m.alive():
		allowed = []outcome{canceled}
	case cancelAfter > 0:
		allowed = []outcome{completed, nodeLost, canceled, settled, unstarted}
	case !m.alive() && (!restart || slices.ContainsFunc(end.Tasks, func(t messages.TaskState) bool { return t.Name == faultplan.Analyze })):
		allowed = []outcome{completed, nodeLost} // the task that runs once may have been called before the node died
	}
	w.ends(end, allowed...)
}

// waiting kills the node of a run that waits for a person, and answers at the next node.
func (s runtimeSuite) waiting() {
	for _, once := range []bool{false, true} {
		s.in(fmt.Sprintf("in a task that runs once: %t", once), func(w *world) {
			job := asking()
			job.Tasks[0].Once = once
			m := w.mortal(dies, 0)
			a, b := w.node("a", m, job), w.node("b", w.journal, job)
			run := w.start(a, job)
			time.Sleep(time.Minute)
			m.strike()
			time.Sleep(time.Minute)
			if once {
				w.ends(w.end(run.ID()), nodeLost)
				return
			}
			if err := b.Answer(w.within(time.Minute), run.ID(), "color", []byte(`"red"`), "ann"); err != nil {
				w.complain("the answer: %v", err)
			}
			w.follow(b, run.ID(), 0).all(w, time.Minute)
			if end := w.end(run.ID()); string(end.End.Result) != `"red"` {
				w.ends(end, completed)
				w.complain("the next attempt got %s", end.End.Result)
			}
		})
	}
}

// handOver closes the node of a run that may continue, at several moments.
func (s runtimeSuite) handOver() {
	for _, after := range []time.Duration{0, 30 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
		s.in(fmt.Sprintf("after %s", after), func(w *world) {
			job := faultplan.Script{Fetch: []faultplan.Step{{Do: faultplan.Sleep, For: time.Minute}}, Write: []faultplan.Step{{Do: faultplan.Sleep, For: time.Minute}}}.Job()
			job.Restart = true
			a, b := w.node("a", w.journal, job), w.node("b", w.journal, job)
			run := w.start(a, job)
			atA := w.follow(a, run.ID(), 0)
			time.Sleep(after)
			if err := a.Close(w.within(time.Minute)); err != nil {
				w.complain("Close ended a run: %v", err)
			}
			closed := time.Now()
			before := atA.seen()
			seen := w.goOn(b, run.ID(), before)
			i := slices.IndexFunc(seen, func(e messages.Event) bool { return e.Kind() == messages.KindRunRecovered })
			if i < 0 || seen[i].Time.Sub(closed) > time.Second {
				w.complain("nobody has taken the run over at once: %v", kinds(seen))
			}
			w.agree(w.log(run.ID()), seen)
			w.ends(w.end(run.ID()), completed)
		})
	}
	s.in("a task that runs once", func(w *world) {
		job := errand(func() {})
		job.Restart, job.Tasks[1].Run = true, func(ctx context.Context, _ *actors.TaskContext) error { return faultplan.Pause(ctx, time.Minute) }
		a, b := w.node("a", w.journal, job), w.node("b", w.journal, job)
		run := w.start(a, job)
		time.Sleep(time.Second)
		if err := a.Close(w.within(time.Minute)); messages.CodeOf(err) != messages.CauseShutdown {
			w.complain("Close ended a run and says %v", err)
		}
		w.follow(b, run.ID(), 0).all(w, time.Minute)
		w.ends(w.end(run.ID()), outcome{Status: messages.Failed, By: messages.ByRun, Cause: messages.CauseShutdown})
	})
}

// goOn lets a reader that saw the events elsewhere continue at the node.
func (w *world) goOn(s *actors.System, id messages.RunID, seen []messages.Event) []messages.Event {
	w.Helper()
	if len(seen) == 0 || !seen[len(seen)-1].IsTerminal() {
		after := uint64(0)
		if len(seen) > 0 {
			after = seen[len(seen)-1].Seq
		}
		seen = append(seen, w.follow(s, id, after).all(w, 10*time.Minute)...)
	}
	return seen
}

// cancels cancels the run, and checks that the log says so once the cancel is accepted.
func (w *world) cancels(s *actors.System, id messages.RunID) {
	w.Helper()
	if err := s.Cancel(w.within(time.Minute), id, "ann", "enough"); err != nil {
		w.complain("cancel: %v", err)
		return
	}
	state, err := journal.NewArchive(w.reader).State(context.Background(), id)
	if err != nil || !state.Canceling && !state.Status.IsEnded() {
		w.complain("a cancel was accepted that the log does not have, at %d %s (%v)", state.Seq, state.Status, err)
	}
	if state.Canceling {
		w.Cleanup(func() {
			if end := w.end(id); end.Status != messages.Canceled {
				w.complain("a cancel was accepted, and the run ended as %s", end.Status)
			}
		})
	}
}

// sleeper lets a node sleep while its run waits for a person. It must notice that it lost the run, although it
// appends nothing.
func (s runtimeSuite) sleeper() {
	s.in("asleep", func(w *world) {
		m := w.mortal(sleeps, 0)
		a, b := w.node("a", m), w.node("b", w.journal)
		run := w.start(a, faultplan.Script{Fetch: []faultplan.Step{{Do: faultplan.Ask, Body: question}}}.Job())
		atA := w.follow(a, run.ID(), 0)
		time.Sleep(time.Minute) // the claim is held all this time
		if state, _ := b.State(w.within(time.Second), run.ID()); state.Status.IsEnded() {
			w.Fatalf("a run whose node lives ended: %+v", state.End)
		}
		m.strike()
		log := w.follow(b, run.ID(), 0).all(w, 30*time.Second)
		<-m.awake
		w.agree(log, atA.all(w, 3*time.Second))
		time.Sleep(10 * time.Second)
		if n := a.Stats().Active; n != 0 || len(m.keeps) > 0 {
			w.complain("the node that slept has %d active runs and said %+v", n, m.keeps)
		}
		w.ends(w.end(run.ID()), nodeLost)
	})
}

var question = messages.InputRequired{Request: "color", Prompt: "Which color?"}

// cutStart interrupts a start with a key at its first block, and starts the run again at another node.
func (s runtimeSuite) cutStart() {
	for _, f := range []fate{dies, deaf, sleeps, whole} {
		s.in("the node "+string(f)+" its start", func(w *world) {
			var calls atomic.Int64
			m := w.mortal(f, 1)
			if f == whole {
				m.at = 0
			}
			a := w.node("a", m, errand(func() {
				if m.alive() {
					calls.Add(1)
				}
			}))
			b := w.node("b", w.journal, errand(func() { calls.Add(1) }))
			began := time.Now()
			first, err := a.Submit(w.within(5*time.Second), request)
			if took := time.Since(began); took > 6*time.Second {
				w.complain("a start went on for %s after its caller had left", took-5*time.Second)
			}
			if (err == nil) != (f == whole) {
				w.complain("the start that was cut: %v", err)
			}
			id, err := b.Submit(w.within(time.Minute), request)
			if err != nil || first != "" && first != id {
				w.Fatalf("%s: started again at another node: %q, then %q, %v", w.what, first, id, err)
			}
			w.follow(b, id, 0).all(w, time.Minute)
			time.Sleep(2 * time.Minute)
			again, err := b.Submit(w.within(time.Minute), request)
			if err != nil || again != id {
				w.complain("started a third time: %s, %v, want %s", again, err, id)
			}
			w.ends(w.end(id), completed)
			if runs, err := b.List(w.within(time.Second), messages.Query{Principal: "ann"}); err != nil || len(runs) != 1 {
				w.complain("there are %d runs (%v)", len(runs), err)
			}
			if calls.Load() != 1 {
				w.complain("the task that runs once was called %d times", calls.Load())
			}
		})
	}
}

// otherInput uses a key again: with the same input, with another input, and as another principal.
func (s runtimeSuite) otherInput() {
	s.in("two nodes", func(w *world) {
		a := w.node("a", w.journal, errand(func() {}))
		b := w.node("b", w.journal, errand(func() {}))
		first, other, foreign := request, request, request
		first.Input, other.Input, foreign.Input = []byte(`{"n": 1}`), []byte(`{"n": 2}`), []byte(`{"n": 2}`)
		foreign.Principal = "bob"
		id, err := a.Submit(w.within(time.Minute), first)
		must(w, err)
		for range 2 { // while it runs, and when it has ended
			for name, node := range map[string]*actors.System{"its node": a, "another node": b} {
				if again, err := node.Submit(w.within(time.Minute), first); err != nil || again != id {
					w.complain("the same at %s: %s, %v", name, again, err)
				}
				if _, err := node.Submit(w.within(time.Minute), other); messages.CodeOf(err) != messages.CodeConflict {
					w.complain("other input at %s: %v, want a conflict", name, err)
				}
			}
			time.Sleep(time.Minute)
		}
		if another, err := b.Submit(w.within(time.Minute), foreign); err != nil || another == id {
			w.complain("another's key: %s, %v", another, err)
		}
	})
}

// expiredKey uses a key again after its run has expired.
func (s runtimeSuite) expiredKey() {
	s.in("after the retention", func(w *world) {
		a := w.node("a", w.journal, errand(func() {}))
		b := w.node("b", w.journal)
		id, err := a.Submit(w.within(time.Minute), request)
		must(w, err)
		w.follow(b, id, 0).all(w, time.Minute)
		if state, err := b.State(w.within(time.Second), id); err != nil || state.Status != messages.Completed {
			w.complain("the first run is %s (%v)", state.Status, err)
		}
		time.Sleep(2 * time.Hour)
		if again, err := a.Submit(w.within(time.Minute), request); err != nil || again != id {
			w.Fatalf("%s: the key again: %s, %v", w.what, again, err)
		}
		if state, err := b.State(w.within(time.Second), id); err != nil || state.Status.IsEnded() {
			w.complain("the second run is %s (%v)", state.Status, err)
		}
		w.follow(b, id, 0).all(w, time.Minute)
	})
}
