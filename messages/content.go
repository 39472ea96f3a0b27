package messages

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// TextDelta is a piece of a text: it makes the text text[:Offset] + Text.
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
	Offset int `json:"offset"`
	// Dropped is the number of bytes that are missing between Offset and Text, because a later text.closed dropped
	// them.
	Dropped int `json:"dropped,omitempty"`
	// Text is the piece: valid UTF-8.
	Text string `json:"text" text:"any"`
	// MediaType is in the first delta of a text: [TextPlain], [TextMarkdown], [TextJSON] or [TextANSI]. Without one, an
	// answer is Markdown, and another text is plain.
	MediaType string `json:"media_type,omitempty"`
	// Part says that an event of the same number follows, which takes back what the reader has after this piece. Only
	// the wire has it, for readers that ask for digests.
	Part bool `json:"part,omitempty"`
}

// Begin returns the offset of what is left of the piece. End returns the length of the text after it.
func (b TextDelta) Begin() int { return b.Offset + b.Dropped }
func (b TextDelta) End() int   { return b.Begin() + len(b.Text) }

func (TextDelta) info() *KindInfo { return textDelta }

var textDelta = deltaRow[TextDelta](KindTextDelta, false, "A piece of a text.")

// ThoughtDelta is a piece of a thought; it has the fields of a TextDelta.
type ThoughtDelta TextDelta

func (ThoughtDelta) info() *KindInfo { return thoughtDelta }

var thoughtDelta = deltaRow[ThoughtDelta](KindThoughtDelta, true, "A piece of a thought.")

// deltaRow makes the row of a kind of deltas.
func deltaRow[B interface {
	TextDelta | ThoughtDelta
	Body
}](kind Kind, thought bool, says string) *KindInfo {
	return row(*new(B), kind, "content", says, traits{
		level: Delta, taskSays: true,
		key:    of(func(b B) partKey { return partKey{'s', TextDelta(b).Stream} }),
		stream: of(func(b B) string { return TextDelta(b).Stream }),
		legal:  with(func(b B, f *Fold) *Refusal { return f.legalDelta(TextDelta(b), thought) }),
		apply:  to(func(b B, f *Fold) { f.appendText(TextDelta(b), thought) }),
	})
}

// TextDone closes a text, and holds the whole text: it overrides the deltas.
type TextDone struct {
	// Stream is the Stream of the deltas.
	Stream string `json:"stream"`
	Task   string `json:"task,omitempty"`
	// Text is the whole text. Where it differs from the deltas, it counts.
	Text string `json:"text" text:"any"`
	// SHA256 is the lower-case hexadecimal digest of Text.
	SHA256 string `json:"sha256"`
	// MediaType is the media type of the first delta.
	MediaType string `json:"media_type,omitempty"`
	// Omitted says that the wire leaves Text out, because the reader has it and asks for digests. Bytes is its length.
	Bytes   int  `json:"bytes,omitempty"`
	Omitted bool `json:"omitted,omitempty"`
}

// Media types of texts. A text with ANSI has escape sequences for colours, as a program writes them to a terminal.
const (
	TextPlain    = "text/plain"
	TextMarkdown = "text/markdown"
	TextJSON     = "application/json"
	TextANSI     = "text/x-ansi"
)

func (TextDone) info() *KindInfo { return textDone }

var textDone = row(TextDone{}, KindTextDone, "content", "The whole text, authoritative; closes its stream.", traits{
	taskSays: true,
	stream:   of(func(b TextDone) string { return b.Stream }), closes: KindTextDelta,
	wire:  of(TextDone.written),
	legal: with(func(b TextDone, f *Fold) *Refusal { return f.legalDone(b, false) }),
	apply: to(func(b TextDone, f *Fold) { f.done(b, false) }),
})

// TextClosed closes a text without repeating it. With Dropped, the text is no longer kept: logs may hold its deltas
// without their text, see [DropTexts]. A text that was closed may be dropped later.
type TextClosed struct {
	// Stream is the Stream of the deltas.
	Stream string `json:"stream"`
	Task   string `json:"task,omitempty"`
	// Bytes is the length of the text, and SHA256 its lower-case hexadecimal digest.
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Dropped says that the text is no longer kept, and cannot be read again.
	Dropped bool `json:"dropped,omitempty"`
}

func (TextClosed) info() *KindInfo { return textClosed }

var textClosed = row(TextClosed{}, KindTextClosed, "content", "A text is complete, or is dropped; its length and digest, and not the text.", traits{
	taskSays: true,
	stream:   of(func(b TextClosed) string { return b.Stream }), closes: KindTextDelta,
	legal: with(TextClosed.legal),
	apply: to(func(b TextClosed, f *Fold) {
		i := f.stream(b.Stream)
		t := f.s.Streams[i]
		first := t.empty()
		if t.Closed = true; b.Dropped {
			t.text, t.Dropped = text{}, b.Bytes
		}
		f.setStream(i, t, first)
	}),
})

// legal checks that the text is open, or closed and now dropped, and that length and digest are right.
func (b TextClosed) legal(f *Fold) *Refusal {
	t, known := f.Stream(b.Stream)
	switch {
	case !known || t.Thought || t.Task != b.Task:
		return violates(ruleStream, "there is no text %q of task %q", b.Stream, b.Task)
	case t.Closed && !b.Dropped:
		return violates(ruleStream, "stream %q is closed", b.Stream)
	case b.Bytes != t.Len():
		return violates(ruleStream, "stream %q holds %d bytes, not %d", b.Stream, t.Len(), b.Bytes)
	case t.Dropped == 0 && digest(t.text.bytes()) != b.SHA256, !isDigest(b.SHA256):
		return violates(RuleDigest, "stream %q: the text's sha256 is not %q", b.Stream, b.SHA256)
	}
	return f.legalSpeaker(b.Task)
}

// DropTexts removes the texts of deltas whose stream a later event of the log drops: each delta then says how many
// bytes are missing. It returns the same events if there is nothing to remove. The State changes only before the event
// that drops.
func DropTexts(log []Event) []Event {
	dropped, own := map[string]bool{}, false
	for i, e := range slices.Backward(log) {
		if b, ok := e.Body.(TextClosed); ok && b.Dropped {
			dropped[b.Stream] = true
		}
		shorter, less := dropText(e.Body, dropped)
		if !less {
			continue
		}
		if !own {
			log, own = slices.Clone(log), true
		}
		e.Body = shorter
		log[i] = e.Unshared()
	}
	return log
}

// Forget is DropTexts.
//
// Deprecated: Use [DropTexts].
func Forget(log []Event) []Event { return DropTexts(log) }

// dropText removes the text of a delta of a dropped stream. less reports whether it did.
func dropText(b Body, dropped map[string]bool) (left Body, less bool) {
	switch b := b.(type) {
	case TextDelta:
		if b.Text != "" && dropped[b.Stream] {
			b.Dropped, b.Text = b.Dropped+len(b.Text), ""
			return b, true
		}
	case Merged:
		parts := slices.Clone(b.Parts)
		for i, part := range parts {
			if one, did := dropText(part, dropped); did {
				parts[i], less = one, true
			}
		}
		if less {
			return Merged{parts}, true
		}
	}
	return b, false
}

// ThoughtDone closes a thought, and holds the whole thought: it overrides the deltas.
type ThoughtDone struct {
	Stream string `json:"stream"`
	Task   string `json:"task,omitempty"`
	Text   string `json:"text" text:"any"`
	SHA256 string `json:"sha256"`
	// Bytes and Omitted are as in TextDone.
	Bytes   int  `json:"bytes,omitempty"`
	Omitted bool `json:"omitted,omitempty"`
	// ThoughtType says what kind of thought it is, for example planning or reflection.
	ThoughtType string `json:"thought_type,omitempty"`
	// Confidence is between 0 and 1, if the source gave one.
	Confidence *float64 `json:"confidence,omitempty"`
	// Source is where the thought was seen, for example think-tag or reasoning-field.
	Source string `json:"source,omitempty"`
}

func (ThoughtDone) info() *KindInfo { return thoughtDone }

var thoughtDone = row(ThoughtDone{}, KindThoughtDone, "content", "The whole thought, authoritative; closes its stream.", traits{
	taskSays: true,
	stream:   of(func(b ThoughtDone) string { return b.Stream }), closes: KindThoughtDelta,
	wire:  of(ThoughtDone.written),
	legal: with(func(b ThoughtDone, f *Fold) *Refusal { return f.legalDone(b.text(), true) }),
	apply: to(func(b ThoughtDone, f *Fold) { f.done(b.text(), true) }),
})

func (b ThoughtDone) text() TextDone {
	return TextDone{Stream: b.Stream, Task: b.Task, Text: b.Text, SHA256: b.SHA256, Bytes: b.Bytes, Omitted: b.Omitted}
}

// IsAnswer reports whether a text with that name is an answer to people: "answer" or, if a run has several, answer.1
// and so on. The last one is the run's answer.
func IsAnswer(stream string) bool { return isNumbered(stream, "answer") }

// StdoutText is the name of a text of what a program wrote to stdout. Further ones are stdout.2 and so on.
const StdoutText = "stdout"

// IsStdout reports whether a text with that name is of stdout.
func IsStdout(stream string) bool { return isNumbered(stream, StdoutText) }

// StderrText is the name of a text of what a program wrote to stderr. Further ones are stderr.2 and so on.
const StderrText = "stderr"

// IsStderr reports whether a text with that name is of stderr, which is no part of the answer.
func IsStderr(stream string) bool { return isNumbered(stream, StderrText) }

// isNumbered reports whether the stream has the name, or the name with a number.
func isNumbered(stream, name string) bool {
	number, numbered := strings.CutPrefix(stream, name+".")
	return stream == name || numbered && number != "" && strings.Trim(number, "0123456789") == ""
}

// LabelOf returns the name of a model call's text, from the id of the call: NAME.ATTEMPT.NUMBER.
func LabelOf(call string) string {
	for range 2 {
		call = call[:max(strings.LastIndexByte(call, '.'), 0)]
	}
	return call
}

// IsAnswerCall reports whether a model call writes an answer to people. An id without a name may be of any call.
func IsAnswerCall(id string) bool {
	name := LabelOf(id)
	return name == "" || IsAnswer(name)
}

func isDigest(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == sha256.Size && strings.ToLower(text) == text
}

// Digest returns the lower-case hexadecimal SHA-256 of a text.
func Digest(text string) string { return digest([]byte(text)) }

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// open returns the stream and its index. The index of a new stream is -1.
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
		return violates(ruleStream, "the stream has no name")
	case t.Thought != thought || t.Task != d.Task:
		return violates(ruleStream, "stream %q is of another kind or task", d.Stream)
	case silent != nil:
		return silent
	case !utf8.ValidString(d.Text):
		return violates(RuleBody, "stream %q: the text is not UTF-8", d.Stream)
	case t.Closed:
		return violates(ruleStream, "stream %q is closed", d.Stream)
	case d.MediaType != "" && t.Index > 0 && d.MediaType != t.MediaType:
		return violates(ruleStream, "stream %q is %q, and not %q", d.Stream, t.MediaType, d.MediaType)
	}
	return nil
}

// legalDelta checks that the piece continues its stream, or repeats what the stream holds.
func (f *Fold) legalDelta(d TextDelta, thought bool) *Refusal {
	_, t := f.open(d.Stream, d.Task, thought)
	if bad := f.legalStream(&d, &t, thought); bad != nil {
		return bad
	}
	count, length := max(d.Count, 1), t.Len()
	overlap := length - d.Offset
	switch {
	case d.Offset < 0 || overlap < 0 || d.Index > t.Index:
		return violates(ruleStream, "stream %q holds %d bytes of %d deltas, not %d of %d", d.Stream, length, t.Index, d.Offset, d.Index)
	case count > f.numbers:
		return violates(ruleStream, "stream %q: %d deltas in %d numbers", d.Stream, count, f.numbers)
	case f.fresh && (overlap > 0 || d.Index != t.Index):
		return violates(ruleStream, "stream %q: a new delta repeats what was said", d.Stream)
	case d.Dropped < 0 || thought && d.Dropped > 0:
		return violates(ruleStream, "stream %q: only a text has dropped bytes, and not %d", d.Stream, d.Dropped)
	case d.End() < length || d.Index+count < t.Index:
		return violates(ruleStream, "stream %q: the delta ends before what was said", d.Stream)
	}
	// where the piece overlaps what the stream keeps, the two must be equal
	if first := max(d.Begin(), t.Dropped); first < length && string(t.text.bytes()[first-t.Dropped:]) != d.Text[first-d.Begin():length-d.Begin()] {
		return violates(ruleStream, "stream %q: the delta contradicts what was said", d.Stream)
	}
	return nil
}

// appendText adds what is new of a legal delta. If a delta begins beyond the text, all before it was dropped.
func (f *Fold) appendText(d TextDelta, thought bool) {
	i, t := f.open(d.Stream, d.Task, thought)
	first := t.empty()
	t.MediaType = cmp.Or(d.MediaType, t.MediaType)
	if t.Index = d.Index + max(d.Count, 1); d.Begin() > t.Len() {
		t.text, t.Dropped = newText(d.Text), d.Begin()
	} else {
		t.text = t.text.append(d.Text[t.Len()-d.Begin():])
	}
	f.setStream(i, t, first)
}

func (f *Fold) legalDone(b TextDone, thought bool) *Refusal {
	_, t := f.open(b.Stream, b.Task, thought)
	if bad := f.legalStream(&TextDelta{Stream: b.Stream, Task: b.Task, Text: b.Text, MediaType: b.MediaType}, &t, thought); bad != nil {
		return bad
	}
	return when(Digest(b.Text) != b.SHA256, RuleDigest, "stream %q: the text's sha256 is not %q", b.Stream, b.SHA256)
}

// done closes a stream with its whole text, even if earlier bytes were dropped.
func (f *Fold) done(b TextDone, thought bool) {
	i, t := f.open(b.Stream, b.Task, thought)
	first := t.empty()
	if string(t.text.bytes()) != b.Text {
		t.text = newText(b.Text)
	}
	t.Dropped, t.MediaType = 0, cmp.Or(b.MediaType, t.MediaType)
	t.Closed = true
	f.setStream(i, t, first)
}

func (f *Fold) setStream(i int, t Stream, first bool) {
	f.streams.put(&f.s.Streams, i, t)
	if first {
		f.noteText(t)
	}
}

// Plain returns the JSON string's value. Other JSON is returned as it is, without surrounding white space.
func Plain(value json.RawMessage) string {
	var text string // stays empty for null
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return strings.TrimSpace(string(value))
}

// text is an append-only string that successive States share. Appending to the newest one works in place, so n deltas
// cost O(n); appending to an older one copies. The bytes of a text never change. It is safe for concurrent use.
type text struct {
	buf *textBuffer
	n   int
}

// textBuffer is the shared memory. bytes[:n] of every text stay as they are; mu guards the slice header.
type textBuffer struct {
	mu    sync.Mutex
	bytes []byte
}

func newText(s string) text { return text{}.append(s) }

// append returns the text followed by s. It works in place if this is the newest text of the buffer.
func (t text) append(s string) text {
	if s == "" {
		return t
	}
	if t.buf == nil {
		t.buf = &textBuffer{}
	}
	t.buf.mu.Lock()
	defer t.buf.mu.Unlock()
	n := t.n + len(s)
	if len(t.buf.bytes) == t.n {
		t.buf.bytes = append(t.buf.bytes, s...)
		return text{t.buf, n}
	}
	return text{&textBuffer{bytes: append(append(make([]byte, 0, n), t.buf.bytes[:t.n]...), s...)}, n}
}

// cut returns the first n bytes.
func (t text) cut(n int) text {
	if n == 0 {
		return text{}
	}
	return text{t.buf, n}
}

// bytes returns the text's own memory, which never changes.
func (t text) bytes() []byte {
	if t.buf == nil {
		return nil
	}
	t.buf.mu.Lock()
	defer t.buf.mu.Unlock()
	return t.buf.bytes[:t.n]
}
