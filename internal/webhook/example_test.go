package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/webhook"
	"github.com/seed889630bf/lastword/messages"
)

// Hooks deliver the ends of runs to a receiver, as runs of their own. Send is [send.Sender]'s outside of a test.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	sent := make(chan string)
	var system *actors.System
	hooks := webhook.New(webhook.Config{
		Targets: []webhook.Target{{Name: "chat", URL: "https://chat.example/hook"}},
		System:  func() *actors.System { return system },
		Send: func(_ context.Context, to *webhook.Target, _ string, body []byte) (time.Duration, error) {
			var event struct{ Type string }
			err := json.Unmarshal(body, &event)
			sent <- to.Name + " got " + event.Type
			return 0, err
		},
		Load:   func(context.Context) (webhook.Marks, error) { return nil, nil },
		Save:   func(context.Context, webhook.Marks) error { return nil },
		Redact: func(body []byte) []byte { return body },
		Log:    zap.NewNop(),
	})
	greet := actors.Func("greet", func(context.Context, *actors.TaskContext, struct{}) (string, error) { return "Hello.", nil })
	system, err := actors.New(ctx, actors.Config{Jobs: []actors.Definition{greet, hooks.Define()}, Observe: hooks.Observe,
		Ceilings: actors.Ceilings{WallClock: time.Hour}})
	if err != nil {
		panic(err)
	}
	defer system.Close(context.Background())
	ended := make(chan struct{})
	go func() { hooks.Run(ctx); close(ended) }()
	if _, err := system.Submit(ctx, messages.Request{Job: "greet"}); err != nil {
		panic(err)
	}
	fmt.Println(<-sent)
	stop()
	<-ended
	// Output:
	// chat got run.completed
}
