package decode

import (
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
)

// Dialect says how a model marks its thoughts in the text of its answer.
type Dialect string

const (
	// Auto recognizes every form except Implicit: the tags <think>, <thinking>, <thought>, <reasoning>,
	// <REASONING_SCRATCHPAD> and <mm:think>; [THINK] … [/THINK] of Mistral; <|channel>thought … <channel|> and <|think|>
	// … <|/think|> of Gemma; and <|channel|>analysis<|message|> … <|end|> of Harmony, with <|channel|>final<|message|> …
	// <|return|> as the text.
	Auto Dialect = ""
	// None leaves the text as it is.
	None Dialect = "none"
	// Implicit answers begin inside a thought that the chat template opened. Only </think> ends it. All other forms
	// are recognized as well.
	Implicit Dialect = "implicit"
)

// Thoughts splits an answer into text and thoughts, and emits both as they arrive.
//
// Tags may have attributes. thought, content or text is a whole thought (<thinking thought="…"/>); thought_type or
// type is its type; confidence is a number from 0 to 1. Case does not matter.
//
// No mark opens a thought inside a code fence or inline code. <think>, <mm:think>, [THINK] and <|think|> open one
// only at the beginning of the answer or of a line, and after a thought. A thought ends with the first closing mark
// of its own kind that is not in quotes. Other marks inside a thought are part of it. A closing mark that closes
// nothing is dropped before the first text, and is text after that.
//
// Thoughts drops blanks around a thought's text, line breaks after its end, blanks before its beginning if no text
// precedes them, and thoughts without text.
type Thoughts struct {
	off     bool // everything is text
	harmony bool // a message of harmony has come
	stray   bool

	code  Code
	blank bool // no text but blanks since the beginning or the last thought
	told  bool // text was emitted
	trim  bool // drop line breaks
	gap   []byte

	match matcher
	after bool   // a closing mark followed a quote: the next byte decides whether it counts
	held  []byte // the beginning of a possible mark, from earlier pieces

	in     bool // inside a thought
	now    thoughtState
	number int
	seen   map[string]struct{}
}

// thoughtState is the current thought.
type thoughtState struct {
	kind       kind
	typ        string
	confidence *float64
	whole      []byte
	implicit   bool    // the template opened it
	said       bool    // it has more than blanks
	last       [2]byte // the last two bytes
}

// NewThoughts returns a splitter for one answer. An unknown dialect stands for Auto.
func NewThoughts(d Dialect) *Thoughts {
	t := &Thoughts{off: d == None, blank: d != None, in: d == Implicit}
	t.now.implicit = t.in
	return t
}

// Push takes a piece of the answer's text (delta.content). It emits model.Text, model.Thought and model.ThoughtDone.
func (t *Thoughts) Push(text string, emit func(model.Part)) {
	switch {
	case text == "":
	case t.off:
		t.end(emit)
		emit(model.Text{Text: text})
	default:
		p := pass{Thoughts: t, emit: emit, text: text}
		p.run()
	}
}

// Field takes a piece of a thought from a field such as reasoning_content. The next text ends the thought. After the
// first such piece, tags in the text are ignored.
func (t *Thoughts) Field(text string, emit func(model.Part)) {
	if text == "" {
		return
	}
	if !t.in || t.now.kind != field {
		t.settle(emit)
		t.off = true
		t.in, t.now = true, thoughtState{kind: field}
	}
	t.muse(text, emit)
}

// Close emits what was held back, and ends the current thought. open: no mark had ended it.
func (t *Thoughts) Close(emit func(model.Part)) (open bool) { return t.settle(emit) }

// Stray reports whether a closing tag came without an opening one. Then the template opens thoughts, and the next
// answer needs the dialect [Implicit].
func (t *Thoughts) Stray() bool { return t.stray }

// settle emits everything that was held back.
func (t *Thoughts) settle(emit func(model.Part)) (open bool) {
	p := pass{Thoughts: t, emit: emit}
	switch {
	case t.after:
		p.closed()
	case t.match.n > 0:
		p.literal(0)
	}
	if t.in {
		open = t.now.kind != field
		t.end(emit)
		return open
	}
	if t.number == 0 {
		t.blank = false
	}
	t.say("", emit)
	t.gap = t.gap[:0]
	return false
}

// say emits text.
func (t *Thoughts) say(text string, emit func(model.Part)) {
	if t.blank || text == "" && len(t.gap) == 0 {
		return
	}
	if len(t.gap) > 0 {
		text = string(t.gap) + text
		t.gap = t.gap[:0]
	}
	t.told = true
	emit(model.Text{Text: text})
}

// muse emits a piece of a thought without leading blanks, and holds back trailing ones.
func (t *Thoughts) muse(text string, emit func(model.Part)) {
	if len(t.now.whole) == 0 {
		text = strings.TrimLeft(text, blanks)
	}
	n := len(text)
	for n > 0 && blank(text[n-1]) {
		n--
	}
	if n > 0 && len(t.gap) > 0 {
		t.think(string(t.gap)+text[:n], emit)
		t.gap = t.gap[:0]
	} else if n > 0 {
		t.think(text[:n], emit)
	}
	if n < len(text) {
		t.keep(text[n:], emit)
	}
}

// keep holds back blanks that may end a thought.
func (t *Thoughts) keep(text string, emit func(model.Part)) {
	t.gap = append(t.gap, text...)
	over := len(t.gap) / Held * Held
	for i := 0; i < over; i += Held {
		t.think(string(t.gap[i:i+Held]), emit)
	}
	t.gap = append(t.gap[:0], t.gap[over:]...)
}

func (t *Thoughts) think(piece string, emit func(model.Part)) {
	t.now.whole = append(t.now.whole, piece...)
	emit(model.Thought{Number: t.number, Text: piece})
}

// begin opens a thought.
func (t *Thoughts) begin(k kind, a attrs, emit func(model.Part)) {
	t.in, t.now = true, thoughtState{kind: k, typ: a.typ, confidence: a.confidence}
	t.gap = t.gap[:0]
	if t.muse(a.text, emit); len(t.now.whole) > 0 {
		t.gap = append(t.gap[:0], '\n')
	}
}

// end closes the thought that is open, if any.
func (t *Thoughts) end(emit func(model.Part)) {
	if !t.in {
		return
	}
	t.in, t.blank, t.trim = false, !t.off, !t.off
	t.gap = t.gap[:0]
	if len(t.now.whole) == 0 {
		return
	}
	done := model.ThoughtDone{
		Number: t.number, Text: string(t.now.whole), Type: t.now.typ, Confidence: t.now.confidence, Source: model.Tag,
	}
	t.number++
	if t.now.kind == field {
		done.Source = model.Field
	} else {
		_, done.Repeated = t.seen[done.Text]
	}
	if t.seen == nil {
		t.seen = make(map[string]struct{})
	}
	t.seen[done.Text] = struct{}{}
	emit(done)
}
