package testkit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
)

// TestRuntime tests that the runtime keeps its promises on a journal, with two Systems as two nodes. open is as in
// [TestJournal]. With -short each case tries a third of its faults.
func TestRuntime(t *testing.T, open func(t *testing.T) (actors.Journal, journal.Reader)) {
	for _, c := range []struct {
		name string
		test func(runtimeSuite)
	}{
		{"a troubled append is got over", runtimeSuite.troubled},
		{"a node that dies or sleeps at an append has a successor", runtimeSuite.successor},
		{"a run that may go on goes on wherever its node dies", runtimeSuite.continued},
		{"a job goes on after its last kept step", runtimeSuite.kept},
		{"a run that waits for people goes on waiting", runtimeSuite.waiting},
		{"a family goes on wherever its node dies", runtimeSuite.familyGoesOn},
		{"a family spends no more than its budget wherever its node dies", runtimeSuite.familySpends},
		{"a node that closes hands over", runtimeSuite.handOver},
		{"an attached run ends when no node has a caller", runtimeSuite.attached},
		{"a node that slept while its run waited lets go of it", runtimeSuite.sleeper},
		{"a start is one run wherever it is cut", runtimeSuite.cutStart},
		{"a key with other input is a conflict", runtimeSuite.otherInput},
		{"a principal's runs are counted on every node", runtimeSuite.quota},
		{"a key is free when its log has expired", runtimeSuite.expiredKey},
		{"a cancel that races the end is kept", runtimeSuite.cancelRace},
		{"a run that no node has started is cancelled", runtimeSuite.cancelUnstarted},
		{"of two answers at two nodes one is given", runtimeSuite.twoAnswers},
		{"an answer between attempts is given", runtimeSuite.betweenAttempts},
		{"a child that was named is settled before its parent", runtimeSuite.heldChild},
		{"a family is settled in order wherever its node dies", runtimeSuite.family},
		{"a parent is told of a child that another node has ended", runtimeSuite.usurped},
		{"a journal that fails one run fails no other", runtimeSuite.oneSuffers},
		{"a full store refuses starts and loses nothing", runtimeSuite.full},
		{"a run whose journal forgets a block ends", runtimeSuite.forgotten},
		{"what a journal fails ends when it takes events again", runtimeSuite.healed},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(runtimeSuite{t, open, new(int)}) })
	}
}

// runtimeSuite is one case, which tries a journal in one world or in many.
type runtimeSuite struct {
	t      *testing.T
	open   func(t *testing.T) (actors.Journal, journal.Reader)
	worlds *int // how many the case has come to
}

// in runs f in its own bubble, with an empty journal. Its errors begin with what.
func (s runtimeSuite) in(what string, f func(*world)) {
	s.t.Helper()
	if s.t.Failed() {
		return // one error is easier to read than many
	}
	if *s.worlds++; testing.Short() && *s.worlds%6 != 1 {
		return
	}
	synctest.Test(s.t, func(t *testing.T) {
		j, reader := s.open(t)
		w := &world{T: t, what: what, reader: reader}
		w.journal = &ordered{Journal: j, complain: w.complain}
		f(w)
	})
}

// world is a journal and the nodes on it.
type world struct {
	*testing.T
	what    string
	journal *ordered
	reader  journal.Reader
}

func (w *world) complain(format string, args ...any) {
	w.Helper()
	w.Errorf("%s: %s", w.what, fmt.Sprintf(format, args...))
}

// node opens a System on the world's journal, or on a wrapper of it.
func (w *world) node(name string, j actors.Journal, jobs ...actors.Job) *actors.System {
	w.Helper()
	var named []actors.Definition
	for _, job := range jobs {
		named = append(named, actors.Definition{Name: job.Name, New: func(input json.RawMessage) (actors.Job, error) {
			if len(input) > 0 {
				job.Input = input
			}
			return job, nil
		}})
	}
	s, err := actors.New(context.Background(),
		actors.Config{Journal: j, Node: name, Jobs: named, Drain: time.Second, HandOver: true, Retention: time.Hour})
	must(w, err)
	w.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// start starts a run that must be accepted.
func (w *world) start(s *actors.System, job actors.Job) *actors.Run {
	w.Helper()
	run, err := s.Start(w.within(time.Minute), job, actors.Options{})
	if err != nil {
		w.Fatalf("%s: the start: %v", w.what, err)
	}
	return run
}

// within returns a context that ends after the time, or with the test.
func (w *world) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	w.Cleanup(cancel)
	return ctx
}

// log returns the whole log of the run, checked by CheckLog.
func (w *world) log(id messages.RunID) []messages.Event {
	w.Helper()
	var log []messages.Event
	for after := uint64(0); ; {
		page, err := w.reader.Read(context.Background(), id, after)
		if err != nil {
			w.Fatalf("%s: the log of %s past %d: %v", w.what, id, after, err)
		}
		if len(page.Events) == 0 {
			break
		}
		log = append(log, page.Events...)
		after = log[len(log)-1].Seq
	}
	if err := CheckLog(0, log); err != nil {
		w.Fatalf("%s: the log of %s: %v\n%s", w.what, id, err, kinds(log))
	}
	return log
}

func kinds(log []messages.Event) (said []string) {
	for _, e := range log {
		said = append(said, fmt.Sprintf("%d %s", e.Seq, e.Kind()))
	}
	return said
}

// end returns the State of the run's log.
func (w *world) end(id messages.RunID) messages.State {
	w.Helper()
	state, err := stories.Fold(w.log(id))
	if err != nil {
		w.Fatalf("%s: %v", w.what, err)
	}
	return state
}

// outcome says how a run ended.
type outcome struct {
	Status messages.Status
	By     messages.Author
	Cause  messages.Code
}

func (w *world) ends(state messages.State, allowed ...outcome) {
	w.Helper()
	got := outcome{Status: state.Status, By: state.End.By, Cause: state.End.Cause}
	if !slices.Contains(allowed, got) {
		w.complain("%s ended as %v (%v), allowed are %v", state.RunID, got, state.End.Error, allowed)
	}
}

var (
	completed   = outcome{Status: messages.Completed, By: messages.ByRun}
	nodeLost    = outcome{Status: messages.Failed, By: messages.ByRecovery, Cause: messages.CauseNodeLost}
	canceled    = outcome{Status: messages.Canceled, By: messages.ByRun, Cause: messages.CauseCanceledByUser}
	unavailable = outcome{Status: messages.Failed, By: messages.ByRun, Cause: messages.CauseJournalUnavailable}
	// settled is the end of a cancelled run whose node was lost; unstarted is the end of a run cancelled before it began
	settled   = outcome{Status: messages.Canceled, By: messages.ByRecovery, Cause: messages.CauseCanceledByUser}
	unstarted = outcome{Status: messages.Canceled, By: messages.ByNode, Cause: messages.CauseCanceledByUser}
)

// reader collects what one reader of a run sees.
type reader struct {
	events []messages.Event
	err    error
	over   chan struct{}
	leave  context.CancelFunc
}

// follow reads the run at the node, until its end or until the reader leaves.
func (w *world) follow(s *actors.System, id messages.RunID, after uint64) *reader {
	ctx, cancel := context.WithCancel(w.within(time.Hour))
	r := &reader{over: make(chan struct{}), leave: cancel}
	go func() {
		defer close(r.over)
		for e, err := range s.Events(ctx, id, after) {
			if r.err = err; err == nil {
				r.events = append(r.events, e)
			}
		}
	}()
	return r
}

// all returns everything that the reader saw. The run must end within the time.
func (r *reader) all(w *world, within time.Duration) []messages.Event {
	w.Helper()
	select {
	case <-r.over:
	case <-time.After(within):
		w.Fatalf("%s: a reader has no end after %s, but %v", w.what, within, kinds(r.events))
	}
	if r.err != nil {
		w.complain("a reader of the run: %v", r.err)
	}
	return r.events
}

// seen stops the reader, and returns what it has seen.
func (r *reader) seen() []messages.Event {
	r.leave()
	<-r.over
	return r.events
}

// agree checks that the readers saw what is in the log.
func (w *world) agree(log []messages.Event, seen ...[]messages.Event) {
	w.Helper()
	said := map[uint64]string{}
	for _, e := range log {
		if !e.IsDelta() {
			data, _ := json.Marshal(e)
			said[e.Seq] = string(data)
		}
	}
	want, _ := stories.Fold(log)
	for _, events := range seen {
		for _, e := range events {
			if data, _ := json.Marshal(e); !e.IsDelta() && said[e.Seq] != string(data) {
				w.complain("a reader saw %s, the log says %s", data, said[e.Seq])
			}
		}
		if got, err := stories.Fold(events); err != nil || !same(got, want) {
			w.complain("a reader came to %d %s (%v), the log says %d %s", got.Seq, got.Status, err, want.Seq, want.Status)
		}
	}
}

// ordered is a journal that checks the order of blocks in a family of runs before each append: a child's first block
// comes after its parent's child.started, and child.ended after the child's terminal.
type ordered struct {
	actors.Journal
	complain func(format string, args ...any)
}

// Append complains about a block that comes too early, and appends it.
func (o *ordered) Append(b journal.Block, done func(error)) {
	for _, e := range b.Events {
		switch body := e.Body.(type) {
		case messages.RunQueued:
			parent := parentOf(b.Run)
			if parent != "" && !o.has(parent, func(b messages.Body) bool {
				started, ok := b.(messages.ChildStarted)
				return ok && started.Child == e.RunID
			}) {
				o.complain("%s was born before %s named it", b.Run, parent)
			}
		case messages.ChildEnded:
			if !o.has(body.Child, func(b messages.Body) bool { return messages.Event{Body: b}.IsTerminal() }) {
				o.complain("%s told of the end of %s before it had ended", b.Run, body.Child)
			}
		}
	}
	o.Journal.Append(b, done)
}

// has reports whether the run's log has such an event.
func (o *ordered) has(id messages.RunID, is func(messages.Body) bool) bool {
	for after := uint64(0); ; {
		page, err := o.Read(context.Background(), id, after)
		if err != nil || len(page.Events) == 0 {
			return false
		}
		for _, e := range page.Events {
			if after = e.Seq; is(e.Body) {
				return true
			}
		}
	}
}
