package messages

import "slices"

// Rewind takes back what readers may have seen live but the journal does not hold. Open texts that it does not name
// vanish.
type Rewind struct {
	Streams  []StreamMark   `json:"streams,omitempty"`
	Progress []Progress     `json:"progress,omitempty"`
	Tools    []ToolProgress `json:"tools,omitempty"`
	Log      []LogLine      `json:"log,omitempty"`
}

// StreamMark is how much of an open text or thought the journal holds.
type StreamMark struct {
	Stream string `json:"stream"`
	// Bytes is the length of the text.
	Bytes int `json:"bytes"`
	// Index is how many deltas make it up.
	Index uint64 `json:"index"`
}

func (r *Rewind) size() int {
	if r == nil {
		return 0
	}
	n := itemOverhead*(len(r.Streams)+len(r.Progress)+len(r.Tools)) + Log{Lines: r.Log}.size()
	for _, m := range r.Streams {
		n += len(m.Stream)
	}
	for _, p := range r.Progress {
		n += p.size()
	}
	for _, p := range r.Tools {
		n += p.size()
	}
	return n
}

func (r *Rewind) clone() *Rewind {
	if r == nil {
		return nil
	}
	return &Rewind{slices.Clone(r.Streams), slices.Clone(r.Progress), slices.Clone(r.Tools), slices.Clone(r.Log)}
}

// Reserve is how far past the last durable event a delta may be shown. Recovery skips as many numbers, so that no
// number ever has two meanings. It is part of the journal's format.
const Reserve = 1_000_000

// Recovery returns the numbers and the rewind of the event that recovery writes, if this State is that of the last
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
	return s.Seq + 1, s.Seq + 1 + Reserve, rewind
}

// legalRewind checks that a rewind only takes back: whoever sees it holds at least what the journal holds.
func (f *Fold) legalRewind(r *Rewind) *violation {
	named := map[partKey]bool{}
	for _, m := range r.Streams {
		t, key := Stream{}, partKey{'s', m.Stream}
		if i := f.stream(m.Stream); i >= 0 {
			t = f.s.Streams[i]
		}
		if t.Name == "" || t.Closed || named[key] || m.Bytes < 0 || m.Bytes > t.Len() || m.Index > t.Index {
			return violates(RuleRewind, "the rewind names text %q, which is not open, or shorter than it says", m.Stream)
		}
		named[key] = true
	}
	for _, p := range r.Progress {
		key := partKey{'p', p.Task}
		if f.progressOf(p.Task) < 0 || named[key] {
			return violates(RuleRewind, "the rewind names progress of %q, which has none", p.Task)
		}
		named[key] = true
	}
	for _, p := range r.Tools {
		if f.openCall(p.Call, false) < 0 {
			return violates(RuleRewind, "the rewind names tool call %q, which is not open", p.Call)
		}
	}
	if n := len(r.Log); legalLines(r.Log) != nil || n > 0 && r.Log[n-1].Number >= f.s.Log.Next {
		return violates(RuleRewind, "the rewind's log is not what was said")
	}
	return nil
}

// rewind goes back to what the journal holds. It drops streams from the end, so that readers end with one order,
// whatever they saw.
func (f *Fold) rewind(r *Rewind) {
	marks := make(map[string]StreamMark, len(r.Streams))
	for _, m := range r.Streams {
		marks[m.Stream] = m
	}
	for _, i := range slices.Backward(f.streams.living(f.s.Streams)) {
		t := f.s.Streams[i]
		m, kept := marks[t.Name]
		if !kept {
			f.streams.drop(&f.s.Streams, i)
			continue
		}
		t.text, t.Index = t.text.cut(m.Bytes), m.Index
		f.streams.put(&f.s.Streams, i, t)
	}
	f.s.Progress, f.progress = slices.Clip(r.Progress), indexed[Progress]{}
	f.s.Log = LogState{Next: 1, Lines: slices.Clip(r.Log)}
	if n := len(r.Log); n > 0 {
		f.s.Log.Next = r.Log[n-1].Number + 1
	}
	for _, i := range f.calls.living(f.s.Calls) {
		f.setToolProgress(i, ToolProgress{})
	}
	for _, p := range r.Tools {
		f.setToolProgress(f.call(p.Call), p)
	}
}
