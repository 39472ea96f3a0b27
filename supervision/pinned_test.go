package supervision_test

// The files pinned_*_test.go pin what is wrong in protoactor-go, as of v0.0.0-20260118094027-288962e52f3f, and what this
// package cures. Each test asserts the wrong behaviour and so fails when a newer version changes it: that is news, not
// a regression. Its comment says what to reconsider; then the test is removed or turned round. None of them uses this
// package: they drive the bare library.

import (
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// upstream is a bare actor system in a bubble of virtual time.
type upstream struct {
	*actor.ActorSystem
	t *testing.T
}

// pinned runs body in a bubble, and runs out every timer the library may have left (futures, dead letters) at its end.
func pinned(t *testing.T, body func(upstream), options ...actor.ConfigOption) {
	synctest.Test(t, func(t *testing.T) {
		body(upstream{silentSystem(options...), t})
		time.Sleep(24 * time.Hour)
	})
}

func silentSystem(options ...actor.ConfigOption) *actor.ActorSystem {
	silent := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	return actor.NewActorSystem(append(options, actor.WithLoggerFactory(silent), actor.WithDeadLetterThrottleInterval(1))...)
}

func (u upstream) spawn(receive actor.ReceiveFunc, options ...actor.PropsOption) *actor.PID {
	return u.Root.Spawn(actor.PropsFromFunc(receive, options...))
}

// tree spawns an actor with the strategy for its children, which are spawned in its Started before receive sees it.
func (u upstream) tree(strategy actor.SupervisorStrategy, receive actor.ReceiveFunc, kids ...actor.ReceiveFunc) *actor.PID {
	pid := u.spawn(func(ctx actor.Context) {
		if _, ok := ctx.Message().(*actor.Started); ok {
			for i, kid := range kids {
				_, _ = ctx.SpawnNamed(actor.PropsFromFunc(kid), strconv.Itoa(i))
			}
		}
		receive(ctx)
	}, actor.WithSupervisor(strategy))
	u.settle()
	return pid
}

func (u upstream) kid(parent *actor.PID, i int) *actor.PID {
	return u.NewLocalPID(parent.Id + "/" + strconv.Itoa(i))
}

// settle returns when every mailbox is drained or blocked.
func (u upstream) settle() { synctest.Wait() }

func (u upstream) tell(pid *actor.PID, message string) {
	u.Root.Send(pid, message)
	u.settle()
}

func (u upstream) open(gate chan struct{}) {
	close(gate)
	u.settle()
}

func (u upstream) wantStops(pid *actor.PID) {
	u.t.Helper()
	if err := u.Root.StopFuture(pid).Wait(); err != nil {
		u.t.Errorf("stopping %s: %v, want it to stop", pid.Id, err)
	}
}

// wantUnstoppable stops an actor and expects that its end is not told within the library's 10 s.
func (u upstream) wantUnstoppable(pid *actor.PID) {
	u.t.Helper()
	if err := u.Root.StopFuture(pid).Wait(); err != actor.ErrTimeout {
		u.t.Errorf("stopping %s: %v, want %v", pid.Id, err, actor.ErrTimeout)
	}
}

func (u upstream) wantAlive(pids ...*actor.PID) {
	u.t.Helper()
	for _, pid := range pids {
		if _, ok := u.ProcessRegistry.Get(pid); !ok {
			u.t.Errorf("%s is not registered, want it to be", pid.Id)
		}
	}
}

func (u upstream) wantGone(pid *actor.PID) {
	u.t.Helper()
	if _, ok := u.ProcessRegistry.Get(pid); ok {
		u.t.Errorf("%s is registered, want it gone", pid.Id)
	}
}

// record is what actors have seen, in order: strings as they are, the library's messages by the names of their types.
type record struct {
	mu   sync.Mutex
	seen []string
}

func (r *record) add(entry string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, entry)
}

func (r *record) note(ctx actor.Context) { r.add(nameOf(ctx.Message())) }

func (r *record) then(next actor.ReceiveFunc) actor.ReceiveFunc { return both(r.note, next) }

func (r *record) middleware(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(ctx actor.ReceiverContext, envelope *actor.MessageEnvelope) {
		r.add(nameOf(envelope.Message))
		next(ctx, envelope)
	}
}

func (r *record) want(t *testing.T, entries ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.seen, entries) {
		t.Errorf("seen %q,\nwant %q", r.seen, entries)
	}
}

func nameOf(message any) string {
	if text, ok := message.(string); ok {
		return text
	}
	return strings.TrimPrefix(actor.MessageName(message), "actor.")
}

// onFailure is a strategy that decides what the function does.
type onFailure func(supervisor actor.Supervisor, reason any)

func (f onFailure) HandleFailure(_ *actor.ActorSystem, supervisor actor.Supervisor, _ *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	f(supervisor, reason)
}

func always(directive actor.Directive) actor.SupervisorStrategy {
	return actor.NewOneForOneStrategy(10, 0, func(any) actor.Directive { return directive })
}

func ignore(actor.Context) {}

func panicsOn[M any](ctx actor.Context) {
	if _, ok := ctx.Message().(M); ok {
		panic("boom")
	}
}

func on(message string, do actor.ReceiveFunc) actor.ReceiveFunc {
	return func(ctx actor.Context) {
		if ctx.Message() == any(message) {
			do(ctx)
		}
	}
}

func waitsFor(gate chan struct{}) actor.ReceiveFunc {
	return on("wait", func(actor.Context) { <-gate })
}

func both(first, second actor.ReceiveFunc) actor.ReceiveFunc {
	return func(ctx actor.Context) {
		first(ctx)
		second(ctx)
	}
}

func recovered(f func()) (reason any) {
	defer func() { reason = recover() }()
	f()
	return nil
}
