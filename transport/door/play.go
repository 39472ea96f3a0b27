package door

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Out is where Play writes: a [Stream] or a [Socket].
type Out interface {
	// Flush sends what was written.
	Flush() error
	// house returns the door, and the lock under which the dialect's functions write.
	house() (*Door, *sync.Mutex)
}

// Play writes the events of a run to w, which writes to out. With follow.Tree the events of a sub-run come whole after
// the one that names it, so that all readers get all events in one order. Play returns nil after the run's terminal,
// or where stop, which may be nil, says that the client has all of its answer. After an error the client lacks the
// terminal: Play has called the hook Refuse, and the caller breaks the connection.
func Play[W any](ctx context.Context, out Out, id messages.RunID, follow messages.Follow, d *transcript.Dialect[W], w W,
	stop func(*transcript.Transcript) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &play[W]{ctx: ctx, cancel: cancel, out: out, id: id, dialect: d, w: w, stop: stop,
		players: map[messages.RunID]*transcript.Player[W]{}}
	if follow.Tree {
		p.order = newOrder(id)
	}
	p.door, p.mu = out.house()
	defer p.heartbeats()()
	for events, err := range p.door.Runs.Follow(ctx, id, follow) {
		if err == nil {
			var done bool
			if done, err = p.write(events); done && err == nil {
				return nil
			}
		}
		if err != nil {
			return p.refuse(err)
		}
	}
	return p.refuse(messages.Errorf(messages.CodeUnavailable, "the run's events ended before the run"))
}

// play is one call of Play.
type play[W any] struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	out     Out
	id      messages.RunID
	dialect *transcript.Dialect[W]
	w       W
	stop    func(*transcript.Transcript) bool
	door    *Door
	mu      *sync.Mutex
	players map[messages.RunID]*transcript.Player[W]
	order   *order      // nil without sub-runs
	beat    *time.Timer // nil without the hook
	over    bool        // the client has all that it gets; under mu
}

// heartbeats keeps proxies and clients from taking a silent run for a dead connection, until the returned function is
// called. None is written once the answer is over, not even by a beat that waited for the lock meanwhile.
func (p *play[W]) heartbeats() (stop func()) {
	if p.dialect.Heartbeat == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beat = time.AfterFunc(p.door.Heartbeat, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.over {
			return
		}
		p.dialect.Heartbeat(p.w)
		if err := p.out.Flush(); err != nil {
			p.cancel(err)
			return
		}
		p.beat.Reset(p.door.Heartbeat)
	})
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.beat.Stop()
		p.over = true
	}
}

// write writes a batch, and reports whether the client has all.
func (p *play[W]) write(events []messages.Event) (done bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.order != nil {
		events = p.order.take(events)
	}
	for _, e := range events {
		if e.Body == nil {
			continue
		}
		player := p.players[e.RunID]
		if player == nil {
			player = p.dialect.Player(p.w)
			p.players[e.RunID] = player
		}
		player.Play(e)
		if e.RunID == p.id && player.Ended != nil || p.stop != nil && p.stop(&player.Transcript) {
			p.over = true
			break
		}
	}
	return p.over, p.out.Flush()
}

// refuse tells the client why there is nothing more, if it still reads.
func (p *play[W]) refuse(err error) error {
	if cause := context.Cause(p.ctx); cause != nil {
		err = cause
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.dialect.Refuse != nil && !errors.Is(err, context.Canceled) {
		p.dialect.Refuse(p.w, err)
		_ = p.out.Flush() // the caller breaks the connection
	}
	return err
}
