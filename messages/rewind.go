package messages

import (
	"maps"
	"reflect"
	"slices"
)

// Rewind takes back what readers may have seen live, but the journal does not hold. Open texts that it does not name
// vanish.
type Rewind struct {
	// Streams says where each open text continues.
	Streams []StreamMark `json:"streams,omitempty"`
	// Open replaces Streams where those would be too long. For each open text, in the order in which they began, it
	// holds the text's bytes and number of deltas.
	Open []int `json:"open,omitempty"`
	// Progress, Tools and Log replace what readers hold.
	Progress []Progress     `json:"progress,omitempty"`
	Tools    []ToolProgress `json:"tools,omitempty"`
	Log      []LogLine      `json:"log,omitempty"`
}

// StreamMark says how much of an open text or thought the journal holds.
type StreamMark struct {
	Stream string `json:"stream"`
	// Bytes is the length of the text.
	Bytes int `json:"bytes"`
	// Index is the number of deltas in the text.
	Index uint64 `json:"index"`
}

// Marks returns how much of each open text the journal holds. open lists the reader's open texts and thoughts in the
// order in which they began. Those without a mark vanish.
func (r *Rewind) Marks(open []string) map[string]StreamMark {
	marks := make(map[string]StreamMark, len(r.Streams)+len(r.Open)/2)
	for _, m := range r.Streams {
		marks[m.Stream] = m
	}
	for i := 0; i+1 < len(r.Open) && i/2 < len(open); i += 2 {
		marks[open[i/2]] = StreamMark{open[i/2], r.Open[i], uint64(max(r.Open[i+1], 0))}
	}
	return marks
}

// mostRepeated bounds the bytes of artifacts or of a rewind that an event repeats. Beyond it the event only refers to
// them.
const mostRepeated = 1 << 20

// Reserve is how many numbers past the last durable event a delta may be shown. Recovery skips that many, so that no
// number ever has two meanings. It is part of the journal's format.
const Reserve = 1_000_000

// Recovery returns the numbers and the rewind of the event that recovery writes. This must be the State at the last
// durable event.
func (s State) Recovery() (from, seq uint64, rewind *Rewind) {
	rewind = &Rewind{Progress: s.Progress, Log: s.Log.Lines}
	for _, t := range s.Streams {
		if !t.Closed {
			rewind.Streams = append(rewind.Streams, StreamMark{Stream: t.Name, Bytes: t.Len(), Index: t.Index})
		}
	}
	for _, c := range s.Calls {
		if c.live() {
			rewind.Tools = append(rewind.Tools, c.Progress)
		}
	}
	if sizeOf(reflect.ValueOf(rewind)) > mostRepeated { // progress of tools may be lost, but no text
		for _, m := range rewind.Streams {
			rewind.Open = append(rewind.Open, m.Bytes, int(m.Index))
		}
		rewind.Streams, rewind.Tools = nil, nil
	}
	return s.Seq + 1, s.Seq + 1 + Reserve, rewind
}

// openTexts returns the names of the open texts and thoughts, in the order in which they began.
func (f *Fold) openTexts() (names []string) {
	for _, i := range open(f.s.Streams) {
		names = append(names, f.s.Streams[i].Name)
	}
	return names
}

// legalRewind checks that a rewind only takes back: everybody who sees it holds at least what the journal holds.
func (f *Fold) legalRewind(r *Rewind) *Refusal {
	marks := r.Marks(f.openTexts())
	if len(marks) != len(r.Streams)+len(r.Open)/2 || len(r.Open)%2 != 0 || len(r.Streams) > 0 && len(r.Open) > 0 {
		return violates(ruleRewind, "the rewind names a text twice, or more texts than are open")
	}
	for _, name := range slices.Sorted(maps.Keys(marks)) {
		m := marks[name]
		t, known := f.Stream(name)
		if !known || t.Closed || m.Bytes < 0 || m.Bytes > t.Len() || m.Index > t.Index {
			return violates(ruleRewind, "the rewind names text %q, which is not open, or shorter than it says", name)
		}
	}
	named := map[string]bool{}
	for _, p := range r.Progress {
		if f.progressOf(p.Task) < 0 || named[p.Task] {
			return violates(ruleRewind, "the rewind names progress of %q, which has none", p.Task)
		}
		named[p.Task] = true
	}
	for _, p := range r.Tools {
		if f.openCall(p.Call, false) < 0 {
			return violates(ruleRewind, "the rewind names tool call %q, which is not open", p.Call)
		}
	}
	if n := len(r.Log); legalLines(r.Log) != nil || n > 0 && r.Log[n-1].Number >= f.s.Log.Next {
		return violates(ruleRewind, "the rewind's log is not what was said")
	}
	return nil
}

// rewind returns to what the journal holds. It drops streams from the end, so that all readers have the same order,
// whatever they saw.
func (f *Fold) rewind(r *Rewind) {
	marks := r.Marks(f.openTexts())
	for _, i := range slices.Backward(open(f.s.Streams)) {
		t := f.s.Streams[i]
		m, kept := marks[t.Name]
		if !kept {
			f.streams.drop(&f.s.Streams, i)
			continue
		}
		t.text, t.Index = t.text.cut(max(m.Bytes-t.Dropped, 0)), m.Index
		f.streams.put(&f.s.Streams, i, t)
	}
	f.s.Progress, f.progress = slices.Clip(r.Progress), indexed[Progress]{}
	f.s.Log = LogState{Next: 1, Lines: slices.Clip(r.Log)}
	if n := len(r.Log); n > 0 {
		f.s.Log.Next = r.Log[n-1].Number + 1
	}
	for _, i := range open(f.s.Calls) {
		f.setToolProgress(i, ToolProgress{})
	}
	for _, p := range r.Tools {
		f.setToolProgress(f.call(p.Call), p)
	}
}
