package nats

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// errClosed is the error of calls that Close ends.
var errClosed = messages.Errorf(messages.CodeUnavailable, "the journal is closed")

// onHeader handles a copy of a block's header, or the notice that a log was removed.
func (j *Journal) onHeader(m *nats.Msg) {
	run, what := runOf(m.Subject, m.Header)
	seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	switch {
	case err != nil:
	case what == "gone":
		j.index.drop(run, seq)
		j.notes.Tell("", journal.Note{Run: run})
	default:
		j.heard(m.Subject, m.Header, seq)
	}
}

// hearFor is how long a journal hears the blocks of a run after somebody here has read it.
const hearFor = 4 * beatEvery

// hearing are the runs of other nodes whose blocks this journal hears. Anyone who follows a run reads it when it has grown.
// So the journal hears the run until hearFor after the last read, and then says once that it has grown: a follower reads
// again. This also repairs what was lost between servers.
type hearing struct {
	mu   sync.Mutex
	runs map[messages.RunID]*heard
}

// heard is a run that is heard until then.
type heard struct {
	by    *nats.Subscription
	until time.Time
}

// hear begins or continues to hear the run, before a read of it. What the read does not see will be heard: the servers
// take the subscription before the request.
func (j *Journal) hear(run messages.RunID) error {
	name, ok := token(run)
	if !ok || !j.index.elsewhere(run, j.holds) {
		return nil
	}
	h := &j.hearing
	h.mu.Lock()
	defer h.mu.Unlock()
	until := time.Now().Add(hearFor)
	if known := h.runs[run]; known != nil {
		known.until = until
		return nil
	}
	by, err := j.nc.Subscribe("live."+name+"."+other, j.onHeader)
	if err != nil {
		return explained(err)
	}
	h.runs[run] = &heard{by, until}
	time.AfterFunc(hearFor, func() { j.unhear(run) })
	return nil
}

// unhear ends to hear the run, or comes again when it is time.
func (j *Journal) unhear(run messages.RunID) {
	h := &j.hearing
	h.mu.Lock()
	known := h.runs[run]
	left := time.Until(known.until)
	if !j.index.elsewhere(run, j.holds) || j.ctx.Err() != nil {
		left = 0
	}
	if left <= 0 {
		delete(h.runs, run)
		_ = known.by.Unsubscribe()
	}
	h.mu.Unlock()
	if left > 0 {
		time.AfterFunc(left, func() { j.unhear(run) })
	} else {
		j.notes.Tell("", journal.Note{Run: run})
	}
}

// onCommand handles a command.
func (j *Journal) onCommand(m *nats.Msg) {
	var c journal.Command
	if json.Unmarshal(m.Data, &c) == nil {
		j.notes.Tell("", journal.Note{Run: c.Run, Command: &c})
	}
}

// Send implements [journal.Journal].
func (j *Journal) Send(_ context.Context, c journal.Command) error {
	name, ok := token(c.Run)
	if !ok {
		return journal.ErrNotFound(c.Run)
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return j.nc.Publish("cmd."+name, data)
}

// Watch implements [journal.Reader].
func (j *Journal) Watch(ctx context.Context, self string, fn func(journal.Note)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(j.ctx, func() { cancel(errClosed) })()
	return j.notes.Watch(ctx, self, fn)
}
