package supervision_test

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/supervision"
)

// pong answers each message, until the number in it is used up.
type pong struct{ done chan struct{} }

type ball struct {
	left int
	from *actor.PID
}

func (p pong) Receive(ctx actor.Context) {
	b, ok := ctx.Message().(*ball)
	if !ok {
		return
	}
	if b.left == 0 {
		close(p.done)
		return
	}
	b.left--
	to := b.from
	b.from = ctx.Self()
	ctx.Send(to, b)
}

// BenchmarkRoundTrip is two wake-ups of idle actors.
func BenchmarkRoundTrip(b *testing.B) {
	n := supervision.NewNode(nil, nil)
	defer n.Close()
	done := make(chan struct{})
	props := n.Props(func() actor.Actor { return pong{done} })
	ping, other := n.Root().Spawn(props), n.Root().Spawn(props)
	b.ReportAllocs()
	b.ResetTimer()
	n.Root().Send(ping, &ball{2 * b.N, other})
	<-done
	b.StopTimer()
	_ = n.Root().StopFuture(ping).Wait()
	_ = n.Root().StopFuture(other).Wait()
}

// tree is an actor with three children.
type tree struct {
	supervision.Children
	up, down func()
}

func (r *tree) Receive(ctx actor.Context) {
	if _, handled := r.Children.Receive(ctx); handled {
		return
	}
	switch ctx.Message().(type) {
	case *actor.Started:
		for _, name := range []string{"fetch", "analyze", "write"} {
			if _, err := r.Start(ctx, supervision.ChildSpec{Name: name, New: newLeaf}); err != nil {
				panic(err)
			}
		}
		r.up()
	case *actor.Stopped:
		r.down()
	}
}

func newLeaf() actor.Actor { return &leaf{} }

type leaf struct{}

func (*leaf) Receive(actor.Context) {}

func BenchmarkTree(b *testing.B) {
	n := supervision.NewNode(nil, nil)
	defer n.Close()
	up, down := make(chan struct{}), make(chan struct{})
	props := n.Props(func() actor.Actor {
		return &tree{Children: supervision.Children{Node: n}, up: func() { up <- struct{}{} }, down: func() { down <- struct{}{} }}
	})
	b.ReportAllocs()
	for b.Loop() {
		pid := n.Root().Spawn(props)
		<-up
		n.Root().Stop(pid)
		<-down
	}
}

// BenchmarkIdleTree reports the heap that one idle tree takes.
func BenchmarkIdleTree(b *testing.B) {
	const trees = 10_000
	for b.Loop() {
		n := supervision.NewNode(nil, nil)
		before := heap()
		up, down := make(chan struct{}), make(chan struct{})
		props := n.Props(func() actor.Actor {
			return &tree{Children: supervision.Children{Node: n}, up: func() { up <- struct{}{} }, down: func() { down <- struct{}{} }}
		})
		pids := make([]*actor.PID, trees)
		for i := range pids {
			pids[i], _ = n.Root().SpawnNamed(props, "run"+strconv.Itoa(i))
			<-up
		}
		b.ReportMetric(float64(heap()-before)/trees, "B/tree")
		for _, pid := range pids {
			n.Root().Stop(pid)
			<-down
		}
		n.Close()
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
