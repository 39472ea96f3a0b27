package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// newNode starts a node for an example.
func newNode(config actors.Config) *actors.System {
	system, err := actors.New(context.Background(), config)
	if err != nil {
		panic(err)
	}
	return system
}

// must returns the value of a call that does not fail in an example.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// task makes a job of one task.
func task(name string, run func(context.Context, *actors.TaskContext) error) actors.Job {
	return actors.Job{Name: name, Tasks: []actors.Task{{Name: name, Run: run}}}
}

// A Definition gives a job its input type, schemas and description. Typed refuses input that does not fit.
func ExampleDefinition() {
	type input struct {
		City string `json:"city" jsonschema:"name of the city" form:"minLength=1"`
	}
	weather := actors.Definition{Name: "weather", JobSpec: messages.JobSpec{Title: "Weather", ReadOnly: true, Input: jobschema.Input[input]()},
		New: actors.Typed(func(in input) (actors.Job, error) {
			job := task("weather", func(_ context.Context, t *actors.TaskContext) error { return t.Result(in.City+": sun", false) })
			job.Input = in
			return job, nil
		})}
	system := newNode(actors.Config{Jobs: []actors.Definition{weather}})
	defer system.Close(context.Background())

	fmt.Println(string(system.Jobs()[0].Input.JSON()))
	_, err := system.Submit(context.Background(), messages.Request{Job: "weather", Input: json.RawMessage(`{"town":"Oslo"}`)})
	fmt.Println(messages.CodeOf(err), err)
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"name of the city","minLength":1}},"required":["city"],"additionalProperties":false}
	// invalid_input the input has no field "town"
}

// A reader follows the milestones alone, from its cursor on. The snapshot is the State at that point.
func ExampleSystem_Follow() {
	system := newNode(actors.Config{})
	defer system.Close(context.Background())
	run := must(system.Start(context.Background(), task("count", func(_ context.Context, t *actors.TaskContext) error {
		for range 1000 {
			if err := t.AppendText("answer", "one "); err != nil {
				return err
			}
		}
		return nil
	}), actors.Options{}))
	want := messages.FollowOptions{After: 2, Filter: messages.Filter{MilestonesOnly: true}}
	for events, err := range system.Follow(context.Background(), run.ID(), want) {
		for _, e := range events {
			if e.Body != nil { // without a body it is only a cursor
				fmt.Println(e.Message)
			}
		}
		if err != nil {
			panic(err)
		}
	}
	// Output:
	// count started
	// count completed
	// count completed
}

// A cancel is accepted at once. The task's context ends, and the run gets exactly one terminal.
func ExampleRun_Cancel() {
	system := newNode(actors.Config{})
	defer system.Close(context.Background())
	begun := make(chan struct{})
	run := must(system.Start(context.Background(), task("wait", func(ctx context.Context, _ *actors.TaskContext) error {
		close(begun)
		<-ctx.Done()
		return context.Cause(ctx)
	}), actors.Options{}))
	<-begun
	if err := run.Cancel(context.Background(), "no longer needed"); err != nil {
		panic(err)
	}
	state := must(run.Wait(context.Background()))
	fmt.Println(state.Status, state.End.Cause)
	// Output:
	// canceled canceled_by_user
}

// A task asks a person and waits. Anybody who may act for the run's principal answers.
func ExampleTaskContext_Ask() {
	ctx := context.Background()
	system := newNode(actors.Config{})
	defer system.Close(ctx)
	run := must(system.Start(ctx, task("paint", func(ctx context.Context, t *actors.TaskContext) error {
		color, err := t.Ask(ctx, messages.InputRequired{Request: "color", Prompt: "Which color?"})
		if err != nil {
			return err
		}
		return t.Result("painted "+messages.Plain(color), false)
	}), actors.Options{Principal: "ann"}))
	for event, err := range run.Events(ctx, 0) {
		if err != nil {
			panic(err)
		}
		if asked, ok := event.Body.(messages.InputRequired); ok {
			fmt.Println(asked.Prompt)
			if err := system.Answer(ctx, run.ID(), asked.Request, json.RawMessage(`"green"`), "ann"); err != nil {
				panic(err)
			}
		}
	}
	fmt.Println(string(must(run.Wait(ctx)).End.Result))
	// Output:
	// Which color?
	// "painted green"
}

// A task reports how far it is, writes a file, and names it in the log with its digest.
func ExampleTaskContext_Emit() {
	system := newNode(actors.Config{})
	defer system.Close(context.Background())
	folder := must(os.MkdirTemp("", "report"))
	defer os.RemoveAll(folder)
	run := must(system.Start(context.Background(), task("report", func(_ context.Context, t *actors.TaskContext) error {
		if err := t.Progress(1, 2, "pages"); err != nil {
			return err
		}
		const text = "All is well.\n"
		if err := os.WriteFile(filepath.Join(folder, "report.txt"), []byte(text), 0o600); err != nil {
			return err
		}
		file := messages.Artifact{Name: "report.txt", Path: "report.txt", Bytes: int64(len(text)), SHA256: messages.Digest(text)}
		return t.Emit(messages.ArtifactWritten{Artifact: file}, "wrote report.txt")
	}), actors.Options{}))
	state := must(run.Wait(context.Background()))
	fmt.Println(state.Status, state.Artifacts[0].Name, state.Artifacts[0].Bytes)
	// Output:
	// completed report.txt 13
}

// A Policy says how often a task is tried, and how long it waits. Only retryable errors are tried again.
func ExampleTask() {
	system := newNode(actors.Config{})
	defer system.Close(context.Background())
	fetch := actors.Task{Name: "fetch", Policy: supervision.Policy{Attempts: 5, Backoff: time.Millisecond},
		Run: func(_ context.Context, t *actors.TaskContext) error {
			if t.Attempt() < 3 {
				return supervision.RetryAfter(0, errors.New("the server is busy"))
			}
			return supervision.Permanent(errors.New("the page no longer exists"))
		}}
	run := must(system.Start(context.Background(), actors.Job{Name: "fetch", Tasks: []actors.Task{fetch}}, actors.Options{}))
	state := must(run.Wait(context.Background()))
	done, _ := state.Task("fetch")
	fmt.Println(state.Status, done.Attempt, state.End.Error)
	// Output:
	// failed 3 the page no longer exists
}

// A task starts sub-runs. They have their own logs, and are cancelled with their parent.
func ExampleTaskContext_Start() {
	square := actors.Func("square", func(_ context.Context, _ *actors.TaskContext, n int) (int, error) { return n * n, nil })
	system := newNode(actors.Config{Jobs: []actors.Definition{square}})
	defer system.Close(context.Background())
	run := must(system.Start(context.Background(), task("sum", func(ctx context.Context, t *actors.TaskContext) error {
		sum := 0
		for n := 1; n <= 3; n++ {
			child, err := t.Submit(ctx, messages.Request{Job: "square", Input: json.RawMessage(strconv.Itoa(n)), Key: fmt.Sprint("square of ", n)})
			if err != nil {
				return err
			}
			result, err := child.Result(ctx) // an error if the sub-run did not complete
			if err != nil {
				return err
			}
			part, _ := strconv.Atoi(string(result))
			sum += part
		}
		return t.Result(sum, false)
	}), actors.Options{}))
	state := must(run.Wait(context.Background()))
	fmt.Println(string(state.End.Result), len(state.Children), state.Children[2].Name)
	// Output:
	// 14 3 square of 3
}

// audience is an embedder's actor. It gets a run's events as messages, one at a time.
type audience struct {
	system *actors.System
	run    messages.RunID
	done   chan struct{}
	events *actors.Subscription
}

func (a *audience) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		a.events = must(a.system.Subscribe(c.Self(), a.run, 0, 1))
	case *actors.Delivery:
		switch body := m.Message.(type) {
		case messages.Event:
			fmt.Println(body.Kind())
			m.Task.Ack() // the next event may come
			if body.Kind() == messages.KindTaskStarted {
				a.events.Close() // enough
			}
		case actors.SubscriptionEnd:
			fmt.Println("end:", body.Err)
			close(a.done)
		}
	}
}

// A node runs inside the embedder's own actor system, and an actor there subscribes to a run.
func ExampleSystem_Subscribe() {
	own := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	system := newNode(actors.Config{ActorSystem: own})
	defer system.Close(context.Background())
	hold := make(chan struct{})
	run := must(system.Start(context.Background(), task("work", func(context.Context, *actors.TaskContext) error {
		<-hold
		return nil
	}), actors.Options{}))
	a := &audience{system: system, run: run.ID(), done: make(chan struct{})}
	pid := own.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return a }))
	<-a.done
	close(hold)
	_ = own.Root.StopFuture(pid).Wait()
	// Output:
	// run.queued
	// run.started
	// task.started
	// end: context canceled
}

// A run has a budget. What a task spends is reported, and the run ends once the budget is used up.
func ExampleTaskContext_Budgeted() {
	system := newNode(actors.Config{})
	defer system.Close(context.Background())
	run := must(system.Start(context.Background(), task("search", func(ctx context.Context, t *actors.TaskContext) error {
		for page := 1; ; page++ {
			if err := t.Emit(messages.UsageReported{By: "program", ToolCalls: 1}, fmt.Sprint("read page ", page)); err != nil {
				return err // the run has spent all, or was canceled
			}
		}
	}), actors.Options{Limits: messages.Limits{Budget: messages.Budget{ToolCalls: 3}}}))
	state := must(run.Wait(context.Background()))
	fmt.Println(state.Status, state.End.Error.Code)
	// Output:
	// failed budget
}

// In a test, Inject breaks a run at any point. The run still ends once, and says why.
func ExamplePoint() {
	system := newNode(actors.Config{Inject: func(p actors.Point) {
		if p.Name == actors.ActorTurn && p.Actor == "think" {
			p.Record("panic")
			p.Fail(errors.New("a crash in the turn of the task's actor"))
		}
	}})
	defer system.Close(context.Background())
	run := must(system.Start(context.Background(), task("think", func(context.Context, *actors.TaskContext) error { return nil }), actors.Options{}))
	state := must(run.Wait(context.Background()))
	fmt.Println(state.Status, state.End.By, state.End.Cause)
	// Output:
	// failed supervisor injected
}
