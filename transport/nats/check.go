package nats

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// mostFaults limits the report on a badly damaged journal.
const mostFaults = 100

// Reader reads what nodes keep, even beside them, and adds nothing to it. [OpenReader] makes one.
type Reader struct{ journal *Journal }

// OpenReader connects to NATS. The options are the same as for [Open].
func OpenReader(ctx context.Context, url string, with ...Option) (*Reader, error) {
	j, o := prepare(with)
	err := j.connect(url, o)
	if err == nil {
		err = explained(j.openReading(ctx))
	}
	if err != nil {
		_ = j.Close()
		return nil, err
	}
	return &Reader{j}, nil
}

// Close ends the connection.
func (r *Reader) Close() error { return r.journal.Close() }

// Get is the same as in [Journal].
func (r *Reader) Get(ctx context.Context, name string) (value []byte, revision uint64, err error) {
	return r.journal.Get(ctx, name)
}

// Set is the same as in [Journal].
func (r *Reader) Set(ctx context.Context, name string, value []byte, revision uint64) error {
	return r.journal.Set(ctx, name, value, revision)
}

// Check checks each log by a [journal.Audit], whether the headers agree with the logs, and the ledgers of all nodes. With
// runs it checks and lists only their logs. The error says why the journal could not be read, or that it has no such run.
func (r *Reader) Check(ctx context.Context, runs ...messages.RunID) (journal.Report, error) {
	c := &checker{Journal: r.journal, logs: map[messages.RunID]logged{}, report: journal.Report{Faults: []journal.Fault{}}}
	err := c.indexed(ctx)
	if err == nil && len(runs) > 0 {
		err = c.only(ctx, runs)
	} else if err == nil {
		err = c.all(ctx)
	}
	for _, log := range c.logs {
		c.report.Events += log.events
	}
	c.report.Runs = len(c.logs)
	return c.report, err
}

// only checks the logs of some runs, and then the ledgers.
func (c *checker) only(ctx context.Context, runs []messages.RunID) error {
	for _, run := range runs {
		if err := c.check(ctx, run); err != nil {
			return err
		}
	}
	if err := c.judge("", c.ledgers(ctx)); err != nil {
		return err
	}
	c.report.Removed = slices.DeleteFunc(c.ends.Removed(), func(r journal.Removed) bool { return !slices.Contains(runs, r.Run) })
	for _, run := range runs {
		end, key, entered := c.ends.End(run)
		switch log, read := c.logs[run]; {
		case log.ended:
			log.said.Key = key
			_ = c.judge(run, c.ends.Compare(log.root)) // a fault
			c.report.Logs = append(c.report.Logs, log.said)
		case read && entered && !log.faulty: // it has ended meanwhile
			return messages.Errorf(messages.CodeUnavailable, "run %s has ended just now; verify it again", run)
		case read && !log.faulty:
			c.report.Logs = append(c.report.Logs, log.said)
		case read:
		case entered && !c.aged(end):
			f := end.Missing()
			_ = c.judge(run, &f)
		case !slices.ContainsFunc(c.report.Removed, func(r journal.Removed) bool { return r.Run == run }):
			return journal.ErrNotFound(run)
		}
	}
	return nil
}

// checker checks a journal, and collects the faults.
type checker struct {
	*Journal
	report journal.Report
	ends   journal.Ends
	logs   map[messages.RunID]logged
}

// logged is what a log says: how many events, and its root if the run has ended.
type logged struct {
	events        int
	said          journal.Log
	root          journal.Entry
	ended, faulty bool
}

// openReading reads the list of runs.
func (j *Journal) openReading(ctx context.Context) (err error) {
	if j.js, err = jetstream.New(j.nc); err != nil {
		return err
	}
	if err = j.openShards(ctx, options{}, false); err == nil {
		err = j.readIndex(ctx)
	}
	return err
}

// all checks the logs before the ledgers, which have the ends and the removals of meanwhile.
func (c *checker) all(ctx context.Context) error {
	c.index.mu.Lock()
	runs := slices.Sorted(maps.Keys(c.index.runs))
	c.index.mu.Unlock()
	for _, run := range runs {
		if err := c.check(ctx, run); err != nil {
			return err
		}
	}
	err := c.ledgers(ctx)
	if err == nil && c.report.Ledger != nil {
		err = c.compare(ctx)
	}
	return c.judge("", err)
}

// compare compares the ledgers with the logs. It reads those that have ended meanwhile.
func (c *checker) compare(ctx context.Context) error {
	for _, e := range c.ends.Left() {
		if log := c.logs[e.Run]; !log.ended && !log.faulty {
			if err := c.check(ctx, e.Run); err != nil {
				return err
			}
		}
		if log, read := c.logs[e.Run]; log.faulty || !read && c.aged(e) {
			_ = c.ends.Compare(e) // the log is there, or need not be
		}
	}
	for _, run := range slices.Sorted(maps.Keys(c.logs)) {
		if log := c.logs[run]; log.ended {
			_ = c.judge(run, c.ends.Compare(log.root)) // a fault
		}
	}
	for _, f := range c.ends.Rest(journal.SaltDigest(c.salt[:]), nil) {
		_ = c.judge("", &f)
	}
	c.report.Removed = c.ends.Removed()
	return nil
}

// aged reports whether the stream has removed the log by its age, because no node ran that the retention would have had.
func (c *checker) aged(e journal.Entry) bool {
	most := c.shards[0].stream.CachedInfo().Config.MaxAge
	return most > 0 && time.Since(e.At) > most && c.ends.IsQuiet(e.At.Add(most-longestLife+time.Hour), e.At.Add(most))
}

// check reads a run's log. A log without blocks is missing, unless a ledger says that it was removed.
func (c *checker) check(ctx context.Context, run messages.RunID) error {
	log, err := c.log(ctx, run)
	switch {
	case messages.CodeOf(err) == messages.CodeNotFound:
		return nil
	case messages.CodeOf(err) == messages.CodeUnavailable && ctx.Err() == nil:
		err = &journal.Fault{Rule: journal.RuleBlock, Says: err.Error()}
	}
	_, log.faulty = errors.AsType[*journal.Fault](err)
	c.logs[run] = log
	return c.judge(run, err)
}

// judge notes a fault in a log. It returns the error if the journal could not be read.
func (c *checker) judge(run messages.RunID, err error) error {
	f, is := errors.AsType[*journal.Fault](err)
	if !is {
		return err
	}
	f.Run = cmp.Or(f.Run, run)
	if len(c.report.Faults) < mostFaults {
		c.report.Faults = append(c.report.Faults, *f)
	}
	return nil
}

// log checks a run's log, and its header.
func (c *checker) log(ctx context.Context, run messages.RunID) (log logged, err error) {
	last, err := c.last(ctx, run)
	if err != nil {
		return log, err
	}
	audit := journal.Audit{Run: run}
	var blocks journal.Hash
	for b, err := range c.Blocks(ctx, run) {
		if err == nil {
			_, err = audit.Add(b)
		}
		if err != nil {
			return log, err
		}
		blocks = blocks.With(b.Digest)
	}
	log.events, log.ended = audit.Events, last.ended()
	read := audit.Log()
	log.said = read
	if (log.ended || last.Last == read.Seq) && (last.Status != read.Status || last.Last != read.Seq || hex.EncodeToString(last.Chain) != read.Chain) {
		return log, &journal.Fault{Seq: read.Seq, Rule: journal.RuleList,
			Says: fmt.Sprintf("the header says that the run is %s at %d, its log says %s at %d", last.Status, last.Last, read.Status, read.Seq)}
	}
	last.Blocks = blocks[:]
	log.root = c.entry(run, &last, journal.EntryEnded)
	return log, nil
}

// ledgers reads the entries of all nodes, and checks them. Every message of the stream is one, and none is ever removed.
func (c *checker) ledgers(ctx context.Context) error {
	var stream jetstream.Stream
	err := retry(ctx, func(ctx context.Context) (err error) { stream, err = c.js.Stream(ctx, ledgerStream); return err })
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return explained(err)
	}
	for next, last := uint64(1), stream.CachedInfo().State.LastSeq; next <= last; {
		ask := getRequest{stream: ledgerStream, Seq: next, NextFor: "ledger.>"}
		found, err := c.batch(ctx, ask)
		if err == nil && len(found) == 0 { // the replica lags, but the leader has the next one
			found = make([]message, 1)
			found[0], err = c.get(ctx, ask)
		}
		if codeOf(err) == jetstream.JSErrCodeMessageNotFound {
			return &journal.Fault{Rule: journal.RuleLedger, Says: fmt.Sprintf("the entries from %d to %d of stream %s are missing", next, last, ledgerStream)}
		}
		if err != nil {
			return explained(err)
		}
		for _, m := range found {
			if m.seq != next {
				return &journal.Fault{Rule: journal.RuleLedger, Says: fmt.Sprintf("entry %d of stream %s is missing", next, ledgerStream)}
			}
			s := journal.SignedEntry{Line: m.Data}
			s.Key, _ = base64.StdEncoding.DecodeString(m.Header.Get(keyHeader)) // a damaged one does not fit the entry
			s.Signature, _ = base64.StdEncoding.DecodeString(m.Header.Get(signatureHeader))
			if err := c.ends.Add(m.Subject[len("ledger."):], m.seq, s); err != nil {
				return err
			}
			next++
		}
	}
	c.report.Ledger = &c.ends.Log
	return nil
}
