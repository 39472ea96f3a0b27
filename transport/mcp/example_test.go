package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// A function becomes a job, and the job a tool: synchronous, streamed to a caller with a progress token, and a task
// for clients that know tasks. Over HTTP the door is an http.Handler.
func Example() {
	ctx := context.Background()
	type text struct {
		Text string `json:"text"`
	}
	job := actors.Func("count_words", func(_ context.Context, t *actors.TaskContext, in text) (int, error) {
		words := strings.Fields(in.Text)
		return len(words), t.Progress(int64(len(words)), 0, "words")
	})
	job.Title, job.Description, job.ReadOnly = "Count words", "Counts the words of a text.", true
	system, err := actors.New(ctx, actors.Config{Jobs: []actors.Definition{job}})
	if err != nil {
		panic(err)
	}
	defer system.Close(ctx)

	door := mcp.New(mcp.Config{Runs: system, Name: "words", Version: "1.0.0"})
	defer door.Close()
	if err := door.AddJob(mcp.JobTool{Job: job.Name}); err != nil {
		panic(err)
	}

	in, client := io.Pipe()
	answers, out := io.Pipe()
	go door.Serve(ctx, in, out)
	fmt.Fprintln(client, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"example","version":"1"}}}`)
	fmt.Fprintln(client, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count_words",`+
		`"arguments":{"text":"the last word counts"},"_meta":{"progressToken":"p"}}}`)
	for lines := bufio.NewScanner(answers); lines.Scan(); {
		var m struct {
			ID     int
			Params struct{ Message string }
			Result struct {
				StructuredContent mcp.RunResult `json:"structuredContent"`
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			panic(err)
		}
		if m.Params.Message != "" {
			fmt.Println(m.Params.Message)
		}
		if r := m.Result.StructuredContent; m.ID == 2 {
			fmt.Println(r.Status, string(r.Result))
			break
		}
	}
	client.Close()

	// Output:
	// count_words queued
	// count_words started
	// count_words started
	// count_words: 4 words
	// count_words completed
	// completed 4
}
