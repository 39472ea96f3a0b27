package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
)

// offer appends the first block of a run.
func (s *journalSuite) offer(run messages.RunID, writer string) journal.Block {
	s.t.Helper()
	b := s.block(numbered(run, 1, queued))
	b.Writer = writer
	s.must(b)
	return b
}

// claim waits for a claim; ok is false if none comes within the time.
func (s *journalSuite) claim(node string, within time.Duration) (c journal.Claim, ok bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	c, err := s.j.Claim(ctx, node)
	switch {
	case err == nil && (c.Run == "" || c.Every <= 0):
		s.t.Fatalf("a claim is %+v", c)
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		s.t.Fatalf("a claim for %s: %v", node, err)
	}
	return c, err == nil
}

// lends checks that the node gets a claim for the run within the time.
func (s *journalSuite) lends(node string, within time.Duration, run messages.RunID) journal.Claim {
	s.t.Helper()
	c, ok := s.claim(node, within)
	if !ok || c.Run != run {
		s.t.Fatalf("within %s %s was lent %q, want %s", within, node, c.Run, run)
	}
	return c
}

func (s *journalSuite) lendsNothing(node string, within time.Duration) {
	s.t.Helper()
	if c, ok := s.claim(node, within); ok {
		s.t.Fatalf("%s was lent %s", node, c.Run)
	}
}

func (s *journalSuite) keep(c journal.Claim, k journal.ClaimState) {
	s.t.Helper()
	if err := s.j.Keep(context.Background(), c, k); err != nil {
		s.t.Fatalf("keep %d: %v", k, err)
	}
}

// firstTwice appends the first block again, before and after the claim. Still the run is lent once.
func (s *journalSuite) firstTwice() {
	b := s.offer("r_first", "a")
	s.must(b)
	c := s.lends("a", longest, "r_first")
	s.must(b)
	s.lendsNothing("a", c.Every)
	s.lendsNothing("b", c.Every)
	s.equals("r_first", b.Events)
}

func (s *journalSuite) anybodys() {
	s.offer("r_anybodys", "")
	c := s.lends("b", longest, "r_anybodys")
	s.lendsNothing("a", 2*c.Every)
}

// held keeps a claim for a while, and then stops.
func (s *journalSuite) held() {
	s.offer("r_held", "a")
	c := s.lends("a", longest, "r_held")
	for range 10 {
		s.lendsNothing("b", c.Every)
		s.keep(c, journal.Held)
	}
	s.lendsNothing("b", 3*c.Every)
	s.lends("b", 5*c.Every, "r_held")
	s.lendsNothing("a", 2*c.Every)
}

// released checks that a claim goes on to another node, even back to the first one.
func (s *journalSuite) released() {
	s.offer("r_released", "a")
	first := s.lends("a", longest, "r_released")
	time.AfterFunc(first.Every/2, func() { s.keep(first, journal.Released) })
	second := s.lends("b", first.Every, "r_released")
	s.keep(second, journal.Released)
	s.lends("a", second.Every, "r_released")
}

// ended checks that nobody is lent a run that has its terminal.
func (s *journalSuite) ended() {
	s.offer("r_over", "a")
	c := s.lends("a", longest, "r_over")
	s.mustAppend(numbered("r_over", 2, failed(messages.ByRun)))
	s.keep(c, journal.Ended)
	s.lendsNothing("a", 10*c.Every)
	s.lendsNothing("b", 10*c.Every)
}

// claimers counts the claims that several nodes get at the same time: one for each run.
func (s *journalSuite) claimers() {
	const runs = 40
	for i := range runs {
		s.offer(messages.RunID(fmt.Sprintf("r_%02d", i)), []string{"", "a", "b"}[i%3])
	}
	var mu sync.Mutex
	var lent []messages.RunID
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // less than a lease is, unless Every is less
	defer cancel()
	var all sync.WaitGroup
	for _, node := range []string{"a", "b", "a", "b"} {
		all.Go(func() {
			for {
				c, err := s.j.Claim(ctx, node)
				if err != nil {
					return
				}
				mu.Lock()
				lent = append(lent, c.Run)
				mu.Unlock()
				if err := s.j.Keep(ctx, c, journal.Held); err != nil {
					s.t.Error(err)
				}
			}
		})
	}
	all.Wait()
	slices.Sort(lent)
	if n := len(lent); n != runs || len(slices.Compact(lent)) != runs {
		s.t.Errorf("%d claims of %d runs at once, %v", n, runs, lent)
	}
}

// ready claims with a context that is over, which must return what is ready at once.
func (s *journalSuite) ready() {
	s.offer("r_ready", "a")
	time.Sleep(longest) // it is anybody's now
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if c, err := s.j.Claim(over, "b"); err != nil || c.Run != "r_ready" {
		s.t.Errorf("what is ready was not lent: %+v, %v", c, err)
	}
	if c, err := s.j.Claim(over, "b"); err == nil {
		s.t.Errorf("lent %+v when nothing was ready", c)
	}
}

// watching calls fn with the notes for the node until the test ends.
func (s *journalSuite) watching(r journal.Reader, self string, fn func(journal.Note)) (leave func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	first, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		told := 0
		err := r.Watch(ctx, self, func(n journal.Note) {
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

// watch follows a run by the notes of Watch, here and through another reader.
func (s *journalSuite) watch() {
	events := story("r_watched")
	s.mustAppend(events[:1])
	want, _ := stories.Fold(events)
	for _, r := range []journal.Reader{s.j, s.other} {
		var mu sync.Mutex
		seen := map[messages.RunID][]messages.Event{}
		defer s.watching(r, "reader", func(n journal.Note) {
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
			if state, err := stories.Fold(seen["r_watched"]); err != nil || !same(state, want) {
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

// skipping is a reader whose notes come late, one for several, and then twice.
type skipping struct{ journal.Reader }

// Watch collects the notes of 100 ms, and passes on only the last, twice.
func (r skipping) Watch(ctx context.Context, self string, fn func(journal.Note)) error {
	var mu sync.Mutex
	var last []journal.Note
	bell := time.NewTicker(100 * time.Millisecond)
	defer bell.Stop()
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		cancel(r.Reader.Watch(ctx, self, func(n journal.Note) {
			mu.Lock()
			defer mu.Unlock()
			last = []journal.Note{n, n}
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

// skip follows a log through a watch that skips and repeats notes, and must miss no event.
func (s *journalSuite) skip() {
	events := story("r_skip")
	s.mustAppend(events[:2])
	var got []messages.Event
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	all.Go(func() {
		for e, err := range journal.NewArchive(skipping{s.other}).Events(ctx, "r_skip", 0) {
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
	want, _ := stories.Fold(events)
	if state, err := stories.Fold(got); err != nil || !same(state, want) {
		s.t.Errorf("a watch that skips led to %d (%v), want %d", state.Seq, err, want.Seq)
	}
}

// commands repeats them, because one may be lost, and compares what arrives with what was sent.
func (s *journalSuite) commands() {
	s.offer("r_held", "a")
	s.lends("a", longest, "r_held")
	var mu sync.Mutex
	got := map[string]journal.Command{}
	defer s.watching(s.j, "a", func(n journal.Note) {
		if n.Command != nil {
			mu.Lock()
			defer mu.Unlock()
			got[n.Command.ID] = *n.Command
		}
	})()
	sent := []journal.Command{
		{Run: "r_held", ID: "1", Cancel: &journal.CancelCommand{By: "ann", Reason: "enough"}},
		{Run: "r_held", ID: "2",
			Answer: &journal.AnswerCommand{Request: "color", Value: []byte(`"r<>d"`), Principal: "bob"}},
	}
	for range 10 { // one may be lost
		for _, c := range sent {
			must(s.t, s.j.Send(context.Background(), c))
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
