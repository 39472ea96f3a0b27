package sqlite

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// head is what the writer knows about a run. It belongs to the writer's goroutine.
type head struct {
	journal.Head
	number  int64 // the run's id in the database
	summary messages.Summary
	bytes   int64        // size of the log
	chain   journal.Hash // hash over all blocks
	blocks  journal.Hash // over their digests
	deltas  int          // in the blocks that this opening has appended
	broken  error        // why nothing can be appended to the log
	// inserted says that the database has a row for the run. changed says that the row must be written in this
	// transaction. read says that blocks may be of an earlier opening.
	inserted, changed, read bool
}

// Append implements [journal.Journal]. It encodes the block and passes it to the writer.
func (j *Journal) Append(b journal.Block, done func(error)) {
	stored, err := b.Stored()
	if err != nil {
		done(unstorable(err))
		return
	}
	if err := j.writer.put(&pending{Block: b, stored: stored, body: bodyOf(stored.Lines), done: done}); err != nil {
		done(err)
	}
}

// commit appends the group in one transaction, and reports the outcome to each caller. If the transaction fails because
// of one block, it commits each block separately.
func (w *writer) commit(group []*pending) {
	err := w.transaction(func() error {
		for _, p := range group {
			if err := w.append(p); err != nil {
				return err
			}
		}
		for _, p := range group {
			if err := w.save(p.head); err != nil {
				return err
			}
		}
		return nil
	})
	primary, _ := codeOf(err)
	if len(group) > 1 && slices.Contains(ofBlock, primary) {
		for _, p := range group { // a bad block must not fail its neighbours
			w.commit([]*pending{p})
		}
		return
	}
	_, unknown := errors.AsType[doubt](err)
	for _, p := range group {
		switch {
		case err == nil && p.written:
			w.landed(p)
		case unknown:
			p.err = fmt.Errorf("%w: %w", journal.ErrUnknown, explained(w.journal.dir, err))
		case err != nil:
			p.err = declined(w.journal.dir, err, p.After.Seq == 0)
		}
		go p.done(p.err) // the receiver must not block the journal
	}
}

// landed notifies others of a block that is durable.
func (w *writer) landed(p *pending) {
	j := w.journal
	if p.After.Seq == 0 {
		j.leases.Offer(p.Run, p.Writer)
	}
	if p.Head().Ended {
		j.leases.End(p.Run)
		delete(w.heads, p.Run)
		if !p.head.merged() {
			j.merger.signal()
		}
	}
	j.notes.Tell(p.Writer, journal.Note{Run: p.Run})
}

// append writes the block if it fits its log. If not, p.err says why.
func (w *writer) append(p *pending) error {
	h, err := w.head(p.Run)
	if err != nil {
		return err
	}
	p.head, p.written = h, false
	if h.broken != nil {
		p.err = unstorable(errDamaged(p.Run, h.broken))
		return nil
	}
	if h.Ended || h.Seq != p.After.Seq || p.stored.First != h.Seq+1 {
		p.err, err = w.misfit(h, p)
		return err
	}
	if h.number == 0 {
		h.number = w.next
		w.next++
	}
	h.chain = p.stored.Seal(h.chain, p.Events)
	h.blocks = h.blocks.With(p.stored.Digest)
	if err := insert(w.exec, h.number, w.opening, &p.stored, p.body); err != nil {
		return err
	}
	h.Head = journal.Head{Seq: p.stored.Last, Epoch: max(h.Epoch, p.Epoch), Ended: p.stored.Terminal}
	for _, e := range p.Events {
		if h.summary.Add(e); e.IsDelta() {
			h.deltas++
		}
	}
	h.bytes += int64(len(p.body))
	h.changed, p.written = true, true
	w.heads[p.Run] = h
	return nil
}

// misfit says why a block does not fit. answer is nil if the log holds the block already.
func (w *writer) misfit(h *head, p *pending) (answer, err error) {
	var id []byte
	err = w.row("SELECT id FROM blocks WHERE run = ? AND first <= ? ORDER BY first DESC LIMIT 1", h.number,
		int64(p.Events[0].From)).Scan(&id)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return nil, err
	case string(id) == string(p.ID[:]):
		return nil, nil
	case h.Ended:
		return journal.ErrSealed, nil
	}
	return journal.ErrFenced, nil
}

// head returns what the writer knows about the run. It reads that from the database if necessary.
func (w *writer) head(run messages.RunID) (*head, error) {
	if h := w.heads[run]; h != nil {
		return h, nil
	}
	h := &head{}
	err := scanSummary(w.row("SELECT "+summaryColumns+", id, epoch, ended, bytes FROM runs WHERE run = ?", string(run)),
		&h.summary, &h.number, &h.Epoch, &h.Ended, &h.bytes)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	h.inserted, h.read = err == nil, err == nil
	if h.Seq = h.summary.Seq; h.inserted && !h.Ended {
		last, err := scanBlock(w.row(selectLast, h.number))
		if _, damaged := codeOf(err); damaged != 0 {
			return nil, err
		}
		at, _, bad := last.Check(journal.Chain{Seq: last.First - 1, Hash: last.Before})
		h.chain, h.broken = at.Hash, cmp.Or(err, bad)
		return h, w.digests(h)
	}
	return h, nil
}

// Each statement changes only what its indexes need.
const (
	insertRun = `INSERT INTO runs (id, run, principal, job, input, labels, requests, purse, status, canceling, cause, seq,
		epoch, ended, bytes, queued_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`
	updateRun = `UPDATE runs SET requests = ?, purse = ?, status = ?, canceling = ?, cause = ?, seq = ?, epoch = ?, bytes = ?, updated_at = ? WHERE id = ?`
	endRun    = `UPDATE runs SET ended = 1, merged = ? WHERE id = ?`
)

// save writes the run's row, once per group.
func (w *writer) save(h *head) (err error) {
	if !h.changed {
		return nil
	}
	s := &h.summary
	requests, err := pack(s.OpenRequests, len(s.OpenRequests))
	spent, failed := packPurse(s)
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	status, cause, seq, epoch, updated := string(s.Status), string(s.Cause), int64(h.Seq), int64(h.Epoch), s.UpdatedAt.UnixNano()
	if h.inserted {
		_, err = w.exec(updateRun, requests, spent, status, s.Canceling, cause, seq, epoch, h.bytes, updated, h.number)
	} else {
		var labels string
		if labels, err = pack(s.Labels, len(s.Labels)); err != nil {
			return err
		}
		_, err = w.exec(insertRun, h.number, string(s.RunID), s.Principal, s.Job, s.Input, labels, requests, spent, status, s.Canceling,
			cause, seq, epoch, h.bytes, s.QueuedAt.UnixNano(), updated)
	}
	if err == nil && h.Ended {
		err = w.end(h)
	}
	h.inserted, h.changed = true, false
	return err
}

// merged reports whether the log has nothing to merge, as far as this opening knows.
func (h *head) merged() bool { return h.deltas < 2 && !h.read }

// end marks the run as ended, and enters its end in the ledger. All blocks of an ended log name one opening.
func (w *writer) end(h *head) error {
	_, err := w.exec(endRun, h.merged(), h.number)
	if err == nil && h.read {
		_, err = w.exec("UPDATE blocks SET opening = ? WHERE run = ? AND opening <> ?", w.opening, h.number, w.opening)
	}
	if err != nil {
		return err
	}
	return w.enter(journal.Entry{Kind: journal.EntryEnded, Run: h.summary.RunID, Status: h.summary.Status, Seq: h.Seq,
		Chain: h.chain.String(), Blocks: h.blocks.String(), Opening: w.opening})
}

// digests reads the digests of the log's blocks.
func (w *writer) digests(h *head) error {
	return each(ctx, w.conn, "SELECT digest FROM blocks WHERE run = ? ORDER BY first", func(rows *sql.Rows) error {
		var text []byte
		err := rows.Scan(&text)
		var digest journal.Hash
		copy(digest[:], text)
		h.blocks = h.blocks.With(digest)
		return err
	}, h.number)
}
