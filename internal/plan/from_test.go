package plan_test

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
)

// bubble runs a test with a runtime whose runs its plans may read.
func bubble(t *testing.T, config actors.Config, test func(t *testing.T, s *actors.System, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := faultplan.Open(t, config)
		w := newWorld(t, "first", "each0", "each1", "last")
		w.Runs = func(string) plan.Runs { return s }
		test(t, s, w)
	})
}

//go:embed testdata/long.yaml
var long string

// A plan that failed goes on from a step, with what the other steps came to in the earlier run.
func TestFrom(t *testing.T) {
	bubble(t, actors.Config{}, func(t *testing.T, s *actors.System, w *world) {
		p := read(t, long)
		_, before := w.carry(t, s, plan.Input{Plan: p}, func(run *actors.Run) {
			must(t, s.Answer(t.Context(), run.ID(), "sure#1", json.RawMessage(`true`), ""))
		})
		if before.Status != messages.Failed {
			t.Fatalf("%+v", before.End)
		}
		events, after := w.carry(t, s, plan.Input{Plan: p, From: "read", Run: before.RunID}, nil)
		if want := `["x!","y!","a note","stalled",true]`; string(after.End.Result) != want {
			t.Errorf("%+v, want %s", after.End, want)
		}
		for name, want := range map[string]int64{"first": 1, "each0": 1, "each1": 1, "last": 2} {
			if got := w.calls[name].Load(); got != want {
				t.Errorf("%s ran %d times", name, got)
			}
		}
		told := transcript(events)
		as := "as in " + string(before.RunID)
		if strings.Count(told, as) != 7 || !strings.Contains(told, "first completed: "+as) || len(after.Children) != 2 {
			t.Errorf("%d sub-runs after\n%s", len(after.Children), told)
		}
		result := string(after.End.Result)
		_, third := w.carry(t, s, plan.Input{Plan: p, From: "last", Run: after.RunID}, nil) // what it keeps is the first run's
		if w.calls["last"].Load() != 3 || string(third.End.Result) != result || len(third.Children) != 1 {
			t.Errorf("%+v with %d sub-runs", third.End, len(third.Children))
		}
	})
}

// What a plan cannot go on from is said, with what to do.
func TestFromRefuses(t *testing.T) {
	bubble(t, actors.Config{}, func(t *testing.T, s *actors.System, w *world) {
		p := read(t, "steps: [{name: a, job: work}]")
		for want, in := range map[string]plan.Input{
			"no step b to run from": {Plan: p, From: "b", Run: "r_x"},
			"give both or neither":  {Plan: p, From: "a"},
		} {
			if _, err := plan.Job(in, w.Config); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		job, err := actors.Func("work", w.work).New(nil)
		must(t, err)
		run, err := s.Start(t.Context(), job, actors.Options{})
		must(t, err)
		_, err = run.Wait(t.Context())
		must(t, err)
		for id, want := range map[messages.RunID]string{run.ID(): "is of the job work", "r_nowhere": "r_nowhere"} {
			_, end := w.carry(t, s, plan.Input{Plan: p, From: "a", Run: id}, nil)
			if end.Status != messages.Failed || !strings.Contains(end.End.Error.Message, want) {
				t.Errorf("%+v, want %s", end.End, want)
			}
		}
	})
}

// A step reads what another run wrote.
func TestReadOfOthers(t *testing.T) {
	bubble(t, actors.Config{}, func(t *testing.T, s *actors.System, w *world) {
		_, other := w.carry(t, s, plan.Input{Plan: read(t, "steps: [{name: a, write: {name: a.txt, text: hello}}]")}, nil)
		child := other.Children[0].Child
		p := read(t, "steps: [{name: a, read: {run: "+string(child)+", name: a.txt}}]\nresult: ${steps.a.result.text}")
		if _, end := w.carry(t, s, plan.Input{Plan: p}, nil); string(end.End.Result) != `"hello"` {
			t.Errorf("%+v", end.End)
		}
	})
}

// The timeout of a plan counts from its start, whatever crashed since.
func TestTimeoutOverCrash(t *testing.T) {
	crashed := false
	inject := func(p actors.Point) {
		if p.Actor == "steps" && p.Task != nil && p.Name == string(messages.KindStepEnded) && !crashed {
			crashed = true
			panic("the plan's actor crashes")
		}
	}
	bubble(t, actors.Config{Inject: inject}, func(t *testing.T, s *actors.System, w *world) {
		p := read(t, `
timeout: 1m
steps: [{name: a, job: work, input: {ms: 40000}}, {name: b, needs: a, job: work, input: {ms: 50000}}]`)
		_, end := w.carry(t, s, plan.Input{Plan: p}, nil)
		if took := end.End.At.Sub(end.QueuedAt).Round(time.Second); !crashed || end.End.Cause != messages.CauseDeadline || took != time.Minute {
			t.Errorf("crashed %t: %+v after %v", crashed, end.End, took)
		}
	})
}

// An answer that does not fit is refused with what would, and the question stays open. Who declines fails the step.
func TestAnswerFits(t *testing.T) {
	for given, want := range map[string]string{`3`: "completed", `null`: "nobody wanted to answer"} {
		bubble(t, actors.Config{}, func(t *testing.T, s *actors.System, w *world) {
			p := read(t, `
steps: [{name: many, ask: {prompt: "How many?", schema: {type: integer, maximum: 9}}}]
result: ${steps.many.result}`)
			_, end := w.carry(t, s, plan.Input{Plan: p}, func(run *actors.Run) {
				answer := func(value string) error {
					return s.Answer(t.Context(), run.ID(), "many#1", json.RawMessage(value), "ada")
				}
				for wrong, why := range map[string]string{`"many"`: "write a whole number", `12`: "write 9 or less"} {
					if err := answer(wrong); err == nil || !strings.Contains(err.Error(), why) {
						t.Errorf("%s: %v", wrong, err)
					}
				}
				if err := answer(given); err != nil {
					t.Error(err)
				}
			})
			if said, _ := json.Marshal(end.End); !strings.Contains(string(said)+string(end.Status), want) {
				t.Errorf("%s: %s", given, said)
			}
		})
	}
}
