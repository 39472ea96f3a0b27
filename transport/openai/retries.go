package openai

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// patience is how long a run goes on after its client left before the end of its answer.
const patience = 5 * time.Second

// Retries start runs, and know those whose clients left before the end of the answer: whoever sends the same request again
// soon gets the answer of the same run, so that nothing is paid twice. After that the run is cancelled.
type Retries struct {
	*door.Door
	mu   sync.Mutex
	left map[string]left // by what was asked
}

type left struct {
	run    messages.RunID
	cancel *time.Timer
}

// NewRetries returns those of an API.
func NewRetries(to *door.Door) *Retries { return &Retries{Door: to, left: map[string]left{}} }

// Start is [door.Door.StartTurn], or finds the run whose client left. Asked tells what was asked.
func (r *Retries) Start(ctx context.Context, job string, t door.Turn, labels map[string]string, key string) (run messages.RunID, asked string, err error) {
	asked = messages.Digest(string(door.JSON([]any{auth.From(ctx).Name, job, t, t.Text, labels, key})))
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return "", "", err
	}
	if l, ok := r.take(asked); ok {
		return l.run, asked, nil
	}
	run, err = r.StartTurn(ctx, job, t, labels, key)
	return run, asked, err
}

// Deliver calls a function that writes the answer. If that fails, or breaks the connection, the client has left.
func (r *Retries) Deliver(q *http.Request, run messages.RunID, asked string, answer func() error) (err error) {
	whole := false
	defer func() {
		if !whole && asked != "" {
			r.leave(q.Context(), run, asked)
		}
	}()
	err = answer()
	whole = err == nil
	return err
}

func (r *Retries) leave(ctx context.Context, run messages.RunID, asked string) {
	select {
	case <-auth.Draining(ctx): // the run outlives a server that stops
		return
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left[asked] = left{run, time.AfterFunc(patience, func() {
		if _, ok := r.take(asked); ok {
			r.Door.Leave(ctx, run)
		}
	})}
}

func (r *Retries) take(asked string) (left, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, ok := r.left[asked]
	if ok {
		l.cancel.Stop()
		delete(r.left, asked)
	}
	return l, ok
}
