package plan_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/artifact"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
)

// work is the input of the job work: it returns Give, or fails by Cause, after a time. The first Fails calls of one
// Name fail.
type work struct {
	Name  string `json:"name"`
	Give  any    `json:"give"`
	Cause string `json:"cause"`
	MS    int    `json:"ms"`
	Fails int64  `json:"fails"`
}

// world is what the steps of a test can do.
type world struct {
	plan.Config
	calls map[string]*atomic.Int64
}

func newWorld(t *testing.T, names ...string) *world {
	w := &world{calls: map[string]*atomic.Int64{}}
	for _, name := range append(names, "") {
		w.calls[name] = new(atomic.Int64)
	}
	folder := t.TempDir()
	w.Jobs = []actors.Definition{actors.Func("work", w.work)}
	w.Write = artifact.Write(func(string) (string, error) { return folder, nil }, nil)
	w.Read = artifact.Read(func(ctx context.Context, id messages.RunID, _ string) (messages.State, error) {
		return w.Runs("").State(ctx, id)
	}, func(_ context.Context, _ messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
		return os.Open(filepath.Join(folder, a.Path))
	})
	return w
}

func (w *world) work(ctx context.Context, _ *actors.TaskContext, in work) (any, error) {
	n := int64(0)
	if calls := w.calls[in.Name]; calls != nil {
		n = calls.Add(1)
	}
	done, stop := context.WithTimeout(ctx, time.Duration(in.MS)*time.Millisecond)
	defer stop()
	if <-done.Done(); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if in.Cause != "" && (in.Fails == 0 || n <= in.Fails) {
		return nil, messages.Errorf(messages.Code(in.Cause), "the work fails")
	}
	return in.Give, nil
}

func read(t *testing.T, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse([]byte(text))
	must(t, err)
	return p
}

// carry runs the plan, and returns its events and its end. Meanwhile is called once the run is started.
func (w *world) carry(t *testing.T, s *actors.System, in plan.Input, meanwhile func(*actors.Run)) ([]messages.Event, messages.State) {
	t.Helper()
	job, err := plan.Job(in, w.Config)
	must(t, err)
	run, err := s.Start(t.Context(), job, actors.Options{})
	must(t, err)
	if meanwhile != nil {
		synctest.Wait()
		meanwhile(run)
	}
	var state messages.State
	var events []messages.Event
	for e, err := range run.Events(t.Context(), 0) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(t, err)
		events = append(events, e)
	}
	return events, state
}

// transcript is what the events say of steps.
func transcript(events []messages.Event) string {
	var b strings.Builder
	for _, e := range events {
		switch body := e.Body.(type) {
		case messages.StepStarted:
			fmt.Fprintln(&b, e.Message)
		case messages.StepEnded:
			fmt.Fprint(&b, e.Message)
			if body.Next != "" {
				fmt.Fprint(&b, " → ", body.Next)
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}

var subRun = regexp.MustCompile(`r_\w+\.c\d+`)

// The file testdata/runs.txtar has plans, and what their logs say.
func TestRuns(t *testing.T) {
	const file = "testdata/runs.txtar"
	archive, err := txtar.ParseFile(file)
	must(t, err)
	for i := 0; i+1 < len(archive.Files); i += 2 {
		name, said := archive.Files[i].Name, &archive.Files[i+1].Data
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := faultplan.Open(t, actors.Config{})
				w := newWorld(t, "flaky")
				w.Runs = func(string) plan.Runs { return s }
				in := plan.Input{Plan: read(t, string(archive.Files[i].Data))}
				events, state := w.carry(t, s, in, nil)
				replay(t, s, in, w.Config, events)
				got := transcript(events) + string(state.Status)
				if state.End.Error != nil {
					got += fmt.Sprintf(" by %s: %s", state.End.Cause, subRun.ReplaceAllString(state.End.Error.Message, "SUB-RUN"))
				} else {
					got += " with " + string(state.End.Result)
				}
				got += "\n"
				if *update {
					*said = []byte(got)
				}
				if got != string(*said) {
					t.Errorf("%s\nwant\n%s", got, *said)
				}
				if n := s.Stats().RefusedEvents; n != 0 {
					t.Errorf("%d events were refused", n)
				}
			})
		})
	}
	if *update {
		must(t, os.WriteFile(file, txtar.Format(archive), 0o644))
	}
}

// replay wants a new core to come from the log to the same ends, for the same reasons.
func replay(t *testing.T, s *actors.System, in plan.Input, config plan.Config, events []messages.Event) {
	t.Helper()
	got, err := plan.Replayed(in, config, events, func(id messages.RunID) messages.State {
		state, err := s.State(t.Context(), id)
		if err != nil {
			t.Error(err)
		}
		return state
	})
	var want []messages.StepEnded
	for _, e := range events {
		if b, ok := e.Body.(messages.StepEnded); ok {
			b.Task = ""
			want = append(want, b)
		}
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: a replay comes to\n%+v\nafter\n%+v", err, got, want)
	}
}

//go:embed testdata/asks.yaml
var asks string

//go:embed testdata/receives.yaml
var receives string

// People are asked in the plan's own run.
func TestAsk(t *testing.T) {
	for answer, want := range map[string]string{"true": "no_then publish sure", "false": "no_then publish sure"} {
		synctest.Test(t, func(t *testing.T) {
			s := faultplan.Open(t, actors.Config{})
			_, state := newWorld(t).carry(t, s, plan.Input{Plan: read(t, asks)}, func(run *actors.Run) {
				asked, err := run.State(t.Context())
				if err != nil || len(asked.Inputs) != 1 {
					t.Fatalf("%v, %+v", err, asked.Inputs)
				}
				must(t, s.Answer(t.Context(), run.ID(), asked.Inputs[0].Request, json.RawMessage(answer), "ada"))
			})
			var result struct{ Steps map[string]plan.Outcome }
			must(t, json.Unmarshal(state.End.Result, &result))
			var names []string
			for name := range result.Steps {
				names = append(names, name)
			}
			slices.Sort(names)
			yes := result.Steps["publish"] == "completed" && result.Steps["no_then"] == "skipped"
			no := result.Steps["publish"] == "skipped" && result.Steps["no_then"] == "completed"
			if strings.Join(names, " ") != want || yes != (answer == "true") || no != (answer == "false") {
				t.Errorf("%s: %v", answer, result)
			}
		})
	}
}

// A step waits for a message of its form, over a restart and for longer than a run may be silent. One message is for one step.
func TestReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		node := func() *actors.System {
			s, err := actors.New(t.Context(), actors.Config{Journal: store, HandOver: true, Drain: time.Nanosecond, WallClock: 3 * time.Hour,
				Jobs: []actors.Definition{plan.Define(plan.Config{})}})
			must(t, err)
			return s
		}
		s := node()
		input, err := json.Marshal(plan.Input{Plan: read(t, receives)})
		must(t, err)
		id, err := s.Submit(t.Context(), messages.Request{Job: plan.Name, Input: input})
		must(t, err)
		say := func(text string) {
			t.Helper()
			_, err := s.Send(t.Context(), id, messages.Said{Content: text})
			must(t, err)
			time.Sleep(time.Second)
		}
		say(`{"m":1}`)
		say(`{"n":7}`)
		must(t, s.Close(t.Context()))
		s = node()
		time.Sleep(30 * time.Minute)
		say("go on")
		time.Sleep(2 * time.Hour)
		state, err := s.State(t.Context(), id)
		must(t, err)
		if state.End == nil || string(state.End.Result) != `{"late":"deadline","one":7,"two":"go on"}` || len(state.Notices) != 1 || len(state.Messages) != 3 {
			t.Errorf("it ended with %+v, notices %+v, messages %+v", state.End, state.Notices, state.Messages)
		}
		must(t, s.Close(t.Context()))
	})
}

// The answer of a step that was cut is no whole one: the step's error and the log say so, and the plan is degraded.
func TestCutStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := faultplan.Open(t, actors.Config{})
		w := newWorld(t)
		w.Jobs = append(w.Jobs, actors.Definition{Name: "prompt", New: func(json.RawMessage) (actors.Job, error) {
			return actors.Job{Name: "prompt", Tasks: []actors.Task{{Name: "respond", Run: func(_ context.Context, t *actors.TaskContext) error {
				return t.Result(map[string]any{"text": "Hel", "finish_reason": "length", "truncated": true}, true)
			}}}}, nil
		}})
		p := read(t, "steps: [{name: a, job: prompt}]\nresult: ${steps.a.result.text} ${steps.a.error}")
		events, state := w.carry(t, s, plan.Input{Plan: p}, nil)
		const lack = "the answer was cut at its length limit"
		if string(state.End.Result) != `"Hel `+lack+`"` || !state.End.Degraded || !strings.Contains(transcript(events), lack) {
			t.Errorf("the plan ended with %+v\n%s", state.End, transcript(events))
		}
	})
}

// A cancel ends the steps that run, and the plan ends once, after them.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := faultplan.Open(t, actors.Config{})
		p := read(t, "steps:\n  - name: a\n    job: work\n    input: {ms: 60000}\n  - name: b\n    needs: a\n    job: work\n")
		_, state := newWorld(t).carry(t, s, plan.Input{Plan: p}, func(run *actors.Run) {
			must(t, run.Cancel(t.Context(), "enough"))
		})
		if state.Status != messages.Canceled || len(state.Children) != 1 || state.Children[0].Status != messages.Canceled {
			t.Errorf("%s with %+v", state.Status, state.Children)
		}
	})
}

// dear is a text with n expressions that each take a 50th of what all of a plan may.
func dear(n int) string { return strings.Repeat("${len([x for x in range(100000)])}", n) }

// A cancel and a timeout end the evaluation of expressions, and no step fails because of them.
func TestEvaluationEndsWithItsRun(t *testing.T) {
	s := faultplan.Open(t, actors.Config{})
	for timeout, want := range map[string]messages.Code{"1m": messages.CauseCanceledByUser, "10ms": messages.CauseDeadline} {
		job, err := plan.Job(plan.Input{Plan: read(t, "timeout: "+timeout+
			"\nsteps: [{name: a, on_failure: continue, job: work, input: {give: '"+dear(10_000)+"'}}]")}, newWorld(t).Config)
		must(t, err)
		run, err := s.Start(t.Context(), job, actors.Options{})
		must(t, err)
		if want == messages.CauseCanceledByUser {
			must(t, run.Cancel(t.Context(), "enough"))
		}
		state, err := run.Wait(t.Context())
		if took := state.End.At.Sub(state.QueuedAt); err != nil || state.End.Cause != want || len(state.Steps) > 0 || took > 4*time.Second {
			t.Errorf("%v: %s after %v, %+v", err, state.Status, took, state.End)
		}
	}
}

// All evaluations of a plan, and of plans within it, share one budget. The step that finds nothing left fails.
func TestEvaluationIsBounded(t *testing.T) {
	part := func(name string, n int) string {
		return fmt.Sprintf("  - {name: %s, plan: {steps: [{name: it, job: work, input: {give: '%s'}}]}}\n", name, dear(n))
	}
	synctest.Test(t, func(t *testing.T) {
		s := faultplan.Open(t, actors.Config{})
		for text, want := range map[string]string{
			part("a", 40): "",
			part("a", 40) + part("b", 40) + "limit: 1":   "the step b failed",
			part("a", 40) + "result: '" + dear(40) + "'": "the result cannot be made",
		} {
			if testing.Short() && !strings.Contains(text, "limit") {
				continue
			}
			_, state := newWorld(t).carry(t, s, plan.Input{Plan: read(t, "steps:\n"+text)}, nil)
			if want == "" && state.Status != messages.Completed || want != "" && (state.End.Cause != messages.CauseLimitExceeded || !strings.Contains(state.End.Error.Message, want)) {
				t.Errorf("%.60s: %s, %+v", text, state.Status, state.End)
			}
		}
	})
}

// noReads is a journal that nobody may ask.
type noReads struct {
	actors.Journal
	denied atomic.Int64
}

func (j *noReads) Read(context.Context, messages.RunID, uint64) (journal.Page, error) {
	j.denied.Add(1)
	return journal.Page{}, messages.Errorf(messages.CodeUnavailable, "nobody reads while a plan runs")
}

func (j *noReads) List(context.Context, messages.Query) ([]messages.Summary, error) {
	j.denied.Add(1)
	return nil, messages.Errorf(messages.CodeUnavailable, "nobody lists while a plan runs")
}

// Nothing polls: while a plan of 300 steps runs, the journal is neither read nor listed. The bubble's clock stands still
// while steps work, so no heartbeat is due.
func TestNothingPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := &noReads{Journal: journal.NewMemory()}
		s := faultplan.Open(t, actors.Config{Journal: journal})
		p := &plan.Plan{}
		for i := range 300 {
			step := plan.Step{Name: fmt.Sprint("s", i), Job: "work"}
			if i >= 10 {
				step.Needs = plan.Names{fmt.Sprint("s", i-10)}
			}
			p.Steps = append(p.Steps, step)
		}
		job, err := plan.Job(plan.Input{Plan: p}, newWorld(t).Config)
		must(t, err)
		run, err := s.Start(t.Context(), job, actors.Options{})
		must(t, err)
		state, err := run.Wait(t.Context())
		if err != nil || state.Status != messages.Completed || len(state.Children) != 300 || journal.denied.Load() > 0 {
			t.Errorf("%v: %s %+v after %d reads", err, state.Status, state.End, journal.denied.Load())
		}
	})
}

var must = fatal.IfError
