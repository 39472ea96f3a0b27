package nats_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/seed889630bf/lastword/messages"
)

// What one node saves another loads, also if it is larger than a message; the last one saved counts.
func TestFilesOfRuns(t *testing.T) {
	s := serve(t, &server.Options{JetStream: true})
	here, there := open(t, s), open(t, s)
	load := func(name string) (string, error) {
		var b bytes.Buffer
		err := there.Load(t.Context(), name, &b)
		return b.String(), err
	}
	if _, err := load("r_a/llms.txt"); messages.CodeOf(err) != messages.CodeNotFound {
		t.Errorf("a file before any is saved: %v", err)
	}
	large := strings.Repeat("Pots keeps tea warm.\n", 200_000)
	for _, text := range []string{"first", large, ""} {
		if err := here.Save(t.Context(), "r_a/llms.txt", strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := load("r_a/llms.txt"); err != nil || got != text {
			t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
		}
	}
	if _, err := load("r_b/llms.txt"); messages.CodeOf(err) != messages.CodeNotFound {
		t.Errorf("another run's file: %v", err)
	}
}
