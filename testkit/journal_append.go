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

// order appends blocks of several sizes, with text that a journal could encode wrongly.
func (s *journalSuite) order() {
	opened := queued
	opened.Labels = map[string]string{"<topic>": "gardens & \u2028 parks"}
	opened.Input = json.RawMessage(`{"big":12345678901234567890,"small":1e-7,"text":"\u00e9 <b>"}`)
	failure := failed(messages.ByRun)
	failure.Error.Retryable = true
	bodies := slices.Concat([]messages.Body{opened, started, begun}, talk(20), []messages.Body{failure})
	events := numbered("r_order", 1, bodies...)
	for i, cut := 0, []int{1, 3, 4, 9, len(events)}; i < len(cut); i++ {
		from := append([]int{0}, cut...)[i]
		s.mustAppend(events[from:cut[i]])
		s.equals("r_order", events[:cut[i]])
	}
}

// fenced appends blocks that leave a gap, repeat, or lose against a new owner.
func (s *journalSuite) fenced() {
	events := story("r_fenced")
	s.refuses(journal.ErrFenced, events[1:3])
	s.mustAppend(events[:3])
	s.refuses(journal.ErrFenced, events[4:6])
	s.refuses(journal.ErrFenced, events[2:6])
	s.refuses(journal.ErrFenced, events[:3])
	s.mustAppend(numbered("r_fenced", 4, messages.FaultInjected{Fault: "the new owner"}))
	s.refuses(journal.ErrFenced, events[3:5])
	s.refuses(journal.ErrFenced, events[3:4])
	got := s.read("r_fenced", 3)
	if len(got) != 1 || got[0].Body != messages.Body(messages.FaultInjected{Fault: "the new owner"}) {
		s.t.Errorf("past 3 the log is %v", got)
	}
}

// sealed appends to a log that has its terminal.
func (s *journalSuite) sealed() {
	events := story("r_sealed")
	s.mustAppend(events)
	next := uint64(len(events) + 1)
	s.refuses(journal.ErrSealed, numbered("r_sealed", next, failed(messages.BySupervisor)))
	s.refuses(journal.ErrSealed, numbered("r_sealed", next, messages.FaultInjected{Fault: "late"}))
	s.equals("r_sealed", events)
}

// compete appends the blocks at the same time, and returns the one that landed.
func (s *journalSuite) compete(blocks []journal.Block) journal.Block {
	s.t.Helper()
	ends := make([]error, len(blocks))
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i, b := range blocks {
		all.Go(func() {
			<-begin
			ends[i] = s.append(b)
		})
	}
	close(begin)
	all.Wait()
	var landed []journal.Block
	for i, err := range ends {
		switch {
		case err == nil:
			landed = append(landed, blocks[i])
		case !errors.Is(err, journal.ErrSealed) && !errors.Is(err, journal.ErrFenced):
			s.t.Errorf("a loser got %v", err)
		}
	}
	if len(landed) != 1 {
		s.t.Fatalf("%d of %d blocks at one head landed", len(landed), len(blocks))
	}
	return landed[0]
}

// writers lets four writers compete for each of many heads.
func (s *journalSuite) writers() {
	events := numbered("r_writers", 1, queued, started)
	s.mustAppend(events)
	for round := range 500 {
		var blocks []journal.Block
		for i := range 4 {
			b := s.block(numbered("r_writers", uint64(3+round), messages.FaultInjected{Fault: fmt.Sprint(round, " ", i)}))
			b.Writer = fmt.Sprint(i)
			blocks = append(blocks, b)
		}
		events = append(events, s.compete(blocks).Events...)
	}
	s.equals("r_writers", events)
}

// race lets terminals of several authors compete. One of them is the end.
func (s *journalSuite) race() {
	for round := range 20 {
		run := messages.RunID(fmt.Sprintf("r_race%d", round))
		s.mustAppend(numbered(run, 1, queued, started))
		var blocks []journal.Block
		for i := range 8 {
			word := failed([]messages.Author{messages.ByRun, messages.BySupervisor}[i%2])
			blocks = append(blocks, s.block(numbered(run, 3, word)))
		}
		s.compete(blocks)
		must(s.t, CheckLog(0, s.read(run, 0)))
	}
}

// twice appends every block again: at once, and, while the run is not over, after later blocks.
func (s *journalSuite) twice() {
	events := story("r_twice")
	var sent []journal.Block
	for _, part := range [][]messages.Event{events[:3], events[3:9], events[9:24], events[24:]} {
		b := s.block(part)
		s.must(b)
		sent = append(sent, b)
		s.must(b)
		if !b.Head().Ended {
			s.must(sent[0])
		}
	}
	s.equals("r_twice", events)
}

// atOnce appends the same block from several goroutines.
func (s *journalSuite) atOnce() {
	for round := range 50 {
		run := messages.RunID(fmt.Sprintf("r_once%d", round))
		events := story(run)
		for _, part := range [][]messages.Event{events[:3], events[3:9], events[9:]} {
			b := s.block(part)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					if err := s.append(b); err != nil {
						s.t.Errorf("the same block at once: %v", err)
					}
				})
			}
			all.Wait()
		}
		s.equals(run, events)
	}
}

// found checks that Read returns the ids of exactly the blocks that it read.
func (s *journalSuite) found() {
	events := story("r_found")
	var blocks []journal.Block
	for _, part := range [][]messages.Event{events[:3], events[3:5], events[5:9]} {
		b := s.block(part)
		if s.has(b) {
			s.t.Error("a block is found that was not appended")
		}
		_ = s.append(b) // its answer is not trusted
		blocks = append(blocks, b)
		for _, b := range blocks {
			if !s.has(b) {
				s.t.Errorf("the block after %d is not found by its id", b.After.Seq)
			}
		}
	}
	page, err := s.j.Read(context.Background(), "r_found", blocks[1].Head().Seq)
	if err != nil || slices.Contains(page.Blocks, blocks[0].ID) || slices.Contains(page.Blocks, blocks[1].ID) {
		s.t.Errorf("past the second block its id is still found (%v)", err)
	}
	last := s.block(events[9:])
	_ = s.append(last)
	if !s.has(last) {
		s.t.Error("the last block is not found by its id")
	}
}

// late lets a block that was not found land while it is sent again.
func (s *journalSuite) late() {
	gate := make(chan struct{})
	j := &Journal{Journal: s.j, Disturb: func(journal.Block) Disturbance { return Disturbance{Gate: gate} }}
	events := story("r_late")
	s.mustAppend(events[:3])
	b := s.block(events[3:])
	first := make(chan error, 1)
	j.Append(b, func(err error) { first <- err })
	if s.has(b) {
		s.t.Fatal("a block is found that did not land yet")
	}
	close(gate)
	again := s.send(b)
	if errA, errB := <-first, s.ends(b, again); errA != nil || errB != nil {
		s.t.Errorf("the late block: %v, sent again: %v", errA, errB)
	}
	s.equals("r_late", events)
}

// durable checks that everything this journal shows is in the store, for other readers too.
func (s *journalSuite) durable() {
	events := story("r_durable")
	for i := range events {
		b := s.block(events[i : i+1])
		end := s.send(b)
		shown := s.head("r_durable").Seq
		if shown > 0 && len(s.readFrom(s.other, "r_durable", shown-1)) == 0 {
			s.t.Fatalf("event %d was read before the store had it", shown)
		}
		must(s.t, s.ends(b, end))
		for name, r := range map[string]journal.Reader{"the journal": s.j, "another reader": s.other} {
			if page, err := r.Read(context.Background(), b.Run, b.After.Seq); err != nil || page.Head.Seq != b.Head().Seq {
				s.t.Fatalf("event %d is durable, but %s is at %d (%v)", i+1, name, page.Head.Seq, err)
			}
		}
	}
}

// heads checks that the head is the whole log's, even for reads after a cursor.
func (s *journalSuite) heads() {
	events := story("r_heads")
	for i, cut := range []int{1, 3, 9, len(events)} {
		from := []int{0, 1, 3, 9}[i]
		b := s.block(events[from:cut])
		b.Epoch = []uint64{0, 2, 2, 5}[i]
		s.must(b)
		for _, after := range []uint64{0, uint64(from), uint64(cut), uint64(cut) + 3} {
			page, err := s.j.Read(context.Background(), "r_heads", after)
			want := b.Head()
			if want.At = page.Head.At; err != nil || page.Head != want {
				s.t.Errorf("past %d the head is %+v (%v), want %+v", after, page.Head, err, want)
			}
		}
	}
}

// cursors reads from every sequence number, also beyond the end.
func (s *journalSuite) cursors() {
	events := story("r_cursors")
	for i, upTo := range []int{12, len(events)} {
		s.mustAppend(events[[]int{0, 12}[i]:upTo])
		want, _ := stories.Fold(events[:upTo])
		for after := range uint64(upTo) {
			state, _ := stories.Fold(events[:after])
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

// recovery appends a terminal that skips the numbers which a lost node may have used.
func (s *journalSuite) recovery() {
	events := story("r_recovery")[:8]
	s.mustAppend(events)
	state, _ := stories.Fold(events)
	from, seq, rewind := state.Recovery()
	word := failed(messages.ByRecovery)
	word.Cause, word.Rewind = messages.CauseNodeLost, rewind
	last := messages.Event{RunID: "r_recovery", From: from, Seq: seq, Time: suiteEpoch.Add(time.Hour), Body: word}
	s.mustAppend([]messages.Event{last})
	if err := CheckLog(0, s.read("r_recovery", 0)); err != nil {
		s.t.Error(err)
	}
	if got := s.read("r_recovery", seq-1); len(got) != 1 || got[0].Seq != seq {
		s.t.Errorf("past a number that recovery skipped: %v", got)
	}
	s.refuses(journal.ErrSealed, numbered("r_recovery", seq+1, failed(messages.ByRun)))
}

// unstorable appends a block that has no JSON. A journal that keeps no JSON may accept it.
func (s *journalSuite) unstorable() {
	events := story("r_unstorable")
	s.mustAppend(events[:3])
	err := s.append(s.block(numbered("r_unstorable", 4, messages.Unknown{Type: "moon.rose", Payload: json.RawMessage(`{"phase":`)})))
	if err == nil {
		return
	}
	if !errors.Is(err, journal.ErrUnstorable) {
		s.t.Errorf("a block that has no JSON: %v, want %v", err, journal.ErrUnstorable)
	}
	s.mustAppend(events[3:])
	s.equals("r_unstorable", events)
}

// chained checks that the blocks prove the log to every reader, before and after the end, and that no byte can be
// changed.
func (s *journalSuite) chained() {
	events := story("r_chained")
	whole := journal.StoredBlock{}
	for _, e := range events {
		line, _ := e.JSON()
		whole.Lines = append(whole.Lines, line)
	}
	for i, cut := range []int{1, 3, 9, len(events)} {
		from := []int{0, 1, 3, 9}[i]
		s.mustAppend(events[from:cut])
		want := journal.Chain{Seq: uint64(cut), Hash: whole.Seal(journal.Hash{}, events[:cut])}
		for name, r := range map[string]journal.Reader{"the journal": s.j, "another reader": s.other} {
			if got := s.chain(r, "r_chained"); got != want {
				s.t.Errorf("by %s the log stands at %v, want %v", name, got, want)
			}
		}
	}
	for _, err := range s.j.Blocks(context.Background(), "r_unknown") {
		if messages.CodeOf(err) != messages.CodeNotFound {
			s.t.Errorf("the blocks of no run: %v", err)
		}
	}
}

// chain checks the blocks of a run, and that each fails its check when one of its bytes is changed.
func (s *journalSuite) chain(r journal.Reader, run messages.RunID) (head journal.Chain) {
	s.t.Helper()
	for b, err := range r.Blocks(context.Background(), run) {
		if err != nil {
			s.t.Fatalf("the blocks of %s past %d: %v", run, head.Seq, err)
		}
		for i, line := range b.Lines {
			changed := slices.Clone(line)
			changed[len(changed)/2] ^= 1
			other := b
			other.Lines = slices.Clone(b.Lines)
			other.Lines[i] = changed
			if _, _, err := other.Check(head); err == nil {
				s.t.Errorf("a byte of line %d of block %d..%d changed, and its check says nothing", i, b.First, b.Last)
			}
		}
		if head, _, err = b.Check(head); err != nil {
			s.t.Fatalf("block %d..%d: %v", b.First, b.Last, err)
		}
	}
	return head
}

func (s *journalSuite) unknown() {
	for _, after := range []uint64{0, 7} {
		if _, err := s.j.Read(context.Background(), "r_unknown", after); messages.CodeOf(err) != messages.CodeNotFound {
			s.t.Errorf("read past %d: %v, want not_found", after, err)
		}
	}
}

// many appends to several runs at the same time.
func (s *journalSuite) many() {
	const runs = 32
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			run := messages.RunID(fmt.Sprintf("r_many%d", i))
			for rest := story(run); len(rest) > 0; {
				n := min(len(rest), 1+i%5)
				if err := s.append(s.block(rest[:n])); err != nil {
					s.t.Errorf("run %d: %v", i, err)
					return
				}
				rest = rest[n:]
			}
		})
	}
	all.Wait()
	for i := range runs {
		run := messages.RunID(fmt.Sprintf("r_many%d", i))
		s.equals(run, story(run))
	}
}

func (s *journalSuite) salt() {
	salt := s.j.Salt()
	if salt == [32]byte{} || salt != s.j.Salt() {
		s.t.Errorf("the salts are %x and %x", salt, s.j.Salt())
	}
}
