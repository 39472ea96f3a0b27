package supervision_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/supervision"
)

// office is a supervisor, child "sup" of a family, whose workers keep a diary: +a2 when the second incarnation of a is
// made, -a2 when it has stopped.
type office struct {
	*family
	diary diary
	made  map[string]int // touched by the supervisor; the test looks when all is quiet
	sup   *actor.PID
	mu    sync.Mutex
	told  []supervision.Exit
}

// ends returns what OnExit was told.
func (o *office) ends() []supervision.Exit {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.told)
}

func newOffice(t *testing.T, n *supervision.Node, options supervision.Options, specs ...supervision.ChildSpec) *office {
	t.Helper()
	o := &office{family: newFamily(t, n), made: map[string]int{}}
	options.OnExit = func(exit supervision.Exit) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.told = append(o.told, exit)
	}
	o.sup = o.start(supervision.ChildSpec{Name: "sup", Shutdown: supervision.Infinity, New: func() actor.Actor {
		return supervision.NewSupervisor(n, options, o.staffed(specs)...)
	}})
	return o
}

// staffed gives the specs without a New a worker, and wraps those that have one.
func (o *office) staffed(specs []supervision.ChildSpec) []supervision.ChildSpec {
	staffed := make([]supervision.ChildSpec, len(specs))
	for i, spec := range specs {
		staffed[i] = o.worker(spec)
	}
	return staffed
}

func (o *office) worker(spec supervision.ChildSpec) supervision.ChildSpec {
	inner := spec.New
	spec.New = func() actor.Actor {
		o.made[spec.Name]++
		name := fmt.Sprint(spec.Name, o.made[spec.Name])
		o.diary.note("+" + name)
		var body actor.Actor = obeying(nil)
		if inner != nil {
			body = inner()
		}
		return noted{body, func() { o.diary.note("-" + name) }}
	}
	return spec
}

// noted calls stopped when the actor has stopped.
type noted struct {
	actor.Actor
	stopped func()
}

func (n noted) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(*actor.Stopped); ok {
		n.stopped()
	}
	n.Actor.Receive(ctx)
}

func (o *office) pidOf(name string) *actor.PID {
	return o.n.System().NewLocalPID(o.sup.Id + "/" + name)
}

// order lets the worker execute f.
func (o *office) order(name string, f func(actor.Context)) { o.tell(o.pidOf(name), f) }

func (o *office) send(message any) {
	o.n.Root().Send(o.sup, message)
	synctest.Wait()
}

// request sends a message and returns the answer.
func (o *office) request(message any) any {
	o.t.Helper()
	answer, err := o.n.Root().RequestFuture(o.sup, message, time.Second).Result()
	if err != nil {
		o.t.Fatal(err)
	}
	synctest.Wait()
	return answer
}

func (o *office) wantEscalation(restarts int, child string) *supervision.Escalation {
	o.t.Helper()
	exit := o.onlyExit()
	e, ok := errors.AsType[*supervision.Escalation](exit.Err)
	if !ok {
		o.t.Fatalf("the supervisor ended with %v", exit.Err)
	}
	if e.Supervisor != o.sup.Id || e.Child != child || e.Restarts != restarts {
		o.t.Errorf("escalation %+v, want restart %d of %s", e, restarts, child)
	}
	if o.n.Alive(o.sup) {
		o.t.Error("the supervisor is alive")
	}
	return e
}

func named(names ...string) []supervision.ChildSpec {
	specs := make([]supervision.ChildSpec, len(names))
	for i, name := range names {
		specs[i].Name = name
	}
	return specs
}

func TestRestartTypes(t *testing.T) {
	kill := func(ctx actor.Context) { ctx.Stop(ctx.Self()) }
	ends := map[string]func(actor.Context){
		"goodbye": supervision.Goodbye, "killed": kill, "panic": throwError, "goexit": throwGoexit,
	}
	for _, c := range []struct {
		restart  supervision.Restart
		respawns string
	}{
		{supervision.Always, "goodbye killed panic goexit"},
		{supervision.Transient, "killed panic goexit"},
		{supervision.Temporary, ""},
	} {
		for name, end := range ends {
			t.Run(fmt.Sprint(c.restart, name), func(t *testing.T) {
				inNode(t, func(t *testing.T, n *supervision.Node) {
					o := newOffice(t, n, supervision.Options{}, supervision.ChildSpec{Name: "a", Restart: c.restart})
					o.order("a", end)
					want := "+a1 -a1"
					if strings.Contains(c.respawns, name) {
						want += " +a2"
					}
					o.diary.want(t, want)
					if alive := n.Alive(o.pidOf("a")); alive != strings.HasSuffix(want, "+a2") || !n.Alive(o.sup) {
						t.Errorf("the child is alive: %t, its supervisor: %t", alive, n.Alive(o.sup))
					}
					if len(o.ends()) != 1 || o.ends()[0].Normal != (name == "goodbye") || (o.ends()[0].Err == nil) != o.ends()[0].Normal {
						t.Errorf("OnExit was told %+v", o.ends())
					}
				})
			})
		}
	}
}

// Restarts just within the intensity survive; one more ends the supervisor and the siblings, in reverse order.
func TestIntensityAtTheEdgeOfThePeriod(t *testing.T) {
	for strategy, down := range map[supervision.Strategy]string{
		supervision.OneForOne:  "-b1 -c1 -a1",
		supervision.OneForAll:  "-b1 -c1 -a1",
		supervision.RestForOne: "-b1 -c1 -a1",
	} {
		for _, c := range []struct {
			second   time.Duration
			survives bool
		}{{10 * time.Second, false}, {10*time.Second + 1, true}} {
			inNode(t, func(t *testing.T, n *supervision.Node) {
				o := newOffice(t, n,
					supervision.Options{Strategy: strategy, Intensity: 2, Period: 10 * time.Second}, named("a", "b", "c")...)
				o.order("b", throwError)
				pass(time.Second)
				o.order("b", throwError)
				pass(c.second - time.Second)
				o.diary.take()
				o.order("b", throwError) // the first one is c.second ago
				if c.survives {
					if !n.Alive(o.sup) || !n.Alive(o.pidOf("b")) {
						t.Errorf("strategy %d: the supervisor gave up too early", strategy)
					}
					o.diary.take()
					o.order("b", throwError) // but now two more are within the period
				}
				e := o.wantEscalation(3, "b")
				wantErr(t, e, errBroken)
				got := strings.Map(func(r rune) rune { // of whatever incarnation
					if r >= '1' && r <= '9' {
						return '1'
					}
					return r
				}, o.diary.take())
				if got != down {
					t.Errorf("strategy %d went down as %q, want %q", strategy, got, down)
				}
				if !strings.Contains(e.Error(), "restart 3 within 10s") {
					t.Errorf("%q names no restarts", e)
				}
			})
		}
	}
}

// A shutdown does not hide that the supervisor is giving up.
func TestShutdownWhileGivingUp(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		o := newOffice(t, n, supervision.Options{Intensity: -1}, named("a", "b")...)
		hold, release := block(t)
		o.order("b", hold)
		o.order("a", throwError)
		o.send(supervision.Shutdown{})
		release()
		synctest.Wait()
		o.wantEscalation(1, "a")
	})
}

func TestIntensityOfTheZeroOptions(t *testing.T) {
	for _, c := range []struct{ intensity, survives int }{{0, 1}, {-1, 0}, {2, 2}} {
		inNode(t, func(t *testing.T, n *supervision.Node) {
			o := newOffice(t, n, supervision.Options{Intensity: c.intensity}, named("a")...)
			for range c.survives {
				o.order("a", throwError)
			}
			if !n.Alive(o.pidOf("a")) {
				t.Errorf("intensity %d did not survive %d restarts", c.intensity, c.survives)
			}
			o.order("a", throwError)
			o.wantEscalation(c.survives+1, "a")
		})
	}
}

func TestStrategiesRestartInOrder(t *testing.T) {
	temporary := supervision.ChildSpec{Name: "t", Restart: supervision.Temporary}
	specs := append(named("a", "b"), temporary, supervision.ChildSpec{Name: "c"})
	for name, c := range map[string]struct {
		strategy supervision.Strategy
		crash    string
		want     string
	}{
		"one for one":                 {supervision.OneForOne, "b", "-b1 +b2"},
		"one for all":                 {supervision.OneForAll, "b", "-b1 -c1 -t1 -a1 +a2 +b2 +c2"},
		"rest for one":                {supervision.RestForOne, "b", "-b1 -c1 -t1 +b2 +c2"},
		"rest for one, last":          {supervision.RestForOne, "c", "-c1 +c2"},
		"rest for one, bystander":     {supervision.RestForOne, "t", "-t1"},
		"one for all, bystander":      {supervision.OneForAll, "t", "-t1"},
		"rest for one, all but first": {supervision.RestForOne, "a", "-a1 -c1 -t1 -b1 +a2 +b2 +c2"},
	} {
		t.Run(name, func(t *testing.T) {
			inNode(t, func(t *testing.T, n *supervision.Node) {
				o := newOffice(t, n, supervision.Options{Strategy: c.strategy}, specs...)
				o.diary.want(t, "+a1 +b1 +t1 +c1")
				o.order(c.crash, throwError)
				o.diary.want(t, c.want)
				if len(o.ends()) != 1 || o.ends()[0].Name != c.crash {
					t.Errorf("OnExit was told %+v", o.ends())
				}
				o.send(supervision.Shutdown{})
				if exit := o.onlyExit(); !exit.Normal || exit.Asked {
					t.Errorf("the supervisor ended as %+v", exit)
				}
				if up := strings.Count(o.diary.take(), "-"); up < 3 {
					t.Errorf("%d children were stopped", up)
				}
			})
		})
	}
}

// Temporary children that crash do not count against the intensity.
func TestTemporaryChildrenDoNotCount(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		o := newOffice(t, n, supervision.Options{Strategy: supervision.RestForOne, Intensity: -1}, named("a")...)
		for range 20 {
			o.send(supervision.StartChild{ChildSpec: o.worker(supervision.ChildSpec{Name: "t", Restart: supervision.Temporary})})
			o.order("t", throwError)
		}
		if o.made["t"] != 20 || o.made["a"] != 1 || !n.Alive(o.sup) || len(o.ends()) != 20 {
			t.Errorf("made %v, told %d ends", o.made, len(o.ends()))
		}
	})
}

// A child that fails while its group is being restarted takes the already restarted siblings down again.
func TestChildFailsDuringRestart(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		starts := 0
		frail := supervision.ChildSpec{Name: "c", New: func() actor.Actor {
			starts++
			sick := starts == 2
			return obeying(func(ctx actor.Context) {
				if _, ok := ctx.Message().(*actor.Started); ok && sick {
					panic(errBroken)
				}
			})
		}}
		o := newOffice(t, n, supervision.Options{Strategy: supervision.OneForAll, Intensity: 2}, append(named("a", "b"), frail)...)
		o.diary.take()
		o.order("a", throwError)
		o.diary.want(t, "-a1 -c1 -b1 +a2 +b2 +c2 -c2 -b2 -a2 +a3 +b3 +c3")
		if len(o.ends()) != 2 {
			t.Errorf("OnExit was told %+v", o.ends())
		}
	})
}

// The same for a child that cannot even be made.
func TestChildCannotBeMadeDuringRestart(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		starts := 0
		frail := supervision.ChildSpec{Name: "c", New: func() actor.Actor {
			if starts++; starts == 2 {
				panic(errBroken)
			}
			return obeying(nil)
		}}
		o := newOffice(t, n, supervision.Options{Strategy: supervision.OneForAll, Intensity: 2}, append(named("a", "b"), frail)...)
		o.diary.take()
		o.order("a", throwError)
		o.diary.want(t, "-a1 -c1 -b1 +a2 +b2 +c2 -b2 -a2 +a3 +b3 +c3")
		if len(o.ends()) != 2 || o.ends()[1].PID != nil || !errors.Is(o.ends()[1].Err, errBroken) {
			t.Errorf("OnExit was told %+v", o.ends())
		}
	})
}

func TestTwoChildrenCrashTogether(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		o := newOffice(t, n, supervision.Options{Strategy: supervision.OneForAll}, named("a", "b", "c")...)
		hold, release := block(t)
		n.Root().Send(o.sup, supervision.StartChild{ChildSpec: supervision.ChildSpec{ // holds the supervisor itself
			Name: "d", New: func() actor.Actor { hold(nil); panic("not needed") },
		}})
		o.order("a", throwError)
		o.order("c", throwError)
		release()
		synctest.Wait()
		if o.made["a"] != 2 || o.made["b"] != 2 || o.made["c"] != 2 || !n.Alive(o.sup) {
			t.Errorf("made %v", o.made) // one restart of the group, or the intensity of 1 were exceeded
		}
		if len(o.ends()) != 2 {
			t.Errorf("OnExit was told %+v", o.ends())
		}
	})
}

func TestSupervisorThatCannotStart(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		bad := supervision.ChildSpec{Name: "c", New: func() actor.Actor { panic(errBroken) }}
		o := newOffice(t, n, supervision.Options{}, append(named("a", "b"), bad, supervision.ChildSpec{Name: "d"})...)
		o.diary.want(t, "+a1 +b1 +c1 -b1 -a1")
		wantErr(t, o.wantEscalation(0, "c"), errBroken)
	})
}

func TestShutdownStopsInReverseOrder(t *testing.T) {
	for name, c := range map[string]struct {
		shutdown, busy, want time.Duration
		abandoned            int64
		order                string
	}{
		"all well":  {time.Second, 0, 0, 0, "-c1 -b1 -a1"},
		"in time":   {3 * time.Second, 2 * time.Second, 2 * time.Second, 0, "-c1 -b1 -a1"},
		"too late":  {2 * time.Second, time.Hour, 2 * time.Second, 1, "-c1 -a1"},
		"default":   {0, time.Hour, supervision.DefaultShutdown, 1, "-c1 -a1"},
		"infinity":  {supervision.Infinity, time.Hour, time.Hour, 0, "-c1 -b1 -a1"},
		"brutal":    {supervision.Brutal, time.Hour, 0, 1, "-c1 -a1"},
		"pointless": {time.Hour, time.Hour - 1, time.Hour - 1, 0, "-c1 -b1 -a1"},
	} {
		t.Run(name, func(t *testing.T) {
			inNode(t, func(t *testing.T, n *supervision.Node) {
				o := newOffice(t, n, supervision.Options{},
					supervision.ChildSpec{Name: "a"}, supervision.ChildSpec{Name: "b", Shutdown: c.shutdown}, supervision.ChildSpec{Name: "c"})
				o.diary.take()
				o.order("b", func(actor.Context) { time.Sleep(c.busy) })
				o.send(supervision.Shutdown{})
				o.send(&supervision.Shutdown{})
				if c.want > 0 {
					pass(c.want - 1)
					if len(o.exits()) != 0 {
						t.Error("it ended too early")
					}
					pass(1)
				}
				if exit := o.onlyExit(); !exit.Normal {
					t.Errorf("the supervisor ended as %+v", exit)
				}
				o.diary.want(t, c.order)
				wantCounters(t, n, supervision.Counters{AbandonedActors: c.abandoned})
				if int64(len(o.ends())) != c.abandoned { // the hung one is reported
					t.Errorf("OnExit was told %+v", o.ends())
				}
				pass(time.Hour)
			})
		})
	}
}

func TestStopDuringARestartStorm(t *testing.T) {
	for _, strategy := range []supervision.Strategy{supervision.OneForOne, supervision.OneForAll, supervision.RestForOne} {
		inNode(t, func(t *testing.T, n *supervision.Node) {
			sick := func() actor.Actor {
				return obeying(func(ctx actor.Context) {
					if _, ok := ctx.Message().(*actor.Started); ok {
						panic(errBroken)
					}
				})
			}
			f := newFamily(t, n)
			f.within(func(ctx actor.Context) {
				_, _ = f.Start(ctx, supervision.ChildSpec{Name: "sup", New: func() actor.Actor {
					return supervision.NewSupervisor(n, supervision.Options{Strategy: strategy, Intensity: 1 << 30, Period: 1},
						supervision.ChildSpec{Name: "a"}, supervision.ChildSpec{Name: "b", New: sick},
						supervision.ChildSpec{Name: "c", New: sick})
				}})
				f.Stop(ctx, "sup")
			})
			if left, _ := f.listed("sup"); n.Alive(n.System().NewLocalPID("family/sup")) || left != 0 {
				t.Error("the supervisor is alive")
			}
		})
	}
}

// A child whose New always fails is restarted again and again, without blocking the supervisor: it can be removed.
func TestChildInItsRestartLoopCanBeRemoved(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		looping := make(chan struct{})
		tries := 0
		bad := supervision.ChildSpec{Name: "a", New: func() actor.Actor {
			tries++
			switch tries {
			case 1:
				return obeying(nil)
			case 100:
				close(looping)
			}
			panic(errBroken)
		}}
		f := newFamily(t, n)
		sup := f.start(supervision.ChildSpec{Name: "sup", New: func() actor.Actor {
			return supervision.NewSupervisor(n, supervision.Options{Intensity: 1 << 30, Period: 1}, bad)
		}})
		n.Root().Send(n.System().NewLocalPID(sup.Id+"/a"), do(throwError))
		<-looping
		n.Root().Send(sup, &supervision.StopChild{Name: "a"})
		synctest.Wait() // would not return if the loop went on
		if !n.Alive(sup) || len(f.exits()) != 0 {
			t.Errorf("exits %v", f.exits())
		}
	})
}

func TestHungChildCanBeRemoved(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		o := newOffice(t, n, supervision.Options{}, named("a", "b")...)
		hold, release := block(t)
		o.order("a", hold)
		o.send(supervision.StopChild{Name: "a"})
		o.send(supervision.StopChild{Name: "nobody"})
		o.order("b", throwError) // which is not held up
		o.diary.want(t, "+a1 +b1 -b1 +b2")
		pass(supervision.DefaultShutdown)
		if len(o.ends()) != 2 || !errors.Is(o.ends()[1].Err, supervision.ErrAbandoned) {
			t.Errorf("OnExit was told %+v", o.ends())
		}
		if pid, ok := o.request(supervision.StartChild{ChildSpec: o.worker(named("a")[0])}).(*actor.PID); !ok || !n.Alive(pid) {
			t.Error("a was not started anew")
		}
		release()
		synctest.Wait()
		o.diary.want(t, "+a2 -a1")
		o.send(supervision.Shutdown{})
		o.diary.want(t, "-a2 -b2")
	})
}

func TestStartChildAnswers(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		o := newOffice(t, n, supervision.Options{}, named("a")...)
		pid, ok := o.request(&supervision.StartChild{ChildSpec: o.worker(named("b")[0])}).(*actor.PID)
		if !ok || pid.Id != o.sup.Id+"/b" || !n.Alive(pid) {
			t.Fatalf("started as %v", pid)
		}
		err, _ := o.request(supervision.StartChild{ChildSpec: o.worker(named("b")[0])}).(error)
		wantErr(t, err, actor.ErrNameExists)
		bad := supervision.ChildSpec{Name: "c", New: func() actor.Actor { panic(errBroken) }}
		err, _ = o.request(supervision.StartChild{ChildSpec: bad}).(error)
		wantErr(t, err, errBroken)
		o.send(supervision.StartChild{ChildSpec: bad}) // nobody to answer
		hold, release := block(t)
		o.order("b", hold)
		o.send(supervision.Shutdown{})
		err, _ = o.request(supervision.StartChild{ChildSpec: o.worker(named("d")[0])}).(error)
		wantErr(t, err, supervision.ErrStopping)
		release()
		synctest.Wait()
		o.diary.want(t, "+a1 +b1 -b1 -a1")
	})
}

func TestSignificantChild(t *testing.T) {
	for name, c := range map[string]struct {
		restart supervision.Restart
		end     func(actor.Context)
		order   string
		fails   bool
	}{
		"temporary goodbye": {supervision.Temporary, supervision.Goodbye, "-b1 -c1 -a1", false},
		"temporary crash":   {supervision.Temporary, throwError, "-b1 -c1 -a1", true},
		"transient goodbye": {supervision.Transient, supervision.Goodbye, "-b1 -c1 -a1", false},
		"transient crash":   {supervision.Transient, throwError, "-b1 +b2", false},
		"always":            {supervision.Always, supervision.Goodbye, "-b1 +b2", false},
	} {
		t.Run(name, func(t *testing.T) {
			inNode(t, func(t *testing.T, n *supervision.Node) {
				o := newOffice(t, n, supervision.Options{}, supervision.ChildSpec{Name: "a"},
					supervision.ChildSpec{Name: "b", Restart: c.restart, Significant: true}, supervision.ChildSpec{Name: "c"})
				o.diary.take()
				o.order("b", c.end)
				o.diary.want(t, c.order)
				switch {
				case c.fails:
					e := o.wantEscalation(0, "b")
					wantErr(t, e, errBroken)
					if !strings.Contains(e.Error(), `child "b"`) {
						t.Errorf("%q does not name the child", e)
					}
				case strings.Contains(c.order, "+"):
					if !n.Alive(o.sup) {
						t.Error("the supervisor ended")
					}
				default:
					if !o.onlyExit().Normal {
						t.Errorf("the supervisor ended as %+v", o.onlyExit())
					}
				}
			})
		})
	}
}

func TestManyTemporaryChildren(t *testing.T) {
	const many = 2000
	inNode(t, func(t *testing.T, n *supervision.Node) {
		o := newOffice(t, n, supervision.Options{}, named("first")...)
		spec := func(i int) supervision.ChildSpec {
			return o.worker(supervision.ChildSpec{Name: fmt.Sprint("t", i), Restart: supervision.Temporary})
		}
		for i := range many {
			n.Root().Send(o.sup, supervision.StartChild{ChildSpec: spec(i)})
		}
		synctest.Wait()
		for i := range many / 2 {
			n.Root().Send(o.pidOf(fmt.Sprint("t", i)), do(supervision.Goodbye))
		}
		synctest.Wait()
		if len(o.ends()) != many/2 {
			t.Errorf("%d of %d ended", len(o.ends()), many/2)
		}
		o.diary.take()
		o.send(supervision.Shutdown{})
		want := []string{}
		for i := many - 1; i >= many/2; i-- {
			want = append(want, fmt.Sprintf("-t%d1", i))
		}
		o.diary.want(t, strings.Join(append(want, "-first1"), " "))
		o.onlyExit()
	})
}

// What a temporary child was made of is let go of as soon as it runs.
func TestStartArgumentsOfTemporaryChildrenAreNotKept(t *testing.T) {
	for _, restart := range []supervision.Restart{supervision.Temporary, supervision.Always} {
		inNode(t, func(t *testing.T, n *supervision.Node) {
			o := newOffice(t, n, supervision.Options{})
			argument := func() weak.Pointer[[4096]byte] {
				big := new([4096]byte)
				o.request(supervision.StartChild{ChildSpec: supervision.ChildSpec{
					Name: "t", Restart: restart, New: func() actor.Actor { big[0]++; return obeying(nil) },
				}})
				return weak.Make(big)
			}()
			for range 3 {
				o.request(supervision.StartChild{ChildSpec: supervision.ChildSpec{Name: "t"}}) // an error, through the mailbox
				runtime.GC()
			}
			if kept := argument.Value() != nil; kept != (restart == supervision.Always) {
				t.Errorf("restart type %d: kept %t", restart, kept)
			}
			if !n.Alive(o.pidOf("t")) {
				t.Error("the child is gone")
			}
		})
	}
}

func TestEscalationClimbsANestedTree(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		var o *office
		middle := supervision.ChildSpec{Name: "mid", Shutdown: supervision.Infinity, New: func() actor.Actor {
			return supervision.NewSupervisor(n, supervision.Options{}, o.staffed(named("x", "y"))...)
		}}
		o = newOffice(t, n, supervision.Options{}, named("a")...)
		if _, ok := o.request(supervision.StartChild{ChildSpec: middle}).(*actor.PID); !ok {
			t.Fatal("no middle")
		}
		o.diary.want(t, "+a1 +x1 +y1")
		o.order("mid/x", throwError)
		o.diary.want(t, "-x1 +x2")
		o.order("mid/x", throwError)
		o.diary.want(t, "-x2 -y1 +x3 +y2") // the middle gave up, and was restarted
		o.order("mid/x", throwError)
		o.diary.want(t, "-x3 +x4")
		o.order("mid/x", throwError)
		o.diary.want(t, "-x4 -y2 -a1") // and now the top gives up
		e := o.wantEscalation(2, "mid")
		inner, ok := errors.AsType[*supervision.Escalation](e.Reason)
		if !ok || inner.Child != "x" || !errors.Is(inner, errBroken) {
			t.Errorf("the reason is %v", e.Reason)
		}
	})
}

func TestNestedTreeStopsInOrder(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		var o *office
		nested := func(name string, children ...string) supervision.ChildSpec {
			return supervision.ChildSpec{Name: name, Shutdown: supervision.Infinity, New: func() actor.Actor {
				return supervision.NewSupervisor(n, supervision.Options{}, o.staffed(named(children...))...)
			}}
		}
		o = newOffice(t, n, supervision.Options{})
		for _, spec := range []supervision.ChildSpec{nested("left", "a", "b"), nested("right", "c", "d")} {
			o.request(supervision.StartChild{ChildSpec: spec})
		}
		o.diary.take()
		o.ask("sup") // Children.Stop of a supervisor is its Shutdown
		o.diary.want(t, "-d1 -c1 -b1 -a1")
		if exit := o.onlyExit(); !exit.Asked || !exit.Normal || exit.Err != nil {
			t.Errorf("the top ended as %+v", exit)
		}
	})
}

// A supervisor that outstays its own Shutdown is given up, and its children still end.
func TestSupervisorIsAbandonedToo(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		f := newFamily(t, n)
		hung := supervision.ChildSpec{Name: "hung", Shutdown: time.Minute, New: func() actor.Actor { return obeying(nil) }}
		well := supervision.ChildSpec{Name: "well", New: func() actor.Actor { return obeying(nil) }}
		f.start(supervision.ChildSpec{Name: "sup", New: func() actor.Actor {
			return supervision.NewSupervisor(n, supervision.Options{}, well, hung)
		}})
		hold, _ := block(t)
		f.tell(n.System().NewLocalPID("family/sup/hung"), hold)
		f.ask("sup")
		pass(supervision.DefaultShutdown)
		wantErr(t, f.onlyExit().Err, supervision.ErrAbandoned)
		if n.Alive(n.System().NewLocalPID("family/sup/well")) {
			t.Error("the well one is alive")
		}
		pass(time.Minute)
		wantCounters(t, n, supervision.Counters{AbandonedActors: 2})
	})
}
