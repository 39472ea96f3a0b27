package actors

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// MemoryJournal keeps events in memory, for as long as the process lives. Make one with [NewMemoryJournal].
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
	blocks  []blockMark // only the last once the run has ended
	bytes   int64
	lease   lease
}

// blockMark is the beginning of a block.
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
		r.events = append(r.events, e.Unshared()) // a shared event would keep its whole table
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
	r.events = messages.MergeDeltas(r.events)
	r.blocks = slices.Clone(r.blocks[len(r.blocks)-1:])
	r.bytes = size(r.events)
	r.lease = lease{}
	j.open--
	j.ended = append(j.ended, run)
	j.bytes += r.bytes
}

// takes returns why the log does not take the block; r is nil for a new log. A block that it holds already is fine.
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

func (j *MemoryJournal) List(_ context.Context, q messages.Query) ([]messages.Summary, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var first []*messages.Summary // in order, at most as many as wanted
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

// insert puts s in its place, and drops what is beyond the most.
func insert(list []*messages.Summary, s *messages.Summary, q messages.Query) []*messages.Summary {
	most := q.Most()
	if len(list) == most && q.Compare(s, list[most-1]) > 0 {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, s, q.Compare)
	list = slices.Insert(list, at, s)
	return list[:min(len(list), most)]
}

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
		// a map keeps its buckets: start an empty journal anew
		j.ended = nil
		if len(j.runs) == 0 {
			j.runs = map[messages.RunID]*record{}
		}
		return 0, nil
	}
	j.ended = slices.Clone(j.ended[n:])
	return len(j.ended), nil
}

func (j *MemoryJournal) Forget(_ context.Context, run messages.RunID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.Index(j.ended, run)
	switch r := j.runs[run]; {
	case r == nil:
		return errNotFound(run)
	case i < 0:
		return errNotEnded(run)
	default:
		j.bytes -= r.bytes
		delete(j.runs, run)
		j.ended = slices.Delete(j.ended, i, i+1)
		return nil
	}
}

func errNotEnded(run messages.RunID) error {
	return messages.Errorf(messages.CodeConflict, "run %s has not ended; cancel it first", run)
}

// beatEvery is how often a memory journal wants to hear that a claim is held. After four times as long it lends the
// run again.
const beatEvery = 2500 * time.Millisecond

// claims are the runs that can be claimed, and the nodes that wait for one.
type claims struct {
	offered map[string][]messages.RunID // by the node that wrote their first block
	free    []messages.RunID            // to anybody
	wakers  []chan struct{}             // of the nodes that wait
}

// lease says until when a node holds a run, or until when the run is offered to that node alone.
type lease struct {
	node  string
	until time.Time
}

// offer makes a new run claimable by its writer, or by anybody. Under mu.
func (j *MemoryJournal) offer(run messages.RunID, r *record, writer string) {
	if writer == "" {
		j.release(run)
		return
	}
	r.lease = lease{writer, time.Now().Add(4 * beatEvery)}
	if j.claims.offered == nil {
		j.claims.offered = map[string][]messages.RunID{}
	}
	j.claims.offered[writer] = append(j.claims.offered[writer], run)
	j.wake()
}

// release makes a run claimable by anybody. Under mu.
func (j *MemoryJournal) release(run messages.RunID) {
	j.claims.free = append(j.claims.free, run)
	j.wake()
}

func (j *MemoryJournal) wake() {
	for _, wake := range j.claims.wakers {
		notify(wake)
	}
}

func (j *MemoryJournal) Claim(ctx context.Context, node string) (Claim, error) {
	if run, found := j.claim(node); found {
		return Claim{Run: run, Every: beatEvery}, nil
	}
	wake := make(chan struct{}, 1)
	j.mu.Lock()
	j.claims.wakers = append(j.claims.wakers, wake)
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.claims.wakers = slices.DeleteFunc(j.claims.wakers, func(b chan struct{}) bool { return b == wake })
	}()
	if ctx.Err() != nil {
		j.reclaim() // there will be no tick
	}
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		if run, found := j.claim(node); found {
			return Claim{Run: run, Every: beatEvery}, nil
		}
		select {
		case <-wake:
		case <-tick.C:
			j.reclaim()
		case <-ctx.Done():
			return Claim{}, context.Cause(ctx)
		}
	}
}

// claim lends the node a run, preferring those offered to it.
func (j *MemoryJournal) claim(node string) (messages.RunID, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	offered := j.claims.offered[node]
	for len(offered) > 0 {
		run := offered[0]
		if offered = offered[1:]; len(offered) == 0 {
			delete(j.claims.offered, node)
		} else {
			j.claims.offered[node] = offered
		}
		if r := j.runs[run]; r != nil && !r.head.Ended && r.lease.node == node {
			r.lease.until = time.Now().Add(4 * beatEvery)
			return run, true
		}
	}
	for len(j.claims.free) > 0 {
		run := j.claims.free[0]
		j.claims.free = j.claims.free[1:]
		if r := j.runs[run]; r != nil && !r.head.Ended {
			r.lease = lease{node, time.Now().Add(4 * beatEvery)}
			return run, true
		}
	}
	return "", false
}

// reclaim frees the runs whose node has gone silent.
func (j *MemoryJournal) reclaim() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open == 0 {
		return
	}
	now := time.Now()
	for run, r := range j.runs {
		if r.lease.node != "" && now.After(r.lease.until) {
			r.lease = lease{}
			j.release(run)
		}
	}
}

func (j *MemoryJournal) Keep(_ context.Context, c Claim, k Keeping) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.runs[c.Run]
	if r == nil || r.head.Ended || r.lease.node == "" {
		return nil
	}
	switch k {
	case Held:
		r.lease.until = time.Now().Add(4 * beatEvery)
	case Released:
		r.lease = lease{}
		j.release(c.Run)
	case Ended: // append has seen it
	}
	return nil
}

// mostNotes is how many notes may wait for a slow Watch. More become one that says "look at every run"; commands are
// sent again.
const mostNotes = 1024

// watcher is a call of Watch, with the notes that it has not passed on.
type watcher struct {
	self  string
	wake  chan struct{}
	notes []Note
}

func (j *MemoryJournal) Watch(ctx context.Context, self string, fn func(Note)) error {
	w := &watcher{self: self, wake: make(chan struct{}, 1)}
	j.mu.Lock()
	j.watch = append(j.watch, w)
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.watch = slices.DeleteFunc(j.watch, func(x *watcher) bool { return x == w })
	}()
	fn(Note{})
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		j.mu.Lock()
		notes := w.notes
		w.notes = nil
		j.mu.Unlock()
		for _, n := range notes {
			fn(n)
		}
	}
}

// tell leaves a note for everybody who watches, except its writer. Under mu.
func (j *MemoryJournal) tell(writer string, n Note) {
	for _, w := range j.watch {
		if n.Command == nil && (w.self == writer && writer != "" || len(w.notes) > 0 && w.notes[len(w.notes)-1] == n) {
			continue
		}
		if len(w.notes) == mostNotes {
			w.notes = append(w.notes[:0:0], Note{})
		}
		w.notes = append(w.notes, n)
		notify(w.wake)
	}
}

func (j *MemoryJournal) Send(_ context.Context, c Command) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tell("", Note{Run: c.Run, Command: &c})
	return nil
}
