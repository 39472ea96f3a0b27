package log

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/fatal"
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
	l := New("r", NewAppender(t.Context(), Config{Journal: journal.NewMemory()}), 64<<20)
	begin := []messages.Body{messages.RunQueued{Job: "speak", Mode: messages.Detached}, messages.RunStarted{Node: "n", Epoch: 1},
		messages.TaskStarted{Task: "speak", Attempt: 1}}
	for i, body := range begin {
		l.With(time.Now(), func(g *Ledger) { g.Epoch = uint64(min(i, 1)) })
		must(t, l.Record(time.Now(), body, ""))
	}
	first, err := l.Read(0)
	must(t, err)
	var state messages.State
	state = foldOnto(t, state, first.Events)
	var most, bytes int64
	for i := range 10_000 {
		must(t, speak(l, i, milestones))
		if over, pressed := l.OverLimit(); over || pressed {
			t.Fatal("the log is over its limit, or the journal is behind")
		}
		time.Sleep(pace)
		l.mu.Lock()
		most, bytes = max(most, int64(l.recorded)), max(bytes, l.bytes)
		l.mu.Unlock()
	}
	time.Sleep(time.Second) // what waited for the journal is there
	reads := 0
	for want := l.State(); state.Seq < want.Seq; reads++ {
		b, err := l.Read(state.Seq)
		if err != nil || len(b.Events) == 0 || len(b.Events) > readBatch {
			t.Fatalf("a read at %d of %d gave %d events: %v", state.Seq, want.Seq, len(b.Events), err)
		}
		state = foldOnto(t, state, b.Events)
	}
	if got, want := fmt.Sprintf("%+v", texts(state)), fmt.Sprintf("%+v", texts(l.State())); got != want {
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

// speak says a delta on one of two streams, and now and then closes one permanently.
func speak(l *Log, i, milestones int) (err error) {
	part, last := 0, false
	if milestones > 0 {
		part, last = i/milestones, i%milestones == milestones-1
	}
	body := messages.Body(messages.TextDelta{Stream: fmt.Sprintf("%d.%d", part, i%2), Text: "token "})
	if last {
		text := strings.Repeat("token ", milestones/2)
		body = messages.TextDone{Stream: fmt.Sprintf("%d.0", part), Text: text, SHA256: messages.Digest(text)}
	}
	now := time.Now()
	l.With(now, func(g *Ledger) { err = g.Record(now, g.Stamp(body, "speak"), "") })
	return err
}

func foldOnto(t *testing.T, s messages.State, events []messages.Event) messages.State {
	t.Helper()
	for _, e := range events {
		next, err := s.Apply(e)
		must(t, err)
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

var must = fatal.IfError
