package http_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/transport/door"
	api "github.com/seed889630bf/lastword/transport/http"
)

// The door is an http.Handler: mount it where you like. A start answers with the run's events if asked to.
func ExampleNew() {
	greet := actors.Func("greet", func(_ context.Context, _ *actors.TaskContext, in struct{ Name string }) (string, error) {
		return "Hello, " + in.Name + ".", nil
	})
	system, err := actors.New(context.Background(), actors.Config{Jobs: []actors.Definition{greet}})
	if err != nil {
		panic(err)
	}
	defer system.Close(context.Background())
	mux := http.NewServeMux()
	mux.Handle("/v1/", api.New(door.New(door.Config{Runs: system, Jobs: system.Jobs()})))
	server := httptest.NewServer(mux)
	defer server.Close()

	start, err := http.NewRequest("POST", server.URL+"/v1/runs", strings.NewReader(`{"job":"greet","input":{"Name":"world"}}`))
	if err != nil {
		panic(err)
	}
	start.Header.Set("Content-Type", "application/json")
	start.Header.Set("Accept", "text/event-stream") // the run's events, until its terminal
	answer, err := http.DefaultClient.Do(start)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			fmt.Println(kind)
		}
	}
	// Output:
	// run.queued
	// run.started
	// task.started
	// task.completed
	// run.completed
}
