package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/messages"
)

// A recording is on the page that replay names, with all of its events, until replay is stopped.
func TestReplayOnThePage(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	stderr, out := io.Pipe()
	p := &host.Program{Args: []string{"replay", "testdata/greet.jsonl", "--page", "--progress", "plain"}, Stdout: io.Discard, Stderr: out,
		Commands: rootCommand}
	ended := make(chan int, 1)
	go func() { ended <- p.Run(ctx); out.Close() }()
	lines := bufio.NewScanner(stderr)
	lines.Scan()
	url, ok := strings.CutPrefix(lines.Text(), "the page: ")
	for lines.Scan() && !strings.Contains(lines.Text(), "events") {
	}
	go io.Copy(io.Discard, stderr)
	var state messages.State
	for _, at := range []string{url, strings.Replace(url, "/runs/", "/v1/runs/", 1)} {
		got, err := http.Get(at)
		if err != nil || !ok || got.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", at, got, err)
		}
		defer got.Body.Close()
		if strings.Contains(at, "/v1/") {
			err = json.NewDecoder(got.Body).Decode(&state)
		}
		must(t, err)
	}
	stop()
	if code := <-ended; state.Status != messages.Completed || state.Seq != 7 || code != 0 {
		t.Errorf("the page has %s at %d, and replay exits with %d", state.Status, state.Seq, code)
	}
}
