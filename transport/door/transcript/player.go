package transcript

import (
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Table says how each operation on each kind of item is written to W, the writer of one reader. An operation without
// a function is not written.
type Table[W any] [kinds][actions]func(w W, op *Op)

// Each is the table that has the function for every operation.
func Each[W any](f func(w W, op *Op)) (t Table[W]) {
	for kind := range t {
		for do := range t[kind] {
			t[kind][do] = f
		}
	}
	return t
}

// Dialect is how runs are written for the clients of another system.
type Dialect[W any] struct {
	Table  Table[W]
	Policy Policy
	// Rewind writes that an item was taken back, as Op.Do Retract says. Under Mark it is called for texts
	// alone, once the new text departs from what the reader has; the operation is the one that departs. nil writes
	// nothing.
	Rewind func(w W, op *Op)
	// Heartbeat writes what keeps an idle connection open.
	Heartbeat func(w W)
	// Refuse writes why there is nothing more: the run cannot be read, or the server stops.
	Refuse func(w W, err error)
}

// Policy says what a reader gets after a text or thought was taken back.
type Policy uint8

const (
	// Replace leaves all to Rewind, which writes what remains of the item; what follows is appended to that.
	Replace Policy = iota
	// Replay is for readers that can drop a segment: after Rewind all items of the segment are written again. An item
	// of an earlier segment is superseded.
	Replay
	// Supersede gives the item another ID once there is text again; Rewind says that the item before it does not
	// count.
	Supersede
	// Mark is for readers that can only append. Nothing is written while the new text repeats what the reader has.
	// Where it departs, Rewind writes a mark such as Rule, and the new text follows from its beginning.
	Mark
)

// Rule is a mark in Markdown, before a text that begins again.
const Rule = "\n\n---\n\n"

// Player writes a run to one reader.
type Player[W any] struct {
	Transcript
	// Pass reports whether an operation is written; nil is that all are.
	Pass    func(op *Op) bool
	dialect *Dialect[W]
	w       W
	shown   map[key]*shown // what was taken back, by kind and ID
	op      Op             // an operation that no event has
}

// shown is what the reader has of a text that was taken back.
type shown struct {
	versions int    // how many IDs the reader has seen before
	hidden   bool   // the reader has not seen the newest ID
	held     bool   // nothing is written until the text departs from had
	had      string // what the reader has
}

// Player returns a player for the writer of one reader.
func (d *Dialect[W]) Player(w W) *Player[W] {
	return &Player[W]{dialect: d, w: w, shown: map[key]*shown{}}
}

// Play writes the event.
func (p *Player[W]) Play(e messages.Event) { p.Apply(e, p.play) }

func (p *Player[W]) play(op *Op) {
	isText := op.Item.Kind == Text || op.Item.Kind == Thought
	switch {
	case op.Do == Retract:
		p.retract(op, isText)
	case isText:
		p.text(op)
	default:
		p.write(op)
	}
}

func (p *Player[W]) write(op *Op) {
	if f := p.dialect.Table[op.Item.Kind][op.Do]; (p.Pass == nil || p.Pass(op)) && f != nil {
		f(p.w, op)
	}
}

func (p *Player[W]) rewind(op *Op) {
	if p.dialect.Rewind != nil && (p.Pass == nil || p.Pass(op)) {
		p.dialect.Rewind(p.w, op)
	}
}

func (p *Player[W]) shownOf(op *Op) *shown {
	k := key{op.Item.Kind, op.Item.ID}
	if p.shown[k] == nil {
		p.shown[k] = &shown{}
	}
	return p.shown[k]
}

// retract writes that an item was taken back.
func (p *Player[W]) retract(op *Op, isText bool) {
	switch policy := p.dialect.Policy; {
	case policy == Replay && op.Item.Segment == p.Segment:
		p.rewind(op)
		p.replay(op)
	case policy == Replace, !isText && policy != Mark:
		p.rewind(op)
	case !isText:
	case policy == Mark:
		if s := p.shownOf(op); !s.held {
			s.held, s.had = true, op.Item.Text()+op.Text
		}
	default:
		s := p.shownOf(op)
		if s.hidden {
			return
		}
		op.ID = s.id(op.Item)
		p.rewind(op)
		s.versions, s.hidden = s.versions+1, true
	}
}

// id is the item's ID for the reader.
func (s *shown) id(item *Item) string {
	if s == nil || s.versions == 0 {
		return item.ID
	}
	return item.ID + "#" + strconv.Itoa(s.versions+1)
}

// text writes what a text or a thought says.
func (p *Player[W]) text(op *Op) {
	s := p.shown[key{op.Item.Kind, op.Item.ID}]
	op.ID = s.id(op.Item)
	switch {
	case s != nil && s.held:
		p.held(op, s)
	case s != nil && s.hidden && op.Do == Open:
		s.hidden = false
		p.write(op)
	case s != nil && s.hidden:
		s.hidden = false
		p.whole(op)
	default:
		p.write(op)
	}
}

// held writes nothing while the text repeats what the reader has.
func (p *Player[W]) held(op *Op, s *shown) {
	if op.Do == Open || op.Do == Append && strings.HasPrefix(s.had[min(op.Offset, len(s.had)):], op.Text) {
		return
	}
	had, text := s.had, op.Item.Text()
	*s = shown{}
	if rest, same := strings.CutPrefix(text, had); !same {
		p.rewind(op)
		p.part(op, Append, 0, text)
	} else if rest != "" {
		p.part(op, Append, len(had), rest)
	}
	if op.Do == Done {
		p.write(op)
	}
}

// whole writes the item from its beginning.
func (p *Player[W]) whole(op *Op) {
	p.part(op, Open, 0, "")
	if text := op.Item.Text(); text != "" {
		p.part(op, Append, 0, text)
	}
	if op.Do == Done {
		p.write(op)
	}
}

// part writes an operation that stands for others.
func (p *Player[W]) part(op *Op, do Do, offset int, text string) {
	p.op = *op
	p.op.Do, p.op.Offset, p.op.Text, p.op.Cut = do, offset, text, false
	p.write(&p.op)
}

// replay writes the items of the segment again, after what was taken back.
func (p *Player[W]) replay(back *Op) {
	for _, item := range p.Items() {
		if item.Segment != p.Segment || item.Kind == Run {
			continue
		}
		op := Op{Item: item, ID: p.shown[key{item.Kind, item.ID}].id(item), Event: back.Event, Run: back.Run}
		op.Event.Body = item.Opened
		p.part(&op, Open, 0, "")
		if item.Len() > 0 {
			p.part(&op, Append, 0, item.Text())
		}
		op.Event.Body = item.Latest
		switch {
		case item.Closed:
			op.Do, op.Cut = Done, item.Cut
			p.write(&op)
		case item.Latest != nil && item.Kind != Question:
			op.Do = Update
			p.write(&op)
		}
	}
}
