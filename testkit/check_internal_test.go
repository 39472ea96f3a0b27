package testkit

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
)

// letter is the input of the job post, which writes a letter, sends it, and waits for the receipt.
type letter struct {
	Out  string `json:"out"`
	Text string `json:"text"`
}

// post is the job, with a bug: "early" says that it wrote the letter before it has, "deaf" ignores a cancel, "twice" sends
// again what it has sent, and "log" keeps its own list of what it has sent, and writes it again.
func post(bug string, send func()) actors.Definition {
	write := func(t *actors.TaskContext, in letter) error {
		file := filepath.Join(in.Out, "letter.txt")
		said := func() error {
			return t.Emit(messages.ArtifactWritten{Artifact: messages.Artifact{Name: "letter.txt", Path: "letter.txt", Bytes: int64(len(in.Text)),
				SHA256: messages.Digest(in.Text)}}, "wrote the letter")
		}
		steps := []func() error{func() error { return os.WriteFile(file, []byte(in.Text), 0o600) }, said}
		if bug == "early" {
			slices.Reverse(steps)
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}
	mail := func(ctx context.Context, t *actors.TaskContext) error {
		if bug == "twice" {
			send()
			return t.AppendText("answer", "sent")
		}
		_, err := actors.Do(ctx, t, "send", func(context.Context) (int, error) { send(); return 1, nil })
		return err
	}
	return actors.Definition{Name: "post", Restart: true, New: func(input json.RawMessage) (actors.Job, error) {
		var in letter
		err := json.Unmarshal(input, &in)
		return actors.Job{Name: "post", Input: input, Restart: true, Tasks: []actors.Task{
			{Name: "write", Run: func(_ context.Context, t *actors.TaskContext) error { return write(t, in) }},
			{Name: "mail", Run: mail},
			{Name: "file", Run: func(context.Context, *actors.TaskContext) error {
				if bug != "log" {
					return nil
				}
				f, err := os.OpenFile(filepath.Join(in.Out, "sent.txt"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				if err != nil {
					return err
				}
				defer f.Close()
				_, err = f.WriteString("a letter\n")
				return err
			}},
			{Name: "receipt", Run: func(ctx context.Context, t *actors.TaskContext) error {
				if err := t.AppendText("answer", "waiting"); err != nil {
					return err
				}
				if bug == "deaf" {
					time.Sleep(4 * time.Second)
					return nil
				}
				return faultplan.Pause(ctx, 4*time.Second)
			}},
		}}, err
	}}
}

// Check finds what is wrong with a job, says where, and has nothing to say of a job that is right.
func TestCheckFindsBugs(t *testing.T) {
	for bug, want := range map[string]string{
		"":      "",
		"early": "write says that it wrote letter.txt before the file is there",
		"deaf":  "a cancel at receipt, attempt 1, point 2 (text.delta): the run ends 3.999s after the cancel",
		"twice": "a restart elsewhere at receipt, attempt 1, point 1 (work begins): effect 0 was made 2 times, and unbroken 1",
		"log":   "a restart elsewhere at receipt, attempt 1, point 1 (work begins): the file sent.txt is not the one that an unbroken run leaves",
	} {
		t.Run(bug, func(t *testing.T) {
			sent := 0
			got := brokenPromises(t, post(bug, func() { sent++ }), letter{Out: "x", Text: "Dear all"}, []func() int{func() int { return sent }}, nil)
			if found := slices.ContainsFunc(got, func(says string) bool { return strings.HasPrefix(says, want) }); found != (want != "") || want == "" && len(got) > 0 {
				t.Errorf("it finds\n%s\nwant %s", strings.Join(got, "\n"), want)
			}
		})
	}
}
