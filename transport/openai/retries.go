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
	left sync.Map // *left by what was asked
}

type left struct {
	run messages.RunID
	cut bool // the client lacks the end, as far as the server knows
}

// Start is [door.Door.StartTurn] for the model that the options name, or finds the run of the same request. Once is an id that
// only a request and its repetitions have, or "": other clients are taken to ask anew if they had a whole answer. Asked tells
// what was asked.
func (r *Retries) Start(q *http.Request, o *Options, t door.Turn, labels map[string]string, once string) (run messages.RunID, asked string, err error) {
	ctx, key := q.Context(), q.Header.Get("Idempotency-Key")
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return "", "", err
	}
	job, model, err := r.Answerer(ctx, o.Model)
	if err != nil {
		return "", "", err
	}
	t.Model = model
	asked = messages.Digest(string(door.JSON([]any{auth.From(ctx).Name, job.Name, t, t.Text, labels, key, once})))
	again := once != "" || cmp.Or(q.Header.Get("X-Stainless-Retry-Count"), "0") != "0"
	if l, ok := r.left.LoadAndDelete(asked); ok && (l.(*left).cut || again) {
		return l.(*left).run, asked, nil
	}
	run, err = r.StartTurn(ctx, job.Name, t, labels, key)
	return run, asked, err
}

// Deliver calls a function that writes the answer, and says whether another request may have it too. If the function fails, or
// breaks the connection, the client has left. asked is "" for a run that others must not get.
func (r *Retries) Deliver(q *http.Request, run messages.RunID, asked string, answer func() (again bool, err error)) (err error) {
	l, again := &left{run, true}, false
	defer func() {
		if asked != "" && (l.cut || again) {
			r.keep(q.Context(), asked, l)
		}
	}()
	again, err = answer()
	l.cut = err != nil
	return err
}

func (r *Retries) keep(ctx context.Context, asked string, l *left) {
	r.left.Store(asked, l)
	time.AfterFunc(patience, func() {
		if r.left.CompareAndDelete(asked, l) && l.cut {
			r.Leave(ctx, l.run)
		}
	})
}
