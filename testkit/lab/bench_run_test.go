package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

const trivialRuns = 20_000

func runFigures() []figure {
	return []figure{{name: "a trivial run, CPU", unit: "us", goal: 6, ours: trivialRun, baseline: plainRun}}
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

// longFigures are about runs that say much, are asked often, or have many children.
func longFigures() []figure {
	return []figure{{
		name: "8,000 tool calls beside 4,000, CPU", unit: "ms", goal: 2.2,
		ours:     func(t *testing.T) float64 { return toolCalls(t, 8000) },
		baseline: func(t *testing.T) float64 { return toolCalls(t, 4000) },
	}, {
		name: "a run whose State ten readers ask for 100 times a second, time", unit: "ms", goal: 1.05,
		ours:     func(t *testing.T) float64 { return underWatch(t, 10) },
		baseline: func(t *testing.T) float64 { return underWatch(t, 0) },
	}, {name: "a sub-run of a tree of 1,000, CPU", unit: "us", goal: 300, ours: subRun}, {
		name: "allocations of a delta", unit: "", goal: 4, ours: deltaAllocs,
	}}
}

// perform runs a job of one task to its end.
func perform(t *testing.T, config actors.Config, work func(ctx context.Context, task *actors.TaskContext) error) {
	s, done := newSystem(t, config)
	defer done()
	run, err := s.Start(t.Context(), actors.Job{Name: "long", Tasks: []actors.Task{{Name: "work", Run: work}}}, actors.Options{})
	must(t, err)
	state, err := run.Wait(t.Context())
	if err != nil || state.Status != messages.Completed {
		t.Fatalf("%s: %v", state.Status, err)
	}
}

// toolCalls is the CPU time of a run of n tool calls, one after the other.
func toolCalls(t *testing.T, n int) float64 {
	return cpuPer(1, func() {
		perform(t, actors.Config{LogBytes: 1 << 40}, func(_ context.Context, task *actors.TaskContext) error {
			for i := range n {
				id := strconv.Itoa(i)
				if err := task.Emit(messages.ToolStarted{Call: id, Tool: "t"}, ""); err != nil {
					return err
				}
				if err := task.Emit(messages.ToolCompleted{Call: id}, ""); err != nil {
					return err
				}
			}
			return nil
		})
	}) / 1e3
}

// underWatch is how long a task takes for 400 milestones and 40,000 deltas, a hundredth of them at a time, while so
// many readers ask for the State.
func underWatch(t *testing.T, readers int) float64 {
	var took time.Duration
	s, done := newSystem(t, actors.Config{LogBytes: 1 << 40})
	defer done()
	run, err := s.Start(t.Context(), actors.Job{Name: "long", Tasks: []actors.Task{{Name: "work",
		Run: func(_ context.Context, task *actors.TaskContext) error {
			begin := time.Now()
			for i := range 400 {
				for range 100 {
					if err := task.AppendText("answer", "token "); err != nil {
						return err
					}
				}
				if err := task.Emit(messages.StepStarted{Step: strconv.Itoa(i)}, ""); err != nil {
					return err
				}
			}
			took = time.Since(begin)
			return nil
		}}}}, actors.Options{})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			for tick := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil; <-tick.C {
				if _, err := run.State(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	_, err = run.Wait(t.Context())
	must(t, err)
	stop()
	all.Wait()
	return float64(took) / float64(time.Millisecond)
}

// subRun is the CPU time of each of 1,000 sub-runs that live at the same time, from its start to its parent's end.
func subRun(t *testing.T) float64 {
	const n = 1000
	return cpuPer(1, func() {
		perform(t, actors.Config{}, func(ctx context.Context, task *actors.TaskContext) error {
			release := make(chan struct{})
			child := actors.Job{Name: "child", Tasks: []actors.Task{{Name: "work",
				Run: func(context.Context, *actors.TaskContext) error { <-release; return nil }}}}
			children := make([]*actors.Run, n)
			for i := range children {
				var err error
				if children[i], err = task.Start(ctx, child, actors.Options{}); err != nil {
					return err
				}
			}
			close(release)
			for _, c := range children {
				if _, err := c.Wait(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}) / n
}

// deltaAllocs is how many allocations a delta makes on its way from the task to the board.
func deltaAllocs(t *testing.T) float64 {
	const n = 200_000
	var before, after runtime.MemStats
	perform(t, actors.Config{LogBytes: 1 << 40}, func(_ context.Context, task *actors.TaskContext) error {
		runtime.ReadMemStats(&before)
		for range n {
			if err := task.AppendText("answer", "token "); err != nil {
				return err
			}
		}
		runtime.ReadMemStats(&after)
		return nil
	})
	return float64((after.Mallocs - before.Mallocs) / n) // growth that is shared by many counts as none, as in testing.AllocsPerRun
}

const (
	liveRuns = 100_000
	liveEnv  = "LASTWORD_BENCH_LIVE"
)

func liveFigures() []figure {
	return []figure{{name: "100,000 live runs, peak RSS", unit: "MB", goal: 1000, ours: liveRSS}}
}

// live is what the process of TestBenchLive measured.
type live struct {
	PeakMB, RSSMB    float64 // the most it ever had, and with all runs alive after a collection
	StartSec, EndSec float64 // wall time to start and to end all runs
}

// liveRSS has a separate process start the runs, so that the figure is theirs alone.
func liveRSS(t *testing.T) float64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBenchLive$", "-test.count=1")
	cmd.Env = append(os.Environ(), liveEnv+"="+t.TempDir()+"/live.json")
	combined(t, cmd)
	data, err := os.ReadFile(strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], liveEnv+"="))
	var l live
	must(t, errors.Join(err, json.Unmarshal(data, &l)))
	t.Logf("100,000 live runs: peak %.0f MB, then %.0f MB; started in %.1f s, ended in %.1f s",
		l.PeakMB, l.RSSMB, l.StartSec, l.EndSec)
	return l.PeakMB
}

// TestBenchLive is the process of liveRSS: 100,000 runs of three tasks, each run an actor with three children, with
// five events and its first task blocked.
func TestBenchLive(t *testing.T) {
	file := os.Getenv(liveEnv)
	if file == "" {
		t.Skip("is a process of make bench")
	}
	s, done := newSystem(t, actors.Config{MaxRuns: liveRuns})
	release := make(chan struct{})
	var blocked sync.WaitGroup
	job, begin := blockedJob(&blocked, release), time.Now()
	for range liveRuns {
		blocked.Add(1)
		_, err := s.Start(t.Context(), job, actors.Options{})
		must(t, err)
	}
	blocked.Wait()
	l := live{StartSec: time.Since(begin).Seconds()}
	l.PeakMB = ownMemory(t, "VmHWM")
	debug.FreeOSMemory()
	l.RSSMB = ownMemory(t, "VmRSS")
	begin = time.Now()
	close(release)
	done()
	l.EndSec = time.Since(begin).Seconds()
	data, err := json.Marshal(l)
	must(t, errors.Join(err, os.WriteFile(file, data, 0o600)))
}

// blockedJob's first task says two events after run.queued, run.started and task.started, and waits.
func blockedJob(blocked *sync.WaitGroup, release <-chan struct{}) actors.Job {
	nothing := func(context.Context, *actors.TaskContext) error { return nil }
	return actors.Job{Name: "blocked", Tasks: []actors.Task{
		{Name: "fetch", Run: func(_ context.Context, task *actors.TaskContext) error {
			err := errors.Join(task.Progress(1, 2, "files"), task.AppendText("answer", "Hello"))
			blocked.Done()
			<-release
			return err
		}},
		{Name: "analyze", Run: nothing}, {Name: "write", Run: nothing},
	}}
}

// ownMemory is a figure of this process, in megabytes.
func ownMemory(t *testing.T, name string) float64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("needs /proc")
	}
	return memory(t, status, name)
}

// memory reads a figure of a process from its status, in megabytes.
func memory(t *testing.T, status []byte, name string) float64 {
	t.Helper()
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, name+":"); found {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			must(t, err)
			return kb * 1024 / 1e6
		}
	}
	t.Fatalf("no %s in the status of a process", name)
	return 0
}
