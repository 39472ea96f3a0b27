package testkit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/fatal"
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
		"twice": "a kill of the node at receipt, attempt 1, point 1 (work begins): effect 0 was made 2 times, and unbroken 1",
		"log":   "a kill of the node at receipt, attempt 1, point 1 (work begins): the file sent.txt is not the one that an unbroken run leaves",
	} {
		t.Run(bug, func(t *testing.T) {
			sent := 0
			got := brokenPromises(t, post(bug, func() { sent++ }), letter{Out: "x", Text: "Dear all"}, func() int { return sent })
			expect(t, got, "", want)
		})
	}
}

type parcel struct{ Number int }

// sending is a job with one step. say makes the result of what the step returned.
func sending(step func(*actors.TaskContext) string, say func(*actors.TaskContext, parcel) any) func() actors.Definition {
	return func() actors.Definition {
		sent := 0
		return actors.Func("send", func(ctx context.Context, t *actors.TaskContext, _ struct{}) (any, error) {
			p, err := actors.Do(ctx, t, step(t), func(context.Context) (parcel, error) { sent = 1; return parcel{5}, nil })
			if err = cmp.Or(err, t.AppendText("answer", "sent")); err != nil {
				return nil, err
			}
			return say(t, parcel{p.Number * sent}), nil
		})
	}
}

// Check finds a job whose recovery does not work. One that has not said that it may be called again ends by its own rule.
func TestCheckJudgesRecovery(t *testing.T) {
	send := func(*actors.TaskContext) string { return "send" }
	sent := func(*actors.TaskContext, parcel) any { return "sent" }
	for name, c := range map[string]struct {
		job  func() actors.Definition
		want string
	}{
		"right": {sending(send, sent), ""},
		"silent": {func() actors.Definition {
			return actors.Func("send", func(context.Context, *actors.TaskContext, struct{}) (string, error) { return "sent", nil })
		}, ""},
		"another process has no memory": {sending(send, func(_ *actors.TaskContext, p parcel) any { return p.Number }), `(text.delta): the run ends with the result 0, answer "sent", and unbroken with the result 5`},
		"each attempt has another end":  {sending(send, func(t *actors.TaskContext, _ parcel) any { return t.Attempt() }), `(step.kept): the run ends with the result 2`},
		"each attempt has another step": {sending(func(t *actors.TaskContext) string { return fmt.Sprint("send", t.Attempt()) }, sent), `(text.delta): earlier attempts kept steps of task send`},
		"its factory fails": {func() func() actors.Definition {
			made := 0
			return func() actors.Definition {
				d := sending(send, sent)()
				if made++; made > 1 {
					d.New = func(json.RawMessage) (actors.Job, error) {
						return actors.Job{}, errors.New("set Restart if the printer is off")
					}
				}
				return d
			}
		}(), "cannot be made again: set Restart if"},
		"its input cannot be read again": {func() actors.Definition {
			d := sending(send, sent)()
			make := d.New
			d.New = func(input json.RawMessage) (actors.Job, error) {
				job, err := make(input)
				job.Input = []string{"other"}
				return job, err
			}
			return d
		}, `(step.kept): the run ends as failed`},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, brokenPromises(t, c.job(), struct{}{}, c.job), "a kill of the node", c.want)
		})
	}
}

// A job is killed while it waits for an answer, too: then it is called again.
func TestCheckBreaksWhatWaits(t *testing.T) {
	asked := 0
	d := actors.Func("ask", func(ctx context.Context, c *actors.TaskContext, _ struct{}) (string, error) {
		asked++
		color, err := c.Ask(ctx, messages.InputRequired{Request: "color", Prompt: "Which color?"})
		return string(color), err
	})
	got := brokenPromises(t, d, struct{}{}, map[string]any{"color": "green"}, func() int { return asked })
	expect(t, got, `a kill of the node at ask waits for "color"`, "effect 0 was made 2 times")
}

// A command is a job as others are. Time stands still while its program runs.
func TestCheckOfCommands(t *testing.T) {
	for script, want := range map[string]string{
		`echo done`:                      "",
		`echo a >>"$DIR/effect"`:         "effect 0 was made 2 times",
		`[ "$LASTWORD_ATTEMPT" = 1 ]`:    "the run ends as failed",
		`echo "$LASTWORD_ATTEMPT" times`: "the run ends with the result",
		`echo '{"type":"ask","name":"a","answers":4}' >&3; read -r a <&4; echo "$a"`:                                                                 "",
		`echo '{"type":"step","name":"a"}' >&3; read -r a <&4; case $a in *kept*) ;; *) echo '{"type":"keep","name":"a"}' >&3; read -r a <&4;; esac`: "",
	} {
		for _, retries := range []int{0, 1} {
			dir := t.TempDir()
			d, err := command.Define(command.Command{Name: "work", Command: []string{"sh", "-c", script}, Env: []string{"PATH", "DIR=" + dir},
				Retry: command.Retry{Times: retries, On: []int{75}}}, command.Config{Environ: os.Environ()})
			fatal.IfError(t, err)
			effects := func() int {
				text, _ := os.ReadFile(filepath.Join(dir, "effect")) // none is there at first
				return bytes.Count(text, []byte("\n"))
			}
			answer := func(messages.InputRequired) any { return true }
			expect(t, brokenPromises(t, d, struct{}{}, effects, answer), "a kill of the node", want[:retries*len(want)]) // without retry there is no other attempt
		}
	}
}

// expect wants a violation that begins and goes on so, or none at all.
func expect(t *testing.T, got []string, begin, want string) {
	t.Helper()
	found := slices.ContainsFunc(got, func(says string) bool { return strings.HasPrefix(says, begin) && strings.Contains(says, want) })
	if found != (want != "") || want == "" && len(got) > 0 {
		t.Errorf("it finds\n%s\nwant %s", strings.Join(got, "\n"), want)
	}
}
