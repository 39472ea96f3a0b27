package actors_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// embed is the README's: a System, a run, its events, its end.
func embed(ctx context.Context, job actors.Job) error {
	system, err := actors.New(ctx, actors.Config{}) // nothing global, no listener, no log output
	if err != nil {
		return err
	}
	defer system.Close(ctx) // drains: every run gets its last word

	run, err := system.Start(ctx, job, actors.Options{})
	if err != nil {
		return err
	}
	for event, err := range run.Events(ctx, 0) { // from the first event to the terminal
		if err != nil {
			return err
		}
		if !event.IsDelta() { // a slow reader's deltas come merged
			fmt.Println(event.Seq, event.Kind())
		}
	}
	state, err := run.Wait(ctx) // what the events add up to
	if err != nil {
		return err
	}
	fmt.Println(state.Status, string(state.End.Result))
	return nil
}

// greeting is a job of one's own.
func greeting(name string) actors.Job {
	var words []string // what the first task leaves for the second
	think := func(_ context.Context, t *actors.TaskContext) error {
		words = []string{"Hello, ", name, "."}
		return t.Log(messages.LogInfo, "three words will do")
	}
	speak := func(_ context.Context, t *actors.TaskContext) error {
		for _, word := range words {
			if err := t.Say("answer", word); err != nil { // streamed as it comes
				return err
			}
		}
		text := strings.Join(words, "")
		if err := t.Said("answer", text); err != nil { // and said as a whole
			return err
		}
		return t.Result(len(text), false)
	}
	return actors.Job{Name: "greet", Input: map[string]string{"name": name}, Tasks: []actors.Task{
		{Name: "think", Run: think},
		{Name: "speak", Run: speak},
	}}
}

// Embed the runtime: start a run and read it to its end.
func Example() {
	job := actors.Job{Name: "greet", Tasks: []actors.Task{{
		Name: "hello",
		Run: func(_ context.Context, t *actors.TaskContext) error {
			return t.Said("answer", "Hello.")
		},
	}}}
	if err := embed(context.Background(), job); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 run.queued
	// 2 run.started
	// 3 task.started
	// 4 text.done
	// 5 task.completed
	// 6 run.completed
	// completed
}

// A job of one's own is a list of tasks, and a task is a plain blocking function.
func Example_ownJob() {
	if err := embed(context.Background(), greeting("world")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 run.queued
	// 2 run.started
	// 3 task.started
	// 5 task.completed
	// 6 task.started
	// 10 text.done
	// 11 task.completed
	// 12 run.completed
	// completed 13
}
