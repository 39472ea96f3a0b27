package testkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// offer appends the first block of a run by the node.
func (s *journalSuite) offer(run messages.RunID, writer string) actors.Block {
	s.t.Helper()
	b := s.block(numbered(run, 1, queued))
	b.Writer = writer
	s.must(b)
	return b
}

// claim waits for a claim for that long; ok is false where there was none.
func (s *journalSuite) claim(node string, within time.Duration) (c actors.Claim, ok bool) {
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

// lends holds that the node is lent the run, within the time.
func (s *journalSuite) lends(node string, within time.Duration, run messages.RunID) actors.Claim {
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

func (s *journalSuite) keep(c actors.Claim, k actors.Keeping) {
	s.t.Helper()
	if err := s.j.Keep(context.Background(), c, k); err != nil {
		s.t.Fatalf("keep %d: %v", k, err)
	}
}

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

// unclaimed has a node die after it wrote a first block.
func (s *journalSuite) unclaimed() {
	s.offer("r_unclaimed", "a")
	s.lends("b", longest, "r_unclaimed")
}

// held holds a claim for a while and then no more.
func (s *journalSuite) held() {
	s.offer("r_held", "a")
	c := s.lends("a", longest, "r_held")
	for range 10 {
		s.lendsNothing("b", c.Every)
		s.keep(c, actors.Held)
	}
	s.lendsNothing("b", 3*c.Every)
	s.lends("b", 5*c.Every, "r_held")
	s.lendsNothing("a", 2*c.Every)
}

func (s *journalSuite) released() {
	s.offer("r_released", "a")
	first := s.lends("a", longest, "r_released")
	time.AfterFunc(first.Every/2, func() { s.keep(first, actors.Released) })
	second := s.lends("b", first.Every, "r_released")
	s.keep(second, actors.Released)
	s.lends("a", second.Every, "r_released")
}

func (s *journalSuite) ended() {
	s.offer("r_over", "a")
	c := s.lends("a", longest, "r_over")
	s.mustAppend(numbered("r_over", 2, failed(messages.ByRun)))
	s.keep(c, actors.Ended)
	s.lendsNothing("a", 10*c.Every)
	s.lendsNothing("b", 10*c.Every)
}

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
				if err := s.j.Keep(ctx, c, actors.Held); err != nil {
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

// owners has two nodes believe that they own, as after a lease that was missed.
func (s *journalSuite) owners() {
	s.offer("r_owners", "a")
	var blocks []actors.Block
	for _, node := range []string{"a", "b"} {
		b := s.block(numbered("r_owners", 2, messages.RunStarted{Node: node, Epoch: 1}))
		b.Writer, b.Epoch = node, 1
		blocks = append(blocks, b)
	}
	landed := s.compete(blocks)
	if head := s.head("r_owners"); head.Epoch != 1 || head.Seq != 2 || !s.has(landed) {
		s.t.Errorf("the head is %+v", head)
	}
}

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
