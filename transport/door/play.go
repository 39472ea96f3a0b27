package door

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Writer writes a part of a run in the form of a protocol. It embeds a [Part].
type Writer interface{ part() *Part }

// Part is the part of a run that a client gets as one answer.
type Part struct {
	Run messages.RunID
	// Seen is the question that the client has answered: what comes up to it is not written. "" is the run's beginning.
	// The part begins with the function that the table has for the beginning of the run.
	Seen string
	// Attached says that the run is cancelled if its client leaves.
	Attached bool
	// Over says that the client has all of its answer. Nothing is written after that.
	Over bool
	// Until is the number of the last event that is written; 0 is no such number.
	Until uint64
	// Out is where the part is written; without it, its frames are not.
	Out *Stream

	door *Door
	ctx  context.Context
	ends map[string][]any // the frames that end what is open, by kind and ID
}

func (p *Part) part() *Part { return p }

// Frame writes a frame of JSON. The name may be "".
func (p *Part) Frame(name string, data any) {
	if p.Out != nil {
		p.Out.Event("", name, data)
	}
}

// Begun reports whether the client has the item open.
func (p *Part) Begun(op *transcript.Op) bool { return p.ends[keyOf(op)] != nil }

// Begin notes the frames that end the item.
func (p *Part) Begin(op *transcript.Op, ends ...any) {
	if p.ends == nil {
		p.ends = map[string][]any{}
	}
	p.ends[keyOf(op)] = ends
}

// End writes the frames that end the item, if the client has it open.
func (p *Part) End(op *transcript.Op) { p.end(keyOf(op)) }

// EndAll writes the frames that end all that is open.
func (p *Part) EndAll() {
	for _, key := range slices.Sorted(maps.Keys(p.ends)) {
		p.end(key)
	}
}

func (p *Part) end(key string) {
	for _, end := range p.ends[key] {
		p.Frame("", end)
	}
	delete(p.ends, key)
}

func keyOf(op *transcript.Op) string { return op.Item.Kind.String() + op.ID }

// Forget has nothing open.
func (p *Part) Forget() { clear(p.ends) }

// Waits reports whether the run of the question still waits for its answer.
func (p *Part) Waits(question *transcript.Op) bool {
	run, err := p.door.Runs.State(p.ctx, question.Event.RunID) // its error is that of the next event
	return err == nil && !run.Status.IsEnded() && slices.ContainsFunc(run.Inputs, func(in messages.Input) bool {
		return in.Request == question.Item.Name && !in.Closed
	})
}

// Serve answers with the part as server-sent events. If the client lacks the end, its connection breaks.
func Serve[W Writer](w http.ResponseWriter, r *http.Request, d *Door, form *transcript.Dialect[W], to W) {
	out := d.Stream(w, "text/event-stream")
	to.part().Out = out
	if Play(r.Context(), d, out, messages.Follow{}, form, to) != nil {
		out.Break()
	}
}

// Play writes the part of w to out. With follow.Tree the events of a sub-run come whole after the one that names it, so
// that all readers get all events in one order. Play returns nil when the client has its answer, or after the run's
// terminal. After an error the client lacks that: Play has called the hook Refuse, and the caller breaks the connection.
func Play[W Writer](ctx context.Context, d *Door, out Out, follow messages.Follow, form *transcript.Dialect[W], w W) error {
	p := newPlay(ctx, d, form, w)
	if follow.Tree {
		p.order = newOrder(p.Run)
	}
	return p.left(d.Follow(ctx, out, p.Run, follow, p))
}

// Fold is Play for an answer that is not streamed.
func Fold[W Writer](ctx context.Context, d *Door, form *transcript.Dialect[W], w W) error {
	p := newPlay(ctx, d, form, w)
	for events, err := range d.Runs.Follow(ctx, p.Run, messages.Follow{}) {
		if err != nil {
			return p.left(err)
		}
		if done, _ := p.Events(events); done { // it has no error
			return nil
		}
	}
	return p.left(messages.Errorf(messages.CodeUnavailable, "the run's events ended before the run"))
}

// play is the Reader of a transcript.Dialect.
type play[W Writer] struct {
	*Part
	form    *transcript.Dialect[W]
	w       W
	players map[messages.RunID]*transcript.Player[W]
	order   *order // nil without sub-runs
}

func newPlay[W Writer](ctx context.Context, d *Door, form *transcript.Dialect[W], w W) *play[W] {
	p := &play[W]{Part: w.part(), form: form, w: w, players: map[messages.RunID]*transcript.Player[W]{}}
	p.door, p.ctx = d, ctx
	return p
}

// left cancels an attached run whose client is gone before the end of its answer.
func (p *play[W]) left(err error) error {
	if err != nil && p.Attached {
		p.door.Leave(p.ctx, p.Run)
	}
	return err
}

// Events plays a batch.
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

// pass reports whether an operation is written. The part begins after the question, and at the latest with the end.
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

// Beat calls the hook Heartbeat, or writes a comment.
func (p *play[W]) Beat() {
	switch {
	case p.form.Heartbeat != nil:
		p.form.Heartbeat(p.w)
	case p.Out != nil:
		_, _ = p.Out.WriteString(":\n\n")
	}
}

// Refuse calls the hook Refuse.
func (p *play[W]) Refuse(err error) {
	if p.form.Refuse != nil {
		p.form.Refuse(p.w, err)
	}
}
