package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
)

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
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], liveEnv+"="))
	var l live
	if err = errors.Join(err, json.Unmarshal(data, &l)); err != nil {
		t.Fatal(err)
	}
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
	job := blockedJob(&blocked, release)
	begin := time.Now()
	for range liveRuns {
		blocked.Add(1)
		if _, err := s.Start(t.Context(), job, actors.Options{}); err != nil {
			t.Fatal(err)
		}
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
	if err = errors.Join(err, os.WriteFile(file, data, 0o600)); err != nil {
		t.Fatal(err)
	}
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
