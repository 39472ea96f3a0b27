package door

import (
	"slices"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
)

// order sorts the events of a run and its sub-runs into one sequence that is the same for every reader: all events of a
// sub-run come directly after the event of its parent that names it. The events of a single run are already in order.
// An event that arrives before its turn is kept until then. order is not safe for concurrent use.
type order struct {
	logs map[messages.RunID]*orderedLog
	open []messages.RunID // a stack: the run whose turn it is comes last, below it its ancestors
}

// orderedLog holds the events of one run that arrived before their turn.
type orderedLog struct {
	events []messages.Event
	ended  bool // no more events come
}

// log returns the events of a run that wait, and creates the list at the first one.
func (o *order) log(id messages.RunID) *orderedLog {
	if o.logs[id] == nil {
		o.logs[id] = &orderedLog{}
	}
	return o.logs[id]
}

// take adds events in the order of their arrival, and returns those whose turn it is. Within a merged event, texts come
// first, so that a reader that has part of the event has its texts.
func (o *order) take(events []messages.Event) (now []messages.Event) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case messages.ChildEnded: // a sub-run without a log has no terminal
			o.log(b.Child).ended = true
		case messages.Merged:
			b.Parts = slices.Clone(b.Parts)
			stable.Sort(b.Parts, func(a, b messages.Body) int { return rank(a) - rank(b) })
			e.Body = b
		}
		l := o.log(e.RunID)
		l.events, l.ended = append(l.events, e), l.ended || e.IsTerminal()
	}
	for len(o.open) > 0 {
		l := o.log(o.open[len(o.open)-1])
		switch {
		case len(l.events) > 0:
			now = append(now, l.events[0])
			if b, ok := l.events[0].Body.(messages.ChildStarted); ok {
				o.open = append(o.open, b.Child)
			}
			l.events = l.events[1:]
		case l.ended:
			o.open = o.open[:len(o.open)-1]
		default:
			return now
		}
	}
	return now
}

// rank sorts the parts of a merged event: texts are 0, the rest is 1.
func rank(b messages.Body) int {
	if _, isText := b.(messages.TextDelta); isText {
		return 0
	}
	return 1
}

// Place is a position in the sequence of a run and its sub-runs. It is the same for every reader, even if the log was
// merged in the meantime. Seq is the number of the root run's event, Sub counts the events of sub-runs after it, and I
// counts what one event says.
type Place struct {
	Seq, Sub uint64
	I        int
}

// Begin returns the position of the first of the events that were merged into e, where p is the position of e.
func (p Place) Begin(e *messages.Event) Place {
	if p.I = 0; p.Sub > 0 {
		p.Sub -= e.Seq - e.From
	} else {
		p.Seq -= e.Seq - e.From
	}
	return p
}

// Places computes the positions of a tree's events, which must come in order. The zero Places is at the beginning.
type Places struct {
	At   Place
	root messages.RunID
	had  map[messages.RunID]uint64 // number of the last event of each run
}

// Move moves to the event e. It counts the events of a sub-run by their numbers, because merging does not change those.
func (p *Places) Move(e *messages.Event) {
	if p.had == nil {
		p.root, p.had = e.RunID, map[messages.RunID]uint64{}
	}
	had := p.had[e.RunID]
	switch {
	case had == e.Seq:
		return
	case e.RunID == p.root:
		p.At = Place{Seq: e.Seq}
	default:
		p.At.Sub, p.At.I = p.At.Sub+e.Seq-had, 0
	}
	p.had[e.RunID] = e.Seq
}
