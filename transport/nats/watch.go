package nats

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

var errClosed = messages.Errorf(messages.CodeUnavailable, "the journal is closed")

// listen subscribes to live headers and to commands. One subscription serves every Watch of this journal.
func (j *Journal) listen(ctx context.Context) error {
	if _, err := j.nc.Subscribe("live.>", j.heard); err != nil {
		return err
	}
	if _, err := j.nc.Subscribe("cmd.>", j.commanded); err != nil {
		return err
	}
	return j.nc.FlushWithContext(ctx)
}

// heard takes a copy of a block's header, or the news that a log was removed.
func (j *Journal) heard(m *nats.Msg) {
	run, what := runOf(m.Subject, m.Header)
	at, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	switch {
	case err != nil:
	case what == "gone":
		j.index.drop(run, at)
		j.notes.Tell("", actors.Note{Run: run})
	case !j.index.knows(run, at):
		if mark, err := markOf(m.Header); err == nil {
			j.saw(run, at, mark)
		}
	}
}

func (j *Journal) commanded(m *nats.Msg) {
	var c actors.Command
	if json.Unmarshal(m.Data, &c) == nil {
		j.notes.Tell("", actors.Note{Run: c.Run, Command: &c})
	}
}

// Send implements [actors.Journal].
func (j *Journal) Send(_ context.Context, c actors.Command) error {
	name, ok := token(c.Run)
	if !ok {
		return errNotFound(c.Run)
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return j.nc.Publish("cmd."+name, data)
}

// Watch implements [actors.Reader].
func (j *Journal) Watch(ctx context.Context, self string, fn func(actors.Note)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(j.ctx, func() { cancel(errClosed) })()
	return j.notes.Watch(ctx, self, fn)
}
