package actors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/testkit"
)

// A retried task asks again and gets the answer: "A request is named by its task; the name asked again, by any attempt, is
// the same request".
func TestAskAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		in := messages.InputRequired{Request: "q", Prompt: "Go on?"}
		run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
			if task.Attempt() == 1 {
				task.Go(func(ctx context.Context) error { _, err := task.Ask(ctx, in); return err })
				time.Sleep(time.Second)
				return supervision.RetryAfter(time.Second, errors.New("busy"))
			}
			v, err := task.Ask(ctx, in)
			if err != nil {
				return err
			}
			if again, err := task.Ask(ctx, in); err != nil || !bytes.Equal(again, v) {
				t.Errorf("the same question again: %s, %v", again, err)
			}
			return task.Result(v, false)
		}), actors.Options{})
		time.Sleep(time.Minute)
		noError(t, s.Answer(t.Context(), run.ID(), "q", json.RawMessage(`1`), ""))
		state := wait(t, run)
		expect(t, state, messages.Completed, messages.ByRun, "")
		if string(state.End.Result) != "1" {
			t.Errorf("result %s", state.End.Result)
		}
	})
}

// Close gives every run its last word, also one whose first event is late in the journal.
func TestCloseLeavesNoRunWithoutTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, kept := disturbed(func(journal.Block) testkit.Disturbance { return testkit.Disturbance{Delay: 300 * time.Millisecond} })
		s, err := actors.New(t.Context(), actors.Config{Journal: j, Drain: 50 * time.Millisecond, CancelHard: 50 * time.Millisecond})
		noError(t, err)
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			time.Sleep(100 * time.Millisecond)
			s.Close(t.Context())
		}()
		run, err := s.Start(t.Context(), job(heed), actors.Options{})
		noError(t, err)
		<-closed
		expect(t, wait(t, run), messages.Failed, func() messages.Author {
			state, _ := run.State(t.Context())
			return state.End.By
		}(), messages.CauseShutdown)
		time.Sleep(time.Minute)
		if held := stored(t, kept, run.ID()); !held.Status.IsEnded() {
			t.Errorf("the journal holds it as %s", held.Status)
		}
	})
}

// blind is a journal that can neither say how an append ended nor be read, for a while.
type blind struct {
	*testkit.Journal
	reads int
}

func (b *blind) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if b.reads > 0 {
		b.reads--
		return journal.Page{}, errors.New("the journal cannot be read")
	}
	return b.Journal.Read(ctx, run, after)
}

// A block whose outcome is not known is not appended again before it is: a run does not fence itself.
func TestUnknownOutcomeIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		j, _ := disturbed(func(journal.Block) testkit.Disturbance {
			n++
			return testkit.Disturbance{Unknown: n == 3}
		})
		s := open(t, actors.Config{Journal: &blind{Journal: j, reads: 2}})
		run := start(t, s, job(chatter), actors.Options{})
		expect(t, wait(t, run), messages.Completed, messages.ByRun, "")
	})
}

// A run whose log another node has taken over leaves, also where it has named a child that is not born yet.
func TestFencedRunLeavesItsUnbornChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		j, kept := disturbed(func(b journal.Block) testkit.Disturbance {
			if b.Events[len(b.Events)-1].Kind() == messages.KindChildStarted {
				return testkit.Disturbance{Gate: gate}
			}
			return testkit.Disturbance{}
		})
		s := open(t, actors.Config{Journal: j})
		run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
			_, err := task.Start(ctx, job(heed), actors.Options{})
			return err
		}), actors.Options{})
		synctest.Wait()
		page, err := kept.Read(t.Context(), run.ID(), 0)
		noError(t, err)
		at := page.Head.Seq + 1
		usurper := messages.Event{RunID: run.ID(), From: at, Seq: at, Time: time.Now(), Body: messages.RunCanceling{}}
		kept.Append(journal.Block{Run: run.ID(), After: page.Head, ID: journal.BlockID{1}, Writer: "other", Epoch: 2,
			Events: []messages.Event{usurper}}, func(err error) {
			if err != nil {
				t.Error(err)
			}
		})
		close(gate)
		time.Sleep(time.Minute)
		if n := s.Stats(); n.Fenced != 1 || n.Active != 0 {
			t.Errorf("%+v", n)
		}
	})
}

// A run that the journal fails while it names a child ends when the journal takes events again, and its child before it.
func TestTroubledRunSettlesItsUnbornChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		j, _ := disturbed(func(b journal.Block) testkit.Disturbance {
			named := b.Events[len(b.Events)-1].Kind() == messages.KindChildStarted
			return testkit.Disturbance{Refuse: named && time.Since(began) < time.Minute}
		})
		s := open(t, actors.Config{Journal: j})
		run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
			_, err := task.Start(ctx, job(heed), actors.Options{})
			return err
		}), actors.Options{})
		time.Sleep(2 * time.Minute)
		state := wait(t, run)
		expect(t, state, messages.Failed, messages.ByRun, messages.CauseJournalUnavailable)
		if len(state.Children) != 1 || state.Children[0].Status != messages.Canceled {
			t.Errorf("children: %+v", state.Children)
		}
	})
}

// The README's program is the example, which is compiled and run. It embeds the runtime in about 25 lines.
func TestReadmeShowsTheExample(t *testing.T) {
	shown := between(t, text(t, "../README.md"), "<!-- embed:begin -->\n```go\n", "```\n<!-- embed:end -->")
	if code := function(t, "actors/example_test.go", "Example"); shown != code {
		t.Errorf("the README shows\n%s\nthe example is\n%s", shown, code)
	}
	if lines := strings.Count(shown, "\n"); lines > 27 {
		t.Errorf("embedding takes %d lines", lines)
	}
}

var example = regexp.MustCompile("(?s)<!-- example: (\\S+) (\\S+) -->\n```go\n(.*?)```\n|```go\n|`(Example\\w*)`")

// The page of jobs shows functions of examples, and names other examples that there are.
func TestPageOfJobsShowsExamples(t *testing.T) {
	all := text(t, "example_test.go") + text(t, "example_embed_test.go") + text(t, "../testkit/system_example_test.go")
	for _, m := range example.FindAllStringSubmatch(text(t, "../docs/jobs.md"), -1) {
		switch {
		case m[4] != "" && !strings.Contains(all, "\nfunc "+m[4]+"("):
			t.Errorf("there is no %s", m[4])
		case m[4] == "" && m[1] == "":
			t.Error("code on the page is of no example")
		case m[1] != "" && m[3] != function(t, m[1], m[2]):
			t.Errorf("the page shows\n%s\nthe example is\n%s", m[3], function(t, m[1], m[2]))
		}
	}
}

func TestOwnJobIsShort(t *testing.T) {
	if lines := strings.Count(function(t, "actors/example_test.go", "weather"), "\n"); lines >= 30 {
		t.Errorf("a job of one's own takes %d lines", lines)
	}
}

// function is the code of a function of the examples, without what it prints.
func function(t *testing.T, file, name string) string {
	t.Helper()
	body := between(t, text(t, "../"+file), "\nfunc "+name+"(", "\n}\n")
	body, _, _ = strings.Cut(body, "\n\t// Output:")
	return "func " + name + "(" + body + "\n}\n"
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	noError(t, err)
	return string(data)
}

func between(t *testing.T, text, begin, end string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, begin)
	inside, _, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("nothing between %q and %q", begin, end)
	}
	return inside
}
