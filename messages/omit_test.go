package messages_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/messages"
)

// "No event on the wire is over 32 KiB": each piece fits, whatever characters it has, and all say what the delta said.
func TestPiecesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.SampledFrom([]string{"a", "ü<", "\"\n", "\u2028", "\x01", "😀"}).Draw(t, "sign"), rapid.IntRange(0, 40_000).Draw(t, "times"))
		whole := messages.ThoughtDelta{Stream: "mind", Index: 3, Count: 100, Offset: 7, Text: text}
		first, rest := messages.Pieces(messages.Merged{Parts: []messages.Body{messages.Progress{Done: 1}, whole}})
		var said strings.Builder
		at, index, count := whole.Offset, whole.Index, uint64(0)
		for _, body := range append([]messages.Body{first}, rest...) {
			line := asJSON(t, messages.Event{RunID: "r", Seq: 1, From: 1, Body: body})
			if len(line) > messages.WireBytes {
				t.Fatalf("a piece has %d bytes", len(line))
			}
			for d := range messages.Texts(body) {
				if d.Offset != at || d.Index != index {
					t.Fatalf("a piece begins at %d, %d, not at %d, %d", d.Offset, d.Index, at, index)
				}
				said.WriteString(d.Text)
				at, index, count = d.Offset+len(d.Text), index+max(d.Count, 1), count+max(d.Count, 1)
			}
		}
		if said.String() != text || count != 100 {
			t.Fatalf("the pieces have %d of %d bytes, and stand for %d deltas", said.Len(), len(text), count)
		}
	})
}

// Merging ends where an event would not fit, so that each of its numbers is one of the log's.
func TestMergedTextsFit(t *testing.T) {
	var log []messages.Event
	for i := range 100 {
		log = append(log, messages.Event{RunID: "r", From: uint64(i + 1), Seq: uint64(i + 1),
			Body: messages.TextDelta{Stream: "answer", Index: uint64(i), Offset: i * 1000, Text: strings.Repeat("x", 1000)}})
	}
	for _, merged := range [][]messages.Event{messages.MergeDeltas(log), messages.MergeDeltas(messages.MergeDeltas(log))} {
		if len(merged) != 4 {
			t.Errorf("100 kB are %d events", len(merged))
		}
		for _, e := range merged {
			if line := asJSON(t, e); len(line) > messages.WireBytes {
				t.Errorf("an event has %d bytes", len(line))
			}
		}
	}
}

// What the wire leaves out, a State takes from what it has: and refuses where the digest is not that text's.
func TestStateTakesOmittedTexts(t *testing.T) {
	text := strings.Repeat("<so> \"it\" goes\n", 3000)
	done := messages.TextDone{Stream: "answer", Task: "a", Text: text, SHA256: messages.Digest(text)}
	thought := messages.ThoughtDone{Stream: "mind", Task: "a", Text: "hm", SHA256: messages.Digest("hm"), Source: "think-tag"}
	result, err := json.Marshal(map[string]any{"model": "m", "text": text, "z": 1})
	must(t, err)
	end := messages.RunCompleted{By: messages.ByRun, Result: result, Artifacts: []messages.Artifact{}}
	log := numbered(
		messages.RunQueued{Job: "prompt", Mode: messages.Detached}, messages.RunStarted{}, messages.TaskStarted{Task: "a", Attempt: 1},
		messages.TextDelta{Stream: "answer", Task: "a", Text: text}, messages.ThoughtDelta{Stream: "mind", Task: "a", Text: "hm"},
		done, thought, messages.TaskCompleted{Task: "a", Attempt: 1}, end)
	var want, got messages.Fold
	for _, e := range log {
		must(t, want.Apply(e))
		switch b := e.Body.(type) {
		case messages.TextDone, messages.ThoughtDone:
			e.Body = messages.Omit(b)
		case messages.RunCompleted:
			e.Body = b.Omit("answer")
		}
		line := asJSON(t, e)
		if !e.IsDelta() && strings.Contains(line, "goes") {
			t.Errorf("the text is not left out: %.200s", line)
		}
		if err := validate(t, line); err != nil {
			t.Errorf("%v\n%.200s", err, line)
		}
		must(t, json.Unmarshal([]byte(line), &e))
		must(t, got.Apply(e))
	}
	if a, b := asJSON(t, got.State()), asJSON(t, want.State()); a != b {
		t.Errorf("the State is\n%.300s\nwant\n%.300s", a, b)
	}
	own := messages.RunCompleted{Result: json.RawMessage(`{"bytes":1,"text":"long"}`)}
	if got := own.Omit("answer"); string(got.Result) != string(own.Result) {
		t.Errorf("a result with members of these names became %s", got.Result)
	}
	wrong := messages.Omit(done).(messages.TextDone)
	wrong.SHA256 = messages.Digest("else")
	state := folded(t, log[:5])
	if _, err := state.Apply(numberedFrom(6, wrong)); ruleOf(err) != messages.RuleDigest {
		t.Errorf("another text's digest: %v", err)
	}
}

// A part takes text back, and the event of its number follows.
func TestStateTakesParts(t *testing.T) {
	log := numbered(
		messages.RunQueued{Job: "prompt", Mode: messages.Detached}, messages.RunStarted{}, messages.TaskStarted{Task: "a", Attempt: 1},
		messages.TextDelta{Stream: "answer", Task: "a", Text: "one two"})
	s := folded(t, log)
	for _, step := range []struct {
		body messages.Body
		rule messages.Rule
	}{
		{messages.TextDelta{Stream: "answer", Task: "a", Offset: 9, Text: "x", Part: true}, messages.RuleStream},
		{messages.TextDelta{Stream: "other", Task: "a", Text: "x", Part: true}, messages.RuleOrder},
		{messages.TextDelta{Stream: "answer", Task: "a", Offset: 4, Text: "th", Part: true}, ""},
		{messages.TextDelta{Stream: "answer", Task: "a", Offset: 6, Text: "ree", Part: true}, ""},
		{messages.Omit(messages.TextDone{Stream: "answer", Task: "a", Text: "one three", SHA256: messages.Digest("one three")}), ""},
	} {
		next, err := s.Apply(numberedFrom(5, step.body))
		if ruleOf(err) != step.rule {
			t.Errorf("%+v: %v", step.body, err)
		}
		s = next
	}
	if text, _ := s.Stream("answer"); text.Text() != "one three" || s.Seq != 5 {
		t.Errorf("the text is %q at %d", text.Text(), s.Seq)
	}
}

func numberedFrom(seq uint64, b messages.Body) messages.Event {
	return messages.Event{RunID: "r", From: seq, Seq: seq, Body: b}
}

func numbered(bodies ...messages.Body) (log []messages.Event) {
	for i, b := range bodies {
		log = append(log, numberedFrom(uint64(i+1), b))
	}
	return log
}

func folded(t *testing.T, log []messages.Event) (s messages.State) {
	for _, e := range log {
		var err error
		s, err = s.Apply(e)
		must(t, err)
	}
	return s
}

// "A terminal always fits": it refers to artifacts that it would be too long to repeat, and the State has them all the
// same.
func TestTerminalsReferToManyArtifacts(t *testing.T) {
	bodies := []messages.Body{messages.RunQueued{Job: "generate"}, messages.RunStarted{}}
	for i := range 2 {
		bodies = append(bodies, messages.ArtifactWritten{Artifact: messages.Artifact{Name: fmt.Sprint(i, strings.Repeat("n", 9<<20))}})
	}
	for wanted, last := range map[messages.Body][]messages.Body{
		&messages.RunCompleted{By: messages.ByRun}:                                                                {},
		&messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Error: messages.Errorf("error", "x")}: {},
		&messages.RunCanceled{By: messages.ByRun, Cause: messages.CauseCanceledByUser}:                            {messages.RunCanceling{}},
	} {
		s := fold(t, messages.State{}, logOf(append(bodies, last...)...)...)
		var body messages.Body
		switch w := wanted.(type) {
		case *messages.RunCompleted:
			body = *w
		case *messages.RunFailed:
			body = *w
		case *messages.RunCanceled:
			body = *w
		}
		e := next(s.Seq, s.Terminal(body))
		if n := e.Size(); n > 1<<20 {
			t.Errorf("%s takes %d bytes", e.Kind(), n)
		}
		end := fold(t, s, e)
		if len(end.Artifacts) != 2 || end.Artifacts[0].Partial != (end.Status == messages.Canceled) {
			t.Errorf("%s: %d artifacts, partial %t", e.Kind(), len(end.Artifacts), end.Artifacts[0].Partial)
		}
	}
	s := fold(t, messages.State{}, logOf(bodies...)...)
	if _, err := s.Apply(next(s.Seq, messages.RunCompleted{By: messages.ByRun, ArtifactCount: 3})); ruleOf(err) != messages.RuleArtifact {
		t.Errorf("a terminal that counts wrong: %v", err)
	}
}

// "So do rewinds": one that refers to open texts by their place ends every reader where one that names them does.
func TestRewindsReferToManyTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := legal(t).log
		at := rapid.IntRange(1, len(log)).Draw(t, "durable")
		s := fold(t, messages.State{}, log[:at]...)
		if s.Status.IsEnded() || s.Status == messages.Pending {
			return
		}
		reader := s // has seen deltas that are not durable
		for _, e := range log[at:] {
			if !e.IsDelta() {
				break
			}
			reader = fold(t, reader, e)
		}
		_, _, named := s.Recovery()
		placed := *named
		placed.Streams = nil
		for _, m := range named.Streams {
			placed.Open = append(placed.Open, m.Bytes, int(m.Index))
		}
		for _, state := range []messages.State{s, reader} {
			e := next(s.Seq, messages.RunRecovered{Epoch: 9, Rewind: named})
			want := fold(t, state, e)
			e.Body = messages.RunRecovered{Epoch: 9, Rewind: &placed}
			same(t, "the reader", fold(t, state, e), want)
		}
	})
}

// 150,000 open texts: the rewind fits.
func TestRewindOfManyTextsFits(t *testing.T) {
	var f messages.Fold
	for _, e := range logOf(messages.RunQueued{Job: "chat"}, messages.RunStarted{}) {
		must(t, f.Apply(e))
	}
	for i := range 150_000 {
		d := messages.TextDelta{Stream: fmt.Sprintf("stream-of-some-length-so-that-the-rewind-is-large-%d", i), Text: "x"}
		must(t, f.Apply(next(f.Peek().Seq, d)))
	}
	seq := f.Peek().Seq
	_, _, rewind := f.Peek().Recovery()
	e := next(seq, messages.RunRecovered{Epoch: 2, Rewind: rewind})
	if n := e.Size(); n > 4<<20 {
		t.Errorf("it takes %d bytes", n)
	}
	if err := f.Apply(e); err != nil || len(f.Peek().Streams) != 150_000 {
		t.Errorf("%d texts are left: %v", len(f.Peek().Streams), err)
	}
	for _, wrong := range [][]int{{1}, make([]int, 2*150_001), {2, 1}, {1, 2}, {-1, 0}} {
		e := next(f.Peek().Seq, messages.RunRecovered{Epoch: 3, Rewind: &messages.Rewind{Open: wrong}})
		if err := f.Apply(e); ruleOf(err) != messages.RuleRewind {
			t.Errorf("a rewind to %v...: %v", wrong[:min(len(wrong), 2)], err)
		}
	}
}

// "Valid JSON in every raw field": what no journal could write and read again is refused where it comes from.
func TestCheckNamesTheField(t *testing.T) {
	nan := math.NaN()
	for want, b := range map[string]messages.Body{
		"the arguments of a tool.started is not JSON in UTF-8, or nested too deep": messages.ToolStarted{Call: "1", Arguments: json.RawMessage(`{"a":`)},
		"the schema of a input.required is not JSON in UTF-8, or nested too deep":  messages.InputRequired{Request: "q", Schema: json.RawMessage("{")},
		"the value of a input.received is not JSON in UTF-8, or nested too deep":   messages.InputReceived{Request: "q", Value: json.RawMessage("yes")},
		"the result of a tool.completed is not JSON in UTF-8, or nested too deep":  messages.ToolCompleted{Call: "1", Result: json.RawMessage("]")},
		"the result of a step.kept is not JSON in UTF-8, or nested too deep":       messages.StepKept{Step: "s", Result: json.RawMessage(strings.Repeat("[", 9999) + strings.Repeat("]", 9999))},
		"the name of a artifact.written is not UTF-8":                              messages.ArtifactWritten{Artifact: messages.Artifact{Name: "\xff"}},
		"the tool of a llm.completed is not UTF-8":                                 messages.LLMCompleted{Calls: []messages.ToolCall{{Tool: "\xfe"}}},
		"the message of a tool.completed is not UTF-8":                             messages.ToolCompleted{Error: messages.Errorf("error", "\xff")},
		"the confidence of a thought.done is no number that JSON has":              messages.ThoughtDone{Stream: "t", Confidence: &nan},
		"the labels of a run.queued is not UTF-8":                                  messages.RunQueued{Job: "j", Labels: map[string]string{"a": "\xff"}},
	} {
		if err := messages.Check(b); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, b := range samples() {
		if err := messages.Check(b); err != nil {
			t.Error(err)
		}
	}
}

// "A run that only waits for people uses neither its wall clock nor its stall limit": the log says how long it waited.
func TestWaited(t *testing.T) {
	minute := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Minute) }
	s := messages.State{
		Inputs: []messages.Input{
			{Request: "late", AskedAt: minute(50), TimeoutMS: (5 * time.Minute).Milliseconds()},
			{Request: "a", AskedAt: minute(10), AnsweredAt: minute(20), Closed: true},
			{Request: "b", AskedAt: minute(15), AnsweredAt: minute(30), Closed: true},
			{Request: "open", AskedAt: minute(58)},
		},
		Children: []messages.ChildState{{WaitedMS: (7 * time.Minute).Milliseconds()}, {}},
	}
	if got, want := s.Waited(minute(60)), (20+5+2+7)*time.Minute; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// A name that could steer a terminal is refused when it is read and when it is recorded; a text may hold anything.
func TestNamesThatSteer(t *testing.T) {
	for text, ok := range map[string]bool{"plain": true, "Grüße ✓": true, `a\u001b]0;x`: false, `a\u202e`: false, "a\u202e": false,
		"a\u009b2J": false, "a\u007f": false, `a\n`: false, "\u061c": false} {
		for form, name := range map[string]bool{
			`{"run_id":"X","seq":1,"ts":"2026-11-28T19:00:00Z","type":"run.started","payload":{"node":"n"}}`:                                    true,
			`{"run_id":"r","seq":1,"ts":"2026-11-28T19:00:00Z","type":"run.queued","payload":{"job":"j","mode":"detached","labels":{"X":"v"}}}`: true,
			`{"run_id":"r","seq":1,"ts":"2026-11-28T19:00:00Z","type":"text.delta","payload":{"stream":"X","text":"t"}}`:                        true,
			`{"run_id":"r","seq":1,"ts":"2026-11-28T19:00:00Z","type":"text.delta","payload":{"stream":"s","text":"X"}}`:                        false,
			`{"run_id":"r","seq":1,"ts":"2026-11-28T19:00:00Z","type":"new.kind","payload":{"x":"X"}}`:                                          false,
		} {
			var e messages.Event
			line := []byte(strings.Replace(form, "X", text, 1))
			if err := json.Unmarshal(line, &e); (err == nil) != (ok || !name) {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if err := messages.Check(messages.TaskStarted{Task: "a\x1b"}); messages.CodeOf(err) != messages.CauseInvalidInput {
		t.Errorf("recording: %v", err)
	}
	if err := messages.Check(messages.TextDelta{Stream: "s", Text: "a\x1b"}); err != nil {
		t.Errorf("recording a text: %v", err)
	}
	var state messages.State
	must(t, json.Unmarshal([]byte(`{"run_id":"r","artifacts":[{"name":"a\u001b"}],"streams":[{"stream":"s","text":"\u001b"}]}`), &state))
	if messages.CheckNames(&state) == nil {
		t.Error("a State keeps the name of an artifact")
	}
	if state.Artifacts = nil; messages.CheckNames(&state) != nil {
		t.Error("the text of a stream is refused")
	}
}
