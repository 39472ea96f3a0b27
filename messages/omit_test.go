package messages_test

import (
	"encoding/json"
	"strings"
	"testing"

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
