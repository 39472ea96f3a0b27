package lab_test

import (
	"context"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

const trivialRuns = 20_000

func runFigures() []figure {
	return []figure{{
		name: "a trivial run, CPU", unit: "us", goal: 6, ours: trivialRun, baseline: plainRun,
	}}
}

// trivialRun is the CPU time of a run of three tasks that do nothing, from Start until Wait has returned its State,
// one run after the other; the runtime and the collector included.
func trivialRun(t *testing.T) float64 {
	s, done := newSystem(t, actors.Config{})
	defer done()
	nothing := func(context.Context, *actors.TaskContext) error { return nil }
	job := actors.Job{Name: "trivial", Tasks: []actors.Task{
		{Name: "fetch", Run: nothing}, {Name: "analyze", Run: nothing}, {Name: "write", Run: nothing},
	}}
	return cpuPer(trivialRuns, func() {
		run, err := s.Start(t.Context(), job, actors.Options{})
		must(t, err)
		state, err := run.Wait(t.Context())
		if err != nil || state.Status != messages.Completed || state.Seq != 9 {
			t.Fatalf("%s at %d: %v", state.Status, state.Seq, err)
		}
	})
}

// plainRun is the CPU time of the same without actors: three plain goroutines, one after the other, that say the same
// nine events. Each event is stamped, judged by State.Apply and appended to a slice under a mutex; the caller waits
// for the terminal on a condition and has its State. The logs are kept, as a journal keeps them.
func plainRun(t *testing.T) float64 {
	logs := map[messages.RunID]*plainLog{}
	return cpuPer(trivialRuns, func() {
		l := &plainLog{id: messages.NewRunID()}
		l.grown.L = &l.mu
		logs[l.id] = l
		l.say(t, messages.RunQueued{Job: "trivial", Mode: messages.Detached}, "trivial queued")
		l.say(t, messages.RunStarted{}, "trivial started")
		l.work(t, "fetch", "analyze", "write")
		if state := l.wait(); state.Status != messages.Completed || state.Seq != 9 {
			t.Fatalf("%s at %d", state.Status, state.Seq)
		}
	})
}

type plainLog struct {
	id     messages.RunID
	mu     sync.Mutex
	grown  sync.Cond
	state  messages.State
	events []messages.Event
}

// work runs the first task in its own goroutine, which leaves the rest to another.
func (l *plainLog) work(t *testing.T, tasks ...string) {
	go func() {
		l.say(t, messages.TaskStarted{Task: tasks[0], Attempt: 1}, tasks[0]+" started")
		l.say(t, messages.TaskCompleted{Task: tasks[0], Attempt: 1}, tasks[0]+" completed")
		if len(tasks) > 1 {
			l.work(t, tasks[1:]...)
			return
		}
		l.say(t, messages.RunCompleted{By: messages.ByRun, Artifacts: []messages.Artifact{}}, "trivial completed")
	}()
}

func (l *plainLog) say(t *testing.T, body messages.Body, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seq := l.state.Seq + 1
	e := messages.Event{RunID: l.id, Seq: seq, From: seq, Time: time.Now().UTC(), Message: message, Body: body}
	next, err := l.state.Apply(e)
	if err != nil {
		t.Error(err)
	}
	l.state, l.events = next, append(l.events, e)
	l.grown.Broadcast()
}

func (l *plainLog) wait() messages.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.state.Status.IsEnded() {
		l.grown.Wait()
	}
	return l.state
}

// newSystem returns a System and its end, which comes with the sample's.
func newSystem(t *testing.T, config actors.Config) (*actors.System, func()) {
	t.Helper()
	s, err := actors.New(context.Background(), config)
	must(t, err)
	return s, func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// cpuPer returns the CPU time, user and system, that the process spends on one of n calls, in microseconds.
func cpuPer(n int, f func()) float64 {
	runtime.GC()
	before := cpuTime()
	for range n {
		f()
	}
	return float64((cpuTime() - before).Nanoseconds()) / 1e3 / float64(n)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
