package door

import (
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// order puts the events of a tree of runs in one order for every reader: the events of a sub-run stand, whole, where
// the log of its parent names it. The log of a run is in its own order already. What comes too early is kept.
type order struct {
	logs map[messages.RunID]*orderedLog
	open []messages.RunID // the run whose turn it is, last, below those that named it
}

// orderedLog is what is kept of a run.
type orderedLog struct {
	events []messages.Event
	ended  bool // no more come
}

func newOrder(root messages.RunID) *order {
	return &order{logs: map[messages.RunID]*orderedLog{}, open: []messages.RunID{root}}
}

func (o *order) log(id messages.RunID) *orderedLog {
	if o.logs[id] == nil {
		o.logs[id] = &orderedLog{}
	}
	return o.logs[id]
}

// take takes events as they come, and returns those whose turn it is. Of merged ones the texts come first, so that a
// reader who has any of it has the texts up to its number.
func (o *order) take(events []messages.Event) (now []messages.Event) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case messages.ChildEnded: // a sub-run whose log is gone has no terminal of its own
			o.log(b.Child).ended = true
		case messages.Merged:
			b.Parts = slices.Clone(b.Parts)
			slices.SortStableFunc(b.Parts, func(a, b messages.Body) int { return rank(a) - rank(b) })
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

// rank is 0 for a text.
func rank(b messages.Body) int {
	if _, isText := b.(messages.TextDelta); isText {
		return 0
	}
	return 1
}

// Place is where something stands in that order: the same for every reader, also of a log that was merged since. Seq
// is the number of the root's event, Sub counts the events of sub-runs that come after it, and I what an event says.
type Place struct {
	Seq, Sub uint64
	I        int
}

// Begin is the place of the first of the events that were merged to e, if p is the place of e.
func (p Place) Begin(e *messages.Event) Place {
	if p.I = 0; p.Sub > 0 {
		p.Sub -= e.Seq - e.From
	} else {
		p.Seq -= e.Seq - e.From
	}
	return p
}

// Places finds the places of a tree's events, which come in their order. The zero Places begins at the root.
type Places struct {
	At   Place
	root messages.RunID
	had  map[messages.RunID]uint64
}

// Move moves to the event. Events of sub-runs are counted by their numbers, which no merging changes.
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
