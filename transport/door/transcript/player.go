package transcript

import (
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Table holds the function that writes each operation on each kind of item. W is the writer of one reader. Operations
// without a function are not written.
type Table[W any] [kinds][actions]func(w W, op *Op)

// Each returns a table that has the function f for every operation.
func Each[W any](f func(w W, op *Op)) (t Table[W]) {
	for kind := range t {
		for do := range t[kind] {
			t[kind][do] = f
		}
	}
	return t
}

// Dialect describes how runs are written in the format of another system.
type Dialect[W any] struct {
	Table  Table[W]
	Policy Policy
	// Rewind writes that an item was taken back (Op.Do is Retract); nil writes nothing. Under the policy Mark it is
	// called only for texts, and only once the new text differs from what the reader has; the operation is the one that
	// differs.
	Rewind func(w W, op *Op)
	// Heartbeat writes something that keeps an idle connection open.
	Heartbeat func(w W)
	// Refuse writes why no more events follow: the run cannot be read, or the server stops.
	Refuse func(w W, err error)
}

// Policy says what a reader gets after text was taken back.
type Policy uint8

const (
	// Replace leaves everything to Rewind, which writes what remains of the item. Later text is appended to that.
	Replace Policy = iota
	// Replay is for readers that can drop a segment: after Rewind, all items of the segment are written again. Items of
	// earlier segments are treated as under Supersede.
	Replay
	// Supersede gives the item a new ID once it has text again. Rewind must say that the item with the old ID does not
	// count.
	Supersede
	// Mark is for readers that can only append. Nothing is written while the new text repeats what the reader has.
	// Where it differs, Rewind writes a mark such as Rule, and the new text follows from its beginning.
	Mark
)

// Rule is a mark in Markdown before a text that begins again.
const Rule = "\n\n---\n\n"

// Player writes a run to one reader. It is not safe for concurrent use.
type Player[W any] struct {
	Transcript
	// Pass reports whether an operation is written; nil means all.
	Pass    func(op *Op) bool
	dialect *Dialect[W]
	w       W
	shown   map[key]*shown // what the reader has of items that were taken back, by kind and ID
	op      Op             // reused for operations that no event caused
}

// shown is what the reader has of an item that was taken back.
type shown struct {
	versions int    // how many IDs the reader has seen before this one
	hidden   bool   // the reader has not seen the newest ID yet
	held     bool   // nothing is written until the text differs from had
	had      string // the text that the reader has
}

// Player returns a player that writes to w.
func (d *Dialect[W]) Player(w W) *Player[W] {
	return &Player[W]{dialect: d, w: w, shown: map[key]*shown{}}
}

// Play writes an event.
func (p *Player[W]) Play(e messages.Event) { p.Apply(e, p.play) }

// play sends an operation to the handler of its kind. Texts may retract what they showed, so they go a way of their
// own.
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

// write calls the dialect's function for the operation, if there is one.
func (p *Player[W]) write(op *Op) {
	if f := p.dialect.Table[op.Item.Kind][op.Do]; (p.Pass == nil || p.Pass(op)) && f != nil {
		f(p.w, op)
	}
}

// rewind calls the hook Rewind, if there is one.
func (p *Player[W]) rewind(op *Op) {
	if p.dialect.Rewind != nil && (p.Pass == nil || p.Pass(op)) {
		p.dialect.Rewind(p.w, op)
	}
}

// shownOf returns what the reader has of the operation's item, and creates it if necessary.
func (p *Player[W]) shownOf(op *Op) *shown {
	k := key{op.Item.Kind, op.Item.ID}
	if p.shown[k] == nil {
		p.shown[k] = &shown{}
	}
	return p.shown[k]
}

// retract writes that an item was taken back, as the policy says.
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

// id returns the item's ID for the reader.
func (s *shown) id(item *Item) string {
	if s == nil || s.versions == 0 {
		return item.ID
	}
	return item.ID + "#" + strconv.Itoa(s.versions+1)
}

// text writes an operation on a text or a thought.
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

// held handles an operation on a text while the reader's copy is ahead: it writes nothing until the text differs from
// that.
func (p *Player[W]) held(op *Op, s *shown) {
	if op.Do == Open || op.Do == Append && strings.HasPrefix(s.had[min(op.Offset, len(s.had)):], op.Text) {
		return
	}
	had, text := s.had, op.Item.Text()
	*s = shown{}
	if rest, same := strings.CutPrefix(text, had); !same {
		p.rewind(op)
		p.part(op, Append, op.Item.dropped, text)
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
		p.part(op, Append, op.Item.dropped, text)
	}
	if op.Do == Done {
		p.write(op)
	}
}

// part writes an operation that stands for several earlier ones.
func (p *Player[W]) part(op *Op, do Do, offset int, text string) {
	p.op = *op
	p.op.Do, p.op.Offset, p.op.Text, p.op.Cut = do, offset, text, false
	p.write(&p.op)
}

// replay writes the items of the segment again, after back has taken one of them back.
func (p *Player[W]) replay(back *Op) {
	for _, item := range p.Items() {
		if item.Segment != p.Segment || item.Kind == Run {
			continue
		}
		op := Op{Item: item, ID: p.shown[key{item.Kind, item.ID}].id(item), Event: back.Event, Run: back.Run}
		op.Event.Body = item.Opened
		p.part(&op, Open, 0, "")
		if item.Len() > 0 {
			p.part(&op, Append, item.dropped, item.Text())
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
