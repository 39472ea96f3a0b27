package door

import (
	"context"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Play writes the events of a run to w, which writes to out. With follow.Tree the events of a sub-run come whole after
// the one that names it, so that all readers get all events in one order. Play returns nil after the run's terminal,
// or where stop, which may be nil, says that the client has all of its answer. After an error the client lacks the
// terminal: Play has called the hook Refuse, and the caller breaks the connection.
func Play[W any](ctx context.Context, d *Door, out Out, id messages.RunID, follow messages.Follow, form *transcript.Dialect[W], w W,
	stop func(*transcript.Transcript) bool) error {
	p := &play[W]{id: id, form: form, w: w, stop: stop, players: map[messages.RunID]*transcript.Player[W]{}}
	if follow.Tree {
		p.order = newOrder(id)
	}
	return d.Follow(ctx, out, id, follow, p)
}

// play is the Reader of a transcript.Dialect.
type play[W any] struct {
	id      messages.RunID
	form    *transcript.Dialect[W]
	w       W
	stop    func(*transcript.Transcript) bool
	players map[messages.RunID]*transcript.Player[W]
	order   *order // nil without sub-runs
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
			p.players[e.RunID] = player
		}
		player.Play(e)
		if e.RunID == p.id && player.Ended != nil || p.stop != nil && p.stop(&player.Transcript) {
			return true, nil
		}
	}
	return false, nil
}

// Beat calls the hook Heartbeat.
func (p *play[W]) Beat() {
	if p.form.Heartbeat != nil {
		p.form.Heartbeat(p.w)
	}
}

// Refuse calls the hook Refuse.
func (p *play[W]) Refuse(err error) {
	if p.form.Refuse != nil {
		p.form.Refuse(p.w, err)
	}
}

// Fold writes the events of a run to w, as Play does, for an answer that is not streamed.
func Fold[W any](ctx context.Context, d *Door, id messages.RunID, form *transcript.Dialect[W], w W,
	stop func(*transcript.Transcript) bool) error {
	p := &play[W]{id: id, form: form, w: w, stop: stop, players: map[messages.RunID]*transcript.Player[W]{}}
	for events, err := range d.Runs.Follow(ctx, id, messages.Follow{}) {
		if err != nil {
			return err
		}
		if done, _ := p.Events(events); done { // it has no error
			return nil
		}
	}
	return messages.Errorf(messages.CodeUnavailable, "the run's events ended before the run")
}
