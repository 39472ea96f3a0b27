package terminal

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/cmd/internal/terminaltest"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

// story is a run as a view is told of it, at the time of the bubble.
type story struct {
	t     *testing.T
	view  view
	state messages.State
}

func (r *story) say(body messages.Body, message string) {
	r.t.Helper()
	e := messages.Event{RunID: "r_aaaaaaaaaaaaaaaaaaaaaaaaaa", Seq: r.state.Seq + 1, From: r.state.Seq + 1,
		Time: time.Now().UTC(), Body: body, Message: message}
	next, err := r.state.Apply(e)
	fatal.IfError(r.t, err)
	r.state = next
	r.view.Show(next, e)
}

func (r *story) begin(task string) {
	r.t.Helper()
	r.say(messages.RunQueued{Job: "generate", Mode: messages.Attached}, "generate queued")
	r.say(messages.RunStarted{}, "generate started")
	r.say(messages.TaskStarted{Task: task, Attempt: 1}, task+" started")
}

func (r *story) log(level messages.LogLevel, lines ...string) {
	r.t.Helper()
	for _, line := range lines {
		l := messages.LogLine{Number: max(r.state.Log.Next, 1), Level: level, Task: r.state.Tasks[0].Name, Text: line}
		r.say(messages.Log{Lines: []messages.LogLine{l}}, "")
	}
}

func looks(t *testing.T, v *terminaltest.Terminal, when, want string) {
	t.Helper()
	if got := v.Text(); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("%s the terminal shows\n%s\nwant%s", when, got, want)
	}
}

func onTerminal(t *testing.T, columns, rows int, f func(v *terminaltest.Terminal, l *live, r *story)) {
	synctest.Test(t, func(t *testing.T) {
		v := terminaltest.New(t, columns, rows, RuneWidth)
		l := newLive(v, style{color: true}, v.Size)
		defer l.Leave()
		f(v, l, &story{t: t, view: l})
	})
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestLiveFromTheFirstToTheLastFrame(t *testing.T) {
	onTerminal(t, 80, 20, func(v *terminaltest.Terminal, l *live, r *story) {
		v.Write([]byte("$ lastword generate .\r\n"))
		r.begin("fetch")
		r.log(messages.LogInfo, "one", "two", "three", "four", "five", "six")
		r.say(messages.Progress{Task: "fetch", Done: 1204, Unit: "entries"}, "")
		pass(1250 * time.Millisecond)
		looks(t, v, "in the first task", `
$ lastword generate .
⠹  fetch     1.2 s  1,204 entries
    two
    three
    four
    five
    six
   generate  1.2 s
`)
		r.say(messages.TaskCompleted{Task: "fetch", Attempt: 1}, "fetch completed: gathered 1204 files")
		r.say(messages.TaskStarted{Task: "analyze", Attempt: 1}, "analyze started")
		r.say(messages.Progress{Task: "analyze", Done: 12_400_000, Total: 30_000_000, Unit: "bytes"}, "")
		r.say(messages.ArtifactWritten{Artifact: messages.Artifact{Name: "llms.txt", Bytes: 4200,
			SHA256: messages.Digest("")}, Task: "analyze"}, "llms.txt written")
		pass(time.Minute + 100*time.Millisecond)
		looks(t, v, "a minute later", `
$ lastword generate .
✓  fetch       1.2 s  gathered 1204 files
⠸  analyze    1m 00s  12.4 MB of 30.0 MB
    two
    three
    four
    five
    six
   generate  1m 01s, 1 file with 4.2 kB
`)
		r.say(messages.RunCanceling{}, "canceling")
		pass(time.Second)
		if !strings.HasSuffix(v.Text(), "1 file with 4.2 kB  canceling; Ctrl-C leaves at once\n") {
			t.Errorf("the terminal does not say that the run is cancelled:\n%s", v.Text())
		}
		r.say(r.state.Terminal(messages.RunCanceled{By: messages.ByRun, Cause: messages.CauseCanceledByUser}), "canceled")
		l.End()
		looks(t, v, "at the end", `
$ lastword generate .
✓  fetch       1.2 s  gathered 1204 files
✗  analyze    1m 01s
`)
		if v.Hidden {
			t.Error("the cursor is hidden at the end")
		}
	})
}

// TestLiveDrawsSeldom: however much a run says, ten frames a second are drawn, each in one write.
func TestLiveDrawsSeldom(t *testing.T) {
	onTerminal(t, 60, 20, func(v *terminaltest.Terminal, l *live, r *story) {
		r.begin("fetch")
		for n := range int64(5000) {
			r.say(messages.Progress{Task: "fetch", Done: n, Unit: "entries"}, "")
			pass(time.Millisecond)
		}
		if v.Writes < 45 || v.Writes > 55 {
			t.Errorf("%d writes in 5 s, want 10 a second", v.Writes)
		}
		l.End()
		writes := v.Writes
		pass(time.Second)
		if v.Writes != writes {
			t.Error("something is written after the end")
		}
	})
}

// TestScreenWritesWhatIsNew: the same lines again are not written.
func TestScreenWritesWhatIsNew(t *testing.T) {
	v := terminaltest.New(t, 60, 20, RuneWidth)
	s := screen{out: v}
	for range 3 {
		s.draw([]string{"a", "b"}, []int{1, 1}, 60)
	}
	if v.Writes != 1 {
		t.Errorf("%d writes for the same frame", v.Writes)
	}
	s.draw([]string{"a"}, []int{1}, 60)
	s.leave()
	s.leave()
	if got := v.Text(); got != "a\n" || v.Hidden || v.Writes != 3 {
		t.Errorf("%d writes, cursor hidden: %t, and the terminal shows %q", v.Writes, v.Hidden, got)
	}
}

func TestLiveFitsTheTerminal(t *testing.T) {
	onTerminal(t, 24, 4, func(v *terminaltest.Terminal, _ *live, r *story) {
		r.begin("fetch")
		r.log(messages.LogInfo, "a line of the log that is too long", "漢字漢字漢字漢字漢字漢字")
		pass(150 * time.Millisecond)
		looks(t, v, "in four rows", `
⠙  fetch     0.1 s
    漢字漢字漢字漢字漢…
   generate  0.1 s
`)
		v.Resize(24, 12)
		pass(100 * time.Millisecond)
		looks(t, v, "in twelve rows", `
⠹  fetch     0.2 s
    a line of the log …
    漢字漢字漢字漢字漢…
   generate  0.2 s
`)
		v.Resize(12, 12)
		pass(100 * time.Millisecond)
		looks(t, v, "in twelve columns", `
⠸  fetch  …
    a line…
    漢字漢…
   generat…
`)
		v.Resize(24, 12)
		pass(100 * time.Millisecond)
		looks(t, v, "in twenty-four columns again", `
⠼  fetch     0.4 s
    a line of the log …
    漢字漢字漢字漢字漢…
   generate  0.4 s
`)
		v.Resize(1, 1)
		pass(100 * time.Millisecond)
	})
}

// TestLiveCannotBeSteered: the terminal fails on every control that the display does not need.
func TestLiveCannotBeSteered(t *testing.T) {
	onTerminal(t, 60, 20, func(v *terminaltest.Terminal, l *live, r *story) {
		const hostile = "a\x1b[2J\x1b]0;title\x07b\r\nc\u202ed\u200be\u2066f\u009bg\ufe0fh\u3164i\tj"
		r.begin("fetch")
		r.log(messages.LogInfo, hostile)
		r.say(messages.Progress{Task: "fetch", Done: 1, Unit: hostile}, "")
		pass(150 * time.Millisecond)
		looks(t, v, "after hostile words", `
⠙  fetch     0.1 s  1 atitleb cdefhi j
    atitleb cdefhi j
   generate  0.1 s
`)
		r.say(messages.TaskFailed{Task: "fetch", Attempt: 1, Cause: messages.CauseError,
			Error: messages.Errorf(messages.CauseError, "%s", hostile)}, hostile)
		pass(100 * time.Millisecond)
		if !strings.HasPrefix(v.Text(), "✗  fetch     0.1 s\n") {
			t.Errorf("the failed task is not shown without its reason, which the card gives:\n%s", v.Text())
		}
	})
}

// TestLiveGivesTheCursorBack: also when drawing panics, and when the program leaves in the middle of the run.
func TestLiveGivesTheCursorBack(t *testing.T) {
	onTerminal(t, 60, 20, func(v *terminaltest.Terminal, l *live, r *story) {
		r.begin("fetch")
		if !v.Hidden {
			t.Error("the cursor is not hidden while the run is shown")
		}
		l.Leave()
		if v.Hidden {
			t.Error("the cursor is hidden after the program left")
		}
	})
	onTerminal(t, 60, 20, func(v *terminaltest.Terminal, l *live, r *story) {
		r.begin("fetch")
		l.timer.Stop()
		l.size = func() (int, int) { panic("what") }
		func() {
			defer func() { recover() }()
			l.beat()
			t.Error("the panic did not go on")
		}()
		if v.Hidden {
			t.Error("the cursor is hidden after a panic")
		}
	})
}

func TestLiveInASCII(t *testing.T) {
	onTerminal(t, 30, 20, func(v *terminaltest.Terminal, l *live, r *story) {
		l.style = style{ascii: true}
		r.begin("fetch")
		r.say(messages.TaskCompleted{Task: "fetch", Attempt: 1}, "fetch completed: a summary that is too long")
		r.say(messages.TaskStarted{Task: "write", Attempt: 1}, "write started")
		pass(150 * time.Millisecond)
		looks(t, v, "without Unicode", `
+  fetch     0.0 s  a summ...
/  write     0.1 s
   generate  0.1 s
`)
		for _, r := range v.Text() {
			if r > 0x7e {
				t.Errorf("%q is not ASCII", r)
			}
		}
	})
}

// A hint names a flag of the command: a program has no model of ours, and a run of a server none of the flags.
func TestHints(t *testing.T) {
	for works, want := range map[Worker][2]string{Model: {"--base-url", "--first-token"}, Program: {"", "--idle lets"}, "": {}} {
		for i, cause := range []messages.Code{messages.CauseTransportClosed, messages.CauseStalled} {
			s := messages.State{Status: messages.Failed, End: &messages.End{Cause: cause, Error: messages.Errorf(cause, "it ended")}}
			if got := Hint(s, works); !strings.Contains(got, want[i]) || (got == "") != (want[i] == "") {
				t.Errorf("%s, %s: %q", works, cause, got)
			}
		}
	}
}

// TestCard: the closing card says what a result says, neutralised, and that it is less than was asked for.
func TestCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		d := Display{Stderr: &out, Folder: "docs", View: Silent{}, Kept: true, Outcome: generate.Outcome}
		r := story{t: t, view: d.View}
		r.begin("write")
		r.say(messages.ArtifactWritten{Artifact: messages.Artifact{Name: "llms.txt", Path: "host/o/r/llms.txt", Bytes: 4200,
			SHA256: messages.Digest("")}, Task: "write"}, "llms.txt written")
		r.say(messages.TaskCompleted{Task: "write", Attempt: 1}, "write completed")
		result := json.RawMessage(`{"title":"A\u001b[31m","summary":"grows.","folder":"o/r","files":1204,"links":1,` +
			`"dropped":3,"cached":true,"commit":"0123456789abcdef0123"}`)
		time.Sleep(time.Second)
		r.say(messages.RunCompleted{By: messages.ByRun, Result: result, Degraded: true, Artifacts: r.state.Artifacts}, "")
		d.card(r.state)
		const want = `
⚠ degraded, completed in 1.000 s: the result is less than you asked for
  A: grows.
  1 link from 1,204 files at 0123456789ab, 3 dropped, from the cache, in docs/o/r
     4.2 kB  docs/host/o/r/llms.txt
  run r_aaaaaaaaaaaaaaaaaaaaaaaaaa, 6 events
`
		if out.String() != want {
			t.Errorf("the card is %s\nwant %s", out.String(), want)
		}
	})
}
