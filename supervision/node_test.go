package supervision_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/supervision"
)

// Every actor system begins with the same ids: without the address, the other node's actor would have the message.
func TestNodesTellTheirPIDsApart(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		other := supervision.NewNode(nil, nil)
		defer other.Close()
		bare, ours, theirs := silentSystem(), newFamily(t, n), newFamily(t, other)
		foreign, err := bare.Root.SpawnNamed(actor.PropsFromFunc(ignore), "family")
		fatal.IfError(t, err)
		gone := ours.startFunc("gone", nil)
		ours.ask("gone")
		for name, c := range map[string]struct {
			pid  *actor.PID
			want bool
		}{
			"ours":            {ours.pid, true},
			"ours, by id":     {n.System().NewLocalPID("family"), true},
			"theirs":          {theirs.pid, false},
			"another's":       {foreign, false},
			"gone":            {gone, false},
			"never there":     {n.System().NewLocalPID("nobody"), false},
			"nobody's at all": {nil, false},
		} {
			if got := n.Owns(c.pid); got != c.want {
				t.Errorf("%s: owned %t, want %t", name, got, c.want)
			}
		}
		n.Root().Send(other.System().NewLocalPID("family"), "lost")
		synctest.Wait()
		wantHeard(t, ours, supervision.Exit{Name: "gone", PID: gone, Asked: true})
		wantHeard(t, theirs)
		theirs.stopsWithin(0)
		_ = bare.Root.StopFuture(foreign).Wait()
	})
}

// What the library does with addresses works with the node's own.
func TestAddressOfTheNode(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		echo := n.Root().Spawn(n.Props(func() actor.Actor {
			return actor.ReceiveFunc(func(ctx actor.Context) {
				if ctx.Sender() != nil {
					ctx.Respond(ctx.Message())
				}
			})
		}))
		far := actor.NewPID(n.System().Address(), echo.Id)
		if answer, err := n.Root().RequestFuture(far, "hello", time.Second).Result(); answer != "hello" || err != nil {
			t.Errorf("the answer is %v, %v", answer, err)
		}
		f := newFamily(t, n)
		var ends []*actor.Terminated
		f.start(supervision.ChildSpec{Name: "watcher", New: func() actor.Actor {
			return obeying(func(ctx actor.Context) {
				switch m := ctx.Message().(type) {
				case *actor.Started:
					ctx.Watch(far)
					ctx.Watch(n.System().NewLocalPID("nobody"))
				case *actor.Terminated:
					ends = append(ends, m)
				}
			})
		}})
		if len(ends) != 1 || ends[0].Who.Id != "nobody" || ends[0].Why != actor.TerminatedReason_NotFound {
			t.Errorf("told %v, want only that nobody does not exist", ends)
		}
		fatal.IfError(t, n.Root().StopFuture(far).Wait())
		synctest.Wait()
		if len(ends) != 2 || !ends[1].Who.Equal(echo) {
			t.Errorf("told %v of the end", ends)
		}
		if _, err := n.Root().RequestFuture(far, "hello", time.Second).Result(); err != actor.ErrDeadLetter {
			t.Errorf("the answer of the dead is %v", err)
		}
	})
}

// A node in somebody else's system takes part in it, supervises there, and leaves it running.
func TestNodeInAGivenSystem(t *testing.T) {
	pinned(t, func(u upstream) {
		var log record
		resident, n := u.spawn(log.note), supervision.NewNode(nil, u.ActorSystem)
		twin := supervision.NewNode(nil, u.ActorSystem)
		if n.System() != u.ActorSystem || !n.Owns(resident) {
			u.t.Error("the node is in another system")
		}
		f := newFamily(u.t, n)
		f.tell(f.startFunc("child", nil), func(ctx actor.Context) {
			ctx.Send(resident, "from within")
			panic(errBroken)
		})
		wantErr(u.t, f.onlyExit().Err, errBroken)
		hung := f.startFunc("hung", nil)
		hold, release := block(u.t)
		f.tell(hung, hold)
		f.stopsWithin(supervision.DefaultShutdown)
		wantCounters(u.t, n, supervision.Counters{AbandonedActors: 1})
		wantCounters(u.t, twin, supervision.Counters{})
		release()
		u.settle()
		n.Close()
		u.tell(resident, "after")
		log.want(u.t, "Started", "from within", "after")
		again := newFamily(u.t, twin)
		again.stopsWithin(0)
		twin.Close()
		if u.IsStopped() {
			u.t.Error("the system was shut down")
		}
	})
}
