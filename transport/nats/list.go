package nats

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// List implements [journal.Reader]. A run that another node opens or whose status it changes shows with a short delay.
func (j *Journal) List(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	if err := j.indexed(ctx); err != nil {
		return nil, err
	}
	if err := j.complete(ctx); err != nil {
		return nil, err
	}
	list := j.selected(q)
	if others := j.outdated(list); len(others) > 0 && j.nc.IsConnected() {
		within, cancel := context.WithTimeout(ctx, askTimeout)
		_ = j.refresh(within, others) // without an answer, the list has what the index knows
		cancel()
		if err := j.complete(ctx); err != nil {
			return nil, err
		}
		list = j.selected(q)
	}
	return slices.Clip(list[:min(len(list), q.Most())]), nil
}

// A list asks for at most mostRefreshed runs of other nodes, and for each of them once in refreshEvery.
const (
	mostRefreshed = 1024
	refreshEvery  = 500 * time.Millisecond
)

// selected returns what the index knows of the runs that the query selects, in its order.
func (j *Journal) selected(q messages.Query) []messages.Summary {
	list := []messages.Summary{}
	j.index.mu.Lock()
	defer j.index.mu.Unlock()
	among := j.index.runs
	if len(q.Status) > 0 && !slices.ContainsFunc(q.Status, messages.Status.IsEnded) {
		among = j.index.open // every start of a node asks for these
	}
	if len(q.Runs) > 0 {
		among = map[messages.RunID]*row{}
		for _, run := range q.Runs {
			if r := j.index.runs[run]; r != nil {
				among[run] = r
			}
		}
	}
	for run, r := range among {
		o := r.opened
		if o == nil || !q.Everyone && o.Principal != q.Principal {
			continue
		}
		s := messages.Summary{RunID: run, Job: o.Job, Input: o.Input, Principal: o.Principal, Labels: o.Labels, Status: r.Status,
			Canceling: r.Canceling, Cause: r.Cause, OpenRequests: r.Requests, Seq: r.Last, QueuedAt: o.QueuedAt, UpdatedAt: r.UpdatedAt,
			Purse: r.Purse, Budget: o.Budget}
		if q.Selects(&s) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b messages.Summary) int { return q.Compare(&a, &b) })
	return list
}

// outdated returns those runs of a list that other nodes write and that it should ask for now.
func (j *Journal) outdated(list []messages.Summary) (others []messages.RunID) {
	j.index.mu.Lock()
	defer j.index.mu.Unlock()
	now := time.Now()
	for _, s := range list {
		if r := j.index.runs[s.RunID]; r != nil && !r.ended() && now.Sub(r.asked) > refreshEvery && !j.holds(r.Writer) && len(others) < mostRefreshed {
			others, r.asked = append(others, s.RunID), now
		}
	}
	return others
}

// indexed waits until the index holds everything that was in the stream.
func (j *Journal) indexed(ctx context.Context) error {
	select {
	case <-j.index.ready:
		return nil
	case <-ctx.Done():
		return messages.Errorf(messages.CodeUnavailable, "the runs in NATS are still being counted: %v", context.Cause(ctx))
	case <-j.ctx.Done():
		return errClosed
	}
}

// old is an ended log that may be removed.
type old struct {
	run  messages.RunID
	last stored
}

// Expire implements [journal.Journal]. If several nodes expire the same logs, each skips those that others have
// removed.
func (j *Journal) Expire(ctx context.Context, before time.Time, bytes int64) (int, error) {
	if err := j.indexed(ctx); err != nil {
		return 0, err
	}
	var all []old // the oldest first
	kept := int64(0)
	j.index.mu.Lock()
	for run, r := range j.index.runs {
		if r.ended() {
			all = append(all, old{run, r.stored})
			kept += r.Bytes
		}
	}
	j.index.mu.Unlock()
	slices.SortFunc(all, func(a, b old) int {
		return cmp.Or(a.last.UpdatedAt.Compare(b.last.UpdatedAt), cmp.Compare(a.last.at, b.last.at))
	})
	for i, o := range all {
		if !o.last.UpdatedAt.Before(before) && kept <= bytes {
			return len(all) - i, nil
		}
		kept -= o.last.Bytes
		if j.index.end(o.run) != o.last.at { // another node has removed it
			continue
		}
		if err := j.remove(ctx, o.run, o.last, journal.EntryExpired); err != nil {
			return len(all) - i, err
		}
	}
	return 0, nil
}

// DeleteLog implements [journal.Journal].
func (j *Journal) DeleteLog(ctx context.Context, run messages.RunID) error {
	last, err := j.last(ctx, run)
	if err != nil {
		return err
	}
	if !last.ended() {
		return journal.ErrNotEnded(run)
	}
	return j.remove(ctx, run, last, journal.EntryRemoved)
}

// Forget is DeleteLog.
//
// Deprecated: Use [Journal.DeleteLog].
func (j *Journal) Forget(ctx context.Context, run messages.RunID) error { return j.DeleteLog(ctx, run) }

// remove removes the log that ends with the block, once the ledger says so, and tells all nodes. It keeps a new log of the
// same id.
func (j *Journal) remove(ctx context.Context, run messages.RunID, last stored, kind journal.EntryKind) error {
	if err := j.enter(ctx, j.entry(run, &last, kind)); err != nil {
		return err
	}
	name, _ := token(run)
	in := j.shard(run)
	filters := []string{in.logOf(name)}
	if last.Parted {
		filters = append(filters, in.part+"."+name+".>")
	}
	for _, filter := range filters {
		err := in.stream.Purge(ctx, jetstream.WithPurgeSubject(filter), jetstream.WithPurgeSequence(last.at+1))
		if err != nil {
			return explained(err)
		}
	}
	j.index.drop(run, last.at)
	gone := named(nats.Header{"Nats-Sequence": {strconv.FormatUint(last.at, 10)}}, name, run)
	return j.nc.PublishMsg(&nats.Msg{Subject: "live." + name + ".gone", Header: gone})
}
