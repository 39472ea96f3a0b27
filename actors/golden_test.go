package actors_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden is a way for a run to end.
type golden struct {
	name   string
	change func(*faultplan.Script)
	cancel time.Duration // after the start; 0 is never
}

// goldens lists success, each failure of a task, and a cancel in each phase.
func goldens() []golden {
	all := []golden{{name: "success", change: func(*faultplan.Script) {}}}
	for i, task := range faultplan.Tasks() {
		end := func(s *faultplan.Script, last ...faultplan.Step) {
			steps := []*[]faultplan.Step{&s.Fetch, &s.Analyze, &s.Write}[i]
			*steps = append(*steps, last...)
		}
		all = append(all,
			golden{name: task + "-fails", change: func(s *faultplan.Script) { end(s, faultplan.Step{Do: faultplan.Fail}) }},
			golden{name: task + "-panics", change: func(s *faultplan.Script) { end(s, faultplan.Step{Do: faultplan.Panic}) }},
			golden{name: task + "-exceeds-its-deadline", change: func(s *faultplan.Script) { end(s, faultplan.Step{Do: faultplan.Hang}) }},
			golden{name: task + "-succeeds-when-retried",
				change: func(s *faultplan.Script) { end(s, faultplan.Step{Do: faultplan.Retry, Attempt: 1}) }},
			golden{name: task + "-is-canceled", cancel: time.Second,
				change: func(s *faultplan.Script) { end(s, faultplan.Step{Do: faultplan.Hang}) }},
			golden{name: task + "-is-canceled-before-its-retry", cancel: 10 * time.Millisecond,
				change: func(s *faultplan.Script) { end(s, faultplan.Step{Do: faultplan.Retry}) }})
	}
	return all
}

// TestGoldenMilestones compares what two runs of each outcome say with what runs have always said.
func TestGoldenMilestones(t *testing.T) {
	for _, g := range goldens() {
		t.Run(g.name, func(t *testing.T) {
			got := g.milestones(t)
			if again := g.milestones(t); again != got {
				t.Fatalf("two runs say\n%s\nand\n%s", got, again)
			}
			file := filepath.Join("testdata", "milestones", g.name+".txt")
			if *update {
				noError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			if err != nil || string(want) != got {
				t.Errorf("%s says\n%s\nbut the run\n%s%v", file, want, got, err)
			}
		})
	}
}

func (g golden) milestones(t *testing.T) string {
	t.Helper()
	var lines strings.Builder
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{Node: "golden"})
		script := script()
		g.change(&script)
		run := start(t, s, script.Job(), actors.Options{})
		if g.cancel > 0 {
			time.AfterFunc(g.cancel, func() { _ = run.Cancel(t.Context(), "enough") }) // the events tell
		}
		events, err := readAll(run, 0)
		noError(t, err)
		noError(t, testkit.CheckLog(0, events))
		for _, e := range events {
			if !e.IsDelta() {
				fmt.Fprintf(&lines, "%-16s %s%s\n", e.Kind(), e.Message, detail(e.Body))
			}
		}
	})
	return lines.String()
}

// detail is what the message does not say and is the same every time.
func detail(b messages.Body) string {
	switch b := b.(type) {
	case messages.RunQueued:
		return fmt.Sprintf(" [%s]", b.Mode)
	case messages.RunStarted:
		return fmt.Sprintf(" [on %s]", b.Node)
	case messages.RunCanceling:
		return fmt.Sprintf(" [%s]", b.Reason)
	case messages.RunCompleted:
		return fmt.Sprintf(" [by %s, %s]", b.By, names(b.Artifacts))
	case messages.RunFailed:
		return fmt.Sprintf(" [by %s, %s in %s, %s]", b.By, b.Cause, b.Task, names(b.Artifacts))
	case messages.RunCanceled:
		return fmt.Sprintf(" [by %s, %s, %s]", b.By, b.Cause, names(b.Artifacts))
	case messages.TaskFailed:
		return fmt.Sprintf(" [attempt %d, %s, will retry: %t]", b.Attempt, b.Cause, b.WillRetry)
	case messages.TaskRestarted:
		return fmt.Sprintf(" [attempt %d]", b.Attempt)
	case messages.TextDone:
		return fmt.Sprintf("%s %q", b.Stream, b.Text)
	case messages.ArtifactWritten:
		return names([]messages.Artifact{b.Artifact})
	}
	return ""
}

func names(artifacts []messages.Artifact) string {
	var out []string
	for _, a := range artifacts {
		state := "final"
		if a.Partial {
			state = "partial"
		}
		out = append(out, fmt.Sprintf("%s (%s)", a.Name, state))
	}
	if len(out) == 0 {
		return "no artifacts"
	}
	return strings.Join(out, ", ")
}
