package actors_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// runsPID returns the PID of the runs' supervisor.
func runsPID(s *actors.System) *actor.PID {
	pid := s.PID("any", "")
	pid.Id = path.Dir(pid.Id)
	return pid
}

// "exceeding it escalates one level": when the node's supervisor gives up, every run has its terminal and the System
// says that it takes no more. Until then each supervisor is replaced, and the next one takes new runs.
func TestNodeFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		for range 6 {
			run := start(t, s, job(heed), actors.Options{})
			synctest.Wait()
			s.Node().Root().Stop(runsPID(s))
			expect(t, checkLimit(t, run, time.Second), messages.Failed, messages.BySupervisor, messages.CauseError) // and not when the node fails
			synctest.Wait()
		}
		if _, err := s.Start(t.Context(), job(heed), actors.Options{}); messages.CodeOf(err) != messages.CodeUnavailable {
			t.Errorf("Start on a node that failed: %v", err)
		}
	})
}

// "silent unless given a *zap.Logger": a crash, a refused event and an abandoned task print nothing.
func TestSilent(t *testing.T) {
	said := captured(t, func() { trouble(t, nil) })
	if len(said) > 0 {
		t.Errorf("without a logger the runtime printed %q", said)
	}
	core, logs := observer.New(zapcore.DebugLevel)
	if said := captured(t, func() { trouble(t, zap.New(core)) }); len(said) > 0 {
		t.Errorf("with a logger the runtime printed %q", said)
	}
	if logs.FilterMessage("event refused").FilterField(zap.String("kind", "text.done")).Len() != 1 {
		t.Errorf("\"a refused event is counted and logged with run, kind and reason\": %v", logs.All())
	}
}

// "The operator's log has one line per failed run", whoever ended it, and none of the others.
func TestOneLinePerFailedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.DebugLevel)
		s := open(t, actors.Config{Log: zap.New(core), WallClock: time.Minute})
		fails := map[string]func(context.Context, *actors.TaskContext) error{
			"error":    func(context.Context, *actors.TaskContext) error { return errors.New("no") },
			"panic":    func(context.Context, *actors.TaskContext) error { panic("trouble") },
			"deadline": heed,
			"error ": func(_ context.Context, c *actors.TaskContext) error {
				s.Node().Root().Stop(s.PID(c.RunID(), ""))
				return nil
			},
			"": func(context.Context, *actors.TaskContext) error { return nil },
		}
		for cause, run := range fails {
			r := start(t, s, job(run), actors.Options{})
			state := wait(t, r)
			synctest.Wait()
			lines := logs.FilterField(zap.String("run", string(r.ID()))).All()
			if cause == "" {
				if len(lines) != 0 {
					t.Errorf("a run that %s has lines %v", state.Status, lines)
				}
				continue
			}
			if len(lines) != 1 || lines[0].Message != "run failed" || lines[0].ContextMap()["cause"] != strings.TrimSpace(cause) ||
				lines[0].ContextMap()["error"] != state.End.Error.Message {
				t.Errorf("%s: lines %v", cause, lines)
			}
		}
	})
}

func trouble(t *testing.T, log *zap.Logger) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{Log: log})
		run := start(t, s, job(func(_ context.Context, task *actors.TaskContext) error {
			task.Emit(messages.TextDone{Stream: "answer", Text: "x", SHA256: "wrong"}, "")
			task.AppendText("answer", "x")
			panic("trouble")
		}), actors.Options{})
		expect(t, wait(t, run), messages.Failed, messages.BySupervisor, messages.CausePanic)
		if n := s.Stats().RefusedEvents; n != 1 {
			t.Errorf("%d events refused", n)
		}
	})
}

// captured returns what f prints to the process's standard streams.
func captured(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	noError(t, err)
	out, errs := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	f()
	os.Stdout, os.Stderr = out, errs
	w.Close()
	said, _ := io.ReadAll(r)
	return string(said)
}

// "nothing global; several Systems in one process"
func TestSeveralSystems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := open(t, actors.Config{MaxRuns: 1}), open(t, actors.Config{MaxRuns: 1})
		one, two := start(t, a, job(heed), actors.Options{}), start(t, b, job(heed), actors.Options{})
		if _, err := b.State(t.Context(), one.ID()); messages.CodeOf(err) != messages.CodeNotFound {
			t.Errorf("a run of another System: %v", err)
		}
		for _, run := range []*actors.Run{one, two} {
			noError(t, run.Cancel(t.Context(), ""))
			expect(t, wait(t, run), messages.Canceled, messages.ByRun, messages.CauseCanceledByUser)
		}
		time.Sleep(time.Second)
	})
}
