package actors

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// TestCatchUp stalls a reader for 10,000 deltas, said at any pace, with and without milestones among them: it catches up
// in at most 20 reads, to the State that the run itself has, and all the while the log keeps its bound.
func TestCatchUp(t *testing.T) {
	for _, c := range []struct {
		name       string
		pace       time.Duration
		milestones int // every so many deltas; 0 is none
		held       int // the most events that the log may hold
	}{
		// What the journal has is merged: left are a handful of runs of doubling length, the raw ones at the end, and
		// what the journal has not.
		{"paced", time.Millisecond, 0, compactAfter + 100 + 20},
		{"paced, milestones", time.Millisecond, 500, 2*compactAfter + 500 + 2*10_000/500},
		{"at once", 0, 0, compactAfter + backlog + 20},
		{"at once, milestones", 0, 500, compactAfter + backlog + 20 + 2*10_000/500},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { catchingUp(t, c.pace, c.milestones, c.held) })
		})
	}
}

func catchingUp(t *testing.T, pace time.Duration, milestones, held int) {
	s, err := New(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	said, done := make(chan struct{}), make(chan struct{})
	var most, bytes int64
	run, err := s.Start(t.Context(), Job{Name: "speak", Tasks: []Task{{Name: "speak",
		Run: func(ctx context.Context, task *TaskContext) error {
			log := task.attempt.run.log
			for i := range 10_000 {
				if err := speak(task, i, milestones); err != nil {
					return err
				}
				time.Sleep(pace)
				log.mu.Lock()
				most, bytes = max(most, int64(log.recorded)), max(bytes, log.bytes)
				log.mu.Unlock()
			}
			close(said)
			<-done
			return nil
		},
	}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		close(done)
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	log := s.active(run.ID()).log
	first, err := log.read(0)
	if err != nil {
		t.Fatal(err)
	}
	var state messages.State
	state = foldOnto(t, state, first.Events)
	<-said
	time.Sleep(time.Second) // what waited for the journal is there
	reads := 0
	for want := log.state(); state.Seq < want.Seq; reads++ {
		b, err := log.read(state.Seq)
		if err != nil || len(b.Events) == 0 || len(b.Events) > readBatch {
			t.Fatalf("a read at %d of %d gave %d events: %v", state.Seq, want.Seq, len(b.Events), err)
		}
		state = foldOnto(t, state, b.Events)
	}
	if got, want := fmt.Sprintf("%+v", texts(state)), fmt.Sprintf("%+v", texts(log.state())); got != want {
		t.Errorf("the reader's texts are not the run's:\n%.200s\n%.200s", got, want)
	}
	t.Logf("%d reads; the log held at most %d events and %d bytes", reads, most, bytes)
	if reads > 20 {
		t.Errorf("%d reads", reads)
	}
	if int(most) > held || bytes > int64(held)*256+10_000*16 {
		t.Errorf("the log held %d events and %d bytes", most, bytes)
	}
}

// speak says a delta on one of two streams, and now and then closes one for good.
func speak(task *TaskContext, i, milestones int) error {
	part := 0
	if milestones > 0 {
		part = i / milestones
		if i%milestones == milestones-1 {
			text := strings.Repeat("token ", milestones/2)
			return task.Said(fmt.Sprintf("%d.%d", part, 0), text)
		}
	}
	return task.Say(fmt.Sprintf("%d.%d", part, i%2), "token ")
}

func foldOnto(t *testing.T, s messages.State, events []messages.Event) messages.State {
	t.Helper()
	for _, e := range events {
		next, err := s.Apply(e)
		if err != nil {
			t.Fatal(err)
		}
		s = next
	}
	return s
}

func texts(s messages.State) map[string]string {
	all := map[string]string{}
	for _, stream := range s.Streams {
		all[stream.Name] = stream.Text()
	}
	return all
}
