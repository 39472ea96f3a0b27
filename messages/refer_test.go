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
