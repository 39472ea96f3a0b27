package testkit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
)

// victim is a journal that fails one run, of the job "victim", from a given append on.
type victim struct {
	Journal
	from    int
	trouble func() Disturbance

	mu     sync.Mutex
	run    messages.RunID
	n      int
	healed bool
}

func (w *world) victim(from int, trouble func() Disturbance) *victim {
	v := &victim{from: from, trouble: trouble}
	v.Journal = Journal{Journal: w.journal, Disturb: v.disturb}
	return v
}

// disturb leaves the appends of all other runs alone.
func (v *victim) disturb(b journal.Block) (d Disturbance) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if q, ok := b.Events[0].Body.(messages.RunQueued); ok && q.Job == "victim" {
		v.run = b.Run
	}
	if b.Run != v.run {
		return d
	}
	if v.n++; v.n >= v.from && !v.healed {
		d = v.trouble()
	}
	return d
}

func (v *victim) heal() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.healed = true
}

func jobOf(name string, steps ...faultplan.Step) actors.Job {
	job := faultplan.Script{Fetch: steps}.Job()
	job.Name = name
	return job
}

// chatty emits a milestone every 50 ms for a while.
var chatty = []faultplan.Step{{Do: faultplan.Report, Done: 1, Total: 2}, {Do: faultplan.Sleep, For: 50 * time.Millisecond}, {Do: faultplan.Said, Text: ""},
	{Do: faultplan.Sleep, For: 50 * time.Millisecond}, {Do: faultplan.Emit, Body: messages.ToolStarted{Call: "1", Tool: "disk"}},
	{Do: faultplan.Emit, Body: messages.ToolCompleted{Call: "1"}}}

// troubles are permanent faults of a journal for one run. With a lasting one no block of the run lands.
var troubles = []struct {
	name    string
	lasting bool
	make    func(gate <-chan struct{}) Disturbance
}{
	{"panics", true, func(<-chan struct{}) Disturbance { return Disturbance{Panic: true} }},
	{"blocks", true, func(gate <-chan struct{}) Disturbance {
		return Disturbance{Gate: gate, Block: true, Refuse: true}
	}},
	{"never answers", true, func(gate <-chan struct{}) Disturbance { return Disturbance{Gate: gate, Refuse: true} }},
	{"refuses", true, func(<-chan struct{}) Disturbance { return Disturbance{Refuse: true} }},
	{"does not know", true, func(<-chan struct{}) Disturbance { return Disturbance{Unknown: true, Lose: true} }},
	{"forgets", false, func(<-chan struct{}) Disturbance { return Disturbance{Lose: true} }},
	{"answers twice", false, func(<-chan struct{}) Disturbance { return Disturbance{Twice: true} }},
}

// bound limits how long a run may continue after the journal stops accepting its events: the default of
// Config.JournalTimeout, an append, and a wait.
const bound = 30*time.Second + 10*time.Second

// oneSuffers uses a journal that fails one run forever. Other runs must complete in time, and requests for that run
// must fail.
func (s runtimeSuite) oneSuffers() {
	for _, trouble := range troubles {
		for _, from := range []int{1, 3} {
			s.in(fmt.Sprintf("a journal that %s, from append %d", trouble.name, from), func(w *world) {
				gate := make(chan struct{})
				defer close(gate)
				v := w.victim(from, func() Disturbance { return trouble.make(gate) })
				ctx := context.Background()
				a, err := actors.New(ctx, actors.Config{Journal: v, Drain: time.Second})
				must(w, err)
				began := time.Now()
				run, err := a.Start(w.within(2*time.Second), jobOf("victim", chatty...), actors.Options{})
				if took := time.Since(began); took > 3*time.Second {
					w.complain("a start went on for %s after its caller had left", took-2*time.Second)
				}
				if (err != nil) != (from == 1 && trouble.lasting) {
					w.complain("the start: %v", err)
				}
				w.othersComplete(a)
				if err == nil && trouble.lasting {
					w.explained(a, run)
				}
				w.othersComplete(a)
				closing := time.Now()
				err = a.Close(ctx)
				if took := time.Since(closing); took > 30*time.Second || trouble.lasting && err == nil {
					w.complain("Close returned %v after %s", err, took)
				}
			})
		}
	}
}

// fullStore refuses every block while it is full.
type fullStore struct {
	actors.Journal
	full atomic.Bool
}

func (j *fullStore) Append(b journal.Block, done func(error)) {
	if j.full.Load() {
		full := messages.Errorf(messages.CauseJournalUnavailable, "the disk is full; free some space")
		done(fmt.Errorf("%w: %w", journal.ErrRefused, full))
		return
	}
	j.Journal.Append(b, done)
}

// full fills the store while a run is active. The run waits, starts are refused at once, and then everything
// continues.
func (s runtimeSuite) full() {
	s.in("for 20 s", func(w *world) {
		store := &fullStore{Journal: w.journal}
		a := w.node("a", store)
		run := w.start(a, jobOf("first", faultplan.Step{Do: faultplan.Sleep, For: time.Second}, faultplan.Step{Do: faultplan.Say, Text: "still here"}))
		store.full.Store(true)
		time.Sleep(5 * time.Second)
		for range 3 {
			began := time.Now()
			_, err := a.Start(w.within(time.Minute), jobOf("refused"), actors.Options{})
			if took := time.Since(began); messages.CodeOf(err) != messages.CauseJournalUnavailable || took > 0 {
				w.complain("a start ended after %s with %v", took, err)
			}
			if a.Ready() == nil {
				w.complain("the node says that it takes runs")
			}
			time.Sleep(5 * time.Second)
		}
		store.full.Store(false)
		w.follow(a, run.ID(), 0).all(w, time.Minute)
		w.ends(w.end(run.ID()), completed)
		if err := a.Ready(); err != nil {
			w.complain("the node takes no runs: %v", err)
		}
		w.othersComplete(a)
	})
	s.in("while nothing runs", func(w *world) {
		store := &fullStore{Journal: w.journal}
		a := w.node("a", store)
		store.full.Store(true)
		began := time.Now()
		if _, err := a.Start(w.within(time.Minute), jobOf("refused"), actors.Options{}); err == nil || time.Since(began) > 5*time.Second {
			w.complain("a start ended after %s with %v", time.Since(began), err)
		}
		store.full.Store(false)
		time.Sleep(time.Minute)
		w.othersComplete(a)
	})
}

// othersComplete starts runs and checks that each completes in time.
func (w *world) othersComplete(s *actors.System) {
	w.Helper()
	began := time.Now()
	var runs []*actors.Run
	for range 5 {
		run, err := s.Start(w.within(time.Second), jobOf("other", chatty...), actors.Options{})
		if err != nil {
			w.Fatalf("%s: the start of another run: %v", w.what, err)
		}
		runs = append(runs, run)
	}
	for _, run := range runs {
		if state, err := run.Wait(w.within(time.Minute)); err != nil || state.Status != messages.Completed {
			w.complain("another run ended as %s (%v)", state.Status, err)
		}
	}
	if took := time.Since(began); took > 200*time.Millisecond {
		w.complain("other runs took %s", took)
	}
}

// explained makes requests for the failing run. Each must be answered within the bound, with the reason.
func (w *world) explained(s *actors.System, run *actors.Run) {
	w.Helper()
	ways := map[string]func(context.Context) error{
		"Events": func(ctx context.Context) (last error) {
			for _, err := range run.Events(ctx, 0) {
				last = err
			}
			return last
		},
		"Wait":   func(ctx context.Context) error { _, err := run.Wait(ctx); return err },
		"Cancel": func(ctx context.Context) error { time.Sleep(time.Second); return run.Cancel(ctx, "enough") },
	}
	for range 2 { // at once, and again when the failure is known
		var all sync.WaitGroup
		for name, ask := range ways {
			all.Go(func() {
				began := time.Now()
				err := ask(w.within(2 * bound))
				if took := time.Since(began); took > bound {
					w.complain("%s took %s", name, took)
				}
				if code := messages.CodeOf(err); code != messages.CauseJournalUnavailable {
					w.complain("%s: %v, want journal_unavailable", name, err)
				}
			})
		}
		all.Wait()
	}
}

// healed uses a journal that fails a run for longer than the run waits, and then recovers.
func (s runtimeSuite) healed() {
	for _, trouble := range troubles {
		if !trouble.lasting {
			continue
		}
		for what, want := range map[string]outcome{
			"is done": completed, "is cancelled": canceled, "is at work": unavailable} {
			s.in(fmt.Sprintf("a journal that %s, a run that %s", trouble.name, what), func(w *world) {
				gate := make(chan struct{})
				v := w.victim(3, func() Disturbance { return trouble.make(gate) })
				a := w.node("a", v)
				steps := slices.Clone(chatty)
				if what != "is done" {
					steps = append(steps, faultplan.Step{Do: faultplan.Hang})
				}
				run := w.start(a, jobOf("victim", steps...))
				time.Sleep(10 * time.Second)
				if what == "is cancelled" {
					_ = run.Cancel(w.within(time.Second), "enough")
				}
				time.Sleep(bound)
				v.heal()
				close(gate)
				time.Sleep(bound)
				w.ends(w.end(run.ID()), want)
				w.agree(w.log(run.ID()), w.follow(a, run.ID(), 0).all(w, time.Second))
				w.othersComplete(a)
			})
		}
	}
}

// forgotten uses a journal that acknowledges one block of a run and loses it. The run must end, and its log must say
// so.
func (s runtimeSuite) forgotten() {
	for pos, more := 2, true; more && !s.t.Failed(); pos++ {
		s.in(fmt.Sprintf("append %d is forgotten", pos), func(w *world) {
			more = false
			var v *victim
			v = w.victim(pos, func() Disturbance {
				v.healed, more = true, true
				return Disturbance{Lose: true}
			})
			a := w.node("a", v)
			run := w.start(a, jobOf("victim", chatty...))
			time.Sleep(time.Minute)
			w.agree(w.log(run.ID()), w.follow(a, run.ID(), 0).all(w, time.Second))
			if more {
				w.ends(w.end(run.ID()), nodeLost)
			} else {
				w.ends(w.end(run.ID()), completed)
			}
		})
	}
}

// kept kills a node, or lets it sleep, at each append of a job with three steps, and after the second step. No step
// in the log may be repeated, and a step that must not happen twice happens at most once.
func (s runtimeSuite) kept() {
	for _, once := range []bool{false, true} {
		s.atEachAppend(fmt.Sprintf("once: %t, ", once), fates, func(w *world, m *mortal) { w.kept(m, once) })
	}
	s.in("lost after the second step", func(w *world) {
		m := w.mortal(dies, 0)
		made := w.kept(m, false, "3")
		if m.alive() || fmt.Sprint(made) != "[1 2 3 3]" { // the first node began the third step, and is no longer heard
			w.complain("the steps %v were made", made)
		}
	})
}

// kept runs the job at the mortal node, which also dies in the steps named deadly. It returns the steps that were
// made.
func (w *world) kept(m *mortal, once bool, deadly ...string) (made []string) {
	var mu sync.Mutex
	do, most := actors.Do[int], 4
	if once {
		do, most = actors.DoOnce[int], 3
	}
	job := func(called func()) actors.Job {
		work := func(ctx context.Context, t *actors.TaskContext) error {
			sum := 0
			for _, step := range []string{"1", "2", "3"} {
				n, err := do(ctx, t, step, func(ctx context.Context) (int, error) {
					w.notKept(t.RunID(), step)
					called()
					mu.Lock()
					made = append(made, step)
					mu.Unlock()
					if len(deadly) > 0 && step == deadly[0] {
						m.strike()
					}
					return 10, faultplan.Pause(ctx, 60*time.Millisecond)
				})
				if sum += n; err != nil {
					return err
				}
			}
			return t.Result(sum, false)
		}
		return actors.Job{Name: "errand", Restart: true, Tasks: []actors.Task{{Name: "steps", Run: work}}}
	}
	_, b, id, calls := w.successors(m, job)
	seen := w.follow(b, id, 0).all(w, 5*time.Minute)
	time.Sleep(2 * time.Minute) // a sleeping node wakes
	w.agree(w.log(id), seen)
	end := w.end(id)
	if n := calls.Load(); n > int64(most) || n < 3 && end.Status == messages.Completed {
		w.complain("of 3 steps %d were made", n)
	}
	if once {
		w.ends(end, completed, outcome{Status: messages.Failed, By: messages.ByRun, Cause: messages.CauseError})
	} else if w.ends(end, completed); string(end.End.Result) != "30" {
		w.complain("the steps came to %s", end.End.Result)
	}
	return made
}

// notKept checks that the log does not hold the end of a step that is about to be made.
func (w *world) notKept(id messages.RunID, step string) {
	page, err := w.reader.Read(context.Background(), id, 0)
	for _, e := range page.Events {
		if b, ok := e.Body.(messages.StepKept); ok && b.Step == step && b.Result != nil {
			w.complain("step %s is made again, and event %d has its result (%v)", step, e.Seq, err)
		}
	}
}
