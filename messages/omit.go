package messages

import (
	"bytes"
	"encoding/json"
	"iter"
)

// omission names the text that a result leaves out on the wire.
type omission struct {
	Stream  string `json:"stream"`
	Bytes   int    `json:"bytes"`
	SHA256  string `json:"sha256"`
	Omitted bool   `json:"omitted"`
}

// textlessDone and textlessThought are done events without their texts.
type (
	textlessDone struct {
		TextDone
		Text *string `json:"text,omitempty"`
	}
	textlessThought struct {
		ThoughtDone
		Text *string `json:"text,omitempty"`
	}
)

// written returns the body as it is written.
func (b TextDone) written() Body {
	if b.Omitted {
		return textlessDone{TextDone: b}
	}
	return b
}

func (b ThoughtDone) written() Body {
	if b.Omitted {
		return textlessThought{ThoughtDone: b}
	}
	return b
}

// DoneOf returns the done event of a text or thought, as a text's event.
func DoneOf(b Body) (d TextDone, ok bool) {
	switch b := b.(type) {
	case TextDone:
		return b, true
	case ThoughtDone:
		return b.text(), true
	}
	return d, false
}

// Texts yields the deltas of texts and thoughts in a body, as deltas of texts.
func Texts(b Body) iter.Seq[TextDelta] {
	return func(yield func(TextDelta) bool) {
		switch b := b.(type) {
		case TextDelta:
			yield(b)
		case ThoughtDelta:
			yield(TextDelta(b))
		case Merged:
			for _, part := range b.Parts {
				for d := range Texts(part) {
					if !yield(d) {
						return
					}
				}
			}
		}
	}
}

// Omit returns a done event without its text, for a reader of the wire who has it.
func Omit(b Body) Body {
	switch b := b.(type) {
	case TextDone:
		b.Bytes, b.Omitted, b.Text = len(b.Text), true, ""
		return b
	case ThoughtDone:
		b.Bytes, b.Omitted, b.Text = len(b.Text), true, ""
		return b
	}
	return b
}

// Text returns the member text of the result, or "".
func (b RunCompleted) Text() string {
	var r struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(b.Result, &r) // another result has no text
	return r.Text
}

// Omit returns the body without the member text of its result, for a reader of the wire who has it as a stream. In its
// place are the members stream, bytes, sha256 and omitted.
func (b RunCompleted) Omit(stream string) RunCompleted {
	var own struct{ Stream, Bytes, SHA256, Omitted json.RawMessage }
	if _ = json.Unmarshal(b.Result, &own); own.Stream != nil || own.Bytes != nil || own.SHA256 != nil || own.Omitted != nil {
		return b // the result has members of these names
	}
	text := b.Text()
	o := omission{stream, len(text), Digest(text), true}
	if less := bytes.Replace(b.Result, member(text), o.members(), 1); o == omissionOf(less) {
		b.Result = less
	}
	return b
}

// member returns the member text as the result has it.
func member(text string) []byte {
	value, _ := json.Marshal(text) // a string has a form
	return append([]byte(`"text":`), value...)
}

func (o omission) members() []byte {
	object, _ := json.Marshal(o) // strings and numbers have a form
	return object[1 : len(object)-1]
}

// omissionOf returns what the result leaves out.
func omissionOf(result json.RawMessage) (o omission) {
	if bytes.Contains(result, []byte(`"omitted":true`)) && json.Unmarshal(result, &o) != nil {
		return omission{}
	}
	return o
}

// Whole returns the event with the text that it leaves out on the wire. text returns what the reader has of a stream. A
// done event with another digest than that text's needs a reset: the reader drops the State and begins at 0.
func (e Event) Whole(text func(stream string) string) Event {
	if d, _ := DoneOf(e.Body); d.Omitted {
		d.Text, d.Bytes, d.Omitted = text(d.Stream), 0, false
		if t, thought := e.Body.(ThoughtDone); thought {
			t.Text, t.Bytes, t.Omitted = d.Text, 0, false
			e.Body = t
		} else {
			e.Body = d
		}
		return e.Unshared()
	}
	b, ends := e.Body.(RunCompleted)
	if o := omissionOf(b.Result); ends && o.Omitted && Digest(text(o.Stream)) == o.SHA256 {
		b.Result = bytes.Replace(b.Result, o.members(), member(text(o.Stream)), 1)
		e.Body = b
		return e.Unshared()
	}
	return e
}

// takePart applies a text.delta or thought.delta that is a part. It reports whether the event is one.
func (f *Fold) takePart(e Event) (is bool, bad *Refusal) {
	var d TextDelta
	switch b := e.Body.(type) {
	case TextDelta:
		d = b
	case ThoughtDelta:
		d = TextDelta(b)
	}
	if !d.Part {
		return false, nil
	}
	i, t := f.open(d.Stream, d.Task, e.Kind() == KindThoughtDelta)
	switch {
	case i < 0 || e.Seq != f.s.Seq+1:
		return true, violates(RuleOrder, "a part of %d does not continue %d", e.Seq, f.s.Seq)
	case t.Closed || d.Offset < t.Dropped || d.Offset > t.Len():
		return true, violates(ruleStream, "stream %q holds %d bytes, not %d", d.Stream, t.Len(), d.Offset)
	}
	t.text = t.text.cut(d.Offset - t.Dropped).append(d.Text)
	f.setStream(i, t, false)
	return true, nil
}
