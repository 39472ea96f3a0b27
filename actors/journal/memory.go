package journal

import (
	"context"
	"crypto/rand"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Memory keeps events in memory for as long as the process lives. Make one with [NewMemory]. It is safe for
// concurrent use, and its Append never blocks.
type Memory struct {
	salt [32]byte

	mu     sync.Mutex
	runs   map[messages.RunID]*record
	ended  []messages.RunID // in the order of their terminals
	bytes  int64            // size of the ended runs
	leases Leases
	notes  Notes[Note]
}

// record is a run's log.
type record struct {
	summary messages.Summary
	head    Head
	events  []messages.Event
	blocks  []blockMark // once the run has ended: a single one, with the last id
	bytes   int64
}

// blockMark is where a block begins.
type blockMark struct {
	first  uint64
	id     BlockID
	writer string
	epoch  uint64
}

// NewMemory returns an empty journal.
func NewMemory() *Memory {
	j := &Memory{runs: map[messages.RunID]*record{}}
	_, _ = rand.Read(j.salt[:]) // it never fails
	return j
}

func (j *Memory) Salt() [32]byte { return j.salt }

// Append implements [Journal]. It calls done before it returns.
func (j *Memory) Append(b Block, done func(error)) { done(j.append(b)) }

// append stores a copy that does not share memory with the caller's events. Slices that readers hold are never
// changed.
func (j *Memory) append(b Block) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.runs[b.Run]
	if err := r.takes(b); err != nil || r.has(b) {
		return err
	}
	if r == nil {
		r = &record{events: make([]messages.Event, 0, max(4, len(b.Events)))}
		j.runs[b.Run] = r
		j.leases.Offer(b.Run, b.Writer)
	}
	r.head = b.Head()
	r.blocks = append(r.blocks, blockMark{b.Events[0].From, b.ID, b.Writer, b.Epoch})
	for _, e := range b.Events {
		r.events = append(r.events, e.Unshared()) // a shared event would keep its whole table in memory
		r.bytes += int64(e.Size())
		r.summary.Add(e)
		if dropped, ok := e.Body.(messages.TextClosed); ok && dropped.Dropped {
			r.events = messages.DropTexts(r.events) // slices that readers hold do not change
		}
	}
	if r.head.Ended {
		j.end(b.Run, r)
	}
	j.notes.Tell(b.Writer, Note{Run: b.Run})
	return nil
}

// end merges the deltas and the blocks of a run that has ended, and counts its size.
func (j *Memory) end(run messages.RunID, r *record) {
	r.events = messages.MergeDeltas(r.events)
	last := r.blocks[len(r.blocks)-1]
	r.blocks = []blockMark{{1, last.id, last.writer, r.head.Epoch}}
	r.bytes = 0
	for _, e := range r.events {
		r.bytes += int64(e.Size())
	}
	j.leases.End(run)
	j.ended = append(j.ended, run)
	j.bytes += r.bytes
}

// takes returns why the log does not accept the block; r is nil for a new log. A block that the log already holds is
// accepted.
func (r *record) takes(b Block) error {
	switch {
	case r == nil && b.After.Seq != 0:
		return ErrFenced
	case r == nil || r.has(b):
		return nil
	case r.head.Ended:
		return ErrSealed
	case r.head.Seq != b.After.Seq || b.Events[0].From != r.head.Seq+1:
		return ErrFenced
	}
	return nil
}

// has reports whether the log holds the block. Only one block begins at an event.
func (r *record) has(b Block) bool {
	if r == nil {
		return false
	}
	for _, mark := range slices.Backward(r.blocks) { // mostly the last one
		if mark.first <= b.Events[0].From {
			return mark.id == b.ID
		}
	}
	return false
}

// Read implements [Reader]. The page shares memory with the log: what a log holds never changes in place.
func (j *Memory) Read(_ context.Context, run messages.RunID, after uint64) (Page, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.runs[run]
	if r == nil {
		return Page{}, ErrNotFound(run)
	}
	page := Page{Events: r.events[FirstAfter(r.events, after):len(r.events):len(r.events)], Head: r.head}
	for i, mark := range slices.Backward(r.blocks) {
		if i+1 < len(r.blocks) && r.blocks[i+1].first <= after+1 || len(page.Events) == 0 {
			break // neither this block nor an earlier one reaches past after
		}
		page.Blocks = append(page.Blocks, mark.id)
	}
	return page, nil
}

// Blocks implements [Reader]. Only callers that ask for the chain pay for it.
func (j *Memory) Blocks(_ context.Context, run messages.RunID) iter.Seq2[StoredBlock, error] {
	return func(yield func(StoredBlock, error) bool) {
		j.mu.Lock()
		r := j.runs[run]
		if r == nil {
			j.mu.Unlock()
			yield(StoredBlock{}, ErrNotFound(run))
			return
		}
		blocks, events := r.blocks, r.events // neither changes in place
		j.mu.Unlock()
		var hash Hash
		for i, mark := range blocks {
			n := len(events)
			if i+1 < len(blocks) {
				n = FirstAfter(events, blocks[i+1].first-1)
			}
			b, err := Block{ID: mark.id, Writer: mark.writer, Epoch: mark.epoch, Events: events[:n]}.Stored()
			if err == nil {
				hash = b.Seal(hash, events[:n])
			}
			if !yield(b, err) || err != nil {
				return
			}
			events = events[n:]
		}
	}
}

// List implements [Reader]. It sorts no more summaries than it returns.
func (j *Memory) List(_ context.Context, q messages.Query) ([]messages.Summary, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var first []*messages.Summary // sorted, at most as many as wanted
	among := j.runs
	if len(q.Runs) > 0 {
		among = map[messages.RunID]*record{}
		for _, id := range q.Runs {
			if r := j.runs[id]; r != nil {
				among[id] = r
			}
		}
	}
	for _, r := range among {
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

// insert inserts s in order, and drops what is beyond the query's limit.
func insert(list []*messages.Summary, s *messages.Summary, q messages.Query) []*messages.Summary {
	most := q.Most()
	if len(list) == most && q.Compare(s, list[most-1]) > 0 {
		return list
	}
	index, _ := slices.BinarySearchFunc(list, s, q.Compare)
	list = slices.Insert(list, index, s)
	return list[:min(len(list), most)]
}

// Expire implements [Journal]. It looks at the runs in the order of their terminals, and stops at the first that stays.
func (j *Memory) Expire(_ context.Context, before time.Time, bytes int64) (int, error) {
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
		// a map keeps its buckets, so start an empty journal with a new one
		j.ended = nil
		if len(j.runs) == 0 {
			j.runs = map[messages.RunID]*record{}
		}
		return 0, nil
	}
	j.ended = slices.Clone(j.ended[n:])
	return len(j.ended), nil
}

// DeleteLog implements [Journal].
func (j *Memory) DeleteLog(_ context.Context, run messages.RunID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.Index(j.ended, run)
	switch r := j.runs[run]; {
	case r == nil:
		return ErrNotFound(run)
	case i < 0:
		return ErrNotEnded(run)
	default:
		j.bytes -= r.bytes
		delete(j.runs, run)
		j.ended = slices.Delete(j.ended, i, i+1)
		return nil
	}
}

// Forget is DeleteLog.
//
// Deprecated: Use [Memory.DeleteLog].
func (j *Memory) Forget(ctx context.Context, run messages.RunID) error { return j.DeleteLog(ctx, run) }

func (j *Memory) Claim(ctx context.Context, node string) (Claim, error) {
	run, err := j.leases.Claim(ctx, node)
	if err != nil {
		return Claim{}, err
	}
	return Claim{Run: run, Every: LeaseTerm}, nil
}

func (j *Memory) Keep(_ context.Context, c Claim, k ClaimState) error {
	switch k {
	case Held:
		j.leases.Hold(c.Run)
	case Released:
		j.leases.Release(c.Run)
	case Ended: // append has done it
	}
	return nil
}

func (j *Memory) Watch(ctx context.Context, self string, fn func(Note)) error {
	return j.notes.Watch(ctx, self, fn)
}

func (j *Memory) Send(_ context.Context, c Command) error {
	j.notes.Tell("", Note{Run: c.Run, Command: &c})
	return nil
}

// FirstAfter returns the index of the first event past the number. It searches from the end, where that mostly is.
func FirstAfter(events []messages.Event, after uint64) int {
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
