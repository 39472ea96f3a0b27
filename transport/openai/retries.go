package openai

import (
	"cmp"
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

// Retries start runs, and know those whose answers have just been written or cut: whoever soon sends the same request again
// gets the answer of the same run, so that nothing is paid twice. A run whose answer was cut is cancelled after that.
type Retries struct {
	*door.Door
	mu   sync.Mutex
	left map[string]left // by what was asked
}

type left struct {
	run  messages.RunID
	cut  bool // the client lacks the end, as far as the server knows
	over *time.Timer
}

// NewRetries returns those of an API.
func NewRetries(to *door.Door) *Retries { return &Retries{Door: to, left: map[string]left{}} }

// Start is [door.Door.StartTurn], or finds the run of the same request. Once is an id that only a request and its repetitions
// have, or "": other clients are taken to ask anew if they had a whole answer. Asked tells what was asked.
func (r *Retries) Start(q *http.Request, job string, t door.Turn, labels map[string]string, once string) (run messages.RunID, asked string, err error) {
	ctx, key := q.Context(), q.Header.Get("Idempotency-Key")
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return "", "", err
	}
	asked = messages.Digest(string(door.JSON([]any{auth.From(ctx).Name, job, t, t.Text, labels, key, once})))
	again := once != "" || cmp.Or(q.Header.Get("X-Stainless-Retry-Count"), "0") != "0"
	if l, ok := r.take(asked); ok && (l.cut || again) {
		return l.run, asked, nil
	}
	run, err = r.StartTurn(ctx, job, t, labels, key)
	return run, asked, err
}

// Deliver calls a function that writes the answer, and says whether another request may have it too. If the function fails, or
// breaks the connection, the client has left.
func (r *Retries) Deliver(q *http.Request, run messages.RunID, asked string, answer func() (again bool, err error)) error {
	again, cut := true, true
	defer func() {
		if again && asked != "" {
			r.leave(q.Context(), run, asked, cut)
		}
	}()
	fine, err := answer()
	cut = err != nil
	again = cut || fine
	return err
}

func (r *Retries) leave(ctx context.Context, run messages.RunID, asked string, cut bool) {
	select {
	case <-auth.Draining(ctx): // the run outlives a server that stops
		return
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left[asked] = left{run, cut, time.AfterFunc(patience, func() {
		if l, ok := r.take(asked); ok && l.cut {
			r.Door.Leave(ctx, run)
		}
	})}
}

func (r *Retries) take(asked string) (left, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, ok := r.left[asked]
	if ok {
		l.over.Stop()
		delete(r.left, asked)
	}
	return l, ok
}
