package door

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Writer writes a part of a run in the format of a protocol. A type becomes a Writer by embedding [SegmentWriter].
type Writer interface{ part() *SegmentWriter }

// SegmentWriter writes the section of a run that one client gets as one answer. It belongs to one goroutine at a time.
type SegmentWriter struct {
	Run messages.RunID
	// Seen is the question that the client has answered: the part begins after it, with the dialect's function for the
	// beginning of a run. "" begins at the start of the run.
	Seen string
	// Attached says that the run is cancelled if the client leaves.
	Attached bool
	// Over says that the client has its whole answer. Nothing is written after that.
	Over bool
	// Until is the number of the last event that is written; 0 means no limit.
	Until uint64
	// Late says that the header waits for the first frame, so that a failure before it can have its own status.
	Late bool
	// Unsent says that the run failed before the client got anything: the caller answers in another way.
	Unsent bool
	// Out is the stream that the part is written to. If it is nil, Frame writes nothing.
	Out *Stream

	door *Door
	ctx  context.Context
	ends map[string][]any // the frames that close each open item, by the item's kind and ID
}

// Part is SegmentWriter.
//
// Deprecated: Use [SegmentWriter].
type Part = SegmentWriter

func (p *SegmentWriter) part() *SegmentWriter { return p }

// Frame writes one JSON frame as a server-sent event. The name may be "".
func (p *SegmentWriter) Frame(name string, data any) {
	if p.Out != nil {
		p.Out.Event("", name, data)
	}
}

// Begun reports whether the item is open at the client.
func (p *SegmentWriter) Begun(op *transcript.Op) bool { return p.ends[keyOf(op)] != nil }

// Begin marks the item as open at the client, and keeps the frames that will close it.
func (p *SegmentWriter) Begin(op *transcript.Op, ends ...any) {
	if p.ends == nil {
		p.ends = map[string][]any{}
	}
	p.ends[keyOf(op)] = ends
}

// End writes the frames that close the item, if it is open.
func (p *SegmentWriter) End(op *transcript.Op) { p.end(keyOf(op)) }

// EndAll writes the frames that close all open items, in a fixed order.
func (p *SegmentWriter) EndAll() {
	for _, key := range slices.Sorted(maps.Keys(p.ends)) {
		p.end(key)
	}
}

// end writes the frames that close an item.
func (p *SegmentWriter) end(key string) {
	for _, end := range p.ends[key] {
		p.Frame("", end)
	}
	delete(p.ends, key)
}

func keyOf(op *transcript.Op) string { return op.Item.Kind.String() + op.ID }

// DiscardAll marks all items as closed without writing their frames.
func (p *SegmentWriter) DiscardAll() { clear(p.ends) }

// Forget is DiscardAll.
//
// Deprecated: Use [SegmentWriter.DiscardAll].
func (p *SegmentWriter) Forget() { p.DiscardAll() }

// Waits reports whether the run that asked the question still waits for the answer.
func (p *SegmentWriter) Waits(question *transcript.Op) bool {
	run, err := p.door.Runs.State(p.ctx, question.Event.RunID) // an error here fails the next event too
	return err == nil && !run.Status.IsEnded() && slices.ContainsFunc(run.Inputs, func(in messages.Input) bool {
		return in.Request == question.Item.Name && !in.Closed
	})
}

// Serve answers the request with the part as server-sent events. If it cannot write the end, it breaks the connection.
func Serve[W Writer](w http.ResponseWriter, r *http.Request, d *Door, form *transcript.Dialect[W], to W) {
	out := d.Stream(w, "text/event-stream")
	to.part().Out, out.late = out, to.part().Late
	if Play(r.Context(), d, out, messages.FollowOptions{}, form, to) != nil && !to.part().Unsent {
		out.Break()
	}
}

// Play writes the part of w to out. With follow.Tree, all events of a sub-run come directly after the event that names
// it, so that all readers get the same sequence. Play returns nil when the client has its answer, or after the run's
// terminal event. After an error the client does not have the end: Play has called the hook Refuse, and the caller must
// break the connection.
func Play[W Writer](ctx context.Context, d *Door, out Connection, follow messages.FollowOptions, form *transcript.Dialect[W], w W) error {
	p := newPlay(ctx, d, form, w)
	if follow.Tree {
		p.order = &order{logs: map[messages.RunID]*orderedLog{}, open: []messages.RunID{p.Run}}
	}
	return p.left(d.Follow(ctx, out, p.Run, follow, p))
}

// Fold is like Play, but collects the part in w and writes nothing. It is for answers that are not streamed.
func Fold[W Writer](ctx context.Context, d *Door, form *transcript.Dialect[W], w W) error {
	p := newPlay(ctx, d, form, w)
	for events, err := range d.Runs.Follow(ctx, p.Run, messages.FollowOptions{}) {
		if err != nil {
			return p.left(err)
		}
		if done, _ := p.Events(events); done { // Events of a play returns no error
			return nil
		}
	}
	return p.left(messages.Errorf(messages.CodeUnavailable, "the run's events ended before the run"))
}

// play is a [Reader] that writes a run and its sub-runs in a dialect. Each run has its own player.
type play[W Writer] struct {
	*SegmentWriter
	form    *transcript.Dialect[W]
	w       W
	players map[messages.RunID]*transcript.Player[W]
	order   *order // nil if sub-runs are not written
}

func newPlay[W Writer](ctx context.Context, d *Door, form *transcript.Dialect[W], w W) *play[W] {
	p := &play[W]{SegmentWriter: w.part(), form: form, w: w, players: map[messages.RunID]*transcript.Player[W]{}}
	p.door, p.ctx = d, ctx
	return p
}

// left returns err. If the client left before it had the answer, and the run is attached to it, left cancels the run.
func (p *play[W]) left(err error) error {
	if err != nil && p.Attached {
		p.door.Leave(p.ctx, p.Run)
	}
	return err
}

// Events writes a batch.
func (p *play[W]) Events(events []messages.Event) (done bool, err error) {
	if p.order != nil {
		events = p.order.take(events)
	}
	for _, e := range events {
		if e.Body == nil {
			continue
		}
		player := p.players[e.RunID]
		if player == nil {
			player = p.form.Player(p.w)
			player.Pass = p.pass
			p.players[e.RunID] = player
		}
		player.Play(e)
		if p.Over || e.RunID == p.Run && (player.Ended != nil || p.Until > 0 && e.Seq >= p.Until) {
			return true, nil
		}
	}
	return false, nil
}

// pass reports whether the operation belongs to the part. The part begins after the question Seen, at the latest with
// the end of the run.
func (p *play[W]) pass(op *transcript.Op) bool {
	if p.Over || p.Seen == "" {
		return !p.Over
	}
	end := op.Do == transcript.End && op.Event.RunID == p.Run
	if end || op.Do == transcript.Wait && op.Item.Name == p.Seen {
		p.Seen = ""
		if begin := p.form.Table[transcript.Run][transcript.Open]; begin != nil {
			begin(p.w, op)
		}
	}
	return end
}

// Beat calls the hook Heartbeat. Without one, it writes a comment line of server-sent events.
func (p *play[W]) Beat() {
	switch {
	case p.form.Heartbeat != nil:
		p.form.Heartbeat(p.w)
	case p.Out != nil:
		_, _ = p.Out.WriteString(":\n\n")
	}
}

// Refuse calls the hook Refuse, if there is one.
func (p *play[W]) Refuse(err error) {
	if p.form.Refuse != nil {
		p.form.Refuse(p.w, err)
	}
}
