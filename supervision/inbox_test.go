package supervision_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/supervision"
)

// numbered is message i of a sender.
type numbered struct{ sender, i int }

func TestFloodKeepsEverySendersOrder(t *testing.T) {
	const senders, each = 10, 1000
	inNode(t, func(t *testing.T, n *supervision.Node) {
		next, f := make([]int, senders), newFamily(t, n)
		sink := f.startFunc("sink", func(ctx actor.Context) {
			if m, ok := ctx.Message().(numbered); ok {
				if next[m.sender] != m.i {
					t.Errorf("sender %d: message %d came when %d was due", m.sender, m.i, next[m.sender])
				}
				next[m.sender]++
			}
		})
		var wg sync.WaitGroup
		for s := range senders {
			wg.Go(func() {
				for i := range each {
					n.Root().Send(sink, numbered{s, i})
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		for s, got := range next {
			if got != each {
				t.Errorf("sender %d: %d of %d messages", s, got, each)
			}
		}
	})
}

// A queue that is never empty reuses its room, in order.
func TestQueueThatIsNeverEmptyKeepsItsOrder(t *testing.T) {
	const ahead, all = 3, 1000
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		due := 0
		child := f.startFunc("child", func(ctx actor.Context) {
			m, ok := ctx.Message().(numbered)
			if !ok {
				return
			}
			if m.i != due {
				t.Errorf("message %d came when %d was due", m.i, due)
			}
			if due++; m.i+ahead < all {
				ctx.Send(ctx.Self(), numbered{0, m.i + ahead})
			}
		})
		f.tell(child, func(ctx actor.Context) {
			for i := range ahead {
				ctx.Send(ctx.Self(), numbered{0, i})
			}
		})
		if due != all {
			t.Errorf("%d of %d messages", due, all)
		}
	})(t)
}

// A nil message is none: what follows it is handled.
func TestNilMessageIsNone(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		handled := false
		child := f.startFunc("child", func(ctx actor.Context) {
			_, ok := ctx.Message().(numbered)
			handled = handled || ok
		})
		n.Root().Send(child, nil)
		n.Root().Send(child, numbered{})
		if synctest.Wait(); !handled {
			t.Error("the actor hangs after a nil message")
		}
	})(t)
}

// A stop overtakes what is queued, and what is queued is not handled any more.
func TestStopOvertakesTheQueue(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		hold, release := block(t)
		handled := 0
		child := f.startFunc("child", upon[numbered](func(actor.Context) { handled++ }))
		f.tell(child, hold)
		for i := range 100 {
			n.Root().Send(child, numbered{0, i})
		}
		f.ask("child")
		release()
		synctest.Wait()
		if f.onlyExit(); handled != 0 {
			t.Errorf("%d messages were handled before the stop", handled)
		}
	})(t)
}

// Nobody here resumes an actor, but the library's interface lets a strategy do it.
func TestSuspendedActorHandlesNothingUntilResumed(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		handled := 0
		child := f.startFunc("child", upon[numbered](func(actor.Context) { handled++ }))
		process, _ := n.System().ProcessRegistry.Get(child)
		process.SendSystemMessage(child, &actor.SuspendMailbox{})
		n.Root().Send(child, numbered{})
		synctest.Wait()
		if handled != 0 {
			t.Error("handled while suspended")
		}
		process.SendSystemMessage(child, &actor.ResumeMailbox{})
		synctest.Wait()
		if handled != 1 {
			t.Errorf("%d messages handled after the resume", handled)
		}
	})(t)
}

// A handled message is let go of, by an idle mailbox and by one that is never empty.
func TestHandledMessagesAreNotKept(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		child := f.startFunc("child", nil)
		hold, release := block(t)
		sent := make([]weak.Pointer[[1 << 16]byte], 10)
		for i := range sent {
			big := new([1 << 16]byte)
			sent[i] = weak.Make(big)
			n.Root().Send(child, big)
		}
		n.Root().Send(child, do(hold))
		n.Root().Send(child, "behind")
		synctest.Wait()
		runtime.GC()
		for i, big := range sent {
			if big.Value() != nil {
				t.Errorf("message %d is kept", i)
			}
		}
		release()
	})(t)
}

// Spawning is safe for concurrent use: no child gets another's actor.
func TestConcurrentStarts(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		const parents, each = 20, 10
		var wrong sync.Map
		for p := range parents {
			body := &parent{Children: &supervision.Children{Node: n}}
			pid := n.Root().Spawn(n.Props(func() actor.Actor { return body }))
			n.Root().Send(pid, do(func(ctx actor.Context) {
				for i := range each {
					name := fmt.Sprint("child", p, "-", i)
					_, err := body.Start(ctx, supervision.ChildSpec{Name: name, New: func() actor.Actor {
						return obeying(func(ctx actor.Context) {
							if want := ctx.Parent().Id + "/" + name; ctx.Self().Id != want {
								wrong.Store(ctx.Self().Id, want)
							}
						})
					}})
					if err != nil {
						wrong.Store(name, err)
					}
				}
			}))
		}
		synctest.Wait()
		wrong.Range(func(k, v any) bool { t.Errorf("%v, want %v", k, v); return true })
	})
}

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
