package actors

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// MemoryJournal is the journal of a process that keeps nothing beyond its end. Its zero value is not usable.
type MemoryJournal struct {
	salt [32]byte

	mu     sync.Mutex
	runs   map[messages.RunID]*record
	open   int              // runs without a terminal
	ended  []messages.RunID // in the order of their terminals
	bytes  int64            // of the ended runs
	claims claims
	watch  []*watcher
}

// record is a run's log.
type record struct {
	summary messages.Summary
	head    Head
	events  []messages.Event
	blocks  []blockMark // the last alone once the run has ended
	bytes   int64
	lease   lease
}

// blockMark is where a block begins.
type blockMark struct {
	first uint64
	id    BlockID
}

// NewMemoryJournal returns an empty journal.
func NewMemoryJournal() *MemoryJournal {
	j := &MemoryJournal{runs: map[messages.RunID]*record{}}
	_, _ = rand.Read(j.salt[:]) // it never fails
	return j
}

// Salt implements [Journal].
func (j *MemoryJournal) Salt() [32]byte { return j.salt }

// Append implements [Journal]; done is called before it returns.
func (j *MemoryJournal) Append(b Block, done func(error)) { done(j.append(b)) }

func (j *MemoryJournal) append(b Block) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.runs[b.Run]
	if err := r.takes(b); err != nil || r.has(b.ID) {
		return err
	}
	if r == nil {
		r = &record{events: make([]messages.Event, 0, max(4, len(b.Events)))}
		j.runs[b.Run] = r
		j.open++
		j.offer(b.Run, r, b.Writer)
	}
	r.head = b.Head()
	r.blocks = append(r.blocks, blockMark{b.Events[0].From, b.ID})
	for _, e := range b.Events {
		r.events = append(r.events, e.Unshared()) // the slot would keep its table
		r.bytes += int64(e.Size())
		r.summary = r.summary.Apply(e)
	}
	if r.head.Ended {
		j.end(b.Run, r)
	}
	j.tell(b.Writer, Note{Run: b.Run})
	return nil
}

func (j *MemoryJournal) end(run messages.RunID, r *record) {
	r.events = mergeDeltas(r.events)
	r.blocks = slices.Clone(r.blocks[len(r.blocks)-1:])
	r.bytes = size(r.events)
	r.lease = lease{}
	j.open--
	j.ended = append(j.ended, run)
	j.bytes += r.bytes
}

// takes says why the log, nil where there is none, does not take the block. A block that it has already is no reason.
func (r *record) takes(b Block) error {
	switch {
	case r == nil && b.After.Seq != 0:
		return ErrFenced
	case r == nil || r.has(b.ID):
		return nil
	case r.head.Ended:
		return ErrSealed
	case r.head.Seq != b.After.Seq || b.Events[0].From != r.head.Seq+1:
		return ErrFenced
	}
	return nil
}

func (r *record) has(id BlockID) bool {
	if r == nil {
		return false
	}
	for _, mark := range slices.Backward(r.blocks) { // mostly the last
		if mark.id == id {
			return true
		}
	}
	return false
}

// Read implements [Reader].
func (j *MemoryJournal) Read(_ context.Context, run messages.RunID, after uint64) (Page, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.runs[run]
	if r == nil {
		return Page{}, errNotFound(run)
	}
	page := Page{Events: r.events[firstAfter(r.events, after):len(r.events):len(r.events)], Head: r.head}
	for i, mark := range slices.Backward(r.blocks) {
		if i+1 < len(r.blocks) && r.blocks[i+1].first <= after+1 || len(page.Events) == 0 {
			break
		}
		page.Blocks = append(page.Blocks, mark.id)
	}
	return page, nil
}

func errNotFound(run messages.RunID) error {
	return messages.Errorf(messages.CodeNotFound, "there is no run %s", run)
}

// List implements [Reader].
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

// Expire implements [Journal].
func (j *MemoryJournal) Expire(_ context.Context, before time.Time, bytes int64) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for ; n < len(j.ended); n++ {
		r := j.runs[j.ended[n]]
		if !r.summary.UpdatedAt.Before(before) && j.bytes <= bytes {
			break
		}
		j.bytes -= r.bytes
		delete(j.runs, j.ended[n])
	}
	if n == len(j.ended) {
		// A map keeps its buckets: an empty journal begins anew, so that its memory is that of the beginning.
		j.ended = nil
		if len(j.runs) == 0 {
			j.runs = map[messages.RunID]*record{}
		}
		return 0, nil
	}
	j.ended = slices.Clone(j.ended[n:])
	return len(j.ended), nil
}
