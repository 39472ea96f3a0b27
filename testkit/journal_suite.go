package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// TestJournal holds a journal to the contract of [actors.Journal]. open is called once per subtest and returns an empty
// journal; it closes what it opened in t.Cleanup.
func TestJournal(t *testing.T, open func(t *testing.T) actors.Journal) {
	for _, c := range []struct {
		name string
		test func(journalSuite)
	}{
		{"blocks are read as they were appended", journalSuite.order},
		{"a gap and an overlap are refused", journalSuite.gap},
		{"nothing follows a terminal", journalSuite.sealed},
		{"a second writer is fenced", journalSuite.fenced},
		{"of racing terminals one wins", journalSuite.race},
		{"a block lands as a whole or not at all", journalSuite.whole},
		{"a key belongs to one run", journalSuite.keys},
		{"a log can be read from any cursor", journalSuite.cursors},
		{"recovery may skip the reserve", journalSuite.recovery},
		{"a run that is not known is not found", journalSuite.unknown},
		{"unfinished runs are listed", journalSuite.unfinished},
		{"runs are listed, the newest updated first", journalSuite.list},
		{"a list says where each run stands", journalSuite.listStates},
		{"a list is of one principal and bounded", journalSuite.listSelects},
		{"a list is read in pages", journalSuite.listPages},
		{"what has expired is not listed", journalSuite.listExpired},
		{"logs expire by age", journalSuite.expireByAge},
		{"logs expire by size, the oldest first", journalSuite.expireBySize},
		{"done is called exactly once", journalSuite.once},
		{"what was refused may be tried again", journalSuite.again},
		{"many runs append at once", journalSuite.many},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(journalSuite{t, open(t)}) })
	}
}

type journalSuite struct {
	t *testing.T
	j actors.Journal
}

// append waits for the end of an append.
func (s journalSuite) append(b actors.Block) error {
	end := make(chan error, 16) // room for a journal that calls done too often
	s.j.Append(b, func(err error) { end <- err })
	select {
	case err := <-end:
		return err
	case <-time.After(time.Minute):
		return errors.New("the append did not end within a minute")
	}
}

func (s journalSuite) mustAppend(events []messages.Event) {
	s.t.Helper()
	if err := s.append(actors.Block{Run: events[0].RunID, Events: events}); err != nil {
		s.t.Fatalf("append of %d..%d: %v", events[0].From, events[len(events)-1].Seq, err)
	}
}

func (s journalSuite) refuses(want error, events []messages.Event) {
	s.t.Helper()
	if err := s.append(actors.Block{Run: events[0].RunID, Events: events}); !errors.Is(err, want) {
		s.t.Errorf("append of %d..%d: %v, want %v", events[0].From, events[len(events)-1].Seq, err, want)
	}
}

// read returns everything past the cursor.
func (s journalSuite) read(run messages.RunID, after uint64) []messages.Event {
	s.t.Helper()
	var all []messages.Event
	for {
		events, err := s.j.Read(context.Background(), run, after)
		if err != nil {
			s.t.Fatalf("read past %d: %v", after, err)
		}
		if len(events) == 0 {
			return all
		}
		if last := events[len(events)-1].Seq; last > after {
			all, after = append(all, events...), last
			continue
		}
		s.t.Fatalf("a read past %d ended at %d", after, events[len(events)-1].Seq)
	}
}

func (s journalSuite) head(run messages.RunID) uint64 {
	s.t.Helper()
	events := s.read(run, 0)
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}

func fold(events []messages.Event) (messages.State, error) {
	var state messages.State
	var err error
	for _, e := range events {
		if state, err = state.Apply(e); err != nil {
			return state, err
		}
	}
	return state, nil
}

// same compares two folds as their readers see them.
func same(a, b messages.State) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func (s journalSuite) order() {
	events := story("r_order")
	s.mustAppend(events[:3])
	s.mustAppend(events[3:4])
	s.mustAppend(events[4:9])
	got := s.read("r_order", 0)
	want, _ := fold(events[:9])
	if state, err := fold(got); err != nil || !same(state, want) {
		s.t.Errorf("reads as %+v (%v), want %+v", state, err, want)
	}
	for i, e := range got[:3] {
		a, _ := json.Marshal(e)
		b, _ := json.Marshal(events[i])
		if string(a) != string(b) {
			s.t.Errorf("read %s, appended %s", a, b)
		}
	}
}

func (s journalSuite) gap() {
	events := story("r_gap")
	s.refuses(actors.ErrFenced, events[1:3])
	s.mustAppend(events[:3])
	s.refuses(actors.ErrFenced, events[4:6])
	s.refuses(actors.ErrFenced, events[2:6])
	s.refuses(actors.ErrFenced, events[:3])
	if head := s.head("r_gap"); head != 3 {
		s.t.Errorf("the head is %d, want 3", head)
	}
}

func (s journalSuite) sealed() {
	events := story("r_sealed")
	s.mustAppend(events)
	next := uint64(len(events) + 1)
	s.refuses(actors.ErrSealed, numbered("r_sealed", next, failed(messages.BySupervisor)))
	s.refuses(actors.ErrSealed, numbered("r_sealed", next, messages.FaultInjected{Fault: "late"}))
	if err := Check(s.read("r_sealed", 0)); err != nil {
		s.t.Error(err)
	}
}

func (s journalSuite) fenced() {
	events := story("r_fenced")
	s.mustAppend(events[:3])
	s.mustAppend(numbered("r_fenced", 4, messages.FaultInjected{Fault: "the new owner"}))
	s.refuses(actors.ErrFenced, events[3:5])
	s.refuses(actors.ErrFenced, events[3:4])
	got := s.read("r_fenced", 3)
	if len(got) != 1 || got[0].Body != messages.Body(messages.FaultInjected{Fault: "the new owner"}) {
		s.t.Errorf("past 3 the log is %v", got)
	}
}

func (s journalSuite) race() {
	for round := range 20 {
		run := messages.RunID(fmt.Sprintf("r_race%d", round))
		s.mustAppend(numbered(run, 1, queued, started))
		const writers = 8
		ends := make(chan error, writers)
		var begin sync.WaitGroup
		begin.Add(1)
		for i := range writers {
			word := failed([]messages.Author{messages.ByRun, messages.BySupervisor}[i%2])
			go func() {
				begin.Wait()
				ends <- s.append(actors.Block{Run: run, Events: numbered(run, 3, word)})
			}()
		}
		begin.Done()
		winners := 0
		for range writers {
			switch err := <-ends; {
			case err == nil:
				winners++
			case !errors.Is(err, actors.ErrSealed) && !errors.Is(err, actors.ErrFenced):
				s.t.Errorf("a loser got %v", err)
			}
		}
		if err := Check(s.read(run, 0)); err != nil || winners != 1 {
			s.t.Fatalf("%d winners; %v", winners, err)
		}
	}
}

func (s journalSuite) whole() {
	events := story("r_whole")
	s.mustAppend(events[:2])
	s.refuses(actors.ErrFenced, events[3:])
	if head := s.head("r_whole"); head != 2 {
		s.t.Errorf("something of a refused block landed: the head is %d", head)
	}
	s.mustAppend(events[2:])
	if err := Check(s.read("r_whole", 0)); err != nil {
		s.t.Error(err)
	}
}

func (s journalSuite) keys() {
	open := func(run messages.RunID, k actors.Key) error {
		return s.append(actors.Block{Run: run, Events: numbered(run, 1, queued), Key: k})
	}
	key := actors.Key{Principal: "ann", Key: "k", Input: "digest"}
	if err := open("r_key1", key); err != nil {
		s.t.Fatal(err)
	}
	other := key
	other.Input = "another digest"
	for _, k := range []actors.Key{key, other} {
		used, ok := errors.AsType[*actors.KeyUsedError](open("r_key2", k))
		if !ok || used.Run != "r_key1" || used.Input != "digest" {
			s.t.Errorf("the key with input %q: %+v", k.Input, used)
		}
	}
	if _, err := s.j.Read(context.Background(), "r_key2", 0); messages.CodeOf(err) != messages.CodeNotFound {
		s.t.Errorf("the run whose key was taken: %v, want not_found", err)
	}
	key.Principal = "bob"
	if err := open("r_key3", key); err != nil {
		s.t.Errorf("the same key of another principal: %v", err)
	}
}

func (s journalSuite) cursors() {
	events := story("r_cursors")
	for _, upTo := range []int{12, len(events)} {
		s.mustAppend(events[s.headOr("r_cursors"):upTo])
		want, _ := fold(events[:upTo])
		for after := range uint64(upTo) {
			state, _ := fold(events[:after])
			for _, e := range s.read("r_cursors", after) {
				if e.From > state.Seq+1 || e.Seq <= state.Seq {
					s.t.Fatalf("past %d: %d..%d does not continue %d", after, e.From, e.Seq, state.Seq)
				}
				next, err := state.Apply(e)
				if err != nil {
					s.t.Fatalf("past %d: %v", after, err)
				}
				state = next
			}
			if !same(state, want) {
				s.t.Errorf("past %d the log adds up to %+v, want %+v", after, state, want)
			}
		}
		for _, after := range []uint64{uint64(upTo), uint64(upTo) + 1, uint64(upTo) + 100} {
			if got := s.read("r_cursors", after); len(got) != 0 {
				s.t.Errorf("past %d of %d: %v", after, upTo, got)
			}
		}
	}
}

// headOr is head, and 0 for a run that does not exist.
func (s journalSuite) headOr(run messages.RunID) uint64 {
	events, err := s.j.Read(context.Background(), run, 0)
	if err != nil || len(events) == 0 {
		return 0
	}
	return s.head(run)
}

func (s journalSuite) recovery() {
	events := story("r_recovery")[:8]
	s.mustAppend(events)
	state, _ := fold(events)
	from, seq, rewind := state.Recovery()
	word := failed(messages.ByRecovery)
	word.Cause, word.Rewind = messages.CauseNodeLost, rewind
	last := messages.Event{RunID: "r_recovery", From: from, Seq: seq, Time: suiteEpoch.Add(time.Hour), Body: word}
	s.mustAppend([]messages.Event{last})
	if err := Check(s.read("r_recovery", 0)); err != nil {
		s.t.Error(err)
	}
	if got := s.read("r_recovery", seq-1); len(got) != 1 || got[0].Seq != seq {
		s.t.Errorf("past a number that recovery skipped: %v", got)
	}
	s.refuses(actors.ErrSealed, numbered("r_recovery", seq+1, failed(messages.ByRun)))
}

func (s journalSuite) unknown() {
	for _, after := range []uint64{0, 7} {
		if _, err := s.j.Read(context.Background(), "r_unknown", after); messages.CodeOf(err) != messages.CodeNotFound {
			s.t.Errorf("read past %d: %v, want not_found", after, err)
		}
	}
}

func (s journalSuite) once() {
	events := story("r_once")
	blocks := [][]messages.Event{events[:3], events[:3], events[3:7], events[8:], events[7:], events[20:]}
	calls := make([]int, len(blocks))
	var mu sync.Mutex
	for i, b := range blocks {
		end := make(chan struct{}, 16)
		s.j.Append(actors.Block{Run: "r_once", Events: b}, func(error) {
			mu.Lock()
			defer mu.Unlock()
			calls[i]++
			end <- struct{}{}
		})
		<-end
	}
	// Another append follows each of them; what called twice has had its time.
	s.mustAppend(numbered("r_after", 1, queued))
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(calls, []int{1, 1, 1, 1, 1, 1}) {
		s.t.Errorf("done was called %v times", calls)
	}
}

func (s journalSuite) again() {
	events := story("r_again")
	s.refuses(actors.ErrFenced, events[2:5])
	s.mustAppend(events[:2])
	s.refuses(actors.ErrFenced, events[4:])
	s.mustAppend(events[2:4])
	s.mustAppend(events[4:])
	if err := Check(s.read("r_again", 0)); err != nil {
		s.t.Error(err)
	}
}

func (s journalSuite) many() {
	const runs = 32
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			run := messages.RunID(fmt.Sprintf("r_many%d", i))
			for rest := story(run); len(rest) > 0; {
				n := min(len(rest), 1+i%5)
				if err := s.append(actors.Block{Run: run, Events: rest[:n]}); err != nil {
					s.t.Errorf("run %d: %v", i, err)
					return
				}
				rest = rest[n:]
			}
		})
	}
	all.Wait()
	for i := range runs {
		if err := Check(s.read(messages.RunID(fmt.Sprintf("r_many%d", i)), 0)); err != nil {
			s.t.Errorf("run %d: %v", i, err)
		}
	}
}
