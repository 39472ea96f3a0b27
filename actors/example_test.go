package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Embed the runtime: make a function a job, run it, follow its events, and read its result.
func Example() {
	ctx := context.Background()
	greet := actors.Func("greet", func(_ context.Context, t *actors.TaskContext, name string) (string, error) {
		return "Hello, " + name + ".", t.Say("answer", "Hello, "+name+".") // every reader gets it as it comes
	})
	system, err := actors.New(ctx, actors.Config{Jobs: map[string]actors.NewJob{"greet": greet}})
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
	fmt.Println(state.Status, string(state.End.Result), err)
	// Output:
	// 1 run.queued
	// 2 run.started
	// 3 task.started
	// 4 text.delta
	// 5 task.completed
	// 6 run.completed
	// completed "Hello, world." <nil>
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
		if err := t.Say("answer", text); err != nil { // streamed, in as many pieces as there are
			return err
		}
		if err := t.Said("answer", text); err != nil { // the whole text, which closes the stream
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
