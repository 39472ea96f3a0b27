package http

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
)

// retry is how long a browser waits before it reconnects, in milliseconds.
const retry = "1000"

// stream answers with a run's events as they come, until the terminal. After the first byte, the response ends in one
// of three ways: with the terminal, with a "problem" or "draining" event, or by a broken connection.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, id messages.RunID, form form, follow messages.FollowOptions, feed *cursor.Feed) {
	out := &writer{Stream: s.Stream(w, string(form)), form: form, id: id, feed: feed}
	out.UntilDrain = true
	if form == formSSE {
		_, _ = out.WriteString("retry: " + retry + "\n\n") // Flush reports the error
	}
	if follow.Snapshot != nil {
		follow.Snapshot = out.snapshot
	}
	ctx := r.Context()                                                                // hold only the context, so that the request and its copies can be freed
	requestOf(ctx).stream = func() { _ = s.Follow(ctx, out.Stream, id, follow, out) } // out has written why
}

// writer writes the frames of one stream. [door.Heartbeats] serialize its calls.
type writer struct {
	*door.Stream
	form form
	id   messages.RunID
	feed *cursor.Feed
}

// Beat writes a heartbeat.
func (o *writer) Beat() {
	beat := ":\n\n"
	if o.form == formNDJSON {
		beat = "\n"
	}
	_, _ = o.WriteString(beat)
}

// Events writes what is new in the events. For an event that a filter left out, it writes only the cursor.
func (o *writer) Events(batch []messages.Event) (done bool, err error) {
	for _, e := range batch {
		for piece := range o.feed.Events(e) {
			switch {
			case piece.Body != nil:
				line, err := piece.JSON()
				if err != nil {
					return false, err
				}
				o.event(string(piece.Kind()), line)
			case o.form == formSSE:
				o.Append(func(b []byte) []byte { return append(o.appendID(b), '\n') })
			}
		}
		if e.RunID == o.id && e.IsTerminal() {
			return true, nil
		}
	}
	return false, nil
}

// event writes an event. JSON lines have no id, so the cursor becomes a member of the event where its number does not
// suffice.
func (o *writer) event(kind string, line []byte) {
	o.Append(func(b []byte) []byte {
		switch {
		case o.form == formSSE:
			return door.AppendEvent(o.appendID(b), kind, line)
		case !o.feed.At.Plain(): // the event's number does not suffice as a cursor
			line = append(o.feed.At.Append(append(slices.Clone(line[:len(line)-1]), `,"cursor":"`...), o.id), `"}`...)
		}
		return append(append(b, line...), '\n')
	})
}

func (o *writer) appendID(b []byte) []byte {
	return append(o.feed.At.Append(append(b, "id: "...), o.id), '\n')
}

// other writes a frame that is not an event of the run.
func (o *writer) other(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		data = []byte("null") // v contains its own error
	}
	o.Append(func(b []byte) []byte {
		if o.form == formSSE {
			return door.AppendEvent(b, name, data)
		}
		return append(append(append(append(b, `{"`+name+`":`...), data...), '}'), '\n')
	})
}

// snapshot writes the State that the following events continue.
func (o *writer) snapshot(state messages.State) {
	o.feed.Begin(state)
	if o.form == formSSE {
		o.Append(o.appendID)
		o.other("snapshot", map[string]any{"snapshot": state})
		return
	}
	o.other("snapshot", state)
}

// Refuse writes why no more events follow.
func (o *writer) Refuse(err error) {
	name := "problem"
	if errors.Is(err, door.ErrDraining) {
		name, err = "draining", messages.Errorf(messages.CauseShutdown,
			"the server is stopping; come back with the cursor %s", o.feed.At.Text(o.id))
	}
	o.other(name, auth.ProblemOf(err))
}
