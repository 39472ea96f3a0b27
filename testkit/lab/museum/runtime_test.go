package museum

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

func script(steps ...faultplan.Step) actors.Job { return faultplan.Script{Fetch: steps}.Job() }

// hangs says something and waits for its end.
func hangs() actors.Job {
	return script(faultplan.Step{Do: faultplan.Say, Text: "so far"}, faultplan.Step{Do: faultplan.Hang})
}

// log is what the run's readers get from the cursor on.
func log(t *testing.T, run *actors.Run, after uint64) (events []messages.Event) {
	t.Helper()
	for e, err := range run.Events(t.Context(), after) {
		must(t, err)
		events = append(events, e)
	}
	return events
}

func last(events []messages.Event) messages.Kind {
	if len(events) == 0 {
		return ""
	}
	return events[len(events)-1].Kind()
}

// block is the next block of a log, of one event.
func block(run messages.RunID, head journal.Head, body messages.Body) journal.Block {
	seq := head.Seq + 1
	return journal.Block{Run: run, After: head, Epoch: head.Epoch, ID: journal.BlockID{byte(seq)},
		Events: []messages.Event{{RunID: run, From: seq, Seq: seq, Time: time.Now(), Body: body}}}
}

// A worker marked a finished run as finished again, and overwrote the end that users had seen.
func TestLangwatch5006(t *testing.T) {
	store := journal.NewMemory()
	testkit.System(t, actors.Config{Journal: store}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(script())
		s.Ends(run, messages.Completed, "")
		page, err := store.Read(t.Context(), run.ID(), 0)
		must(t, err)
		store.Append(block(run.ID(), page.Head, messages.RunCompleted{By: messages.ByRun}), func(e error) { err = e })
		if !errors.Is(err, journal.ErrSealed) {
			t.Errorf("a second terminal is taken: %v", err)
		}
	})
}

// A step was recorded as completed and then as failed; only the order of two log lines told which counted.
func TestWorkflow3381(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(script())
		state := s.Ends(run, messages.Completed, "")
		_, err := state.Apply(messages.Event{RunID: run.ID(), From: state.Seq + 1, Seq: state.Seq + 1, Body: messages.RunFailed{
			By: messages.ByRun, Cause: messages.CauseError, Error: messages.Errorf(messages.CauseError, "too late")}})
		var refusal *messages.Refusal
		if !errors.As(err, &refusal) || refusal.Rule != messages.RuleEnded {
			t.Errorf("a failure after the end is judged %v", err)
		}
	})
}

// A retry that the server took for a duplicate got a second final answer.
func TestGGCode1115(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		ids := map[messages.RunID]bool{}
		for range 3 {
			run, err := s.Start(t.Context(), script(), actors.Options{Key: "once"})
			must(t, err)
			s.Ends(run, messages.Completed, "")
			ids[run.ID()] = true
		}
		if len(ids) != 1 {
			t.Errorf("one request became %d runs", len(ids))
		}
	})
}

// The store had the cancel, and the stream never said so.
func TestA2APython1175(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		run, got := s.Run(hangs()), make(chan messages.Kind)
		go func() { got <- last(log(t, run, 0)) }()
		synctest.Wait()
		must(t, run.Cancel(t.Context(), "enough"))
		if kind := <-got; kind != messages.KindRunCanceled {
			t.Errorf("the reader's last word is %q", kind)
		}
	})
}

// A subscriber who came after the end waited for ever on a channel that was made for it.
func TestWorkers50(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(script())
		s.Ends(run, messages.Completed, "")
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		n := 0
		for _, err := range s.Events(ctx, run.ID(), 0) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n == 0 {
			t.Error("the log is empty")
		}
	})
}

// A client that came back while the run ended missed the final message and waited on.
func TestGGCode1088(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		gate := make(chan struct{})
		run := s.Run(script(faultplan.Step{Do: faultplan.Await, Gate: gate}))
		synctest.Wait()
		state, err := run.State(t.Context())
		must(t, err)
		var readers sync.WaitGroup
		for after := range state.Seq + 1 {
			readers.Go(func() {
				if kind := last(log(t, run, after)); kind != messages.KindRunCompleted {
					t.Errorf("a reader from %d ends with %q", after, kind)
				}
			})
		}
		close(gate)
		readers.Wait()
	})
}

// A watchdog ended a stalled turn, and the client's stream stayed open.
func TestAgents2042(t *testing.T) {
	testkit.System(t, actors.Config{Stall: time.Minute}, func(t *testing.T, s *testkit.Stage) {
		run, began := s.Run(hangs()), time.Now()
		if kind := last(log(t, run, 0)); kind != messages.KindRunFailed || time.Since(began) > 70*time.Second {
			t.Errorf("after %s the reader's last word is %q", time.Since(began), kind)
		}
		s.Ends(run, messages.Failed, messages.CauseStalled)
	})
}

// Workers died, and 5,133 jobs were listed as running for 91 days.
func TestRiver1258(t *testing.T) {
	store, head := journal.NewMemory(), journal.Head{}
	for _, body := range []messages.Body{messages.RunQueued{Job: "j", Mode: messages.Detached}, messages.RunStarted{Node: "dead", Epoch: 1}} {
		b := block("r_lost", head, body)
		store.Append(b, func(err error) { must(t, err) })
		head = b.Head()
	}
	testkit.System(t, actors.Config{Journal: store}, func(t *testing.T, s *testkit.Stage) {
		time.Sleep(time.Minute)
		state, err := s.State(t.Context(), "r_lost")
		if err != nil || state.Status != messages.Failed || state.End.Cause != messages.CauseNodeLost {
			t.Errorf("the lost run is %s, %v", state.Status, err)
		}
	})
}

// The list said completed, the detail said running.
func TestInngest3844(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		canceled := s.Run(hangs())
		for _, run := range []*actors.Run{s.Run(script()), s.Run(script(faultplan.Step{Do: faultplan.Fail})), canceled} {
			if run == canceled {
				_ = run.Cancel(t.Context(), "enough")
			}
			state, err := run.Wait(t.Context())
			list, failed := s.List(t.Context(), messages.Query{Runs: []messages.RunID{run.ID()}})
			if err := errors.Join(err, failed); err != nil || len(list) != 1 || list[0].Status != state.Status {
				t.Errorf("the run is %s, the list says %+v, %v", state.Status, list, err)
			}
		}
	})
}

// A run went on for ever, and its cancel was refused because it had ended.
func TestInngest2531(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(script())
		s.Ends(run, messages.Completed, "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := run.Cancel(ctx, "enough"); err != nil {
			t.Errorf("the cancel of an ended run: %v", err)
		}
		if state := s.Ends(run, messages.Completed, ""); !state.Status.IsEnded() {
			t.Error("the cancel changed the end")
		}
	})
}

// A cancel changed the run's status, and its work went on.
func TestHatchet1147(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(hangs())
		synctest.Wait()
		began := time.Now()
		must(t, run.Cancel(t.Context(), "enough"))
		if s.Ends(run, messages.Canceled, messages.CauseCanceledByUser); time.Since(began) > 250*time.Millisecond {
			t.Errorf("work that heeds its context took %s to end", time.Since(began))
		}
	})
}

// A stop in a run's first moments was counted as delivered and lost.
func TestAGUI2759(t *testing.T) {
	for wait := range 5 {
		testkit.System(t, actors.Config{Journal: &testkit.Journal{Journal: journal.NewMemory(), Disturb: func(journal.Block) testkit.Disturbance {
			return testkit.Disturbance{Delay: 2 * time.Millisecond}
		}}, Stall: time.Minute}, func(t *testing.T, s *testkit.Stage) {
			run := s.Run(hangs())
			time.Sleep(time.Duration(wait) * time.Millisecond)
			must(t, run.Cancel(t.Context(), "enough"))
			s.Ends(run, messages.Canceled, messages.CauseCanceledByUser)
		})
	}
}

// What a run had streamed was gone after its cancel.
func TestLangGraph5672(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(hangs())
		synctest.Wait()
		_ = run.Cancel(t.Context(), "enough")
		state := s.Ends(run, messages.Canceled, messages.CauseCanceledByUser)
		if len(state.Streams) != 1 || state.Streams[0].Text() != "so far" {
			t.Errorf("the State has %v", state.Streams)
		}
	})
}

// A stream that heeded nothing could not be cancelled at all.
func TestOpenAIAgents2222(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		gate := make(chan struct{})
		defer close(gate)
		run := s.Run(script(faultplan.Step{Do: faultplan.Deaf, Gate: gate}))
		synctest.Wait()
		began := time.Now()
		_ = run.Cancel(t.Context(), "enough")
		if s.Ends(run, messages.Canceled, messages.CauseCanceledByUser); time.Since(began) > 8*time.Second {
			t.Errorf("the terminal took %s", time.Since(began))
		}
	})
}

// A page that was reloaded stopped the run that it showed.
func TestMastra18001(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		page, leave := context.WithCancel(t.Context())
		run, err := s.Start(page, script(faultplan.Step{Do: faultplan.Sleep, For: time.Minute}), actors.Options{Mode: messages.Detached})
		must(t, err)
		leave()
		s.Ends(run, messages.Completed, "")
	})
}

// A client that came back with its cursor was served from another place: events 4 to 10 were gone.
func TestOpenAINode2671(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		gate := make(chan struct{})
		said := []faultplan.Step{{Do: faultplan.Report, Done: 1, Total: 2}, {Do: faultplan.Said, Text: "one"}, {Do: faultplan.Await, Gate: gate}}
		run := s.Run(script(said...))
		synctest.Wait()
		state, err := run.State(t.Context())
		must(t, err)
		for after := range state.Seq {
			for e, err := range run.Events(t.Context(), after) {
				if err != nil || e.From > after+1 {
					t.Errorf("after %d comes %d, %v", after, e.From, err)
				}
				break
			}
		}
		close(gate)
		s.Ends(run, messages.Completed, "")
	})
}

// A reader who joined a run lost the events of its sub-runs.
func TestLangGraph7778(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		parent := actors.Job{Name: "parent", Tasks: []actors.Task{{Name: "ask", Run: func(ctx context.Context, t *actors.TaskContext) error {
			child, err := t.Start(ctx, script(faultplan.Step{Do: faultplan.Said, Text: "from below"}), actors.Options{Key: "c"})
			if err == nil {
				_, err = child.Wait(ctx)
			}
			return err
		}}}}
		run := s.Run(parent)
		s.Ends(run, messages.Completed, "")
		var heard strings.Builder
		for batch, err := range s.Follow(t.Context(), run.ID(), messages.FollowOptions{Tree: true}) {
			must(t, err)
			for _, e := range batch {
				if b, ok := e.Body.(messages.TextDone); ok && e.RunID != run.ID() {
					heard.WriteString(b.Text)
				}
			}
		}
		if heard.String() != "from below" {
			t.Errorf("of the sub-run the reader has %q", heard.String())
		}
	})
}

// One slow client of a stream froze all others.
func TestSSE192(t *testing.T) {
	testkit.System(t, actors.Config{}, func(t *testing.T, s *testkit.Stage) {
		gate := make(chan struct{})
		run := s.Run(script(faultplan.Step{Do: faultplan.Await, Gate: gate}, faultplan.Step{Do: faultplan.Report, Done: 1, Total: 1, Times: 5000}))
		slow := make(chan struct{})
		go func() {
			for range run.Events(t.Context(), 0) {
				<-slow
			}
		}()
		synctest.Wait()
		close(gate)
		began := time.Now()
		if s.Ends(run, messages.Completed, ""); time.Since(began) > time.Second {
			t.Errorf("with a slow reader the run took %s", time.Since(began))
		}
		close(slow)
	})
}

// What a slow client had not read was dropped, and nothing said so.
func TestGoWDK537(t *testing.T) {
	testkit.System(t, actors.Config{Retention: time.Minute}, func(t *testing.T, s *testkit.Stage) {
		run := s.Run(script())
		s.Ends(run, messages.Completed, "")
		time.Sleep(time.Hour)
		var got []string
		for e, err := range s.Events(t.Context(), run.ID(), 2) {
			got = append(got, fmt.Sprint(e.Seq, " ", messages.CodeOf(err)))
		}
		if strings.Join(got, ",") != "0 events_gone" {
			t.Errorf("a reader of an expired log gets %q", got)
		}
	})
}

// A stop of the server cut the turn in flight although it promised to wait.
func TestStella742(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := actors.New(t.Context(), actors.Config{Drain: 30 * time.Second})
		must(t, err)
		run, err := s.Start(t.Context(), script(faultplan.Step{Do: faultplan.Sleep, For: 20 * time.Second}), actors.Options{})
		must(t, err)
		end := make(chan messages.Status)
		go func() { state, _ := run.Wait(t.Context()); end <- state.Status }()
		synctest.Wait()
		must(t, s.Close(context.Background()))
		if status := <-end; status != messages.Completed {
			t.Errorf("the run in flight is %s", status)
		}
	})
}

var must = fatal.IfError
