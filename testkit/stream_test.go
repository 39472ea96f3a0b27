package testkit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit/stories"
)

// TestSystemEvents reads a run's events in every way that a reader may take.
func TestSystemEvents(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(*streamSuite)
	}{
		{"a run is seen from its beginning to its end", (*streamSuite).live},
		{"a reader resumes at every cursor", (*streamSuite).resume},
		{"a reader that hangs up goes on where it was", (*streamSuite).reconnect},
		{"a cursor ahead of the run waits for it", (*streamSuite).ahead},
		{"a slow reader misses nothing", (*streamSuite).slow},
		{"all readers see the same milestones", (*streamSuite).many},
		{"a reader that leaves disturbs nobody", (*streamSuite).leave},
		{"a cursor past the terminal is reset", (*streamSuite).reset},
		{"a run that is not known is not found", (*streamSuite).unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := actors.New(context.Background(), actors.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(context.Background()); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			t.Cleanup(cancel)
			c.test(&streamSuite{t, ctx, s})
		})
	}
}

// streamSuite runs one test of a reader of events. It is used by the goroutine of that test.
type streamSuite struct {
	t      *testing.T
	ctx    context.Context
	system *actors.System
}

func (s *streamSuite) start(script Script) *actors.Run {
	s.t.Helper()
	run, err := s.system.Start(s.ctx, script.Job(), actors.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	return run
}

// chatter is a script with events of every level. Its analyze task waits for the gate halfway.
func chatter(gate <-chan struct{}, deltas int) Script {
	return Script{
		Fetch: []Step{{Do: Report, Done: 1, Total: 2}, {Do: Log, Text: "halfway"}, {Do: Report, Done: 2, Total: 2}},
		Analyze: []Step{{Do: Say, Text: "ab ", Times: 3}, {Do: Await, Gate: gate}, {Do: Say, Text: "cd ", Times: deltas},
			{Do: Said, Text: strings.Repeat("ab ", 3) + strings.Repeat("cd ", deltas)}},
		Write: []Step{{Do: Emit, Body: messages.ToolStarted{Call: "1", Tool: "disk"}},
			{Do: Emit, Body: messages.ToolCompleted{Call: "1"}}},
	}
}

func (s *streamSuite) end(run *actors.Run) messages.State {
	s.t.Helper()
	state, err := run.Wait(s.ctx)
	if err != nil || state.Status != messages.Completed {
		s.t.Fatalf("the run ended as %q: %v", state.Status, err)
	}
	return state
}

func (s *streamSuite) read(run *actors.Run, after uint64) []messages.Event {
	s.t.Helper()
	return s.reading(run, after, func([]messages.Event) {})
}

// reading reads the run, and calls do with the events so far after each event.
func (s *streamSuite) reading(run *actors.Run, after uint64, do func([]messages.Event)) []messages.Event {
	s.t.Helper()
	var all []messages.Event
	for e, err := range s.system.Events(s.ctx, run.ID(), after) {
		if err != nil {
			s.t.Fatalf("past %d: %v", after, err)
		}
		all = append(all, e)
		do(all)
	}
	return all
}

// whole fails unless the events are a legal log with the given end.
func (s *streamSuite) whole(events []messages.Event, want messages.State) {
	s.t.Helper()
	if err := CheckLog(0, events); err != nil {
		s.t.Fatal(err)
	}
	if got, _ := stories.Fold(events); !same(got, want) {
		s.t.Errorf("the events add up to %+v, want %+v", got, want)
	}
}

func (s *streamSuite) live() {
	gate := make(chan struct{})
	run := s.start(chatter(gate, 30))
	open := sync.OnceFunc(func() { close(gate) })
	events := s.reading(run, 0, func(events []messages.Event) {
		if events[len(events)-1].IsDelta() {
			open() // the run could not end before, so these events came live
		}
	})
	s.whole(events, s.end(run))
}

// resume reads from every cursor, and checks that the events continue it.
func (s *streamSuite) resume() {
	gate := make(chan struct{})
	close(gate)
	run := s.start(chatter(gate, 30))
	want := s.end(run)
	whole := s.read(run, 0)
	s.whole(whole, want)
	for after := uint64(1); after < want.Seq; after++ {
		tail := s.read(run, after)
		if err := CheckLog(after, tail); err != nil {
			s.t.Fatalf("past %d: %v", after, err)
		}
	}
	if tail := s.read(run, want.Seq); len(tail) != 0 {
		s.t.Errorf("past the terminal itself: %v", tail)
	}
}

// reconnect hangs up after each event, and reads on after that.
func (s *streamSuite) reconnect() {
	gate := make(chan struct{})
	run := s.start(chatter(gate, 30))
	var events []messages.Event
	for after := uint64(0); len(events) == 0 || !events[len(events)-1].IsTerminal(); {
		for e, err := range s.system.Events(s.ctx, run.ID(), after) {
			if err != nil {
				s.t.Fatal(err)
			}
			events = append(events, e)
			after = e.Seq
			break // hang up after each event
		}
		if text, _ := stories.Fold(events); gate != nil && len(text.Streams) > 0 && text.Streams[0].Len() == 9 {
			close(gate)
			gate = nil
		}
	}
	s.whole(events, s.end(run))
}

// ahead reads after a number that the log has not reached.
func (s *streamSuite) ahead() {
	gate := make(chan struct{})
	run := s.start(chatter(gate, 200))
	state, err := run.State(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	after := state.Seq + 100
	time.AfterFunc(time.Millisecond, func() { close(gate) }) // most likely while the reader waits; right in any case
	if err := CheckLog(after, s.read(run, after)); err != nil {
		s.t.Errorf("past %d, which was ahead: %v", after, err)
	}
}

// slow reads one event, lets the run end, and reads the rest.
func (s *streamSuite) slow() {
	const deltas = 2000
	gate := make(chan struct{})
	run := s.start(chatter(gate, deltas))
	var want messages.State
	events := s.reading(run, 0, func(events []messages.Event) {
		if len(events) == 1 { // the reader pauses until the run has ended
			close(gate)
			want = s.end(run)
		}
	})
	s.whole(events, want)
}

// many compares the milestones that several readers see at once.
func (s *streamSuite) many() {
	gate := make(chan struct{})
	run := s.start(chatter(gate, 100))
	const readers = 8
	milestones := make([]string, readers)
	var all sync.WaitGroup
	for i := range readers {
		all.Go(func() {
			var events []messages.Event
			for e, err := range s.system.Events(s.ctx, run.ID(), 0) {
				if err != nil {
					s.t.Errorf("reader %d: %v", i, err)
					return
				}
				events = append(events, e)
				if !e.IsDelta() {
					milestones[i] += string(e.Kind()) + " "
				}
			}
			if err := CheckLog(0, events); err != nil {
				s.t.Errorf("reader %d: %v", i, err)
			}
		})
	}
	close(gate)
	all.Wait()
	for i, m := range milestones {
		if m != milestones[0] {
			s.t.Errorf("reader %d saw %s, reader 0 %s", i, m, milestones[0])
		}
	}
	s.end(run)
}

// leave cancels the context of a reader while the run goes on.
func (s *streamSuite) leave() {
	gate := make(chan struct{})
	run := s.start(chatter(gate, 1))
	ctx, hangUp := context.WithCancel(s.ctx)
	defer hangUp()
	var last error
	for _, err := range s.system.Events(ctx, run.ID(), 0) {
		last = err
		hangUp()
	}
	if last == nil || s.ctx.Err() != nil {
		s.t.Errorf("a reader whose context was cancelled ended with %v", last)
	}
	close(gate)
	s.whole(s.read(run, 0), s.end(run))
}

// code returns the code of an error that comes before any event.
func (s *streamSuite) code(run messages.RunID, after uint64) messages.Code {
	s.t.Helper()
	for e, err := range s.system.Events(s.ctx, run, after) {
		if err == nil {
			s.t.Errorf("past %d: %s", after, e.Kind())
			err = errors.New("an event")
		}
		return messages.CodeOf(err)
	}
	return ""
}

func (s *streamSuite) reset() {
	run := s.start(Script{})
	end := s.end(run).Seq
	for _, after := range []uint64{end + 1, end + 1000, end + 2*messages.Reserve} {
		if code := s.code(run.ID(), after); code != messages.CodeReset {
			s.t.Errorf("past %d of %d: %q, want reset", after, end, code)
		}
	}
}

func (s *streamSuite) unknown() {
	if code := s.code(messages.NewRunID(), 0); code != messages.CodeNotFound {
		s.t.Errorf("a run that is not known: %q, want not_found", code)
	}
}
