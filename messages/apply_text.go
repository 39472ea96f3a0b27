package messages

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// reach is what an event's numbers say about its deltas.
type reach struct {
	fresh   bool   // the event overlaps nothing already applied
	numbers uint64 // how many numbers it stands for
}

// delta applies a delta, or each part of a merged one.
func (s State) delta(body Body, r reach) (State, *broken) {
	switch b := body.(type) {
	case TextDelta:
		return s.said(b, false, r)
	case ThoughtDelta:
		return s.said(TextDelta(b), true, r)
	case Progress:
		if !s.running(b.Task) {
			return s, breaks(RuleTask, "task %q is not running", b.Task)
		}
		s.Progress = put(s.Progress, b, func(p Progress) bool { return p.Task == b.Task })
		return s, nil
	case ToolProgress:
		return s.toolProgress(b)
	case Log:
		return s.logged(b, r.fresh)
	case Merged:
		return s.merged(b, r)
	}
	return s, breaks(RuleBody, "%T is not a delta", body)
}

func (s State) merged(m Merged, r reach) (State, *broken) {
	if len(m.Parts) < 2 {
		return s, breaks(RuleMerged, "a merged event has at least two parts, not %d", len(m.Parts))
	}
	for i, part := range m.Parts {
		key, ok := streamKey(part)
		if !ok || slices.ContainsFunc(m.Parts[:i], func(b Body) bool { k, _ := streamKey(b); return k == key }) {
			return s, breaks(RuleMerged, "part %d (%T) is of no stream, or of one named before", i, part)
		}
		var bad *broken
		if s, bad = s.delta(part, r); bad != nil {
			return s, bad
		}
	}
	return s, nil
}

func (s State) said(d TextDelta, thought bool, r reach) (State, *broken) {
	i, t, bad := s.speaker(d, thought)
	if bad != nil {
		return s, bad
	}
	count, length := max(d.Count, 1), t.Len()
	overlap := length - d.Offset
	switch {
	case t.Closed:
		return s, breaks(RuleStream, "stream %q is closed", d.Stream)
	case d.Offset < 0 || overlap < 0 || d.Index > t.Index:
		return s, breaks(RuleStream, "stream %q holds %d bytes of %d deltas, not %d of %d", d.Stream, length, t.Index, d.Offset, d.Index)
	case count > r.numbers:
		return s, breaks(RuleStream, "stream %q: %d deltas in %d numbers", d.Stream, count, r.numbers)
	case r.fresh && (overlap > 0 || d.Index != t.Index):
		return s, breaks(RuleStream, "stream %q: a new delta repeats what was said", d.Stream)
	case len(d.Text) < overlap || d.Index+count < t.Index:
		return s, breaks(RuleStream, "stream %q: the delta ends before what was said", d.Stream)
	case overlap > 0 && t.text.slice(d.Offset) != d.Text[:overlap]:
		return s, breaks(RuleStream, "stream %q: the delta contradicts what was said", d.Stream)
	}
	t.text, t.Index = t.text.append(d.Text[overlap:]), d.Index+count
	s.Streams = with(s.Streams, i, t)
	return s, nil
}

// speaker returns the stream that is spoken on, with its place, and why it may not be where that is so.
func (s State) speaker(d TextDelta, thought bool) (int, Stream, *broken) {
	i, t := s.stream(d.Stream), Stream{Name: d.Stream, Task: d.Task, Thought: thought}
	if i >= 0 {
		t = s.Streams[i]
	} else {
		i = len(s.Streams)
	}
	switch {
	case d.Stream == "":
		return i, t, breaks(RuleStream, "the stream has no name")
	case t.Thought != thought || t.Task != d.Task:
		return i, t, breaks(RuleStream, "stream %q is of another kind or task", d.Stream)
	case !s.running(d.Task):
		return i, t, breaks(RuleTask, "task %q is not running", d.Task)
	case strings.ToValidUTF8(d.Text, "") != d.Text:
		return i, t, breaks(RuleBody, "stream %q: the text is not UTF-8", d.Stream)
	}
	return i, t, nil
}

func (s State) done(d TextDelta, thought bool, digest string) (State, *broken) {
	i, t, bad := s.speaker(d, thought)
	if bad != nil {
		return s, bad
	}
	if t.Closed {
		return s, breaks(RuleStream, "stream %q is closed", d.Stream)
	}
	if Digest(d.Text) != digest {
		return s, breaks(RuleDigest, "stream %q: the text's sha256 is not %q", d.Stream, digest)
	}
	if t.Len() != len(d.Text) || t.Text() != d.Text {
		t.text = newText(d.Text)
	}
	t.Closed = true
	s.Streams = with(s.Streams, i, t)
	return s, nil
}

// Digest returns the lower-case hexadecimal SHA-256 of a text.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (s State) logged(b Log, fresh bool) (State, *broken) {
	n := len(b.Lines)
	if bad := checkLines(b.Lines); bad != nil || n == 0 {
		return s, cmp.Or(bad, breaks(RuleLog, "the log event has no lines"))
	}
	first, last := b.Lines[0].Number, b.Lines[n-1].Number
	switch {
	case first > s.Log.Next && n < LogTail:
		return s, breaks(RuleLog, "log line %d leaves a gap after %d", first, s.Log.Next-1)
	case fresh && first < s.Log.Next, last+1 < s.Log.Next:
		return s, breaks(RuleLog, "log line %d was said before", first)
	case last+1 == s.Log.Next:
		return s, nil
	}
	fold := b.Lines
	if first < s.Log.Next {
		fold = b.Lines[s.Log.Next-first:]
	}
	s.Log = LogState{Next: last + 1, Lines: newest(s.Log.Lines, fold)}
	return s, nil
}

func checkLines(lines []LogLine) *broken {
	if len(lines) > LogTail {
		return breaks(RuleLog, "a log event has at most %d lines, not %d", LogTail, len(lines))
	}
	for i, line := range lines {
		if i > 0 && line.Number != lines[i-1].Number+1 || line.Number == 0 || len(line.Text) > LogLineBytes {
			return breaks(RuleLog, "log line %d is out of order or too long", line.Number)
		}
	}
	return nil
}

// newest returns the last LogTail of the lines of a and then b, in new memory.
func newest(a, b []LogLine) []LogLine {
	a = a[max(0, min(len(a), len(a)+len(b)-LogTail)):]
	return slices.Concat(a, b)
}
