package supervision_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// analysis owns a task, and has its crash as its own.
type analysis struct{ node *supervision.Node }

func (a *analysis) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.node.Go(context.Background(), "analyze", ctx.Self(), ctx.Parent(), 8, analyze)
	case *supervision.TaskEnded:
		if m.Err != nil {
			panic(m.Err)
		}
		supervision.Goodbye(ctx)
	}
}

func analyze(_ context.Context, t *supervision.Routine) error {
	if err := t.Send("half of it"); err != nil {
		return err
	}
	count(nil) // writes to a nil map
	return nil
}

// run has one child. Whatever happens to that, the run hears first what it said and then how it ended.
type run struct {
	supervision.Children
	done chan struct{}
}

func (r *run) Receive(ctx actor.Context) {
	exit, handled := r.Children.Receive(ctx)
	if exit != nil {
		crash, _ := errors.AsType[*supervision.Crash](exit.Err)
		fmt.Println("the child ended:", crash, "during", crash.During)
		close(r.done)
	}
	if handled {
		return
	}
	switch m := ctx.Message().(type) {
	case *actor.Started:
		_, _ = r.Start(ctx, supervision.ChildSpec{Name: "child", New: func() actor.Actor { return &analysis{r.Node} }})
	case *supervision.TaskMessage:
		fmt.Println("the child said:", m.Message)
		m.Task.Ack()
	}
}

func Example() {
	node := supervision.NewNode(nil, nil)
	defer node.Close()
	r := &run{Children: supervision.Children{Node: node}, done: make(chan struct{})}
	pid := node.Root().Spawn(node.Props(func() actor.Actor { return r }))
	<-r.done
	_ = node.Root().StopFuture(pid).Wait()
	// Output:
	// the child said: half of it
	// the child ended: panic: assignment to entry in nil map during analyze
}

func ExamplePolicy() {
	var policy supervision.Policy
	busy := &messages.Error{Code: "provider_error", Message: "busy", Retryable: true}
	for attempt := 1; ; attempt++ {
		d := policy.Decide(supervision.Failure{Attempt: attempt, Err: busy}, 0.5)
		fmt.Println(attempt, d.Retry, d.Delay, d.Cause)
		if !d.Retry {
			return
		}
	}
	// Output:
	// 1 true 75ms provider_error
	// 2 true 150ms provider_error
	// 3 false 0s provider_error
}
