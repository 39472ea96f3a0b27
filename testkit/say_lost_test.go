package testkit_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// severed is the journal of a node that is lost after some appends: nothing of it gets through from then on.
type severed struct {
	actors.Journal
	appends atomic.Int64 // that are left
	lost    context.Context
	lose    func()
}

var errSevered = errors.New("the node is lost")

func (s *severed) Append(b journal.Block, done func(error)) {
	if s.appends.Add(-1) < 0 {
		s.lose()
		return
	}
	s.Journal.Append(b, done)
}

func (s *severed) Claim(ctx context.Context, node string) (c journal.Claim, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(s.lost, cancel)()
	if c, err = s.Journal.Claim(ctx, node); s.lost.Err() != nil {
		err = errSevered
	}
	return c, err
}

func (s *severed) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	if s.lost.Err() != nil {
		return errSevered
	}
	return s.Journal.Keep(ctx, c, k)
}

func (s *severed) Send(ctx context.Context, c journal.Command) error {
	if s.lost.Err() != nil {
		return errSevered
	}
	return s.Journal.Send(ctx, c)
}

// "Five messages to each of 100 runs at random instants, each posted twice, and the node that works is lost: each is
// delivered at most once, ended exactly once, and in order."
func TestMessagesOfALostNode(t *testing.T) {
	const each = 5
	runs := 100
	if testing.Short() {
		runs = 20
	}
	hear := func(ctx context.Context, task *actors.TaskContext) error {
		heard := []string{}
		for e, err := range task.Earlier(ctx) {
			if err != nil {
				return err
			}
			if b, ok := e.Body.(messages.MessageDelivered); ok {
				heard = append(heard, b.Message)
			}
		}
		for i := 0; len(heard) < each; i++ {
			said, err := task.Messages(ctx, fmt.Sprintf("call.%d.%d", task.Attempt(), i))
			if err != nil {
				return err
			}
			for _, one := range said {
				heard = append(heard, one.Message)
			}
			if supervision.Sleep(ctx, 100*time.Millisecond); ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		return task.Result(heard, false)
	}
	jobs := []actors.Definition{{Name: "hear", JobSpec: messages.JobSpec{Messages: true}, Restart: true, New: func(json.RawMessage) (actors.Job, error) {
		return actors.Job{Name: "hear", Tasks: []actors.Task{{Name: "hear", Run: hear}}}, nil
	}}}
	for seed := range uint64(2) {
		synctest.Test(t, func(t *testing.T) {
			store, err := sqlite.Open(t.TempDir())
			must(t, err)
			s := &severed{Journal: store}
			s.lost, s.lose = context.WithCancel(t.Context())
			dice := rand.New(rand.NewPCG(seed, 1))
			s.appends.Store(int64(runs*4 + dice.IntN(runs*each)))
			first, err := actors.New(t.Context(), actors.Config{Journal: s, Jobs: jobs})
			must(t, err)
			second, err := actors.New(t.Context(), actors.Config{Journal: store, Jobs: jobs})
			must(t, err)
			var posts sync.WaitGroup
			var ids []messages.RunID
			for range runs {
				id, err := first.Submit(t.Context(), messages.Request{Job: "hear"})
				must(t, err)
				ids = append(ids, id)
				for n := range 2 * each {
					at := time.Duration(dice.IntN(5000)) * time.Millisecond
					posts.Go(func() { post(t, at, id, fmt.Sprint("m", n%each), first, second) })
				}
			}
			posts.Wait()
			if s.lose(); s.appends.Load() >= 0 {
				t.Error("the node was not lost in time")
			}
			for _, id := range ids {
				for _, err := range second.Events(t.Context(), id, 0) { // the fold of the log judges each event
					must(t, err)
				}
				state, err := second.State(t.Context(), id)
				must(t, err)
				var heard, delivered []string
				for _, m := range state.Messages {
					delivered = append(delivered, m.Message)
				}
				if state.Status != messages.Completed || json.Unmarshal(state.End.Result, &heard) != nil || len(heard) != each || !slices.Equal(heard, delivered) {
					t.Errorf("seed %d: run %s is %s and has heard %v, its log has %v", seed, id, state.Status, heard, delivered)
				}
			}
			closed, cancel := context.WithCancel(t.Context())
			cancel()
			_ = first.Close(closed) // it is lost
			must(t, cmp.Or(second.Close(t.Context()), store.Close()))
		})
	}
}

// post says something at the time, and repeats it at one node or the other until it is answered.
func post(t *testing.T, at time.Duration, id messages.RunID, name string, nodes ...*actors.System) {
	time.Sleep(at)
	for i := 0; ; i++ {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := nodes[i%len(nodes)].Send(ctx, id, messages.Said{Message: name, Content: "say " + name})
		if cancel(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
		if i > 100 {
			t.Errorf("%s of %s: %v", name, id, err)
			return
		}
	}
}
