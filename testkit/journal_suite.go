package testkit

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
)

// TestJournal tests that a journal keeps the contract of [journal.Journal]. It calls open once per subtest, in a
// bubble of virtual time. open returns an empty journal, and another Reader of the same store with a connection of
// its own, if the store has connections. It closes both in t.Cleanup. TestJournal notices an Append that blocks,
// because virtual time passes.
func TestJournal(t *testing.T, open func(t *testing.T) (journal.Journal, journal.Reader)) {
	for _, c := range journalTests {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, other := open(t)
				s := &journalSuite{t: t, j: j, other: other}
				defer s.answered()
				c.test(s)
			})
		})
	}
}

var journalTests = []struct {
	name string
	test func(*journalSuite)
}{
	{"blocks are read as they were appended", (*journalSuite).order},
	{"a block at another head is fenced", (*journalSuite).fenced},
	{"nothing follows a terminal", (*journalSuite).sealed},
	{"of four writers at one head one lands", (*journalSuite).writers},
	{"of racing terminals one wins", (*journalSuite).race},
	{"the same block lands once", (*journalSuite).twice},
	{"the same block at once lands once", (*journalSuite).atOnce},
	{"a block that landed unheard is found", (*journalSuite).found},
	{"a block that lands late is a success of the one sent again", (*journalSuite).late},
	{"what is read is durable", (*journalSuite).durable},
	{"a head says where the log ends", (*journalSuite).heads},
	{"a log can be read from any cursor", (*journalSuite).cursors},
	{"recovery may skip the reserve", (*journalSuite).recovery},
	{"a block that has no JSON is refused permanently", (*journalSuite).unstorable},
	{"the digests of its blocks prove a log", (*journalSuite).chained},
	{"a run that is not known is not found", (*journalSuite).unknown},
	{"many runs append at once", (*journalSuite).many},
	{"a store has one salt", (*journalSuite).salt},
	{"a watch tells what has grown", (*journalSuite).watch},
	{"a watch may skip and repeat", (*journalSuite).skip},
	{"a command reaches the node that holds the run", (*journalSuite).commands},
	{"a first block is one run and one claim", (*journalSuite).firstTwice},
	{"a first block without a writer is anybody's", (*journalSuite).anybodys},
	{"a claim that is held is not lent", (*journalSuite).held},
	{"a claim that was released is lent at once", (*journalSuite).released},
	{"a run that ended is not lent", (*journalSuite).ended},
	{"of two claimers each gets its own", (*journalSuite).claimers},
	{"what can be claimed is claimed when the time is over", (*journalSuite).ready},
	{"runs are listed, the newest updated first", (*journalSuite).list},
	{"a list says where each run stands", (*journalSuite).listStates},
	{"a list is of one principal and bounded", (*journalSuite).listSelects},
	{"a list is read in pages", (*journalSuite).listPages},
	{"what has expired is not listed", (*journalSuite).listExpired},
	{"an ended run is forgotten on request", (*journalSuite).forget},
	{"logs expire by age", (*journalSuite).expireByAge},
	{"logs expire by size, the oldest first", (*journalSuite).expireBySize},
}

// journalSuite is one subtest. mu guards the fields below it.
type journalSuite struct {
	t     *testing.T
	j     journal.Journal
	other journal.Reader

	mu      sync.Mutex
	ids     uint64
	answers []int // how many answers each append got
}

// block makes a block of events that continue the log, with its own id.
func (s *journalSuite) block(events []messages.Event) journal.Block {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	b := journal.Block{Run: events[0].RunID, After: journal.Head{Seq: events[0].From - 1}, Writer: "suite", Events: events}
	binary.BigEndian.PutUint64(b.ID[8:], s.ids)
	return b
}

// send appends and does not wait. An append that blocks lets virtual time pass, which fails the test.
func (s *journalSuite) send(b journal.Block) (answer <-chan error) {
	s.t.Helper()
	s.mu.Lock()
	n := len(s.answers)
	s.answers = append(s.answers, 0)
	s.mu.Unlock()
	end := make(chan error, 1)
	answer = end
	defer func() {
		if r := recover(); r != nil {
			s.t.Errorf("Append panicked: %v", r)
			s.answer(n, end, journal.ErrUnknown)
		}
	}()
	begin := time.Now()
	s.j.Append(b, func(err error) { s.answer(n, end, err) })
	if took := time.Since(begin); took > 0 {
		s.t.Errorf("Append blocked for %s", took)
	}
	return answer
}

func (s *journalSuite) answer(n int, end chan<- error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers[n]++; s.answers[n] == 1 {
		end <- err
	}
}

// longest is how long an answer, a note or a claim may take.
const longest = time.Minute

// answered checks that every append was answered exactly once, even after a while.
func (s *journalSuite) answered() {
	time.Sleep(longest)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, n := range s.answers {
		if n != 1 {
			s.t.Errorf("append %d was answered %d times", i, n)
			return
		}
	}
}

// append waits for the answer, and checks that a refused block did not land.
func (s *journalSuite) append(b journal.Block) error {
	s.t.Helper()
	return s.ends(b, s.send(b))
}

// ends waits for the answer of an append. After a refusal the block must never land.
func (s *journalSuite) ends(b journal.Block, end <-chan error) error {
	s.t.Helper()
	var err error
	select {
	case err = <-end:
	case <-time.After(longest):
		return fmt.Errorf("the append did not end within %s", longest)
	}
	if errors.Is(err, journal.ErrRefused) || errors.Is(err, journal.ErrFenced) || errors.Is(err, journal.ErrSealed) ||
		errors.Is(err, journal.ErrUnstorable) {
		if time.Sleep(time.Second); s.has(b) {
			s.t.Errorf("the append of %d..%d ended with %v, and landed", b.After.Seq+1, b.Head().Seq, err)
		}
	}
	return err
}

// has reports whether the log holds the block.
func (s *journalSuite) has(b journal.Block) bool {
	s.t.Helper()
	page, err := s.j.Read(context.Background(), b.Run, b.After.Seq)
	if err != nil && messages.CodeOf(err) != messages.CodeNotFound {
		s.t.Fatal(err)
	}
	return slices.Contains(page.Blocks, b.ID)
}

func (s *journalSuite) mustAppend(events []messages.Event) {
	s.t.Helper()
	s.must(s.block(events))
}

func (s *journalSuite) must(b journal.Block) {
	s.t.Helper()
	if err := s.append(b); err != nil {
		s.t.Fatalf("append of %d..%d: %v", b.After.Seq+1, b.Head().Seq, err)
	}
}

func (s *journalSuite) refuses(want error, events []messages.Event) {
	s.t.Helper()
	if err := s.append(s.block(events)); !errors.Is(err, want) {
		s.t.Errorf("append of %d..%d: %v, want %v", events[0].From, events[len(events)-1].Seq, err, want)
	}
}

// read returns all events past the cursor.
func (s *journalSuite) read(run messages.RunID, after uint64) []messages.Event {
	s.t.Helper()
	return s.readFrom(s.j, run, after)
}

// readFrom reads all pages after a sequence number, and checks that they lead to the head.
func (s *journalSuite) readFrom(r journal.Reader, run messages.RunID, after uint64) []messages.Event {
	s.t.Helper()
	var all []messages.Event
	for {
		page, err := r.Read(context.Background(), run, after)
		if err != nil {
			s.t.Fatalf("read past %d: %v", after, err)
		}
		if len(page.Events) == 0 {
			if after < page.Head.Seq {
				s.t.Fatalf("a read past %d has no events, and the head is %d", after, page.Head.Seq)
			}
			return all
		}
		if last := page.Events[len(page.Events)-1].Seq; last > after && last <= page.Head.Seq {
			all, after = append(all, page.Events...), last
			continue
		}
		s.t.Fatalf("a read past %d ended at %d", after, page.Events[len(page.Events)-1].Seq)
	}
}

// head returns the end of a run's log, or the zero Head if there is none.
func (s *journalSuite) head(run messages.RunID) journal.Head {
	s.t.Helper()
	page, err := s.j.Read(context.Background(), run, 0)
	if err != nil && messages.CodeOf(err) != messages.CodeNotFound {
		s.t.Fatal(err)
	}
	return page.Head
}

// equals compares the log with the appended events, byte for byte as JSON, with deltas merged.
func (s *journalSuite) equals(run messages.RunID, want []messages.Event) {
	s.t.Helper()
	got, want := messages.MergeDeltas(s.read(run, 0)), messages.MergeDeltas(want)
	if len(got) != len(want) {
		s.t.Fatalf("the log has %d events, want %d", len(got), len(want))
	}
	for i := range got {
		a, errA := json.Marshal(got[i])
		b, errB := json.Marshal(want[i])
		if errA != nil || errB != nil || string(a) != string(b) {
			s.t.Fatalf("read %s (%v), appended %s (%v)", a, errA, b, errB)
		}
	}
}

var suiteEpoch = time.Date(2026, 11, 20, 20, 0, 0, 123_456_789, time.UTC)

// numbered makes events of the bodies with numbers from the given one.
func numbered(run messages.RunID, from uint64, bodies ...messages.Body) []messages.Event {
	var events []messages.Event
	for i, b := range bodies {
		seq := from + uint64(i)
		events = append(events, messages.Event{RunID: run, Seq: seq, From: seq, Body: b,
			Time: suiteEpoch.Add(time.Duration(seq) * time.Millisecond), Message: string(messages.KindOf(b))})
	}
	return events
}

var (
	queued  = messages.RunQueued{Job: "suite", Mode: messages.Detached}
	started = messages.RunStarted{Node: "suite"}
	begun   = messages.TaskStarted{Task: faultplan.Write, Attempt: 1}
	done    = messages.TaskCompleted{Task: faultplan.Write, Attempt: 1}
	success = messages.RunCompleted{By: messages.ByRun, Artifacts: []messages.Artifact{}}
)

func failed(by messages.Author) messages.RunFailed {
	return messages.RunFailed{By: by, Cause: messages.CauseError, Artifacts: []messages.Artifact{},
		Error: messages.Errorf(messages.CauseError, "it failed")}
}

// talk returns deltas of a text, three bytes each.
func talk(n int) []messages.Body {
	var said []messages.Body
	for i := range n {
		said = append(said, messages.TextDelta{Stream: faultplan.Write, Task: faultplan.Write, Index: uint64(i), Offset: 3 * i,
			Text: fmt.Sprintf("%02d ", i%100)})
	}
	return said
}

// story returns a whole log with a talk in it.
func story(run messages.RunID) []messages.Event {
	bodies := slices.Concat([]messages.Body{queued, started, begun}, talk(20), []messages.Body{done, success})
	return numbered(run, 1, bodies...)
}

// Journal wraps a journal and disturbs its appends. Disturbance says how one append is disturbed; the zero value does
// nothing.
type (
	Journal     = journal.Hostile
	Disturbance = journal.Disturbance
)
