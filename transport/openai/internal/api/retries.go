package api

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

// patience is how long a run continues after its client left before the end of the answer.
const patience = 5 * time.Second

// Retries starts runs, and remembers those whose answers were just written or interrupted. If the same request comes
// again soon, it gets the answer of the same run, so that nothing is paid for twice. If it does not, a run with an
// interrupted answer is cancelled. It is safe for concurrent use.
type Retries struct {
	*door.Door
	delivered sync.Map // *delivery by the hash of the request
}

// delivery is a run whose answer was written, or broke off because its client has left.
type delivery struct {
	run messages.RunID
	cut bool // as far as the server knows, the client lacks the end
}

// Start starts a run like [door.Door.StartTurn], or finds the run of the same request. once is an id that a request
// shares only with its repetitions, or "". Without it, a client that had a complete answer gets a new run. asked
// identifies the request, for [Retries.Deliver].
func (r *Retries) Start(q *http.Request, o *Options, t door.Turn, labels map[string]string, once string) (run messages.RunID, requested string, err error) {
	ctx, key := q.Context(), q.Header.Get("Idempotency-Key")
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return "", "", err
	}
	job, model, err := r.Answerer(ctx, o.Model)
	if err != nil {
		return "", "", err
	}
	t.Model = model
	requested = messages.Digest(string(door.JSON([]any{auth.From(ctx).Name, job.Name, t, t.Text, labels, key, once})))
	again := once != "" || cmp.Or(q.Header.Get("X-Stainless-Retry-Count"), "0") != "0"
	if d, ok := r.delivered.LoadAndDelete(requested); ok && (d.(*delivery).cut || again) {
		return d.(*delivery).run, requested, nil
	}
	run, err = r.StartTurn(ctx, job.Name, t, labels, key)
	return run, requested, err
}

// Deliver calls answer, which writes the response and reports whether a repeated request may get it again. If answer
// fails or breaks the connection, the client has left. requested is "" for a run that no other request may get.
func (r *Retries) Deliver(q *http.Request, run messages.RunID, requested string, answer func() (again bool, err error)) (err error) {
	d, again := &delivery{run, true}, false
	defer func() {
		if requested != "" && (d.cut || again) {
			r.keep(q.Context(), requested, d)
		}
	}()
	again, err = answer()
	d.cut = err != nil
	return err
}

// keep remembers a run for a repetition of its request. If none comes in time and the client has left, the run is left
// too.
func (r *Retries) keep(ctx context.Context, requested string, d *delivery) {
	r.delivered.Store(requested, d)
	time.AfterFunc(patience, func() {
		if r.delivered.CompareAndDelete(requested, d) && d.cut {
			r.Leave(ctx, d.run)
		}
	})
}
