package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Embed the runtime: make a function a job, run it, follow its events, and read its result.
func Example() {
	ctx := context.Background()
	greet := actors.Func("greet", func(_ context.Context, t *actors.TaskContext, name string) (string, error) {
		return "Hello, " + name + ".", t.AppendText("answer", "Hello, "+name+".") // every reader gets it as it comes
	})
	greet.Restart = true // a node that dies takes no run with it: another calls the function again
	system, err := actors.New(ctx, actors.Config{Jobs: []actors.Definition{greet}})
	if err != nil {
		panic(err)
	}
	defer system.Close(context.Background()) // a fresh context: ctx may be done by then
	id, err := system.Submit(ctx, messages.Request{Job: "greet", Input: json.RawMessage(`"world"`)})
	if err != nil {
		panic(err)
	}
	for event, err := range system.Events(ctx, id, 0) { // from the first event to the terminal
		if err != nil {
			panic(err)
		}
		fmt.Println(event.Seq, event.Kind())
	}
	state, err := system.State(ctx, id) // what the events add up to
	if err != nil {
		panic(err)
	}
	fmt.Println(state.Status, string(state.End.Result))
	// Output:
	// 1 run.queued
	// 2 run.started
	// 3 task.started
	// 4 text.delta
	// 5 task.completed
	// 6 run.completed
	// completed "Hello, world."
}

// weather is a job of two tasks. What the first leaves for the second is shared by the closures.
func weather(city string) actors.Job {
	var degrees int
	ask := func(_ context.Context, t *actors.TaskContext) error {
		if t.Attempt() == 1 {
			return supervision.RetryAfter(0, errors.New("the station is busy")) // a retryable error
		}
		degrees = 21
		return t.Log(messages.LogInfo, "the station has answered")
	}
	tell := func(_ context.Context, t *actors.TaskContext) error {
		text := fmt.Sprintf("%d degrees in %s.", degrees, city)
		if err := t.AppendText("answer", text); err != nil { // streamed, in as many pieces as there are
			return err
		}
		if err := t.FinishText("answer", text); err != nil { // the whole text, which closes the stream
			return err
		}
		return t.Result(degrees, false)
	}
	return actors.Job{Name: "weather", Input: city, Tasks: []actors.Task{{Name: "ask", Run: ask}, {Name: "tell", Run: tell}}}
}

// A job is a list of tasks, and a task is a plain blocking function. An error marked as retryable restarts its task.
func Example_ownJob() {
	system, err := actors.New(context.Background(), actors.Config{})
	if err != nil {
		panic(err)
	}
	defer system.Close(context.Background())
	run, err := system.Start(context.Background(), weather("Oslo"), actors.Options{})
	if err != nil {
		panic(err)
	}
	for event, err := range run.Events(context.Background(), 0) {
		if err != nil {
			panic(err)
		}
		if !event.IsDelta() {
			fmt.Println(event.Message)
		}
	}
	state, err := run.Wait(context.Background())
	fmt.Println(state.Status, string(state.End.Result), err)
	// Output:
	// weather queued
	// weather started
	// ask started
	// ask failed: the station is busy
	// ask restarted
	// ask completed
	// tell started
	//
	// tell completed
	// weather completed
	// completed 21 <nil>
}

// sale is a job of three steps. A run whose node was lost goes on after the last step that is kept.
func sale(say func(step string), third func(context.Context) error) actors.Job {
	work := func(ctx context.Context, t *actors.TaskContext) error {
		item, err := actors.Do(ctx, t, "reserve", func(context.Context) (string, error) {
			say("reserve")
			return "a lamp", nil
		})
		if err != nil {
			return err
		}
		receipt, err := actors.DoOnce(ctx, t, "charge", func(context.Context) (int, error) { // never twice, come what may
			say("charge for " + item)
			return 7, nil
		})
		if err != nil {
			return err
		}
		_, err = actors.Do(ctx, t, "ship", func(ctx context.Context) (string, error) {
			say(fmt.Sprintf("ship %s, receipt %d", item, receipt))
			return "by train", third(ctx)
		})
		return err
	}
	return actors.Job{Name: "order", Restart: true, Tasks: []actors.Task{{Name: "order", Run: work}}}
}

// A job of three steps loses its node in the third. The next node makes the third, and none of the others again.
func ExampleDo() {
	journal := journal.NewMemory() // with a journal on disk, or in a cluster, the next node is another process
	node := func(name string, third func(context.Context) error) *actors.System {
		job := sale(func(step string) { fmt.Println(name+":", step) }, third)
		system, err := actors.New(context.Background(), actors.Config{Journal: journal, Node: name, HandOver: true, Drain: time.Nanosecond,
			Jobs: []actors.Definition{{Name: "order", New: func(json.RawMessage) (actors.Job, error) { return job, nil }}}})
		if err != nil {
			panic(err)
		}
		return system
	}
	reached := make(chan struct{})
	first := node("first", func(ctx context.Context) error {
		close(reached)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	id, err := first.Submit(context.Background(), messages.Request{Job: "order"})
	if err != nil {
		panic(err)
	}
	<-reached
	_ = first.Close(context.Background()) // the node is gone; after a kill -9 the journal finds that out by itself

	second := node("second", func(context.Context) error { return nil })
	defer second.Close(context.Background())
	for event, err := range second.Events(context.Background(), id, 0) {
		if err != nil {
			panic(err)
		}
		if event.IsTerminal() {
			fmt.Println(event.Message)
		}
	}
	state, err := second.State(context.Background(), id)
	for _, step := range state.Kept {
		fmt.Println(step.Step, string(step.Result), err)
	}
	// Output:
	// first: reserve
	// first: charge for a lamp
	// first: ship a lamp, receipt 7
	// second: ship a lamp, receipt 7
	// order completed
	// reserve "a lamp" <nil>
	// charge 7 <nil>
	// ship "by train" <nil>
}
