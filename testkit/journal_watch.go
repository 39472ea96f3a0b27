package testkit

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// watching calls fn with what the node is told, until the end of the test.
func (s *journalSuite) watching(r actors.Reader, self string, fn func(actors.Note)) (leave func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	first, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		told := 0
		err := r.Watch(ctx, self, func(n actors.Note) {
			if told++; told == 1 {
				if n.Run != "" || n.Command != nil {
					s.t.Errorf("the first note is %+v", n)
				}
				close(first)
				return
			}
			fn(n)
		})
		if ctx.Err() == nil {
			s.t.Errorf("Watch returned %v", err)
		}
	}()
	select {
	case <-first:
	case <-time.After(longest):
		s.t.Error("a watch has no first note")
	}
	return func() { cancel(); <-over }
}

// watch follows a run by what the watch tells, here and through another reader.
func (s *journalSuite) watch() {
	events := story("r_watched")
	s.mustAppend(events[:1])
	want, _ := fold(events)
	for _, r := range []actors.Reader{s.j, s.other} {
		var mu sync.Mutex
		seen := map[messages.RunID][]messages.Event{}
		defer s.watching(r, "reader", func(n actors.Note) {
			if n.Command != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, run := range []messages.RunID{"r_watched", "r_beside"} {
				if n.Run != "" && n.Run != run {
					continue
				}
				after := uint64(0)
				if known := seen[run]; len(known) > 0 {
					after = known[len(known)-1].Seq
				}
				page, err := r.Read(context.Background(), run, after)
				if err != nil && messages.CodeOf(err) != messages.CodeNotFound {
					s.t.Error(err)
				}
				seen[run] = append(seen[run], page.Events...)
			}
		})()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			if state, err := fold(seen["r_watched"]); err != nil || !same(state, want) {
				s.t.Errorf("the watch led to %d (%v), want %d", state.Seq, err, want.Seq)
			}
			if n := len(seen["r_beside"]); n != 1 {
				s.t.Errorf("the watch led to %d events of another run, want 1", n)
			}
		}()
	}
	for i := 1; i < len(events); i += 3 {
		s.mustAppend(events[i:min(i+3, len(events))])
		if i%2 == 0 {
			time.Sleep(time.Second)
		}
	}
	s.mustAppend(numbered("r_beside", 1, queued))
	time.Sleep(longest)
}

// skipping is a reader whose watch tells late, once for several, and then twice.
type skipping struct{ actors.Reader }

func (r skipping) Watch(ctx context.Context, self string, fn func(actors.Note)) error {
	var mu sync.Mutex
	var last []actors.Note
	bell := time.NewTicker(100 * time.Millisecond)
	defer bell.Stop()
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		cancel(r.Reader.Watch(ctx, self, func(n actors.Note) {
			mu.Lock()
			defer mu.Unlock()
			last = []actors.Note{n, n}
		}))
	}()
	defer func() { <-over }()
	for {
		select {
		case <-bell.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		mu.Lock()
		told := last
		last = nil
		mu.Unlock()
		for _, n := range told {
			fn(n)
		}
	}
}

func (s *journalSuite) skip() {
	events := story("r_skip")
	s.mustAppend(events[:2])
	var got []messages.Event
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	all.Go(func() {
		for e, err := range actors.NewArchive(skipping{s.other}).Events(ctx, "r_skip", 0) {
			if err != nil {
				s.t.Error(err)
				return
			}
			got = append(got, e)
		}
	})
	for i := 2; i < len(events); i++ {
		s.mustAppend(events[i : i+1])
		time.Sleep(30 * time.Millisecond)
	}
	all.Wait()
	want, _ := fold(events)
	if state, err := fold(got); err != nil || !same(state, want) {
		s.t.Errorf("a watch that skips led to %d (%v), want %d", state.Seq, err, want.Seq)
	}
}

func (s *journalSuite) commands() {
	s.offer("r_held", "a")
	s.lends("a", longest, "r_held")
	var mu sync.Mutex
	got := map[string]actors.Command{}
	defer s.watching(s.j, "a", func(n actors.Note) {
		if n.Command != nil {
			mu.Lock()
			defer mu.Unlock()
			got[n.Command.ID] = *n.Command
		}
	})()
	sent := []actors.Command{
		{Run: "r_held", ID: "1", Cancel: &actors.CancelCommand{By: "ann", Reason: "enough"}},
		{Run: "r_held", ID: "2",
			Answer: &actors.AnswerCommand{Request: "color", Value: []byte(`"r<>d"`), Principal: "bob"}},
	}
	for range 10 { // one may be lost
		for _, c := range sent {
			if err := s.j.Send(context.Background(), c); err != nil {
				s.t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, c := range sent {
		x, _ := json.Marshal(got[c.ID])
		if y, _ := json.Marshal(c); string(x) != string(y) {
			s.t.Errorf("the node got %s, sent was %s", x, y)
		}
	}
}
