package actors_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// stall is how long a stage's runs may be silent, and taskDeadline how long their tasks may take.
const (
	stall        = time.Minute
	taskDeadline = 10 * time.Second
)

// stage is a System in a bubble of virtual time, for thousands of runs with plans.
type stage struct {
	t      *testing.T
	s      *actors.System
	faults *faultplan.Faults
	ended  []messages.State // of the trials, in their order
	trials []*faultplan.Trial
	hint   string // how to repeat a plan, by its seed; "" where the test itself is the way
}

// onStage plays on its own System, and at the end demands that everything is at rest: no actor of a run is alive,
// no goroutine is left but the deaf ones, and those were counted exactly; a goroutine of anybody else's fails the bubble.
func onStage(t *testing.T, play func(*stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		st := &stage{t: t, faults: faultplan.NewFaults()}
		st.s = open(t, st.faults.Config(actors.Config{Stall: stall, MaxRuns: 1 << 20}))
		play(st)
		st.rest()
	})
}

// script says a little in each task.
func script() faultplan.Script {
	artifact := messages.Artifact{Name: "llms.txt", Bytes: 1, SHA256: messages.Digest("x")}
	return faultplan.Script{
		Deadline: taskDeadline,
		Fetch:    []faultplan.Step{{Do: faultplan.Report, Done: 1, Total: 1}, {Do: faultplan.Log, Text: "fetched"}},
		Analyze:  []faultplan.Step{{Do: faultplan.Say, Text: "thus ", Times: 3}, {Do: faultplan.Said, Text: "thus thus thus "}},
		Write:    []faultplan.Step{{Do: faultplan.Emit, Body: messages.ArtifactWritten{Artifact: artifact}}},
	}
}

// wave is how many runs a stage has at a time.
const wave = 250

// play runs the plans, a wave at a time, and judges how each ends.
func (st *stage) play(plans ...faultplan.FaultPlan) {
	st.t.Helper()
	for some := range slices.Chunk(plans, wave) {
		first := len(st.trials)
		st.trials = append(st.trials, make([]*faultplan.Trial, len(some))...)
		st.ended = append(st.ended, make([]messages.State, len(some))...)
		var all sync.WaitGroup
		for i, plan := range some {
			all.Go(func() { st.trials[first+i], st.ended[first+i] = st.run(plan) })
		}
		all.Wait()
	}
}

func (st *stage) run(plan faultplan.FaultPlan) (*faultplan.Trial, messages.State) {
	script := script()
	script.Policy.RetryCrash = plan.Again
	var working atomic.Int64
	job := script.Job()
	for i, task := range job.Tasks {
		job.Tasks[i].Run = func(ctx context.Context, t *actors.TaskContext) error {
			working.Add(1)
			defer working.Add(-1)
			return task.Run(ctx, t)
		}
	}
	trial, err := st.faults.Start(context.Background(), st.s, job, plan)
	if err != nil {
		st.errorf(plan, "Start: %v", err)
		return trial, messages.State{}
	}
	events, err := readAll(trial.Run, 0)
	if err := errors.Join(err, testkit.CheckLog(0, events)); err != nil {
		st.errorf(plan, "%v", err)
	}
	state := foldAll(events)
	if err := judge(plan, state); err != nil {
		st.errorf(plan, "%v", err)
	} else {
		st.lastWord(trial, state, working.Load())
	}
	return trial, state
}

// lastWord demands that the terminal came when nothing of the run worked any more.
func (st *stage) lastWord(trial *faultplan.Trial, ended messages.State, working int64) {
	if working != 0 {
		st.errorf(trial.Plan, "%d functions go on after the last word", working)
	}
	blocked := func(f faultplan.Fault) bool { return f.Failure == faultplan.TurnBlock && f.Actor == faultplan.RunActor }
	if ended.End.By != messages.ByRun && slices.ContainsFunc(trial.Plan.Faults, blocked) {
		return // the tasks' actors were told to stop when the run's own was given up, and are about to
	}
	for _, task := range faultplan.Tasks() {
		if pid := st.s.PID(trial.Run.ID(), task); st.s.Node().Alive(pid) {
			st.errorf(trial.Plan, "%s is alive after the last word", pid.Id)
		}
	}
}

func (st *stage) errorf(plan faultplan.FaultPlan, format string, args ...any) {
	st.t.Helper()
	st.t.Errorf("%s\n"+format, append([]any{plan}, args...)...)
	if st.hint != "" {
		st.t.Errorf("repeat it with: "+st.hint, plan.Seed)
	}
}

func readAll(run *actors.Run, after uint64) ([]messages.Event, error) {
	var events []messages.Event
	for e, err := range run.Events(context.Background(), after) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func foldAll(events []messages.Event) messages.State {
	var state messages.State
	for _, e := range events {
		state, _ = state.Apply(e)
	}
	return state
}

// rest waits until whatever ends by itself has ended, and counts what is left.
func (st *stage) rest() {
	time.Sleep(2*stall + 30*time.Second)
	synctest.Wait()
	for i, trial := range st.trials {
		st.atRest(trial, st.ended[i])
	}
	deaf, ever := st.faults.Deaf()
	n := st.s.Node().Counters()
	if n.Tasks-idle != deaf || n.AbandonedTasks != ever {
		st.t.Errorf("%d goroutines of tasks are left and %d were abandoned, but %d are deaf and %d were", n.Tasks-idle, n.AbandonedTasks, deaf, ever)
	}
	stats, runs := st.s.Stats(), int64(len(st.trials))
	if stats.Active != 0 || stats.Started != runs || stats.Ended != runs || stats.AbandonedTasks != ever {
		st.t.Errorf("of %d runs with %d deaf tasks the counters say %+v", runs, ever, stats)
	}
	st.faults.Release()
	time.Sleep(time.Second)
	synctest.Wait()
	if n := st.s.Node().Counters(); n.Tasks != idle {
		st.t.Errorf("%d goroutines of tasks are left after the release", n.Tasks-idle)
	}
}

// atRest demands that nothing of the run is alive, and that its log is what it was, read from anywhere.
func (st *stage) atRest(trial *faultplan.Trial, ended messages.State) {
	if trial.Run == nil {
		return
	}
	for _, name := range append(faultplan.Tasks(), "") {
		if pid := st.s.PID(trial.Run.ID(), name); st.s.Node().Alive(pid) {
			st.errorf(trial.Plan, "%s is alive", pid.Id)
		}
	}
	after := trial.Plan.Seed % max(ended.Seq, 1)
	tail, err := readAll(trial.Run, after)
	if err := errors.Join(err, testkit.CheckLog(after, tail)); err != nil {
		st.errorf(trial.Plan, "past %d, after the end: %v", after, err)
	}
}

// TestScenarioResponsive asks a run whose task is deaf for its State and cancels it: it answers at once, and its last
// word comes when the hard limit has passed: "at 2 s their actors are stopped; at 5 s what still runs is abandoned,
// counted, and the terminal is written."
func TestScenarioResponsive(t *testing.T) {
	for _, task := range faultplan.Tasks() {
		onStage(t, func(st *stage) {
			t := st.t
			deaf := faultplan.Fault{Failure: faultplan.Failure(faultplan.Deaf), Actor: task, Phase: faultplan.Phase(task)}
			trial, err := st.faults.Start(t.Context(), st.s, script().Job(), faultplan.FaultPlan{Faults: []faultplan.Fault{deaf}, Cancel: faultplan.NoCancel})
			noError(t, err)
			time.Sleep(time.Second)
			begin := time.Now()
			state, err := trial.Run.State(t.Context())
			if at, _ := state.Task(task); err != nil || at.Status != messages.TaskRunning {
				t.Errorf("%s is %+v: %v", task, at, err)
			}
			if err := trial.Run.Cancel(t.Context(), "now"); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took != 0 {
				t.Errorf("the run took %s to answer while %s was deaf", took, task)
			}
			state, err = trial.Run.State(t.Context())
			if err != nil || !state.Canceling {
				t.Errorf("the cancel that was accepted is not in the log: %v", err)
			}
			end, err := trial.Run.Wait(t.Context())
			if took := time.Since(begin); err != nil || end.Status != messages.Canceled || took != 5*time.Second {
				t.Errorf("ended as %s after %s: %v", end.Status, took, err)
			}
			st.trials, st.ended = append(st.trials, trial), append(st.ended, end)
		})
	}
}

// TestScenarioLate has a task return, with success or its own error, after its deadline: it is failed by the
// deadline whatever it says.
func TestScenarioLate(t *testing.T) {
	for _, late := range []error{nil, errors.New("its own")} {
		synctest.Test(t, func(t *testing.T) {
			j := job(func(context.Context, *actors.TaskContext) error {
				time.Sleep(taskDeadline + time.Second)
				return late
			})
			j.Tasks[0].Deadline = taskDeadline
			begin := time.Now()
			expect(t, wait(t, start(t, open(t, actors.Config{}), j, actors.Options{})), messages.Failed, messages.ByRun, messages.CauseDeadline)
			if took := time.Since(begin); took != taskDeadline+time.Second {
				t.Errorf("the last word took %s", took)
			}
		})
	}
}

// TestScenarioClose closes the System while runs with every fault are on their way: it takes no longer than its limits
// say, and every log has its last word.
func TestScenarioClose(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond, 3 * time.Second, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			faults, journal := faultplan.NewFaults(), journal.NewMemory()
			s, err := actors.New(t.Context(), faults.Config(actors.Config{
				Journal: journal, MaxRuns: 1 << 20, Stall: stall, Drain: time.Second}))
			noError(t, err)
			var trials []*faultplan.Trial
			for _, plan := range seeds(0, len(allCells())) {
				plan.Journal = faultplan.Calm // a slow one would have Start take its time
				trial, err := faults.Start(t.Context(), s, script().Job(), plan)
				noError(t, err)
				trials = append(trials, trial)
			}
			time.Sleep(after)
			begin := time.Now()
			_ = s.Close(t.Context()) // that runs had to be ended is no wonder
			if took := time.Since(begin); took > 25*time.Second {
				t.Errorf("Close took %s", took)
			}
			for _, trial := range trials {
				page, err := journal.Read(t.Context(), trial.Run.ID(), 0)
				if err := errors.Join(err, testkit.CheckLog(0, page.Events)); err != nil {
					t.Errorf("%s: %v", trial.Plan, err)
				}
			}
			faults.Release()
			time.Sleep(time.Second)
			synctest.Wait()
			if n := s.Node().Counters().Tasks; n != 0 {
				t.Errorf("%d goroutines of tasks are left", n)
			}
		})
	}
}
