package nats

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

var errClosed = messages.Errorf(messages.CodeUnavailable, "the journal is closed")

// mostNotes is how many notes may wait for a slow Watch. More become one that says "look at every run"; commands are
// sent again.
const mostNotes = 1024

// watchers are the calls of Watch. One subscription serves all of them.
type watchers struct {
	mu  sync.Mutex
	all []*watcher
}

// watcher is a call of Watch, with the notes that it has not passed on.
type watcher struct {
	self  string
	wake  chan struct{}
	notes []actors.Note
}

// listen subscribes to live headers and to commands.
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
	run, what := runOf(m.Subject)
	at, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	switch {
	case err != nil:
	case what == "gone":
		j.index.drop(run, at)
		j.tell("", actors.Note{Run: run})
	case !j.index.knows(run, at):
		if mark, err := markOf(m.Header); err == nil {
			j.saw(run, at, mark)
		}
	}
}

func (j *Journal) commanded(m *nats.Msg) {
	var c actors.Command
	if json.Unmarshal(m.Data, &c) == nil {
		j.tell("", actors.Note{Run: c.Run, Command: &c})
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
	w := &watcher{self: self, wake: make(chan struct{}, 1)}
	j.watch.mu.Lock()
	j.watch.all = append(j.watch.all, w)
	j.watch.mu.Unlock()
	defer func() {
		j.watch.mu.Lock()
		defer j.watch.mu.Unlock()
		j.watch.all = slices.DeleteFunc(j.watch.all, func(x *watcher) bool { return x == w })
	}()
	fn(actors.Note{})
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-j.ctx.Done():
			return errClosed
		}
		j.watch.mu.Lock()
		notes := w.notes
		w.notes = nil
		j.watch.mu.Unlock()
		for _, n := range notes {
			fn(n)
		}
	}
}

// tell leaves a note for everybody who watches, except its writer.
func (j *Journal) tell(writer string, n actors.Note) {
	j.watch.mu.Lock()
	defer j.watch.mu.Unlock()
	for _, w := range j.watch.all {
		if n.Command == nil && (w.self == writer && writer != "" || len(w.notes) > 0 && w.notes[len(w.notes)-1] == n) {
			continue
		}
		if len(w.notes) == mostNotes {
			w.notes = append(w.notes[:0:0], actors.Note{})
		}
		w.notes = append(w.notes, n)
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}
