package terminal

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/terminaltest"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// heard is an Answer that is told events with the numbers and offsets of a log.
type heard struct {
	*Answer
	seq uint64
	at  map[string]int
}

func hear(a *Answer) *heard {
	h := &heard{Answer: a, at: map[string]int{}}
	h.tell(messages.RunQueued{Job: "prompt"}, "")
	return h
}

func (h *heard) tell(body messages.Body, message string) {
	h.seq++
	h.Show(messages.State{}, messages.Event{Seq: h.seq, Body: body, Message: message})
}

func (h *heard) say(stream, text string) {
	h.tell(messages.TextDelta{Stream: stream, Offset: h.at[stream], Text: text}, "")
	h.at[stream] += len(text)
}

// A milestone without words has no line.
func TestMilestonesHaveWords(t *testing.T) {
	var out bytes.Buffer
	p := newLines(&out, style{})
	p.Show(messages.State{}, messages.Event{Seq: 1, Body: messages.RunQueued{Job: "chat"}, Message: "queued"})
	p.Show(messages.State{}, messages.Event{Seq: 2, Body: messages.TextDone{Stream: "answer.1", Text: "Hi"}})
	if strings.Count(out.String(), "\n") != 1 || !strings.HasSuffix(out.String(), "queued\n") {
		t.Errorf("%q", out.String())
	}
}

// Who reads late what a program wrote to stderr gets all of it if the run keeps it as a text, and else the newest lines.
func TestStderrIsReadLate(t *testing.T) {
	newest := messages.Log{Lines: []messages.LogLine{{Number: 3, Level: messages.LogInfo, Text: "three"}}}
	said := func(at int, text string) messages.Body {
		return messages.TextDelta{Stream: messages.StderrText, Offset: at, Text: text}
	}
	for want, log := range map[string][]messages.Body{
		"2 lines of stderr are no longer kept\nthree\n": {newest},
		"one\ntwo\nthree\nfour\n": {newest, said(0, "one\ntw"), said(6, "o\nthree\n"),
			messages.Log{Lines: []messages.LogLine{{Number: 4, Level: messages.LogInfo, Text: "four"}}}, said(14, "four")},
	} {
		var out bytes.Buffer
		p := newLines(&out, style{})
		p.program = true
		for i, body := range slices.Concat([]messages.Body{messages.RunQueued{Job: "it"}}, log, []messages.Body{messages.RunCompleted{}}) {
			p.Show(messages.State{}, messages.Event{Seq: uint64(i + 1), Body: body})
		}
		if p.End(); !strings.HasSuffix(out.String(), want) {
			t.Errorf("it shows %q instead of %q", out.String(), want)
		}
	}
}

// On a terminal the thoughts are told apart from the answer, line by line, and nothing steers it.
func TestSpeechOnATerminal(t *testing.T) {
	var screen bytes.Buffer // both, as one terminal has them
	h := hear(&Answer{Stdout: &screen, Stderr: &screen, Shared: true})
	h.tell(messages.LLMStarted{}, "asking\x1b[2J qwen")
	h.tell(messages.ThoughtDelta{Text: "Hm\x1b[31m, "}, "")
	h.tell(messages.Merged{Parts: []messages.Body{messages.Progress{}, messages.ThoughtDelta{Offset: 9, Text: "well."}}}, "")
	h.tell(messages.ThoughtDone{Text: "Hm\x1b[31m, well."}, "")
	h.say("answer", "Hel")
	h.tell(messages.TextDelta{Stream: "answer", Offset: 0, Text: "Hello"}, "") // merged with what was printed
	h.at["answer"] = 5
	h.say("other", "not this")
	h.say("answer", ", \x07")
	h.tell(messages.ThoughtDelta{Stream: "2", Text: "who?"}, "")
	h.say("answer", "w\u200dorld")
	h.tell(messages.LLMCompleted{}, "qwen answered")
	h.End()
	want := "asking qwen\nHm, well.\nHello, \nwho?\nw\u200dorld\nqwen answered\n"
	if screen.String() != want {
		t.Errorf("the terminal shows\n%q\nwant\n%q", screen.String(), want)
	}
}

// Each answer of a turn is printed, with the calls of tools between them; other texts are not.
func TestAnswersOfATurn(t *testing.T) {
	var stdout, stderr bytes.Buffer
	h := hear(&Answer{Stdout: &stdout, Stderr: &stderr})
	h.say("understand.1", "{}")
	h.say("answer.1", "Let me look.")
	h.tell(messages.LLMCompleted{}, "qwen answered")
	h.tell(messages.ToolStarted{}, "calling look")
	h.tell(messages.ToolCompleted{}, "look gave 3 bytes")
	h.say("answer.2", "It")
	h.tell(messages.Merged{Parts: []messages.Body{messages.TextDelta{Stream: "answer.2", Offset: 2, Text: " rains."}}}, "")
	h.tell(messages.LLMCompleted{}, "qwen answered")
	h.End()
	if got, want := stdout.String(), "Let me look.\nIt rains.\n"; got != want {
		t.Errorf("stdout has %q, want %q", got, want)
	}
	if got, want := stderr.String(), "qwen answered\ncalling look\nlook gave 3 bytes\nqwen answered\n"; got != want {
		t.Errorf("stderr has %q, want %q", got, want)
	}
}

// A pipe gets every character of an answer; a terminal gets none that controls it.
func TestPipesGetEveryCharacter(t *testing.T) {
	const text = "a\x1b[31mb\u202ec\r\u0085d\n"
	for shared, want := range map[bool]string{false: text, true: "abcd\n"} {
		var stdout bytes.Buffer
		h := hear(&Answer{Stdout: &stdout, Stderr: io.Discard, Shared: shared})
		h.say("answer", text)
		if h.End(); stdout.String() != want {
			t.Errorf("stdout has %q, want %q", stdout.String(), want)
		}
	}
	var piped bytes.Buffer // as chat with tools prints an answer, and plan run a result
	if err := PrintText(&piped, text); err != nil || piped.String() != text {
		t.Errorf("a pipe has %q (%v), want %q", piped.String(), err, text)
	}
}

// Who reads a program's output after its beginning was dropped is told so, also with --quiet.
func TestDroppedOutputIsTold(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		var stdout, stderr bytes.Buffer
		d := Display{Stdout: &stdout, Stderr: &stderr, Output: true, Quiet: quiet}
		d.Open(&Options{})
		h := hear(d.Answer)
		h.tell(messages.TextDelta{Stream: "stdout", Count: 1, Text: "begin "}, "")
		h.tell(messages.TextDelta{Stream: "stdout", Index: 1, Count: 1, Offset: 6, Dropped: 2, Text: "end\n"}, "")
		h.tell(messages.TextClosed{Stream: "stdout", Bytes: 12}, "")
		h.tell(messages.TextDelta{Stream: "stdout.2", Count: 1, Dropped: 4}, "")
		h.tell(messages.TextClosed{Stream: "stdout.2", Bytes: 4}, "")
		h.tell(messages.TextClosed{Stream: "stdout.2", Bytes: 4, Dropped: true}, "")
		h.tell(messages.RunCompleted{}, "")
		d.Close(messages.State{Status: messages.Completed, End: &messages.End{}})
		if stdout.String() != "begin end\n" || !strings.Contains(stderr.String(), "6 bytes of stdout were no longer kept") {
			t.Errorf("quiet %v: %q, and %q", quiet, stdout.String(), stderr.String())
		}
	}
}

// A second attempt is printed only where it differs from the first, and then as a whole.
func TestAnswerBeginsAgain(t *testing.T) {
	for second, want := range map[string]string{"It rains": "It rains", "It snows": "It rai" + transcript.Rule + "It snows"} {
		var stdout bytes.Buffer
		h := hear(&Answer{Stdout: &stdout, Stderr: io.Discard})
		h.say("answer", "It rai")
		h.tell(messages.TaskRestarted{Attempt: 2}, "")
		h.at["answer"] = 0
		h.say("answer", second[:4])
		h.say("answer", second[4:])
		h.End()
		if stdout.String() != want {
			t.Errorf("stdout has %q, want %q", stdout.String(), want)
		}
	}
}

// A question on the terminal holds back the answer, as it does all else.
func TestQuestionHoldsBackAnswers(t *testing.T) {
	var stdout bytes.Buffer
	a := &Answer{Stdout: &stdout, Stderr: io.Discard}
	d := Display{View: a, Answer: a}
	release := d.Hold()
	d.show(func() {
		a.Show(messages.State{}, messages.Event{Seq: 1, Body: messages.TextDelta{Stream: "answer", Text: "Hello"}})
	})
	if stdout.Len() > 0 {
		t.Errorf("beside the question stands %q", stdout.String())
	}
	if release(); stdout.String() != "Hello" {
		t.Errorf("stdout has %q after the question", stdout.String())
	}
}

// While a model is silent the terminal counts the seconds, on one line; its first word leaves the line without them.
func TestAnswerCountsTheSecondsOfAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := terminaltest.New(t, 40, 10, RuneWidth)
		h := hear(&Answer{Stdout: crlf{v}, Stderr: crlf{v}, Shared: true, Columns: 40})
		h.tell(messages.LLMStarted{}, "asking qwen at 127.0.0.1:1234")
		pass(12*time.Second + time.Millisecond)
		looks(t, v, "after twelve seconds", "asking qwen at 127.0.0.1:1234, 12 s\n")
		h.tell(messages.ThoughtDelta{Text: "Hm."}, "")
		pass(time.Minute)
		h.End()
		looks(t, v, "after a thought", "asking qwen at 127.0.0.1:1234\nHm.\n")
	})
}

// A model that is silent while a task describes a repository shows the seconds in the task's row.
func TestLiveCountsTheSecondsOfAWait(t *testing.T) {
	onTerminal(t, 80, 20, func(v *terminaltest.Terminal, l *live, r *story) {
		r.begin("understand")
		r.say(messages.LLMStarted{Call: "c", Task: "understand", Model: "qwen"}, "asking qwen")
		pass(3*time.Second + 50*time.Millisecond)
		if text := v.Text(); !strings.Contains(text, "understand     3.0 s  asking qwen, 3 s\n") {
			t.Errorf("the terminal shows\n%s", text)
		}
		r.log(messages.LogWarn, "the model failed: no such luck")
		r.say(messages.LLMCompleted{Call: "c", Task: "understand", Model: "qwen", Evidence: "x", Verdict: "failed",
			Error: messages.Errorf("provider_error", "no such luck")}, "qwen: no such luck")
		r.say(messages.TaskCompleted{Task: "understand", Attempt: 1}, "understand completed")
		pass(time.Second)
		if text := v.Text(); !strings.HasPrefix(text, "⚠  understand     3.0 s\n") {
			t.Errorf("the terminal shows\n%s", text)
		}
	})
}

// crlf returns to the left at a line's end, as the kernel does for a terminal.
type crlf struct{ w io.Writer }

func (c crlf) Write(p []byte) (int, error) {
	_, err := io.WriteString(c.w, strings.ReplaceAll(string(p), "\n", "\r\n"))
	return len(p), err
}
