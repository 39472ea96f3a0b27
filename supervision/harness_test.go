package supervision_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/supervision"
)

// do is a message that its receiver executes.
type do func(actor.Context)

// inNode runs body with a Node in a bubble of virtual time. The bubble fails the test when a goroutine is left.
func inNode(t *testing.T, body func(t *testing.T, n *supervision.Node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := supervision.NewNode(nil, nil)
		t.Cleanup(func() { // runs after those of body
			pass(time.Second) // dead letters have a goroutine for a moment
			n.Close()
		})
		body(t, n)
	})
}

// pass lets time pass, and returns when all is quiet.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// parent is an actor with children that notes, in order, what it hears: a string for a message, an Exit for an end.
type parent struct {
	*supervision.Children
	mu    sync.Mutex // between the actor and the test
	notes []any
}

func (p *parent) note(heard any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, heard)
}

// heard returns the notes.
func (p *parent) heard() []any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.notes)
}

func (p *parent) Receive(ctx actor.Context) {
	exit, handled := p.Children.Receive(ctx)
	if exit != nil {
		p.note(*exit)
	}
	if handled {
		return
	}
	switch m := ctx.Message().(type) {
	case do:
		m(ctx)
	case string, *supervision.TaskMessage, *supervision.TaskEnded:
		p.note(m)
	}
}

// family is a parent at the top of a Node, as the test sees it.
type family struct {
	*parent
	t   *testing.T
	n   *supervision.Node
	pid *actor.PID
}

func newFamily(t *testing.T, n *supervision.Node) *family {
	p := &parent{Children: &supervision.Children{Node: n}}
	pid, err := n.Root().SpawnNamed(n.Props(func() actor.Actor { return p }), "family")
	fatal.IfError(t, err)
	return &family{p, t, n, pid}
}

// inFamily is a test with a family in a bubble of virtual time.
func inFamily(body func(t *testing.T, n *supervision.Node, f *family)) func(*testing.T) {
	return func(t *testing.T) { inNode(t, func(t *testing.T, n *supervision.Node) { body(t, n, newFamily(t, n)) }) }
}

// within runs f in the parent's Receive, and returns when all is quiet.
func (f *family) within(body func(actor.Context)) {
	f.n.Root().Send(f.pid, do(body))
	synctest.Wait()
}

func (f *family) start(spec supervision.ChildSpec) *actor.PID {
	f.t.Helper()
	var pid *actor.PID
	var err error
	f.within(func(ctx actor.Context) { pid, err = f.Start(ctx, spec) })
	if err != nil {
		f.t.Fatalf("start %s: %v", spec.Name, err)
	}
	return pid
}

// startFunc starts a child that runs receive for each message, and executes what is sent to it.
func (f *family) startFunc(name string, receive actor.ReceiveFunc) *actor.PID {
	f.t.Helper()
	return f.start(supervision.ChildSpec{Name: name, New: func() actor.Actor { return obeying(receive) }})
}

func (f *family) ask(name string) { f.within(func(ctx actor.Context) { f.Stop(ctx, name) }) }

// tell lets the actor execute f, and returns when all is quiet.
func (f *family) tell(pid *actor.PID, body func(actor.Context)) {
	f.n.Root().Send(pid, do(body))
	synctest.Wait()
}

// listed returns the number of children, and the PID of one of them.
func (f *family) listed(name string) (n int, pid *actor.PID) {
	f.within(func(actor.Context) { n, pid = f.Len(), f.PID(name) })
	return n, pid
}

func (f *family) exits() []supervision.Exit {
	var exits []supervision.Exit
	for _, h := range f.heard() {
		if exit, ok := h.(supervision.Exit); ok {
			exits = append(exits, exit)
		}
	}
	return exits
}

// onlyExit returns the one Exit there must be.
func (f *family) onlyExit() supervision.Exit {
	f.t.Helper()
	exits := f.exits()
	if len(exits) != 1 {
		f.t.Fatalf("%d exits, want 1: %v", len(exits), exits)
	}
	return exits[0]
}

// stopsWithin stops the parent, and fails the test if it is still there after d.
func (f *family) stopsWithin(d time.Duration) {
	f.t.Helper()
	f.n.Root().Stop(f.pid)
	pass(d)
	if f.n.Alive(f.pid) {
		f.t.Errorf("the parent did not stop within %v", d)
	}
}

// obeying executes what it is sent, and gives everything else to receive, which may be nil.
func obeying(receive actor.ReceiveFunc) actor.Actor {
	return actor.ReceiveFunc(func(ctx actor.Context) {
		if f, ok := ctx.Message().(do); ok {
			f(ctx)
		} else if receive != nil {
			receive(ctx)
		}
	})
}

// upon runs body for each message of the type.
func upon[M any](body actor.ReceiveFunc) actor.ReceiveFunc {
	return func(ctx actor.Context) {
		if _, ok := ctx.Message().(M); ok {
			body(ctx)
		}
	}
}

// block returns a body that blocks until release is called, or the test ends.
func block(t *testing.T) (body func(actor.Context), release func()) {
	hold := make(chan struct{})
	release = sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release)
	return func(actor.Context) { <-hold }, release
}

// diary is what the actors of a test noted, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// take returns the notes since the last take, as one line.
func (d *diary) take() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := strings.Join(d.lines, " ")
	d.lines = nil
	return s
}

func (d *diary) want(t *testing.T, want string) {
	t.Helper()
	if got := d.take(); got != want {
		t.Errorf("noted %q, want %q", got, want)
	}
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("error %v, want %v", got, want)
	}
}

func wantCrash(t *testing.T, err error) *supervision.Crash {
	t.Helper()
	crash, ok := errors.AsType[*supervision.Crash](err)
	if !ok {
		t.Fatalf("error %v (%T) is no Crash", err, err)
	}
	return crash
}

func wantCounters(t *testing.T, n *supervision.Node, want supervision.Counters) {
	t.Helper()
	if got := n.Counters(); got != want {
		t.Errorf("counters %+v, want %+v", got, want)
	}
}

func wantHeard(t *testing.T, f *family, want ...any) {
	t.Helper()
	if got := f.heard(); !slices.Equal(got, want) {
		t.Errorf("heard %v, want %v", got, want)
	}
}
