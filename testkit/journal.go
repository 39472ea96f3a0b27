package testkit

import (
	"errors"
	"time"

	"github.com/seed889630bf/lastword/actors"
)

// Journal wraps a journal and disturbs its appends. Its other methods are the wrapped journal's.
type Journal struct {
	actors.Journal
	// Disturb is asked once per append what to do with it; nil disturbs nothing. It may be called from any goroutine.
	Disturb func(actors.Block) Disturbance
}

// Disturbance is what happens to one append. The zero value is nothing.
type Disturbance struct {
	// Delay is how much later the append happens. Append itself returns at once.
	Delay time.Duration
	// Gate holds the append back until it is closed.
	Gate <-chan struct{}
	// Refuse answers ErrRefused: the block did not land and may be tried again.
	Refuse bool
	// Unknown answers actors.ErrUnknown: the block landed, unless Lose is set too.
	Unknown, Lose bool
}

// ErrRefused is the answer to an append that the wrapper refused.
var ErrRefused = errors.New("the journal refused the block, as the test asked")

// Append implements [actors.Journal].
func (j *Journal) Append(b actors.Block, done func(error)) {
	var d Disturbance
	if j.Disturb != nil {
		d = j.Disturb(b)
	}
	switch {
	case d.Gate != nil:
		go func() {
			<-d.Gate
			j.append(b, d, done)
		}()
	case d.Delay > 0:
		time.AfterFunc(d.Delay, func() { j.append(b, d, done) })
	default:
		j.append(b, d, done)
	}
}

func (j *Journal) append(b actors.Block, d Disturbance, done func(error)) {
	switch {
	case d.Refuse:
		done(ErrRefused)
	case d.Unknown && d.Lose:
		done(actors.ErrUnknown)
	case d.Unknown:
		j.Journal.Append(b, func(error) { done(actors.ErrUnknown) })
	default:
		j.Journal.Append(b, done)
	}
}
