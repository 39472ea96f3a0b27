package messages_test

import (
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// The model tells every short history of a small run. It crashes at every point, with every durable prefix. Every
// reader then reads it from every cursor, by every event that may be served there: raw or merged, also ones that begin
// before the cursor. All readers stand in the same State wherever they meet, and no number means two things.
//
// go test walks short histories; LASTWORD_SIM=1 walks longer ones and prints how many reader states it saw.
func TestEveryReaderOfEveryHistory(t *testing.T) {
	depth, atLeast := 4, 500_000
	if os.Getenv("LASTWORD_SIM") == "1" {
		depth, atLeast = 5, 5_000_000
	}
	m := &model{t: t}
	m.tell(m.open(), depth)
	t.Logf("%d reader states in %d histories of %d steps", m.readers, m.histories, depth)
	if m.readers < atLeast {
		t.Errorf("the model walked %d reader states, not %d", m.readers, atLeast)
	}
}

type model struct {
	t                  *testing.T
	readers, histories int
}

// history is a run as its owners logOf it: one reign after another, each but the last ended by a crash.
type history []reign

// reign is the live log of one owner. states[i] is the one before events[i], as the raw log adds up.
type reign struct {
	events   []messages.Event
	states   []messages.State
	durable  int            // of a crashed reign: how many of the events the journal holds
	recovery messages.Event // of a crashed reign: what the next owner wrote
}

func (h history) now() messages.State { s := h[len(h)-1].states; return s[len(s)-1] }

func (h history) ended() bool { return h.now().Status.IsEnded() }

// say returns the history with the bodies said by the last owner.
func (m *model) say(h history, bodies ...messages.Body) history {
	out := slices.Clone(h)
	last := out[len(out)-1]
	last.events, last.states = slices.Clip(last.events), slices.Clip(last.states)
	for _, b := range bodies {
		e := next(last.states[len(last.states)-1].Seq, b)
		last.events = append(last.events, e)
		last.states = append(last.states, fold(m.t, last.states[len(last.states)-1], e))
	}
	out[len(out)-1] = last
	return out
}

// crash returns the history in which the last owner dies with so many events durable and word is written in its place.
func (m *model) crash(h history, durable int, word func(messages.State, *messages.Rewind) messages.Body) history {
	out := slices.Clone(h)
	last := &out[len(out)-1]
	s := last.states[durable]
	from, seq, rewind := s.Recovery()
	last.durable = durable
	last.recovery = messages.Event{RunID: runID, From: from, Seq: seq, Time: epoch, Body: word(s, rewind)}
	return append(out, reign{states: []messages.State{fold(m.t, s, last.recovery)}})
}

func recovered(s messages.State, r *messages.Rewind) messages.Body {
	return messages.RunRecovered{Rewind: r, Restart: s.Seq%2 == 0}
}

func lostNode(s messages.State, r *messages.Rewind) messages.Body {
	return s.Terminal(messages.RunFailed{By: messages.ByRecovery, Cause: messages.CauseNodeLost, Error: failure, Rewind: r})
}

// wall is the least that is durable: milestones are in the journal before anyone sees them.
func (r reign) wall() int {
	for i, e := range slices.Backward(r.events) {
		if !e.IsDelta() {
			return i + 1
		}
	}
	return 0
}

func (m *model) open() history {
	return m.say(history{{states: []messages.State{{}}}},
		messages.RunQueued{Job: "generate"}, messages.RunStarted{}, messages.TaskStarted{Task: "t", Attempt: 1})
}

// tell goes on in every way for so many steps, and ends every history in every way.
func (m *model) tell(h history, steps int) {
	if steps == 0 {
		word := messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Error: failure}
		m.read(m.say(h, h.now().Terminal(word)))
		last := h[len(h)-1]
		for durable := last.wall(); durable <= len(last.events); durable++ {
			m.read(m.crash(h, durable, lostNode))
		}
		return
	}
	for _, step := range m.steps(h) {
		m.tell(m.say(h, step...), steps-1)
	}
	last := h[len(h)-1]
	for durable := last.wall(); durable <= len(last.events); durable++ {
		m.tell(m.crash(h, durable, recovered), steps-1)
	}
}

// steps returns what the run may say next: two streams, the log, progress, a done, a restart, a cancel.
func (m *model) steps(h history) [][]messages.Body {
	s := h.now()
	x, _ := s.Stream("x")
	y, _ := s.Stream("y")
	task, _ := s.Task("t")
	running := task.Status == messages.TaskRunning
	restarted := messages.TaskRestarted{Task: "t", Attempt: task.Attempt + 1}
	out := [][]messages.Body{
		{messages.ThoughtDelta{Stream: "y", Index: y.Index, Offset: y.Len(), Text: "ü"}},
		{lines(s.Log.Next, "line")},
		{messages.Progress{Done: int64(s.Seq)}},
	}
	if running {
		out[2] = []messages.Body{messages.Progress{Task: "t", Done: int64(s.Seq)}}
	}
	if running && !x.Closed {
		out = append(out,
			[]messages.Body{messages.TextDelta{Stream: "x", Task: "t", Index: x.Index, Offset: x.Len(), Text: strconv.Itoa(int(s.Seq % 10))}},
			[]messages.Body{textDone("x", "t", "all of x")})
	}
	switch {
	case s.Canceling:
	case running:
		out = append(out,
			[]messages.Body{messages.RunCanceling{}},
			[]messages.Body{
				messages.TaskFailed{Task: "t", Attempt: task.Attempt, Cause: messages.CauseError, Error: failure, WillRetry: true},
				restarted})
	default:
		out = append(out, []messages.Body{messages.RunCanceling{}}, []messages.Body{restarted})
	}
	return out
}

// read walks every reader through the history.
func (m *model) read(h history) {
	m.histories++
	meaning := map[uint64]bool{}
	w := walk{m: m, history: h}
	for _, r := range h {
		for _, e := range append(slices.Clip(r.events), r.recovery) {
			if e.Seq != 0 && meaning[e.Seq] {
				m.t.Fatalf("number %d means two things", e.Seq)
			}
			meaning[e.Seq] = true
		}
		prints := make([]string, len(r.states))
		for i, s := range r.states {
			prints[i] = print(s)
		}
		w.prints = append(w.prints, prints)
		w.served = append(w.served, m.served(r.events))
	}
	w.from(0, 0, messages.State{})
	for i, r := range h { // a reader may come at any time with its own State
		for c, s := range r.states {
			w.resume(i, c, s)
		}
	}
	if !h.ended() {
		m.t.Fatal("the history has no end")
	}
	if _, err := h.now().Apply(next(h.now().Seq, messages.Progress{})); ruleOf(err) != messages.RuleEnded {
		m.t.Fatalf("after the last word: %v", err)
	}
	same(m.t, "the last state", w.last, h.now())
}

// served returns, for every cursor, the events that may be served there, each with the cursor it leads to.
func (m *model) served(events []messages.Event) [][]serving {
	out := make([][]serving, len(events)+1)
	for p := range events {
		for q := p + 1; q <= len(events); q++ {
			if q > p+1 && !messages.CanMerge(events[q-2], events[q-1]) {
				break
			}
			e := messages.Merge(events[p:q])
			for cut := p + 1; cut < q; cut++ {
				again := messages.Merge([]messages.Event{messages.Merge(events[p:cut]), messages.Merge(events[cut:q])})
				if !reflect.DeepEqual(again, e) {
					m.t.Fatalf("cut at %d, %s is %s", cut, asJSON(m.t, e), asJSON(m.t, again))
				}
			}
			for c := p; c < q; c++ {
				out[c] = append(out[c], serving{e, q})
			}
		}
	}
	return out
}

type serving struct {
	event messages.Event
	to    int
}

type walk struct {
	m       *model
	history history
	prints  [][]string
	served  [][][]serving
	last    messages.State
}

// from walks on from the reader's own state, in every way there is.
func (w *walk) from(reign, at int, s messages.State) {
	w.m.readers++
	if got := print(s); got != w.prints[reign][at] {
		w.m.t.Fatalf("a reader at %d stands in\n%s\nthe log says\n%s", s.Seq, got, w.prints[reign][at])
	}
	w.last = s
	for _, next := range w.served[reign][at] {
		w.from(reign, next.to, w.apply(s, next.event))
	}
	if reign+1 < len(w.history) && at >= w.history[reign].durable {
		w.from(reign+1, 0, w.apply(s, w.history[reign].recovery))
	}
}

// resume serves the state every event that may be served there, and asks whether it stands where the log says.
func (w *walk) resume(reign, at int, s messages.State) {
	for _, next := range w.served[reign][at] {
		w.m.readers++
		if got := print(w.apply(s, next.event)); got != w.prints[reign][next.to] {
			w.m.t.Fatalf("resumed at %d:\n%s\nthe log says\n%s", s.Seq, got, w.prints[reign][next.to])
		}
	}
}

func (w *walk) apply(s messages.State, e messages.Event) messages.State {
	if e.From > s.Seq+1 || e.Seq <= s.Seq {
		w.m.t.Fatalf("%d..%d after %d breaks the law", e.From, e.Seq, s.Seq)
	}
	next, err := s.Apply(e)
	if err != nil {
		w.m.t.Fatalf("at %d: %v", s.Seq, err)
	}
	return next
}

// print writes all that the model's runs can differ in.
func print(s messages.State) string {
	b := make([]byte, 0, 256)
	n := func(v uint64) { b = append(strconv.AppendUint(b, v, 10), ' ') }
	n(s.Seq)
	n(s.Milestone)
	n(uint64(s.Recoveries))
	n(uint64(s.UpdatedAt.UnixNano()))
	b = append(strconv.AppendBool(append(b, s.Status...), s.Canceling), '\n')
	for _, v := range s.Tasks {
		b = append(append(b, v.Name...), v.Status...)
		n(uint64(v.Attempt))
	}
	for _, v := range s.Streams {
		b = append(append(append(b, v.Name...), v.Task...), v.Text()...)
		b = strconv.AppendBool(strconv.AppendBool(b, v.Closed), v.Thought)
		n(v.Index)
	}
	for _, v := range s.Progress {
		b = append(b, v.Task...)
		n(uint64(v.Done))
	}
	n(s.Log.Next)
	for _, v := range s.Log.Lines {
		b = append(b, v.Text...)
		n(v.Number)
	}
	if s.End != nil {
		b = append(append(b, s.End.By...), s.End.Cause...)
	}
	return string(b)
}
