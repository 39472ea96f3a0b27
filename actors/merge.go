package actors

import (
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// firstAfter returns the index of the first event past the number, which is mostly near the end.
func firstAfter(events []messages.Event, after uint64) int {
	n := len(events)
	switch {
	case n == 0 || events[n-1].Seq <= after:
		return n
	case n == 1 || events[n-2].Seq <= after:
		return n - 1
	}
	i, _ := slices.BinarySearchFunc(events, after+1, func(e messages.Event, seq uint64) int {
		if e.Seq < seq {
			return -1
		}
		return 1
	})
	return i
}

func size(events []messages.Event) int64 {
	var n int64
	for _, e := range events {
		n += int64(e.Size())
	}
	return n
}

// compact merges durable deltas once there are many: those before a milestone whole, those at the log's end in
// stretches of doubling length. So the log stays short, and each byte is copied a logarithmic number of times. Under
// mu.
func (l *runLog) compact() {
	events := l.table.events[:l.recorded]
	end := firstAfter(events, l.head.Seq)
	open := end
	for open > l.tidy && events[open-1].IsDelta() {
		open--
	}
	if open-l.tidy >= max(compactAfter, l.tidy/4) {
		n := l.merge(l.tidy, open)
		l.tidy, end = l.tidy+n, l.tidy+n+end-open
	}
	l.compactEnd(end)
}

func (l *runLog) compactEnd(end int) {
	events := l.table.events[:l.recorded]
	start := end
	for start > 0 && events[start-1].IsDelta() && events[start-1].From == events[start-1].Seq {
		start--
	}
	if end-start < compactAfter {
		return
	}
	weight := func(e messages.Event) uint64 { return e.Seq - e.From + 1 }
	size := uint64(end - start)
	for start > 0 && messages.CanMerge(events[start-1], events[start]) && weight(events[start-1]) <= size {
		start--
		size += weight(events[start])
	}
	l.merge(start, end)
}

// merge merges the deltas of events[start:end], which are durable and so visible, and returns how many events are
// left. Under mu.
func (l *runLog) merge(start, end int) int {
	events := l.table.events[:l.recorded]
	old := events[start:end]
	merged := messages.MergeDeltas(old)
	l.bytes += size(merged) - size(old)
	out := slices.Concat(events[:start], merged, events[end:])
	l.tidy = min(l.tidy, start)
	l.replace(out, len(out)+compactAfter, int(l.table.n.Load())-len(old)+len(merged))
	return len(merged)
}

// overLimit reports whether the log is too large even when merged, and whether tasks must wait for the journal. Under
// mu.
func (l *runLog) overLimit() (over, pressed bool) {
	if l.bytes > max(l.maxBytes, l.squeezeAt) {
		l.merge(0, firstAfter(l.table.events[:l.recorded], l.head.Seq))
		events := l.table.events[:l.recorded]
		waiting := events[firstAfter(events, l.head.Seq):]
		over = l.bytes-size(waiting)+size(messages.MergeDeltas(waiting)) > l.maxBytes
		// after merging everything, merge again only when the log has grown by a sixteenth
		l.squeezeAt = l.bytes + l.maxBytes/16
	}
	return over, l.lost == nil && l.ledger.fold.Peek().Seq > l.head.Seq+backlog
}

// catchUp bounds one read: it merges deltas, and leaves what is more than a batch for the next read.
func catchUp(b batch) batch {
	var out []messages.Event
	rest := b.events
	for len(rest) > 0 && len(out) < readBatch {
		n := messages.Stretch(rest)
		out = append(out, messages.Merge(rest[:n]))
		rest = rest[n:]
	}
	return batch{events: out, more: len(rest) > 0, over: b.over && len(rest) == 0}
}
