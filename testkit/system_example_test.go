package testkit_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// greeting is a job of one's own.
func greeting() actors.Job {
	say := func(_ context.Context, t *actors.TaskContext) error { return t.FinishText("answer", "Hello.") }
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
	for _, c := range []struct {
		fault testkit.Fault
		by    messages.Author
		code  messages.Code // "" completes
	}{
		{testkit.Fault{Failure: testkit.TurnPanic, Actor: "speak"}, messages.BySupervisor, messages.CausePanic},
		{testkit.Fault{Failure: testkit.TurnGoexit, Actor: "think"}, messages.BySupervisor, messages.CausePanic},
		{testkit.Fault{Failure: testkit.Stop, Actor: "speak"}, messages.BySupervisor, messages.CauseError},
		{testkit.Fault{Failure: testkit.TurnPanic, Actor: testkit.RunActor, Phase: "speak"}, messages.BySupervisor, messages.CausePanic},
		{testkit.Fault{Failure: testkit.Goexit, Actor: "speak"}, messages.BySupervisor, messages.CausePanic},
		{testkit.Fault{Failure: testkit.Fail, Actor: "think", Phase: actors.WorkBegins}, messages.ByRun, messages.CauseError},
		{testkit.Fault{Failure: testkit.Fail, Actor: "speak", Phase: testkit.Phase(messages.KindTextDone)},
			messages.ByRun, messages.CauseError},
		{testkit.Fault{Failure: testkit.Deaf, Actor: "speak", Phase: testkit.Phase(messages.KindTextDone)},
			messages.ByRun, messages.CauseStalled},
		{testkit.Fault{Failure: testkit.Retry, Actor: "speak"}, messages.ByRun, ""},
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
			return "Hello.", t.FinishText("answer", "Hello.")
		})
		testkit.Check(t, greet, struct{}{})
	}
}

// In a test of yours: a recorded run must go as it did. "lastword record RUN > testdata/run.jsonl" makes the recording.
func ExampleReplay() {
	_ = func(t *testing.T) {
		greet := actors.Func("greet", func(_ context.Context, t *actors.TaskContext, _ struct{}) (string, error) {
			return "Hello.", t.FinishText("answer", "Hello.")
		})
		testkit.Replay(t, "testdata/run.jsonl", greet)
	}
}

// The next token is held back until the one before has been read. In a test, NewModel takes the place of ListenModel.
func ExampleModel_Step() {
	m, err := testkit.ListenModel(testkit.ModelOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	answer := m.Step(testkit.Text("Hel"), testkit.Text("lo"), testkit.Done())
	go func() { _ = answer.Next() }() // the call returns with the first piece

	body := strings.NewReader(`{"model":"any","stream":true,"messages":[{"role":"user","content":"Say hello."}]}`)
	res, err := http.Post(m.URL()+"/chat/completions", "application/json", body)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if lines.Text() == "data: [DONE]" {
			fmt.Println("done")
			break
		}
		if _, rest, ok := strings.Cut(lines.Text(), `"content":`); ok {
			token, _, _ := strings.Cut(rest, "}")
			fmt.Println(token)
			_ = answer.Next()
		}
	}
	fmt.Println(answer.Request().Chat.Messages[0].Content)
	// Output:
	// "Hel"
	// "lo"
	// done
	// Say hello.
}
