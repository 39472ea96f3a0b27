package messages

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// TextDelta is a piece of a text: text = text[:Offset] + Text.
type TextDelta struct {
	// Stream names the text; the name is unique in its run.
	Stream string `json:"stream"`
	// Task owns the stream; "" is the run itself.
	Task string `json:"task,omitempty"`
	// Index is the ordinal, in the stream, of the first delta that this event stands for.
	Index uint64 `json:"index"`
	// Count is how many deltas this event stands for; 0 means 1.
	Count uint64 `json:"count,omitempty"`
	// Offset is the length of the text before this piece, in bytes of UTF-8.
	Offset int    `json:"offset"`
	Text   string `json:"text"`
}

func (TextDelta) Kind() Kind      { return KindTextDelta }
func (TextDelta) info() *KindInfo { return textDelta }

var textDelta = deltaRow[TextDelta](false, "A piece of a text.")

// ThoughtDelta is a piece of a thought; its fields are those of a TextDelta.
type ThoughtDelta TextDelta

func (ThoughtDelta) Kind() Kind      { return KindThoughtDelta }
func (ThoughtDelta) info() *KindInfo { return thoughtDelta }

var thoughtDelta = deltaRow[ThoughtDelta](true, "A piece of a thought.")

func deltaRow[B interface {
	TextDelta | ThoughtDelta
	Body
}](thought bool, says string) *KindInfo {
	return row[B]("content", says, traits{
		level: Delta, taskSays: true,
		key:    of(func(b B) partKey { return partKey{'s', TextDelta(b).Stream} }),
		stream: of(func(b B) string { return TextDelta(b).Stream }),
		legal:  with(func(b B, f *Fold) *Refusal { return f.legalDelta(TextDelta(b), thought) }),
		apply:  to(func(b B, f *Fold) { f.appendText(TextDelta(b), thought) }),
	})
}

// TextDone closes a text and is authoritative for it.
type TextDone struct {
	Stream string `json:"stream"`
	Task   string `json:"task,omitempty"`
	Text   string `json:"text"`
	// SHA256 is the lower-case hexadecimal digest of Text.
	SHA256 string `json:"sha256"`
}

func (TextDone) Kind() Kind      { return KindTextDone }
func (TextDone) info() *KindInfo { return textDone }

var textDone = row[TextDone]("content", "The whole text, authoritative; closes its stream.", traits{
	taskSays: true,
	stream:   of(func(b TextDone) string { return b.Stream }), closes: KindTextDelta,
	legal: with(func(b TextDone, f *Fold) *Refusal { return f.legalDone(b, false) }),
	apply: to(func(b TextDone, f *Fold) { f.done(b, false) }),
})

// ThoughtDone closes a thought and is authoritative for it.
type ThoughtDone struct {
	Stream string `json:"stream"`
	Task   string `json:"task,omitempty"`
	Text   string `json:"text"`
	SHA256 string `json:"sha256"`
	// ThoughtType says what kind of thought it is, for example planning or reflection.
	ThoughtType string `json:"thought_type,omitempty"`
	// Confidence is between 0 and 1, if the source gave one.
	Confidence *float64 `json:"confidence,omitempty"`
	// Source says where the thought was seen, for example think-tag or reasoning-field.
	Source string `json:"source,omitempty"`
}

func (ThoughtDone) Kind() Kind      { return KindThoughtDone }
func (ThoughtDone) info() *KindInfo { return thoughtDone }

var thoughtDone = row[ThoughtDone]("content", "The whole thought, authoritative; closes its stream.", traits{
	taskSays: true,
	clone:    of(func(b ThoughtDone) Body { b.Confidence = cloned(b.Confidence); return b }),
	stream:   of(func(b ThoughtDone) string { return b.Stream }), closes: KindThoughtDelta,
	legal: with(func(b ThoughtDone, f *Fold) *Refusal { return f.legalDone(b.text(), true) }),
	apply: to(func(b ThoughtDone, f *Fold) { f.done(b.text(), true) }),
})

func (b ThoughtDone) text() TextDone { return TextDone{b.Stream, b.Task, b.Text, b.SHA256} }

// Digest returns the lower-case hexadecimal SHA-256 of a text.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// open returns the stream and its index; a new stream's index is -1.
func (f *Fold) open(name, task string, thought bool) (int, Stream) {
	if i := f.stream(name); i >= 0 {
		return i, f.s.Streams[i]
	}
	return -1, Stream{Name: name, Task: task, Thought: thought}
}

// legalStream checks what all events of a stream have in common.
func (f *Fold) legalStream(d *TextDelta, t *Stream, thought bool) *Refusal {
	silent := f.legalSpeaker(d.Task)
	switch {
	case d.Stream == "":
		return violates(RuleStream, "the stream has no name")
	case t.Thought != thought || t.Task != d.Task:
		return violates(RuleStream, "stream %q is of another kind or task", d.Stream)
	case silent != nil:
		return silent
	case !utf8.ValidString(d.Text):
		return violates(RuleBody, "stream %q: the text is not UTF-8", d.Stream)
	case t.Closed:
		return violates(RuleStream, "stream %q is closed", d.Stream)
	}
	return nil
}

func (f *Fold) legalDelta(d TextDelta, thought bool) *Refusal {
	_, t := f.open(d.Stream, d.Task, thought)
	if bad := f.legalStream(&d, &t, thought); bad != nil {
		return bad
	}
	count, length := max(d.Count, 1), t.Len()
	overlap := length - d.Offset
	switch {
	case d.Offset < 0 || overlap < 0 || d.Index > t.Index:
		return violates(RuleStream, "stream %q holds %d bytes of %d deltas, not %d of %d", d.Stream, length, t.Index, d.Offset, d.Index)
	case count > f.numbers:
		return violates(RuleStream, "stream %q: %d deltas in %d numbers", d.Stream, count, f.numbers)
	case f.fresh && (overlap > 0 || d.Index != t.Index):
		return violates(RuleStream, "stream %q: a new delta repeats what was said", d.Stream)
	case len(d.Text) < overlap || d.Index+count < t.Index:
		return violates(RuleStream, "stream %q: the delta ends before what was said", d.Stream)
	case overlap > 0 && string(t.text.bytes()[d.Offset:]) != d.Text[:overlap]:
		return violates(RuleStream, "stream %q: the delta contradicts what was said", d.Stream)
	}
	return nil
}

func (f *Fold) appendText(d TextDelta, thought bool) {
	i, t := f.open(d.Stream, d.Task, thought)
	first := t.empty()
	t.text, t.Index = t.text.append(d.Text[t.Len()-d.Offset:]), d.Index+max(d.Count, 1)
	f.setStream(i, t, first)
}

func (f *Fold) legalDone(b TextDone, thought bool) *Refusal {
	_, t := f.open(b.Stream, b.Task, thought)
	if bad := f.legalStream(&TextDelta{Stream: b.Stream, Task: b.Task, Text: b.Text}, &t, thought); bad != nil {
		return bad
	}
	return when(Digest(b.Text) != b.SHA256, RuleDigest, "stream %q: the text's sha256 is not %q", b.Stream, b.SHA256)
}

func (f *Fold) done(b TextDone, thought bool) {
	i, t := f.open(b.Stream, b.Task, thought)
	first := t.empty()
	if string(t.text.bytes()) != b.Text {
		t.text = newText(b.Text)
	}
	t.Closed = true
	f.setStream(i, t, first)
}

func (f *Fold) setStream(i int, t Stream, first bool) {
	f.streams.put(&f.s.Streams, i, t)
	if first {
		f.noteText(t)
	}
}
