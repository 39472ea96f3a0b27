package supervision_test

import (
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

var errBroken = errors.New("broken")

// The ways in which code ends without returning.
func throwError(actor.Context)  { panic(errBroken) }
func throwText(actor.Context)   { panic("text") }
func throwNil(actor.Context)    { panic(nil) } //nolint:govet // the point
func throwGoexit(actor.Context) { runtime.Goexit() }
func throwMute(actor.Context)   { panic(mute{}) }
func throwNilMap(actor.Context) { count(nil) }

// mute is an error that ends the goroutine that asks it.
type mute struct{}

func (mute) Error() string { runtime.Goexit(); return "" }
func (mute) Unwrap() error { runtime.Goexit(); return nil }

func count(m map[string]int) { m["a"]++ }

func TestCrashReachesTheParentWithItsStack(t *testing.T) {
	for name, c := range map[string]struct {
		throw func(actor.Context)
		text  string
		is    error
	}{
		"throwError":  {throwError, "panic: broken", errBroken},
		"throwText":   {throwText, "panic: text", nil},
		"throwNil":    {throwNil, "panic: panic called with nil argument", nil},
		"throwGoexit": {throwGoexit, "the goroutine ended by runtime.Goexit", supervision.ErrGoexit},
		"throwMute":   {throwMute, "panic: a supervision_test.mute, which gives no text", nil},
		"throwNilMap": {throwNilMap, "panic: assignment to entry in nil map", nil},
	} {
		t.Run(name, inFamily(func(t *testing.T, n *supervision.Node, f *family) {
			child := f.startFunc("child", nil)
			f.tell(child, c.throw)
			exit := f.onlyExit()
			crash := wantCrash(t, exit.Err)
			if !strings.HasPrefix(crash.Error(), c.text) {
				t.Errorf("crash %q, want %q", crash.Error(), c.text)
			}
			if c.is != nil {
				wantErr(t, crash, c.is)
			}
			if d := (supervision.Policy{}).Decide(supervision.Failure{Err: exit.Err}, 0); d.Cause != messages.CausePanic {
				t.Errorf("%+v", d)
			}
			if !strings.Contains(string(crash.Stack), "."+name+"(") || crash.During != "supervision_test.do" {
				t.Errorf("during %s, stack without %s:\n%s", crash.During, name, crash.Stack)
			}
			if exit.Asked || exit.PID != child || n.Alive(child) {
				t.Errorf("wrong evidence: %+v", exit)
			}
			f.stopsWithin(0)
		}))
	}
}

func TestCrashInStartedReachesTheParent(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		f.startFunc("child", upon[*actor.Started](throwError))
		if crash := wantCrash(t, f.onlyExit().Err); crash.During != "*actor.Started" {
			t.Errorf("during %s", crash.During)
		}
	})(t)
}

// A crash that is thrown again keeps its stack: that is how a task's crash becomes its actor's.
func TestCrashThrownAgainStaysItself(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		first := &supervision.Crash{Value: "first", Stack: []byte("there"), During: "task"}
		f.tell(f.startFunc("child", nil), func(actor.Context) { panic(first) })
		if got := wantCrash(t, f.onlyExit().Err); got != first {
			t.Errorf("crash %+v, want the first one", got)
		}
	})(t)
}

// A failing clean-up, in whatever message and however it fails, ends the child at once, with its children.
func TestFailingCleanUpWedgesNothing(t *testing.T) {
	type when func(ctx actor.Context) bool
	of := func(want any) when {
		return func(ctx actor.Context) bool { return typeOf(ctx.Message()) == typeOf(want) }
	}
	for name, in := range map[string]when{
		"stopping":   of(&actor.Stopping{}),
		"stopped":    of(&actor.Stopped{}),
		"terminated": of(&actor.Terminated{}),
	} {
		for how, throw := range map[string]func(actor.Context){"panic": throwError, "goexit": throwGoexit} {
			t.Run(name+" "+how, func(t *testing.T) {
				inFamily(func(t *testing.T, n *supervision.Node, f *family) {
					child := f.startFunc("child", func(ctx actor.Context) {
						if in(ctx) {
							throw(ctx)
						}
					})
					var grandchild *actor.PID
					f.tell(child, func(ctx actor.Context) {
						grandchild = ctx.Spawn(n.Props(func() actor.Actor { return obeying(nil) }))
					})
					f.ask("child")
					if exit := f.onlyExit(); exit.Err != nil || !exit.Asked {
						t.Errorf("exit %+v, want a clean one", exit)
					}
					if n.Alive(child) || n.Alive(grandchild) {
						t.Error("somebody is still alive")
					}
					wantCounters(t, n, supervision.Counters{SwallowedCrashes: 1})
					f.stopsWithin(0)
				})(t)
			})
		}
	}
}

// The library would go on with the mailbox: it never got to know that the actor has stopped.
func TestNothingFollowsStopped(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		hold, release := block(t)
		var got []any
		child := f.startFunc("child", func(ctx actor.Context) {
			got = append(got, ctx.Message())
			if _, ok := ctx.Message().(*actor.Stopped); ok {
				throwGoexit(ctx)
			}
		})
		f.tell(child, hold)
		f.ask("child")
		n.Root().Send(child, "late")
		release()
		synctest.Wait()
		if len(got) != 3 { // Started, Stopping, Stopped
			t.Errorf("got %v", got)
		}
		f.onlyExit()
	})(t)
}

func TestLateMessagesMakeNoNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		n := supervision.NewNode(slog.New(slog.NewTextHandler(&log, nil)), nil)
		defer n.Close()
		log.Reset()
		for _, m := range []any{
			&supervision.TaskMessage{}, &supervision.TaskEnded{}, supervision.Shutdown{}, &supervision.Shutdown{},
		} {
			n.Root().Send(n.System().NewLocalPID("nobody"), m)
		}
		if log.Len() != 0 {
			t.Error(log.String())
		}
		n.Root().Send(n.System().NewLocalPID("nobody"), "another message")
		if !strings.Contains(log.String(), "DeadLetter") {
			t.Errorf("the log would not show it: %q", log.String())
		}
		pass(time.Second)
	})
}

func TestCrashOfAStoppingActorIsCounted(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		child := f.startFunc("child", nil)
		hold, release := block(t)
		f.tell(child, func(ctx actor.Context) {
			grandchild := ctx.Spawn(n.Props(func() actor.Actor { return obeying(nil) }))
			ctx.Send(grandchild, do(hold))
		})
		f.ask("child") // waits for the grandchild
		f.tell(child, throwGoexit)
		f.tell(child, throwError)
		release()
		synctest.Wait()
		if exit := f.onlyExit(); exit.Err != nil {
			t.Errorf("exit %+v, want a clean one", exit)
		}
		wantCounters(t, n, supervision.Counters{SwallowedCrashes: 2})
	})(t)
}

// decider is an actor whose HandleFailure is the test's.
type decider struct {
	actor.Actor
	decide func()
}

func (d decider) HandleFailure(*actor.ActorSystem, actor.Supervisor, *actor.PID, *actor.RestartStatistics, any, any) {
	d.decide()
}

func TestCrashOfADeciderIsTheDecidersOwn(t *testing.T) {
	for name, throw := range map[string]func(actor.Context){"panic": throwError, "goexit": throwGoexit} {
		t.Run(name, inFamily(func(t *testing.T, n *supervision.Node, f *family) {
			middle := f.start(supervision.ChildSpec{Name: "middle", New: func() actor.Actor {
				return decider{obeying(nil), func() { throw(nil) }}
			}})
			f.tell(middle, func(ctx actor.Context) {
				ctx.Send(ctx.Spawn(n.Props(func() actor.Actor { return obeying(nil) })), do(throwText))
			})
			if crash := wantCrash(t, f.onlyExit().Err); crash.During != "HandleFailure" {
				t.Errorf("during %s, want HandleFailure", crash.During)
			}
			f.stopsWithin(0)
		}))
	}
}

func TestActorWithoutStrategyStopsFailingChildren(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		middle, started := f.startFunc("middle", nil), 0
		f.tell(middle, func(ctx actor.Context) {
			ctx.Send(ctx.Spawn(n.Props(func() actor.Actor { started++; return obeying(nil) })), do(throwText))
		})
		f.tell(middle, func(ctx actor.Context) {
			if started != 1 || len(ctx.Children()) != 0 {
				t.Errorf("started %d times, %d children are left", started, len(ctx.Children()))
			}
		})
		f.stopsWithin(0)
	})(t)
}

func TestTopActorSaysGoodbyeToNobody(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		for _, root := range []*actor.RootContext{n.Root(), n.System().Root} {
			pid := root.Spawn(n.Props(func() actor.Actor { return obeying(nil) }))
			root.Send(pid, do(supervision.Goodbye))
			synctest.Wait()
			if n.Alive(pid) {
				t.Error("still alive")
			}
		}
		wantCounters(t, n, supervision.Counters{})
	})
}

func TestDispatcherSurvivesGoexit(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		got := 0
		counter := f.startFunc("counter", upon[int](func(actor.Context) { got++ }))
		for range 100 {
			child := f.startFunc("child", nil)
			for i := range 10 {
				n.Root().Send(child, do(func(ctx actor.Context) { ctx.Send(counter, i) }))
			}
			f.tell(child, throwGoexit)
		}
		if got != 1000 || len(f.exits()) != 100 {
			t.Errorf("%d of 1000 messages, %d of 100 exits", got, len(f.exits()))
		}
		for _, exit := range f.exits() {
			wantErr(t, exit.Err, supervision.ErrGoexit)
		}
	})(t)
}

func TestDispatcherParksABoundedNumber(t *testing.T) {
	parked := func() int {
		stacks := make([]byte, 1<<22)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), ".(*dispatcher).park(")
	}
	inNode(t, func(t *testing.T, n *supervision.Node) {
		hold, release := block(t)
		for range 200 {
			n.Root().Send(n.Root().Spawn(n.Props(func() actor.Actor { return obeying(nil) })), do(hold))
		}
		synctest.Wait()
		release()
		synctest.Wait()
		if left := parked(); left < 1 || left > 64 {
			t.Errorf("%d goroutines are parked, want 1 to 64", left)
		}
		n.Close()
		synctest.Wait()
		if left := parked(); left > 0 {
			t.Errorf("%d goroutines are parked after Close", left)
		}
		pid := n.Root().Spawn(n.Props(func() actor.Actor { return obeying(nil) }))
		n.Root().Stop(pid)
		n.Close()
	})
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	n := supervision.NewNode(nil, nil)
	defer n.Close()
	pid := n.Root().Spawn(n.Props(func() actor.Actor { return obeying(nil) }))
	fatal.IfError(t, n.Root().StopFuture(pid).Wait())
	n.Root().Send(pid, "a dead letter")
	if n.Alive(pid) {
		t.Error("alive")
	}
}

func TestRestartingIsGuardedToo(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		receive := upon[*actor.Restarting](throwGoexit)
		pid := n.Root().Spawn(n.Props(func() actor.Actor { return obeying(receive) }))
		process, _ := n.System().ProcessRegistry.Get(pid)
		process.SendSystemMessage(pid, &actor.Restart{})
		n.Root().Stop(pid)
		pass(time.Second)
		if n.Alive(pid) {
			t.Error("the actor is wedged")
		}
		wantCounters(t, n, supervision.Counters{SwallowedCrashes: 1})
	})
}
