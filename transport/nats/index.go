package nats

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// index knows the head of every run's log, except for the newest blocks of a run that other nodes write and nobody here
// reads: refresh asks for those. It is filled from three sources, and the newest block wins: this journal's own appends;
// live copies of headers, which may be lost; and consumers, which deliver all headers that lists need, but may be late.
// mu guards the maps.
type index struct {
	feeds []jetstream.ConsumeContext
	ready chan struct{} // closed when everything that was in the stream has been read

	mu   sync.Mutex
	runs map[messages.RunID]*row
	open map[messages.RunID]*row // runs without a terminal
	// gaps holds the blocks whose headers lack something that a list needs.
	gaps map[gap]bool
}

// row is a run in the index.
type row struct {
	stored
	opened *opened // nil until the run's first block was seen
	first  uint64  // sequence of the first block, if it is in gaps
	places []place
	asked  time.Time // when a list last asked for the newest block
}

// place says that the block at the stream sequence at ends with the event last.
type place struct{ last, at uint64 }

// gap is a block of the run, at that sequence of its stream.
type gap struct {
	run messages.RunID
	at  uint64
}

// mostPlaces is how many places of a log are remembered, for readers that follow it.
const mostPlaces = 16

// before returns the head that the block expects to follow. known is false unless the index knows that the log ended
// there.
func (x *index) before(b journal.Block) (head stored, known bool) {
	if b.After.Seq == 0 {
		return stored{}, true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.runs[b.Run]
	if r == nil || r.Last != b.After.Seq || r.ended() || r.Aside > 0 || b.Events[0].From != r.Last+1 {
		return stored{}, false
	}
	return r.stored, true
}

// put adds a block's mark, and reports whether it was new.
func (x *index) put(run messages.RunID, seq uint64, m mark) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.runs[run]
	switch {
	case run == "":
		return false
	case r == nil || m.Opened != nil && seq > r.at: // a key that is used again begins a new log
		r = &row{}
		x.runs[run] = r
	case seq <= r.at:
		if r.opened == nil && m.Opened != nil {
			x.begin(run, r, seq, m)
		}
		return false
	}
	if r.at != r.first {
		delete(x.gaps, gap{run, r.at})
	}
	if m.Opened != nil {
		x.begin(run, r, seq, m)
		m.Opened = nil
	}
	if m.Aside > 0 {
		x.gaps[gap{run, seq}] = true
	}
	r.stored = stored{mark: m, at: seq}
	if x.open[run] = r; m.ended() {
		delete(x.open, run)
	}
	return true
}

// begin adds the mark of the run's first block. mu must be held.
func (x *index) begin(run messages.RunID, r *row, seq uint64, m mark) {
	r.opened = m.Opened
	if m.Aside > 0 {
		r.first, x.gaps[gap{run, seq}] = seq, true
	}
}

// fill replaces a mark that was in gaps. m is nil if the complete mark does not exist any more.
func (x *index) fill(run messages.RunID, seq uint64, m *mark) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.gaps, gap{run, seq})
	r := x.runs[run]
	if r == nil || m == nil {
		return
	}
	if r.first == seq && m.Opened != nil {
		r.opened, r.first = m.Opened, 0
	}
	if r.at == seq {
		r.Requests, r.Aside = m.Requests, 0
	}
}

// complete reads what the headers in gaps lack.
func (j *Journal) complete(ctx context.Context) error {
	j.index.mu.Lock()
	gaps := maps.Clone(j.index.gaps)
	j.index.mu.Unlock()
	for g := range gaps {
		run, seq := g.run, g.at
		m, err := j.get(ctx, getRequest{stream: j.shard(run).name, Seq: seq})
		if err != nil && codeOf(err) != jetstream.JSErrCodeMessageNotFound {
			return explained(err)
		}
		var whole *mark
		if err == nil {
			b, bad := m.block(run)
			if whole = &b.mark; bad != nil {
				whole = nil
				j.log.Error("a list does not say all of a run", zap.String("run", string(run)), zap.Error(bad))
			}
		}
		j.index.fill(run, seq, whole)
	}
	return nil
}

// knows reports whether the index has this block of the run, or a later one.
func (x *index) knows(run messages.RunID, seq uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.runs[run]
	return r != nil && seq <= r.at && r.opened != nil
}

// elsewhere reports whether another node may write more blocks of the run. holds tells of a node whether it is here.
func (x *index) elsewhere(run messages.RunID, holds func(node string) bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.runs[run]
	return r == nil || !r.ended() && !holds(r.Writer)
}

// end returns the sequence of the run's newest block in the index, or 0.
func (x *index) end(run messages.RunID) uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.runs[run]; r != nil {
		return r.at
	}
	return 0
}

// drop removes the run, unless a new log with the same id has begun.
func (x *index) drop(run messages.RunID, upTo uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.runs[run]; r != nil && r.at <= upTo {
		delete(x.runs, run)
		delete(x.open, run)
	}
}

// remember notes a place where reading may begin. It keeps the newest few of each run.
func (x *index) remember(run messages.RunID, p place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.runs[run]
	if r == nil || slices.Contains(r.places, p) {
		return
	}
	if len(r.places) == mostPlaces {
		r.places = r.places[1:]
	}
	r.places = append(r.places, p)
}

// placeOf returns the sequence of a block that ends at or before the event with the given number, or 0.
func (x *index) placeOf(run messages.RunID, after uint64) (seq uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.runs[run]; r != nil {
		for _, p := range r.places {
			if p.last <= after {
				seq = max(seq, p.at)
			}
		}
	}
	return seq
}

// readIndex starts to read the last headers of every log, and then the new headers of openings and of changes of a status.
func (j *Journal) readIndex(ctx context.Context) error {
	var past sync.WaitGroup
	for _, s := range j.shards {
		var now *jetstream.StreamInfo
		err := retry(ctx, func(ctx context.Context) (err error) { now, err = s.stream.Info(ctx); return err })
		if err == nil {
			_, err = j.feed(ctx, s, jetstream.OrderedConsumerConfig{FilterSubjects: []string{s.run + ".*." + opening, s.run + ".*." + change},
				DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: now.State.LastSeq + 1}, func(uint64) {})
		}
		if err != nil {
			return err
		}
		read := make(chan struct{})
		ready := sync.OnceFunc(func() { close(read) })
		all, err := j.feed(ctx, s, jetstream.OrderedConsumerConfig{FilterSubjects: []string{s.run + ".>"},
			DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy}, func(pending uint64) {
			if pending == 0 { // without any message, too
				ready()
			}
		})
		if err != nil {
			return err
		}
		stop := j.index.feeds[len(j.index.feeds)-1].Stop
		past.Add(1)
		j.all.Go(func() { // it would go on with all blocks
			select {
			case <-read:
				past.Done()
				stop()
				_ = s.stream.DeleteConsumer(j.ctx, all.CachedInfo().Name) // the server drops it after five minutes
			case <-j.ctx.Done():
				past.Done()
			}
		})
	}
	j.all.Go(func() {
		if past.Wait(); j.ctx.Err() == nil {
			close(j.index.ready)
		}
	})
	return nil
}

// feed reads headers into the index. pending is told how many are still to come, at first and with each.
func (j *Journal) feed(ctx context.Context, s *shard, of jetstream.OrderedConsumerConfig, pending func(uint64)) (c jetstream.Consumer, err error) {
	of.HeadersOnly = true
	err = retry(ctx, func(ctx context.Context) (err error) { c, err = s.stream.OrderedConsumer(ctx, of); return err })
	if err != nil {
		return nil, err
	}
	pending(c.CachedInfo().NumPending)
	feed, err := c.Consume(func(m jetstream.Msg) {
		meta, err := m.Metadata()
		if err != nil {
			return
		}
		j.heard(m.Subject(), m.Headers(), meta.Sequence.Stream)
		pending(meta.NumPending)
	})
	if err == nil {
		j.index.feeds = append(j.index.feeds, feed)
	}
	return c, err
}

// heard adds the header of a block to the index, unless it is there.
func (j *Journal) heard(subject string, header nats.Header, seq uint64) {
	run, _ := runOf(subject, header)
	if j.index.knows(run, seq) {
		return
	}
	mark, err := markOf(header)
	if err != nil {
		j.log.Error("the stream has a message without the header of a block", zap.String("subject", subject),
			zap.Uint64("sequence", seq), zap.Error(err))
		return
	}
	j.record(run, seq, mark)
}

// mostAsked is how many runs one request of refresh names.
const mostAsked = 256

// refresh reads the newest headers of runs whose blocks this journal does not hear.
func (j *Journal) refresh(ctx context.Context, runs []messages.RunID) error {
	of := make([][]messages.RunID, len(j.shards))
	for _, run := range runs {
		n := j.shardOf(run)
		of[n] = append(of[n], run)
	}
	for n, runs := range of {
		if err := j.refreshIn(ctx, j.shards[n], runs); err != nil {
			return err
		}
	}
	return nil
}

func (j *Journal) refreshIn(ctx context.Context, s *shard, runs []messages.RunID) error {
	for ask := range slices.Chunk(runs, mostAsked) {
		for len(ask) > 0 {
			var last []string
			for _, run := range ask {
				name, _ := token(run)
				last = append(last, s.run+"."+name+"."+other)
			}
			found, err := j.batch(ctx, getRequest{stream: s.name, LastOf: last})
			if err != nil {
				return explained(err)
			}
			size := 0
			for _, m := range found {
				j.heard(m.Subject, m.Header, m.seq)
				run, _ := runOf(m.Subject, m.Header)
				ask = slices.DeleteFunc(ask, func(r messages.RunID) bool { return r == run })
				size += len(m.Data) + len(m.Header.Get(blockHeader))
			}
			if len(found) == 0 || size < batchBytes/2 { // otherwise the answer may have been cut at batchBytes
				break
			}
		}
	}
	return nil
}

// record adds a block to the index and, if it is new, tells whoever watches.
func (j *Journal) record(run messages.RunID, seq uint64, m mark) {
	if j.index.put(run, seq, m) {
		j.notes.Tell(m.Writer, journal.Note{Run: run})
	}
}
