package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
)

const (
	// The time between two attempts to connect doubles from firstPause to longestPause.
	firstPause, longestPause = 100 * time.Millisecond, 5 * time.Second
	// silence is how long a connection may be silent. The server sends something at least every 15 s.
	silence = 45 * time.Second
	// longestLine is the maximum length of a line, in bytes: messages.MaxEventBytes as JSON.
	longestLine = 6*messages.MaxEventBytes + 1<<20
)

// Follow is [Client.Resume] for readers whose cursors are plain numbers.
func (c *Client) Follow(ctx context.Context, id messages.RunID, want messages.FollowOptions) iter.Seq2[messages.Event, error] {
	cur := cursor.Cursors{id: {Seq: want.After}}
	for child, seq := range want.Children {
		cur[child] = cursor.Cursor{Seq: seq}
	}
	return c.Resume(ctx, id, cur, want)
}

// Cursors say how far somebody has read the logs of runs.
type Cursors = cursor.Cursors

// ParseCursors returns what Cursors.Text wrote for the run.
func ParseCursors(run messages.RunID, text string) (Cursors, error) { return cursor.Parse(run, text) }

// Resume yields the run's events after the cursors until the run's terminal, and moves the cursors. It reconnects until
// ctx is done. Errors: what the server refuses, such as not_found and events_gone; and reset if the server leaves out
// an event.
func (c *Client) Resume(ctx context.Context, id messages.RunID, at Cursors, want messages.FollowOptions) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		(&reader{client: c, id: id, want: want, at: at, yield: yield, texts: map[stream][]byte{}}).read(ctx)
	}
}

// read reads until the run's terminal. It is no part of Resume, because the compiler makes many copies of Resume.
func (r *reader) read(ctx context.Context) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		before := r.events
		err := r.connect(ctx)
		switch {
		case r.done:
			return
		case ctx.Err() != nil:
			r.yield(messages.Event{}, context.Cause(ctx))
			return
		case messages.CodeOf(err) == messages.CauseInvalidInput && !r.plain:
			r.plain = true // an older server, if it is not the request
			continue
		case err != nil && !retryable(err):
			r.yield(messages.Event{}, err)
			return
		}
		if r.events > before {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

func retryable(err error) bool {
	e, ok := errors.AsType[*messages.Error](err)
	return ok && e.Retryable
}

// stream names a text or thought of a run or of a sub-run.
type stream struct {
	run  messages.RunID
	name string
}

// reader reads one run over as many connections as necessary. It belongs to one goroutine.
type reader struct {
	client *Client
	id     messages.RunID
	want   messages.FollowOptions
	at     cursor.Cursors // where to continue after a cut
	yield  func(messages.Event, error) bool
	texts  map[stream][]byte // of each text as much as was read, until its end; of long ones longer
	plain  bool              // the server knows no digests
	events int               // number of events that were passed on
	done   bool              // the terminal has come, or the caller wants no more
}

// connect reads events from one connection until that ends.
func (r *reader) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dead := r.client.unreachable(errors.New("it was silent for too long"))
	watchdog := time.AfterFunc(silence, func() { cancel(dead) })
	defer watchdog.Stop()
	response, err := r.client.send(ctx, http.MethodGet, r.path(), http.Header{"Accept": {"application/x-ndjson"}}, nil)
	if err != nil && r.client.gone != nil && r.client.gone() {
		return r.goOn(ctx, err)
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent { // the reader has the terminal
		r.done = true
		return nil
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(make([]byte, 0, 64<<10), longestLine)
	for lines.Scan() {
		watchdog.Reset(silence)
		if err := r.line(lines.Bytes()); err != nil || r.done {
			return err
		}
	}
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return cause
	case lines.Err() != nil:
		return r.client.unreachable(lines.Err())
	default:
		return r.client.unreachable(io.ErrUnexpectedEOF)
	}
}

// goOn reads what the process of the run has left, since its server failed.
func (r *reader) goOn(ctx context.Context, failed error) error {
	if r.want.Tree {
		return messages.Errorf(messages.CauseShutdown, "the process of run %s has ended: %v", r.id, failed)
	}
	for e, err := range r.client.rest(ctx, r.id, messages.FollowOptions{After: r.at[r.id].Seq, Filter: r.want.Filter}) {
		if err == nil {
			err = r.event(e)
		}
		if err != nil || r.done {
			return err
		}
	}
	r.done = true
	return nil
}

// path returns the request's path, which asks for the events after the cursors.
func (r *reader) path() string {
	v := url.Values{"after": {r.at.Text(r.id)}}
	if len(r.want.Filter.Kinds) > 0 {
		kinds := make([]string, 0, len(r.want.Filter.Kinds))
		for _, kind := range r.want.Filter.Kinds {
			kinds = append(kinds, string(kind))
		}
		v.Set("kinds", strings.Join(kinds, ","))
	}
	set(v, "streams", strings.Join(r.want.Filter.Streams, ","))
	if r.want.Filter.MilestonesOnly {
		v.Set("level", "milestone")
	}
	if r.want.Rate > 0 {
		v.Set("rate", strconv.FormatFloat(r.want.Rate, 'g', -1, 64))
	}
	if r.want.Tree {
		v.Set("tree", "true")
	}
	if !r.plain {
		v.Set("done", "digest")
	}
	return pathOf(r.id) + "/events?" + v.Encode()
}

// line handles one line: an event, the reason why no more follow, or an empty line as a heartbeat.
func (r *reader) line(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	var other struct {
		Type     string   `json:"type"`
		Problem  *refusal `json:"problem"`
		Draining *refusal `json:"draining"`
	}
	if err := json.Unmarshal(data, &other); err != nil {
		return r.client.unreachable(err)
	}
	switch {
	case other.Draining != nil:
		e := other.Draining.error()
		e.Retryable = true
		return e
	case other.Problem != nil:
		return other.Problem.error()
	case other.Type == "":
		return nil // from a newer server
	}
	var e messages.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return r.client.unreachable(err)
	}
	return r.event(e)
}

// event yields an event, unless the reader has it. It returns an error if events are missing.
func (r *reader) event(e messages.Event) error {
	after, f := r.at[e.RunID].Seq, r.want.Filter
	filters := f.MilestonesOnly || len(f.Kinds) > 0 || len(f.Streams) > 0 // then gaps are normal
	if e.From > after+1 && !filters {
		return messages.Errorf(messages.CodeReset, "the server sent event %d of run %s after event %d: those between are missing",
			e.From, e.RunID, after)
	}
	if e.Seq <= after || r.hear(e) {
		return nil
	}
	e, some := r.at.Take(e)
	if !some {
		return nil
	}
	e, err := r.whole(e)
	if err != nil {
		return err
	}
	r.events++
	r.done = !r.yield(e, nil) || e.RunID == r.id && e.IsTerminal()
	return nil
}

// hear keeps what the event says of texts. It reports whether the event is a part of the one that follows.
func (r *reader) hear(e messages.Event) (part bool) {
	for d := range messages.Texts(e.Body) {
		at := stream{e.RunID, d.Stream}
		if text, ok := cursor.Appended(r.texts[at], d.Stream, d); ok {
			r.texts[at] = text
		} else {
			delete(r.texts, at)
		}
		part = part || d.Part
	}
	return part
}

// whole puts back the text that the server left out. It keeps long texts, which the run's result may repeat.
func (r *reader) whole(e messages.Event) (messages.Event, error) {
	had, _ := messages.DoneOf(e.Body)
	e = e.Whole(func(name string) string { return string(r.texts[stream{e.RunID, name}]) })
	if d, ok := messages.DoneOf(e.Body); ok {
		if had.Omitted && messages.Digest(d.Text) != d.SHA256 {
			return e, messages.Errorf(messages.CodeReset, "the text %q of run %s is not what the server said: read the run from 0", d.Stream, e.RunID)
		}
		if len(d.Text) <= messages.WireBytes {
			delete(r.texts, stream{e.RunID, d.Stream})
		}
	}
	return e, nil
}
