package log

import (
	"slices"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// compact merges durable deltas once there are many. Deltas before a milestone are merged completely; those at the
// log's end are merged in stretches of doubling length. So the log stays short, and each byte is copied a logarithmic
// number of times. mu must be held.
func (l *Log) compact() {
	events := l.table.events[:l.recorded]
	end := journal.FirstAfter(events, l.head.Seq)
	open := end
	for open > l.mergedTo && events[open-1].IsDelta() {
		open--
	}
	if open-l.mergedTo >= max(compactAfter, l.mergedTo/4) {
		n := l.merge(l.mergedTo, open)
		l.mergedTo, end = l.mergedTo+n, l.mergedTo+n+end-open
	}
	l.compactEnd(end)
}

// compactEnd merges the deltas at the log's end, in stretches of doubling length. mu must be held.
func (l *Log) compactEnd(end int) {
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

// merge merges the deltas of events[start:end], which are durable and therefore visible. It returns how many events
// are left. mu must be held.
func (l *Log) merge(start, end int) int {
	events := l.table.events[:l.recorded]
	old := events[start:end]
	merged := messages.MergeDeltas(old)
	l.bytes += size(merged) - size(old)
	out := slices.Concat(events[:start], merged, events[end:])
	l.mergedTo = min(l.mergedTo, start)
	l.replace(out, len(out)+compactAfter, int(l.table.n.Load())-len(old)+len(merged))
	return len(merged)
}

// forget removes dropped texts from the durable events, and merges what is left. mu must be held.
func (l *Log) forget(durable uint64) {
	l.forgets = 0
	events := l.table.events[:l.recorded]
	n := journal.FirstAfter(events, durable)
	merged := messages.MergeDeltas(messages.DropTexts(events[:n:n]))
	l.bytes += size(merged) - size(events[:n])
	l.mergedTo = min(l.mergedTo, len(merged))
	visible := int(l.table.n.Load()) - n + len(merged)
	merged = slices.Concat(merged, events[n:])
	for i := range merged {
		merged[i] = merged[i].Unshared() // otherwise each event would keep its old table in memory
	}
	l.replace(merged, len(merged)+compactAfter, visible)
}

// OverLimit reports whether the log is too large even when merged, and whether tasks must wait for the journal.
func (l *Log) OverLimit() (over, pressed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes > max(l.MaxBytes, l.mergeAt) {
		l.merge(0, journal.FirstAfter(l.table.events[:l.recorded], l.head.Seq))
		events := l.table.events[:l.recorded]
		waiting := events[journal.FirstAfter(events, l.head.Seq):]
		over = l.bytes-size(waiting)+size(messages.MergeDeltas(waiting)) > l.MaxBytes
		// after merging everything, merge again only when the log has grown by a sixteenth
		l.mergeAt = l.bytes + l.MaxBytes/16
	}
	return over, l.Dropped() == nil && l.ledger.Fold.Peek().Seq > l.head.Seq+backlog
}
