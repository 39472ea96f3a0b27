package actors_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// TestSimMemory holds that a node forgets: once the retention has passed, its heap is that before, however many runs
// there were.
func TestSimMemory(t *testing.T) {
	runs := 2_000
	if os.Getenv("LASTWORD_SIM") != "" {
		runs = 100_000
	}
	// The slack is for goroutines, whose descriptors are never given back, and for the library.
	const atOnce, slack = 50, 512 << 10
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		play := func(n int) {
			for range n / atOnce {
				batch := make([]*actors.Run, atOnce)
				for i := range batch {
					batch[i] = start(t, s, threeTasks(), actors.Options{Key: string(messages.NewRunID())})
				}
				for _, run := range batch {
					if state := wait(t, run); state.Status != messages.Completed {
						t.Fatal(state.Status)
					}
				}
			}
		}
		play(atOnce)
		fillRegistry(s)
		time.Sleep(25 * time.Hour)
		before := heap()
		play(runs)
		kept := heap()
		time.Sleep(25 * time.Hour)
		after := heap()
		t.Logf("%d runs: heap %d kB before, %d kB with their logs, %d kB after the retention",
			runs, before.HeapAlloc>>10, kept.HeapAlloc>>10, after.HeapAlloc>>10)
		t.Logf("%d kB of spans in use before, %d kB after", before.HeapInuse>>10, after.HeapInuse>>10)
		if after.HeapAlloc > before.HeapAlloc+slack {
			t.Errorf("the heap grew by %d bytes", after.HeapAlloc-before.HeapAlloc)
		}
		if kept.HeapAlloc < after.HeapAlloc+uint64(runs)*500 {
			t.Errorf("the logs of %d runs are %d bytes: nothing was kept", runs, int64(kept.HeapAlloc)-int64(after.HeapAlloc))
		}
	})
}

// fillRegistry has the library make what it makes once: its registry is 32,768 maps, and each takes its first memory when
// an actor's name first falls into it.
func fillRegistry(s *actors.System) {
	registry := s.Node().System().ProcessRegistry
	for i := range 500_000 {
		pid, _ := registry.Add(nil, strconv.Itoa(i))
		registry.Remove(pid)
	}
}

// threeTasks is a job that says a little of everything.
func threeTasks() actors.Job {
	speak := func(ctx context.Context, task *actors.TaskContext) error {
		if task.Attempt() > 1 {
			return nil
		}
		return errors.Join(task.Progress(1, 2, "files"), task.Log(messages.LogInfo, "a line"),
			task.AppendText("answer", "Hel"), task.AppendText("answer", "lo"), task.FinishText("answer", "Hello"))
	}
	nothing := func(context.Context, *actors.TaskContext) error { return nil }
	return actors.Job{Name: "test", Input: map[string]string{"folder": "."}, Tasks: []actors.Task{
		{Name: "fetch", Run: nothing}, {Name: "analyze", Run: speak, Deadline: time.Minute}, {Name: "write", Run: nothing},
	}}
}

func heap() runtime.MemStats {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m
}
