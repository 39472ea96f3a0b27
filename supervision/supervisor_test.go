package supervision_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
	ended []supervision.Exit
}

// ends returns what OnExit was told.
func (o *office) ends() []supervision.Exit {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.ended)
}

func newOffice(t *testing.T, n *supervision.Node, options supervision.Options, specs ...supervision.ChildSpec) *office {
	t.Helper()
	o := &office{family: newFamily(t, n), made: map[string]int{}}
	options.OnExit = func(exit supervision.Exit) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ended = append(o.ended, exit)
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

// once is one restart.
var once = supervision.Options{Intensity: 1, Period: 5 * time.Second}

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

// A child is restarted whatever its end, and its siblings are let alone.
func TestEveryEndIsRestarted(t *testing.T) {
	kill := func(ctx actor.Context) { ctx.Stop(ctx.Self()) }
	for name, end := range map[string]func(actor.Context){
		"goodbye": supervision.Goodbye, "killed": kill, "panic": throwError, "goexit": throwGoexit,
	} {
		t.Run(name, func(t *testing.T) {
			inNode(t, func(t *testing.T, n *supervision.Node) {
				o := newOffice(t, n, once, named("a", "b", "c")...)
				o.order("b", end)
				o.diary.want(t, "+a1 +b1 +c1 -b1 +b2")
				if !n.Alive(o.pidOf("b")) || !n.Alive(o.sup) {
					t.Errorf("the child is alive: %t, its supervisor: %t", n.Alive(o.pidOf("b")), n.Alive(o.sup))
				}
				if ends := o.ends(); len(ends) != 1 || ends[0].Name != "b" || (ends[0].Err == nil) != (name == "goodbye") {
					t.Errorf("OnExit was told %+v", ends)
				}
			})
		})
	}
}

// Restarts just within the intensity survive; one more ends the supervisor and the siblings, in reverse order.
func TestIntensityAtTheEdgeOfThePeriod(t *testing.T) {
	for _, c := range []struct {
		second   time.Duration
		survives bool
		down     string
	}{{10 * time.Second, false, "-b3 -c1 -a1"}, {10*time.Second + 1, true, "-b4 -c1 -a1"}} {
		inNode(t, func(t *testing.T, n *supervision.Node) {
			o := newOffice(t, n, supervision.Options{Intensity: 2, Period: 10 * time.Second}, named("a", "b", "c")...)
			o.order("b", throwError)
			pass(time.Second)
			o.order("b", throwError)
			pass(c.second - time.Second)
			o.diary.take()
			o.order("b", throwError) // the first one is c.second ago
			if c.survives {
				if !n.Alive(o.sup) || !n.Alive(o.pidOf("b")) {
					t.Error("the supervisor gave up too early")
				}
				o.diary.take()
				o.order("b", throwError) // but now two more are within the period
			}
			e := o.wantEscalation(3, "b")
			wantErr(t, e, errBroken)
			o.diary.want(t, c.down)
			if !strings.Contains(e.Error(), "restart 3 within 10s") {
				t.Errorf("%q names no restarts", e)
			}
		})
	}
}

// A shutdown does not hide that the supervisor is giving up.
func TestShutdownWhileGivingUp(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		o := newOffice(t, n, supervision.Options{}, named("a", "b")...)
		hold, release := block(t)
		o.order("b", hold)
		o.order("a", throwError)
		o.send(supervision.Shutdown{})
		release()
		synctest.Wait()
		o.wantEscalation(1, "a")
	})
}

// A child that cannot be made is nothing that trying again would mend.
func TestChildThatCannotBeMade(t *testing.T) {
	for _, c := range []struct {
		makes int
		order string
	}{{0, "+a1 +b1 +c1 -b1 -a1"}, {1, "+a1 +b1 +c1 +d1 -c1 +c2 -d1 -b1 -a1"}} {
		inNode(t, func(t *testing.T, n *supervision.Node) {
			made := 0
			frail := supervision.ChildSpec{Name: "c", New: func() actor.Actor {
				if made++; made > c.makes {
					panic(errBroken)
				}
				return obeying(nil)
			}}
			o := newOffice(t, n, once, append(named("a", "b"), frail, supervision.ChildSpec{Name: "d"})...)
			if c.makes > 0 {
				o.order("c", supervision.Goodbye)
			}
			o.diary.want(t, c.order)
			e := o.wantEscalation(0, "c")
			wantErr(t, e, errBroken)
			if !strings.Contains(e.Error(), `child "c"`) {
				t.Errorf("%q does not name the child", e)
			}
		})
	}
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
		"pointless": {time.Hour, time.Hour - 1, time.Hour - 1, 0, "-c1 -b1 -a1"},
	} {
		t.Run(name, func(t *testing.T) {
			inNode(t, func(t *testing.T, n *supervision.Node) {
				o := newOffice(t, n, supervision.Options{},
					supervision.ChildSpec{Name: "a"}, supervision.ChildSpec{Name: "b", Shutdown: c.shutdown},
					supervision.ChildSpec{Name: "c"})
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
				if exit := o.onlyExit(); exit.Err != nil || exit.Asked {
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

// A stop ends a storm of restarts, and so does the library's.
func TestStopDuringARestartStorm(t *testing.T) {
	for _, stop := range []func(*family, actor.Context){
		func(f *family, ctx actor.Context) { f.Stop(ctx, "sup") },
		func(f *family, ctx actor.Context) { ctx.Stop(f.PID("sup")) },
	} {
		inNode(t, func(t *testing.T, n *supervision.Node) {
			sick := func() actor.Actor { return obeying(upon[*actor.Started](throwError)) }
			f := newFamily(t, n)
			f.within(func(ctx actor.Context) {
				_, _ = f.Start(ctx, supervision.ChildSpec{Name: "sup", New: func() actor.Actor {
					return supervision.NewSupervisor(n, supervision.Options{Intensity: 1 << 30},
						supervision.ChildSpec{Name: "a", New: func() actor.Actor { return obeying(nil) }},
						supervision.ChildSpec{Name: "b", New: sick}, supervision.ChildSpec{Name: "c", New: sick})
				}})
				stop(f, ctx)
			})
			if left, _ := f.listed("sup"); n.Alive(n.System().NewLocalPID("family/sup")) || left != 0 {
				t.Error("the supervisor is alive")
			}
			wantCounters(t, n, supervision.Counters{})
		})
	}
}

// While the library stops a supervisor, the end of one child is not the time to start it again.
func TestStoppedSupervisorStartsNobody(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		o := newOffice(t, n, once, named("a", "b")...)
		hold, release := block(t)
		o.order("b", hold)
		n.Root().Stop(o.sup)
		synctest.Wait()
		release()
		synctest.Wait()
		o.diary.want(t, "+a1 +b1 -a1 -b1")
		wantErr(t, o.onlyExit().Err, supervision.ErrKilled)
		wantCounters(t, n, supervision.Counters{})
	})
}

// What ends a supervisor is the reason that its own supervisor has.
func TestEscalationClimbsANestedTree(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		var o *office
		middle := supervision.ChildSpec{Name: "mid", Shutdown: supervision.Infinity, New: func() actor.Actor {
			return supervision.NewSupervisor(n, supervision.Options{}, o.staffed(named("x", "y"))...)
		}}
		f := newFamily(t, n)
		o = &office{family: f, made: map[string]int{}}
		o.sup = f.start(supervision.ChildSpec{Name: "sup", Shutdown: supervision.Infinity, New: func() actor.Actor {
			return supervision.NewSupervisor(n, once, append(o.staffed(named("a")), middle)...)
		}})
		o.order("mid/x", throwError)
		o.diary.want(t, "+a1 +x1 +y1 -x1 -y1 +x2 +y2") // the middle gave up, and was restarted
		o.order("mid/x", throwError)
		o.diary.want(t, "-x2 -y2 -a1") // and now the top gives up
		e := o.wantEscalation(2, "mid")
		inner, ok := errors.AsType[*supervision.Escalation](e.Reason)
		if !ok || inner.Child != "x" || !errors.Is(inner, errBroken) {
			t.Errorf("the reason is %v", e.Reason)
		}
	})
}

// [supervision.Children.Stop] of a supervisor is its Shutdown.
func TestStopOfASupervisorIsInOrder(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		o := newOffice(t, n, supervision.Options{}, named("a", "b", "c")...)
		o.ask("sup")
		o.diary.want(t, "+a1 +b1 +c1 -c1 -b1 -a1")
		if exit := o.onlyExit(); !exit.Asked || exit.Err != nil || len(o.ends()) != 0 {
			t.Errorf("the supervisor ended as %+v, OnExit was told %+v", exit, o.ends())
		}
	})
}

// A supervisor that outstays its own Shutdown is given up, and its children still end.
func TestSupervisorIsAbandonedToo(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
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
	})(t)
}
