package actors

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// MemoryJournal is the journal of a process that keeps nothing beyond its end. Its zero value is not usable.
type MemoryJournal struct {
	mu    sync.Mutex
	runs  map[messages.RunID]*record
	keys  map[Key]messages.RunID // with Input left empty
	ended []messages.RunID       // in the order of their terminals
	bytes int64                  // of the ended runs
}

type record struct {
	summary messages.Summary
	events  []messages.Event
	key     Key
	bytes   int64
}

func (r *record) last() messages.Event { return r.events[len(r.events)-1] }

// NewMemoryJournal returns an empty journal.
func NewMemoryJournal() *MemoryJournal {
	return &MemoryJournal{runs: map[messages.RunID]*record{}, keys: map[Key]messages.RunID{}}
}

// Append implements [Journal]; done is called before it returns.
func (j *MemoryJournal) Append(b Block, done func(error)) { done(j.append(b)) }

func (j *MemoryJournal) append(b Block) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.runs[b.Run]
	switch {
	case r == nil && b.Events[0].From != 1:
		return ErrFenced
	case r == nil:
		if err := j.take(b); err != nil {
			return err
		}
		r = &record{key: b.Key, events: make([]messages.Event, 0, max(4, len(b.Events)))}
		j.runs[b.Run] = r
	case r.last().IsTerminal():
		return ErrSealed
	case b.Events[0].From != r.last().Seq+1:
		return ErrFenced
	}
	for _, e := range b.Events {
		r.events = append(r.events, e)
		r.bytes += int64(e.Size())
		r.summary = r.summary.Apply(e)
	}
	if r.last().IsTerminal() {
		r.events = mergeDeltas(r.events)
		r.bytes = size(r.events)
		j.ended = append(j.ended, b.Run)
		j.bytes += r.bytes
	}
	return nil
}

func (j *MemoryJournal) take(b Block) error {
	if b.Key.Key == "" {
		return nil
	}
	k := Key{Principal: b.Key.Principal, Key: b.Key.Key}
	if run, used := j.keys[k]; used {
		return &KeyUsedError{Run: run, Input: j.runs[run].key.Input}
	}
	j.keys[k] = b.Run
	return nil
}

// Read implements [Journal].
func (j *MemoryJournal) Read(_ context.Context, run messages.RunID, after uint64) ([]messages.Event, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.runs[run]
	if r == nil {
		return nil, messages.Errorf(messages.CodeNotFound, "there is no run %s", run)
	}
	return r.events[firstAfter(r.events, after):len(r.events):len(r.events)], nil
}

// List implements [Journal].
func (j *MemoryJournal) List(_ context.Context, q messages.Query) ([]messages.Summary, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var first []*messages.Summary // in order, no more than are wanted
	for _, r := range j.runs {
		if q.Selects(&r.summary) {
			first = insert(first, &r.summary, q)
		}
	}
	list := make([]messages.Summary, len(first))
	for i, s := range first {
		list[i] = *s
	}
	return list, nil
}

// insert puts s in its place of the list; what is behind the most is dropped.
func insert(list []*messages.Summary, s *messages.Summary, q messages.Query) []*messages.Summary {
	most := q.Most()
	if len(list) == most && q.Compare(s, list[most-1]) > 0 {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, s, q.Compare)
	list = slices.Insert(list, at, s)
	return list[:min(len(list), most)]
}

// Unfinished implements [Journal].
func (j *MemoryJournal) Unfinished(context.Context) ([]messages.RunID, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var open []messages.RunID
	for id, r := range j.runs {
		if !r.last().IsTerminal() {
			open = append(open, id)
		}
	}
	slices.Sort(open)
	return open, nil
}

// Expire implements [Journal].
func (j *MemoryJournal) Expire(_ context.Context, before time.Time, bytes int64) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for ; n < len(j.ended); n++ {
		r := j.runs[j.ended[n]]
		if !r.last().Time.Before(before) && j.bytes <= bytes {
			break
		}
		j.bytes -= r.bytes
		delete(j.keys, Key{Principal: r.key.Principal, Key: r.key.Key})
		delete(j.runs, j.ended[n])
	}
	if n == len(j.ended) {
		// A map keeps its buckets: an empty journal begins anew, so that its memory is that of the beginning.
		j.ended = nil
		if len(j.runs) == 0 {
			j.runs, j.keys = map[messages.RunID]*record{}, map[Key]messages.RunID{}
		}
		return 0, nil
	}
	j.ended = slices.Clone(j.ended[n:])
	return len(j.ended), nil
}

// firstAfter returns the index of the first event whose Seq is past after.
func firstAfter(events []messages.Event, after uint64) int {
	i, _ := slices.BinarySearchFunc(events, after+1, func(e messages.Event, seq uint64) int {
		if e.Seq < seq {
			return -1
		}
		return 1
	})
	return i
}

// mergeDeltas returns the events with every stretch of deltas merged into one.
func mergeDeltas(events []messages.Event) []messages.Event {
	var out []messages.Event
	for len(events) > 0 {
		n := stretch(events)
		out = append(out, messages.Merge(events[:n]))
		events = events[n:]
	}
	return out
}

// stretch returns how many of the events, from the first, can be merged into one; at least 1.
func stretch(events []messages.Event) int {
	n := 1
	for n < len(events) && messages.CanMerge(events[n-1], events[n]) {
		n++
	}
	return n
}
