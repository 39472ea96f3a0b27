package mcp

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
	"github.com/seed889630bf/lastword/transport/mcp/internal/task"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// stream is a kind of answer that follows a run. Event ids contain its name, so that a client whose stream broke gets
// the rest.
type stream struct {
	// asks says that the client's user is asked what the run asks. stays says that the answer keeps waiting if nobody
	// answers.
	asks, stays bool
	// goOn answers with the rest of the run after the cursor.
	goOn func(ctx context.Context, state messages.State, cur cursor.Cursor) (any, error)
}

// Names of the streams of this package.
const (
	streamCall   = "call"
	streamWait   = "wait"
	streamAttach = "attach"
	streamTask   = "task"
)

// addStreams says for each kind of stream how it goes on after the client reconnects.
func (s *Server) addStreams() {
	s.streams = map[string]stream{
		streamCall: {asks: true, goOn: func(ctx context.Context, state messages.State, cur cursor.Cursor) (any, error) {
			return s.conclude(ctx, mcp.CallToolRequest{}, task.Resumed{Run: state.RunID}, cur, state.Queued.Mode)
		}},
		streamWait: {goOn: func(ctx context.Context, state messages.State, next cursor.Cursor) (any, error) {
			return answered(s.waitFor(ctx, state.RunID, next, defaultWait*time.Millisecond))
		}},
		streamAttach: {goOn: func(ctx context.Context, state messages.State, at cursor.Cursor) (any, error) {
			return answered(s.attach(ctx, state.RunID, at))
		}},
		streamWrap: {asks: true, goOn: func(ctx context.Context, state messages.State, at cursor.Cursor) (any, error) {
			if s.behind == nil {
				return nil, messages.Errorf(messages.CodeReset, "this server has no servers behind it any more; call run_wait")
			}
			return s.behind.await(ctx, wire.From(ctx), mcp.CallToolRequest{}, task.Resumed{Run: state.RunID}, at, false)
		}},
		streamTask: {asks: true, stays: true, goOn: s.tasks.Await},
	}
}

func answered(r *Result, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return r.library(), nil
}

// AddStream registers a kind of stream, and returns the function that streams a run in it. The function sends the run's
// events as progress of the call in its context. It answers with the State at the run's end or at a question. A client
// of 2025-11-25 whose stream broke resumes it by the name. The end of ctx does not end the run. Errors: not_found, also
// for the runs of others.
func (s *Server) AddStream(name string, answer func(messages.State) (*Result, error)) func(context.Context, messages.RunID) (*Result, error) {
	from := func(ctx context.Context, id messages.RunID, cur cursor.Cursor) (*Result, error) {
		if _, err := s.Run(ctx, id); err != nil {
			return nil, err
		}
		state, _, err := s.follow(ctx, name, id, cur)
		if err != nil {
			return nil, err
		}
		return answer(state)
	}
	s.streams[name] = stream{goOn: func(ctx context.Context, state messages.State, next cursor.Cursor) (any, error) {
		return answered(from(ctx, state.RunID, next))
	}}
	return func(ctx context.Context, id messages.RunID) (*Result, error) { return from(ctx, id, cursor.Cursor{}) }
}

// follow sends the run's events after the cursor as progress of the call in ctx, if that has a progress token. It
// returns when the run has ended, or when it asks a question that cannot be answered here, with the State and the
// terminal event. The terminal event is not sent, because it belongs to the result.
func (s *Server) follow(ctx context.Context, name string, id messages.RunID, cur cursor.Cursor) (messages.State, *messages.Event, error) {
	x, kind := wire.From(ctx), s.streams[name]
	for {
		state, terminal, err := s.watch(ctx, name, id, &cur)
		if err != nil || len(wire.Questions(state)) == 0 || !kind.asks || x.Modern() {
			return state, terminal, err
		}
		x.At(placeOf(ctx, cur, id, name))
		var meta *mcp.Meta
		if kind.stays {
			meta = task.Related(id)
		}
		state, asked, err := s.asker.Elicit(ctx, x, state, meta)
		if err == nil && !asked && kind.stays {
			state, err = s.runs.Until(ctx, state, func(e messages.Event) bool {
				return e.Kind() == messages.KindInputReceived || e.Kind() == messages.KindRunCanceling
			})
			asked = true
		}
		if err != nil || !asked {
			return state, nil, err
		}
	}
}

// placeOf returns the place of a stream in event ids, see [Server.resume].
func placeOf(ctx context.Context, cur cursor.Cursor, id messages.RunID, name string) string {
	o, _ := ctx.Value(optionsKey{}).(StreamOptions)
	return string(cur.Append(nil)) + ";" + string(id) + ";" + name + o.text()
}

// watch sends events, and moves the cursor, until the run has ended or waits for an answer.
func (s *Server) watch(ctx context.Context, name string, id messages.RunID, cur *cursor.Cursor) (messages.State, *messages.Event, error) {
	x := wire.From(ctx)
	o, _ := ctx.Value(optionsKey{}).(StreamOptions)
	place := func() string { return "" }
	if x.Resumes() {
		place = func() string { return placeOf(ctx, *cur, id, name) }
		x.At(place())
	}
	passes, last, step := name == streamWrap, float64(cur.Seq), 1.0
	if passes { // the numbers are the server's own, and begin with 0
		last, step = min(last, 1)-leastStep, leastStep
	}
	p := newProgress(s.runs.Door, x.ProgressToken(), x.NotifyAt, last, step)
	defer p.stop()
	asked := cur.Seq > 0 // whether the run may be waiting for an answer
	if asked {
		if state, err := s.runs.State(ctx, id); err != nil || waitsAt(state, cur.Seq) {
			return state, nil, err
		}
	}
	events, now := s.runs.Reader(ctx, id, o.follow(cur.Seq))
	for e, err := range events {
		if err != nil {
			return messages.State{}, nil, err
		}
		if e.IsTerminal() {
			state, err := now()
			return state, &e, err
		}
		if fresh, some := cur.Take(e); some && o.shows(e) && passes {
			p.pass(x, fresh, place())
		} else if some && o.shows(e) {
			p.event(fresh, place())
		}
		if asked = asked || e.Kind() == messages.KindInputRequired; !asked {
			continue
		}
		// The client first gets all events before the question. Somebody else may have answered in the meantime.
		state, err := now()
		if err != nil || waitsAt(state, e.Seq) {
			return state, nil, err
		}
		asked = len(wire.Questions(state)) > 0
	}
	state, err := now()
	return state, nil, err
}

// waitsAt reports whether the run waits for an answer, and a reader at seq has all events before that.
func waitsAt(state messages.State, seq uint64) bool {
	return state.Seq <= seq && len(wire.Questions(state)) > 0
}

// resume continues an answer whose stream broke, at this server or at an earlier one.
func (s *Server) resume(ctx context.Context, x *wire.Exchange) (any, error) {
	if err := wire.Require(ctx, auth.ReadRuns); err != nil {
		return nil, err
	}
	read, rest, _ := strings.Cut(x.Place(), ";")
	id, rest, _ := strings.Cut(rest, ";")
	name, options, _ := strings.Cut(rest, "?")
	state, err := s.Run(ctx, messages.RunID(id))
	if err != nil {
		return nil, err
	}
	cur, err := cursor.Parse(state.RunID, read)
	if err == nil {
		err = checkCursor(state, cur[state.RunID].Seq)
	}
	kind, known := s.streams[cmp.Or(name, streamCall)] // older servers wrote no name
	if err == nil && !known {
		err = messages.Errorf(messages.CodeReset, "this server does not stream %s; call the tool again", name)
	}
	if err != nil {
		return nil, err
	}
	return kind.goOn(parseOptions(options).In(ctx), state, cur[state.RunID])
}
