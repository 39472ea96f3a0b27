package testkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/dialect"
	"github.com/seed889630bf/lastword/transport/dialect/looopy"
	"github.com/seed889630bf/lastword/transport/dialect/nano"
)

// TestSeedClients is the part of make clients that runs the seed systems' own client code, unchanged, over every
// story. What the client holds at the end must be what the log says, and no cut may look like a success.
func TestSeedClients(t *testing.T) {
	if os.Getenv("LASTWORD_CLIENTS") == "" {
		t.Skip("make clients runs this")
	}
	for _, how := range []string{"poll", "push"} {
		equal := 0
		for _, story := range testkit.Stories() {
			if seedNANO(t, story, how) {
				equal++
			}
		}
		fmt.Printf("%-10s %-26s stories %d/%d\n", "nano", "the seed's "+how, equal, len(testkit.Stories()))
	}
	equal := 0
	for _, story := range testkit.Stories() {
		if seedLooopy(t, story) {
			equal++
		}
	}
	fmt.Printf("%-10s %-26s stories %d/%d\n", "looopy", "the seed's EventSource", equal, len(testkit.Stories()))
}

// seedJobs are the jobs of every dialect's tests: a Teller's.
var seedJobs = []dialect.Job{{Name: "prompt"}, {Name: "chat", Schema: json.RawMessage(`{"properties":{"context":{}}}`)}}

func seedNANO(t *testing.T, story testkit.Story, how string) (equal bool) {
	t.Helper()
	runs := &testkit.Teller{}
	server := httptest.NewServer(nano.New(dialect.Config{Runs: runs, Jobs: seedJobs}, "test"))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go answerStories(ctx, runs)
	out := nodeScript(t, "nano.mjs", how, server.URL, story.Name)
	out = strings.TrimSuffix(out, "\n")
	i := strings.LastIndex(out, "\n")
	text, ended := out[:i], out[i+1:]
	state := story.State()
	var want []string
	for _, stream := range state.Streams {
		if strings.HasPrefix(stream.Name, "answer") && !stream.Thought {
			want = append(want, stream.Text())
		}
	}
	// A client that can only append ends with an error where text was taken back.
	rewound := story.Name == "recovery" || story.Name == "restart inside a text"
	success := state.Status == messages.Completed && !rewound
	if ended != fmt.Sprint(success) || !rewound && text != strings.Join(want, "\n\n") {
		t.Errorf("%s, %s: the client has %q and ends as %s; want %q, %v", how, story.Name, text, ended, want, success)
		return false
	}
	return true
}

// seedLooopy has the seed's client read a turn that another client began.
func seedLooopy(t *testing.T, story testkit.Story) (equal bool) {
	t.Helper()
	runs := &testkit.Teller{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go answerStories(ctx, runs)
	server := httptest.NewServer(looopy.New(dialect.Config{Runs: runs, Jobs: seedJobs}))
	defer server.Close()
	out := nodeScript(t, "looopy.mjs", server.URL, story.Name)
	var got struct {
		Text     string
		Thoughts []string
		Ended    string
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	state := story.State()
	text, ended := "", string(state.Status)
	var thoughts []string
	for _, stream := range state.Streams {
		switch {
		case stream.Thought:
			thoughts = append(thoughts, stream.Text())
		case strings.HasPrefix(stream.Name, "answer"):
			text += stream.Text()
		}
	}
	if _, after, marked := strings.Cut(got.Text, "\n\n---\n\n"); marked { // what replaces what was taken back
		got.Text = after
	}
	if got.Text != text || got.Ended != ended || strings.Join(got.Thoughts, "|") != strings.Join(thoughts, "|") {
		t.Errorf("%s: the client has %+v; want %q, %q, %q", story.Name, got, text, thoughts, ended)
		return false
	}
	return true
}

// answerStories answers the question of a story once it is asked.
func answerStories(ctx context.Context, runs *testkit.Teller) {
	for ctx.Err() == nil {
		if runs.Answer(ctx, testkit.StoryRun+"1", "q1", json.RawMessage(`"main"`), "") == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// nodeScript runs a script of testdata/httpclients and returns what it prints.
func nodeScript(t *testing.T, script string, arguments ...string) string {
	t.Helper()
	arguments = append([]string{filepath.Join(npmInstall(t, "httpclients"), script)}, arguments...)
	cmd := exec.CommandContext(t.Context(), "node", arguments...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s\n%s", cmd.Args, err, out, stderr.String())
	}
	return string(out)
}
