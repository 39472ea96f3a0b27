package supervision_test

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/supervision"
)

func typeOf(v any) reflect.Type { return reflect.TypeOf(v) }

func TestExitFollowsTheLastWords(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		child := f.startFunc("child", nil)
		f.tell(child, func(ctx actor.Context) {
			for i := range 5 {
				ctx.Send(ctx.Parent(), fmt.Sprint(i))
			}
			panic(errBroken)
		})
		if heard := f.heard(); len(heard) != 6 || !slices.Equal(heard[:5], []any{"0", "1", "2", "3", "4"}) {
			t.Fatalf("heard %v", heard)
		}
		wantErr(t, f.onlyExit().Err, errBroken)
	})(t)
}

func TestEndsDiffer(t *testing.T) {
	hour := func(actor.Context) { time.Sleep(time.Hour) }
	for name, c := range map[string]struct {
		end  func(f *family, child *actor.PID)
		want supervision.Exit
		errs []error
	}{
		"asked":   {func(f *family, _ *actor.PID) { f.ask("child") }, supervision.Exit{Asked: true}, nil},
		"goodbye": {func(f *family, child *actor.PID) { f.tell(child, supervision.Goodbye) }, supervision.Exit{}, nil},
		"killed": {func(f *family, child *actor.PID) { f.n.Root().Stop(child) },
			supervision.Exit{}, []error{supervision.ErrKilled}},
		"poisoned": {func(f *family, child *actor.PID) { f.n.Root().Poison(child) },
			supervision.Exit{}, []error{supervision.ErrKilled}},
		"crashed": {func(f *family, child *actor.PID) { f.tell(child, throwError) }, supervision.Exit{}, []error{errBroken}},
		"crashed after its goodbye": {func(f *family, child *actor.PID) {
			f.tell(child, func(ctx actor.Context) { supervision.Goodbye(ctx); panic(errBroken) })
		}, supervision.Exit{}, []error{errBroken}},
		"abandoned": {func(f *family, child *actor.PID) { f.tell(child, hour); f.ask("child") },
			supervision.Exit{Asked: true}, []error{supervision.ErrAbandoned}},
		"abandoned by others": {func(f *family, child *actor.PID) {
			f.tell(child, hour)
			f.n.Abandon(f.pid, f.n.System().NewLocalPID(child.Id))
		}, supervision.Exit{}, []error{supervision.ErrAbandoned}},
	} {
		t.Run(name, inFamily(func(t *testing.T, n *supervision.Node, f *family) {
			child := f.startFunc("child", nil)
			c.end(f, child)
			pass(2 * time.Hour)
			exit := f.onlyExit()
			if len(c.errs) == 0 && exit.Err != nil {
				t.Errorf("error %v, want none", exit.Err)
			}
			for _, want := range c.errs {
				wantErr(t, exit.Err, want)
			}
			if exit.Asked != c.want.Asked || exit.Name != "child" || exit.PID != child {
				t.Errorf("exit %+v", exit)
			}
			if left, pid := f.listed("child"); left != 0 || pid != nil {
				t.Error("the child is still listed")
			}
			f.stopsWithin(0)
		}))
	}
}

func TestStopOfAHungChildEndsInTime(t *testing.T) {
	for name, c := range map[string]struct {
		shutdown, busy, want time.Duration
		abandoned            int64
	}{
		"default":      {0, time.Hour, supervision.DefaultShutdown, 1},
		"limit":        {2 * time.Second, time.Hour, 2 * time.Second, 1},
		"within limit": {2 * time.Second, time.Second, time.Second, 0},
		"infinity":     {supervision.Infinity, time.Hour, time.Hour, 0},
	} {
		t.Run(name, inFamily(func(t *testing.T, n *supervision.Node, f *family) {
			child := f.start(supervision.ChildSpec{
				Name: "child", Shutdown: c.shutdown, New: func() actor.Actor { return obeying(nil) },
			})
			f.tell(child, func(actor.Context) { time.Sleep(c.busy) })
			asked := time.Now()
			f.ask("child")
			f.ask("child")
			for len(f.exits()) == 0 {
				pass(time.Millisecond)
			}
			// The loop sees the end a tick late.
			if took := time.Since(asked) - time.Millisecond; took < c.want-time.Millisecond || took > c.want {
				t.Errorf("took %v, want %v", took, c.want)
			}
			wantCounters(t, n, supervision.Counters{AbandonedActors: c.abandoned})
			pass(2 * time.Hour) // the busy one comes to its end, and nothing is told twice
			f.onlyExit()
			wantCounters(t, n, supervision.Counters{AbandonedActors: c.abandoned})
		}))
	}
}

func TestCrashThenHangIsBoth(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		hold, release := block(t)
		child := f.startFunc("child", upon[*actor.Stopping](hold))
		f.tell(child, throwError)
		pass(supervision.DefaultShutdown - 1)
		if len(f.exits()) != 0 {
			t.Error("given up too early")
		}
		pass(1)
		exit := f.onlyExit()
		wantErr(t, exit.Err, errBroken)
		wantErr(t, exit.Err, supervision.ErrAbandoned)
		wantCrash(t, exit.Err)
		release()
	})(t)
}

// An abandoned actor that ends after all must not take its successor's place in the registry with it.
func TestLateEndOfTheAbandonedHarmsNobody(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		hold, release := block(t)
		old := f.startFunc("child", nil)
		f.tell(old, hold)
		f.ask("child")
		pass(supervision.DefaultShutdown)
		fresh := f.startFunc("child", nil)
		if _, pid := f.listed("child"); fresh.Id != old.Id+"~1" || pid != fresh {
			t.Errorf("the successor of %s is %s", old.Id, fresh.Id)
		}
		release()
		synctest.Wait()
		if left, _ := f.listed("child"); !n.Alive(fresh) || left != 1 || len(f.exits()) != 1 {
			t.Errorf("alive %t, %d children, exits %v", n.Alive(fresh), left, f.exits())
		}
		f.stopsWithin(0)
	})(t)
}

func TestNobodyIsAbandonedTwice(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		child := f.startFunc("child", nil)
		n.Abandon(nil, child)
		n.Abandon(nil, child)
		n.Abandon(f.pid, child)
		synctest.Wait()
		wantCounters(t, n, supervision.Counters{AbandonedActors: 1})
		wantErr(t, f.onlyExit().Err, supervision.ErrAbandoned) // it was not hung, and told its end itself
	})(t)
}

func TestStartRefuses(t *testing.T) {
	make1 := func() actor.Actor { return obeying(nil) }
	for name, c := range map[string]struct {
		spec supervision.ChildSpec
		is   error
	}{
		"no name":   {supervision.ChildSpec{New: make1}, nil},
		"no New":    {supervision.ChildSpec{Name: "a"}, nil},
		"nil actor": {supervision.ChildSpec{Name: "a", New: func() actor.Actor { return nil }}, nil},
		"twice":     {supervision.ChildSpec{Name: "child", New: make1}, actor.ErrNameExists},
		"foreign":   {supervision.ChildSpec{Name: "foreign", New: make1}, actor.ErrNameExists},
		"panic":     {supervision.ChildSpec{Name: "a", New: func() actor.Actor { panic(errBroken) }}, errBroken},
	} {
		t.Run(name, inFamily(func(t *testing.T, n *supervision.Node, f *family) {
			f.startFunc("child", nil)
			if _, err := n.Root().SpawnNamed(n.Props(make1), "family/foreign"); err != nil {
				t.Fatal(err)
			}
			f.within(func(ctx actor.Context) {
				pid, err := f.Start(ctx, c.spec)
				if err == nil || pid != nil {
					t.Errorf("started as %v", pid)
				}
				if c.is != nil {
					wantErr(t, err, c.is)
				}
				if name == "panic" && wantCrash(t, err).During != "New a" {
					t.Errorf("during %s", wantCrash(t, err).During)
				}
			})
			if left, _ := f.listed("child"); left != 1 {
				t.Errorf("%d children", left)
			}
			f.stopsWithin(0)
		}))
	}
}

// Goexit of a constructor cannot be kept from unwinding the parent: it is the parent's crash.
func TestGoexitInNewIsTheParentsCrash(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		middle := &parent{Children: &supervision.Children{Node: n}}
		pid := f.start(supervision.ChildSpec{Name: "middle", New: func() actor.Actor { return middle }})
		f.tell(pid, func(ctx actor.Context) {
			_, _ = middle.Start(ctx, supervision.ChildSpec{Name: "a", New: func() actor.Actor { throwGoexit(nil); return nil }})
		})
		wantErr(t, f.onlyExit().Err, supervision.ErrGoexit)
	})(t)
}

// The library never ends an actor that gets a child while it stops.
func TestStoppingParentStartsNobody(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		middle := &parent{Children: &supervision.Children{Node: n}}
		try := func(ctx actor.Context) {
			_, err := middle.Start(ctx, supervision.ChildSpec{Name: "late", New: func() actor.Actor { return obeying(nil) }})
			wantErr(t, err, supervision.ErrStopping)
		}
		tried := 0
		pid := f.start(supervision.ChildSpec{Name: "middle", New: func() actor.Actor {
			return actor.ReceiveFunc(func(ctx actor.Context) {
				middle.Receive(ctx)
				switch ctx.Message().(type) {
				case *actor.Stopping, *actor.Terminated, *actor.Stopped:
					tried++
					try(ctx)
				}
			})
		}})
		f.tell(pid, func(ctx actor.Context) {
			_, _ = middle.Start(ctx, supervision.ChildSpec{Name: "early", New: func() actor.Actor { return obeying(nil) }})
		})
		f.ask("middle")
		f.onlyExit()
		if tried != 3 {
			t.Errorf("tried %d times, want 3", tried)
		}
	})(t)
}

// The parent's own mailbox is suspended by its crash: the abandonment must not need it.
func TestCrashedParentAbandonsTheHung(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		hold, _ := block(t)
		f.tell(f.startFunc("hung", nil), hold)
		f.within(throwError)
		pass(supervision.DefaultShutdown)
		if n.Alive(f.pid) {
			t.Error("the parent is wedged")
		}
		wantCounters(t, n, supervision.Counters{AbandonedActors: 1})
	})(t)
}

func TestStopIsIdempotent(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		stopping := 0
		child := f.startFunc("child", upon[*actor.Stopping](func(actor.Context) { stopping++ }))
		f.ask("nobody")
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				n.Root().Stop(child)
				n.Root().Poison(child)
				if i%10 == 0 {
					n.Root().Send(f.pid, do(func(ctx actor.Context) { f.Stop(ctx, "child") }))
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		f.onlyExit()
		if stopping != 1 {
			t.Errorf("Stopping came %d times", stopping)
		}
	})(t)
}

// A stop that comes when the end is known, but not yet told, does not change what it was.
func TestStopAfterTheEnd(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		child := f.startFunc("child", nil)
		hold, release := block(t)
		f.within(hold)
		n.Root().Stop(child)
		f.within(func(ctx actor.Context) { f.Stop(ctx, "child") }) // handled between the library's word and ours
		release()
		synctest.Wait()
		exit := f.onlyExit()
		if wantErr(t, exit.Err, supervision.ErrKilled); exit.Asked {
			t.Error("asked")
		}
	})(t)
}

// A parent that watches its own child is told twice by the library.
func TestWatchedChildEndsOnce(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		child := f.startFunc("child", nil)
		f.within(func(ctx actor.Context) { ctx.Watch(child) })
		f.ask("child")
		f.onlyExit()
		f.startFunc("child", nil)
	})(t)
}

func TestFirstCrashIsTheOneThatCounts(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		child := f.start(supervision.ChildSpec{Name: "child", New: func() actor.Actor {
			return decider{obeying(nil), func() { throwText(nil) }}
		}})
		var grandchild *actor.PID
		f.tell(child, func(ctx actor.Context) { grandchild = ctx.Spawn(n.Props(func() actor.Actor { return obeying(nil) })) })
		hold, release := block(t)
		f.within(hold)
		f.tell(child, throwError)
		f.tell(grandchild, throwNil) // and its decider fails, too
		release()
		synctest.Wait()
		wantErr(t, f.onlyExit().Err, errBroken)
	})(t)
}

func TestForeignMessagesAreNotHandled(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		children, handled := &supervision.Children{Node: n}, map[string]bool{}
		middle := f.start(supervision.ChildSpec{Name: "middle", New: func() actor.Actor {
			return obeying(func(ctx actor.Context) {
				exit, ok := children.Receive(ctx)
				handled[typeOf(ctx.Message()).String()] = ok || exit != nil
			})
		}})
		f.tell(middle, func(ctx actor.Context) {
			ctx.Stop(ctx.Spawn(n.Props(func() actor.Actor { return obeying(nil) })))
			ctx.Send(ctx.Self(), "text")
		})
		for _, kind := range []string{"*actor.Started", "*actor.Terminated", "string"} {
			if ok, seen := handled[kind]; ok || !seen {
				t.Errorf("%s: handled %t, seen %t", kind, ok, seen)
			}
		}
	})(t)
}
