package journal

import (
	"fmt"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Hostile wraps a journal and disturbs its appends. All other methods go to the wrapped journal.
type Hostile struct {
	Journal
	// Disturb returns what happens to each append; nil disturbs nothing. It is called from any goroutine.
	Disturb func(Block) Disturbance

	mu   sync.Mutex
	late map[BlockID][]func() // appends that wait until the block is appended again
}

// Disturbance is what happens to one append. The zero value disturbs nothing.
type Disturbance struct {
	// Delay and Gate postpone the append: for a time, and until the Gate is closed. Append itself returns at once,
	// unless Block is set.
	Delay time.Duration
	Gate  <-chan struct{}
	Block bool
	// Late postpones the append until the same block is appended again.
	Late bool
	// Panic makes Append panic: the block does not land, and there is no answer.
	Panic bool
	// Refuse answers [ErrRefused]: the block did not land and may be appended again. Full refuses every
	// block.
	Refuse, Full bool
	// Never answers [ErrUnstorable]: the block will never land.
	Never bool
	// Unknown answers [ErrUnknown]: the block landed, unless Lose is set too. Lose alone answers that the
	// block landed, although it did not.
	Unknown, Lose bool
	// Twice answers twice.
	Twice bool
}

// Append implements [Journal].
func (j *Hostile) Append(b Block, done func(error)) {
	var d Disturbance
	if j.Disturb != nil {
		d = j.Disturb(b)
	}
	if d.Panic {
		panic("the journal panics, as the test asked")
	}
	if d.Late {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.late == nil {
			j.late = map[BlockID][]func(){}
		}
		j.late[b.ID] = append(j.late[b.ID], func() { j.append(b, d, done) })
		return
	}
	happen := func() {
		j.append(b, d, done)
		for _, f := range j.takeLate(b.ID) {
			f()
		}
	}
	opened := func() {
		if d.Gate != nil {
			<-d.Gate
		}
		happen()
	}
	if d.Block || d.Gate == nil && d.Delay == 0 {
		time.Sleep(d.Delay)
		opened()
		return
	}
	time.AfterFunc(d.Delay, opened)
}

func (j *Hostile) takeLate(id BlockID) []func() {
	j.mu.Lock()
	defer j.mu.Unlock()
	late := j.late[id]
	delete(j.late, id)
	return late
}

// append passes the block on, or not, and answers as the Disturbance says.
func (j *Hostile) append(b Block, d Disturbance, done func(error)) {
	answer := done
	if d.Twice {
		answer = func(err error) { done(err); done(err) }
	}
	switch {
	case d.Refuse:
		answer(ErrRefused)
	case d.Full:
		answer(fmt.Errorf("%w: %w", ErrRefused, errFull))
	case d.Never:
		answer(ErrUnstorable)
	case d.Lose && d.Unknown:
		answer(ErrUnknown)
	case d.Lose:
		answer(nil)
	case d.Unknown:
		j.Journal.Append(b, func(error) { answer(ErrUnknown) })
	default:
		j.Journal.Append(b, answer)
	}
}

var errFull = messages.Errorf(messages.CauseJournalUnavailable, "the disk is full")
