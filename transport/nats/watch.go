package nats

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// errClosed is the error of calls that Close ends.
var errClosed = messages.Errorf(messages.CodeUnavailable, "the journal is closed")

// onHeader handles a copy of a block's header, or the notice that a log was removed.
func (j *Journal) onHeader(m *nats.Msg) {
	run, what := runOf(m.Subject, m.Header)
	at, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	switch {
	case err != nil:
	case what == "gone":
		j.index.drop(run, at)
		j.notes.Tell("", journal.Note{Run: run})
	case !j.index.knows(run, at):
		if mark, err := markOf(m.Header); err == nil {
			j.record(run, at, mark)
		}
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
