package testkit_test

import (
	"context"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// greeting is a job of one's own.
func greeting() actors.Job {
	say := func(_ context.Context, t *actors.TaskContext) error { return t.Said("answer", "Hello.") }
	nothing := func(context.Context, *actors.TaskContext) error { return nil }
	return actors.Job{Name: "greet", Tasks: []actors.Task{{Name: "think", Run: nothing}, {Name: "speak", Run: say}}}
}

// In a test of yours: the second task of your own job crashes, and the run says so and ends.
func ExampleSystem() {
	_ = func(t *testing.T) {
		testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
			run := s.Run(greeting(), testkit.Fault{Failure: testkit.TurnPanic, Actor: "speak"})
			s.Expect(run, messages.KindTaskCompleted, messages.KindFaultInjected, messages.KindTaskFailed, messages.KindRunFailed)
			s.Ends(run, messages.Failed, messages.CauseInjected)
		})
	}
}

// A fault strikes any job, where and how the test says: its event comes first, and what comes of it is blamed on it.
func TestFaultsOfAnyJob(t *testing.T) {
	work := func(a testkit.Action) testkit.Failure { return testkit.Failure(a) }
	for _, c := range []struct {
		fault testkit.Fault
		by    messages.Author
		code  messages.Code // "" completes
	}{
		{testkit.Fault{Failure: testkit.TurnPanic, Actor: "speak"}, messages.BySupervisor, messages.CausePanic},
		{testkit.Fault{Failure: testkit.TurnGoexit, Actor: "think"}, messages.BySupervisor, messages.CausePanic},
		{testkit.Fault{Failure: testkit.Stop, Actor: "speak"}, messages.BySupervisor, messages.CauseError},
		{testkit.Fault{Failure: testkit.TurnPanic, Actor: testkit.RunActor, Phase: "speak"}, messages.BySupervisor, messages.CausePanic},
		{testkit.Fault{Failure: work(testkit.Goexit), Actor: "speak"}, messages.BySupervisor, messages.CausePanic},
		{testkit.Fault{Failure: work(testkit.Fail), Actor: "think", Phase: actors.WorkBegins}, messages.ByRun, messages.CauseError},
		{testkit.Fault{Failure: work(testkit.Fail), Actor: "speak", Phase: testkit.Phase(messages.KindTextDone)},
			messages.ByRun, messages.CauseError},
		{testkit.Fault{Failure: work(testkit.Deaf), Actor: "speak", Phase: testkit.Phase(messages.KindTextDone)},
			messages.ByRun, messages.CauseStalled},
		{testkit.Fault{Failure: work(testkit.Retry), Actor: "speak"}, messages.ByRun, ""},
		{testkit.Fault{Failure: testkit.Flood, Actor: "speak"}, messages.ByRun, ""},
	} {
		t.Run(c.fault.String(), func(t *testing.T) {
			testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
				run := s.Run(greeting(), c.fault)
				if c.code == "" {
					s.Expect(run, messages.KindFaultInjected, messages.KindRunCompleted)
					return
				}
				events := s.Expect(run, messages.KindFaultInjected, messages.KindRunFailed)
				end := s.Ends(run, messages.Failed, messages.CauseInjected).End
				if end.By != c.by || end.Error.Code != c.code {
					t.Errorf("ended by %s with %s, want %s with %s", end.By, end.Error.Code, c.by, c.code)
				}
				for _, e := range events {
					if f, ok := e.Body.(messages.FaultInjected); ok && f.Fault != string(c.fault.Failure) {
						t.Errorf("the log says %+v", f)
					}
				}
			})
		})
	}
}

// In a test of yours: the job is broken at every point where it waits, and the test fails for each promise that it breaks.
func ExampleCheck() {
	_ = func(t *testing.T) {
		greet := actors.Func("greet", func(_ context.Context, t *actors.TaskContext, _ struct{}) (string, error) {
			return "Hello.", t.Said("answer", "Hello.")
		})
		testkit.Check(t, greet, struct{}{})
	}
}

// In a test of yours: a recorded run must go as it did. "lastword record RUN > testdata/run.jsonl" makes the recording.
func ExampleReplay() {
	_ = func(t *testing.T) {
		greet := actors.Func("greet", func(_ context.Context, t *actors.TaskContext, _ struct{}) (string, error) {
			return "Hello.", t.Said("answer", "Hello.")
		})
		testkit.Replay(t, "testdata/run.jsonl", greet)
	}
}
