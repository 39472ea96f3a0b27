package messages_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/messages"
)

// The log keeps the newest lines, and their numbers say how many there were before.
func TestLogKeepsTheNewestLines(t *testing.T) {
	log := logOf(messages.RunQueued{Job: "generate"}, messages.RunStarted{})
	for i := range 100 {
		log = extended(log, lines(uint64(i+1), fmt.Sprint("line ", i+1)))
	}
	s := fold(t, messages.State{}, log...)
	if n := len(s.Log.Lines); n != messages.LogTail || s.Log.Lines[0].Number != 37 || s.Log.Next != 101 {
		t.Errorf("%d lines from %d, next %d", n, s.Log.Lines[0].Number, s.Log.Next)
	}
	same(t, "merged", fold(t, fold(t, messages.State{}, log[:2]...), messages.Merge(log[2:])), s)
}

// What follows from whoever wants to end the run: the log decides what the word is, and its artifacts.
func TestLastWord(t *testing.T) {
	whole := messages.Artifact{Name: "llms.txt", Bytes: 3}
	open := logOf(messages.RunQueued{Job: "generate"}, messages.RunStarted{}, messages.ArtifactWritten{Artifact: whole})
	going := fold(t, messages.State{}, open...)
	canceling := fold(t, going, next(3, messages.RunCanceling{}))
	rewind := &messages.Rewind{}
	completed := messages.RunCompleted{By: messages.ByRun, Result: json.RawMessage(`1`)}
	failed := messages.RunFailed{By: messages.BySupervisor, Cause: messages.CauseStalled, Error: failure, Artifacts: []messages.Artifact{{Name: "stray"}}}
	lost := messages.RunFailed{By: messages.ByRecovery, Cause: messages.CauseNodeLost, Error: failure, Rewind: rewind}
	canceled := messages.RunCanceled{By: messages.ByNode, Cause: messages.CauseCanceledByUser}

	for _, c := range []struct {
		state      messages.State
		word       messages.Body
		kind       messages.Kind
		by         messages.Author
		partial    bool
		carryAlong bool
	}{
		{going, completed, messages.KindRunCompleted, messages.ByRun, false, false},
		{going, failed, messages.KindRunFailed, messages.BySupervisor, false, false},
		{going, lost, messages.KindRunFailed, messages.ByRecovery, false, true},
		{canceling, completed, messages.KindRunCanceled, messages.ByRun, true, false},
		{canceling, failed, messages.KindRunCanceled, messages.BySupervisor, true, false},
		{canceling, lost, messages.KindRunCanceled, messages.ByRecovery, true, true},
		{canceling, canceled, messages.KindRunCanceled, messages.ByNode, true, false},
	} {
		word := c.state.Terminal(c.word)
		end := fold(t, c.state, next(c.state.Seq, word))
		switch {
		case messages.KindOf(word) != c.kind || end.End.By != c.by || rewinds(word) != c.carryAlong:
			t.Errorf("%s became %s by %s, rewind %t", messages.KindOf(c.word), messages.KindOf(word), end.End.By, rewinds(word))
		case len(end.Artifacts) != 1 || end.Artifacts[0].Name != "llms.txt" || end.Artifacts[0].Partial != c.partial:
			t.Errorf("%s lists %v", messages.KindOf(word), end.Artifacts)
		case c.state.Artifacts[0].Partial:
			t.Errorf("%s changed the artifacts of the state before it", messages.KindOf(word))
		}
	}
	if word := going.Terminal(canceled); messages.KindOf(word) != messages.KindRunCanceled {
		t.Errorf("a cancel nobody accepted became %s", messages.KindOf(word))
	}
}

// Recovery's event is one that every State on the way there takes.
func TestRecoveryOfAnyState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, s := range states(t, legal(t).log)[1:] {
			if s.Status.IsEnded() {
				continue
			}
			from, seq, rewind := s.Recovery()
			e := messages.Event{RunID: runID, From: from, Seq: seq, Time: s.UpdatedAt, Body: messages.RunRecovered{Node: "n9", Epoch: 9, Rewind: rewind}}
			after := fold(t, s, e)
			if from != s.Seq+1 || seq != from+messages.Reserve || after.Milestone != seq {
				t.Fatalf("recovery after %d is %d..%d", s.Seq, from, seq)
			}
			want := s
			want.Seq, want.Milestone, want.Recoveries, want.Node, want.Epoch = seq, seq, s.Recoveries+1, "n9", 9
			want.Tasks, want.Calls = slices.Clone(s.Tasks), slices.Clone(s.Calls)
			for i, task := range s.Tasks {
				if task.Status != messages.TaskRunning {
					continue
				}
				want.Tasks[i].Status = messages.TaskWaiting
				for j, c := range want.Calls { // nobody will say what an open call has used
					if c.Task == task.Name && !c.Ended && c.Reserved != nil {
						p := *want.Purse
						p.Spent, p.Reserved, p.Estimated = p.Spent.Plus(*c.Reserved), p.Reserved.Minus(*c.Reserved), true
						want.Purse, want.Calls[j].Reserved = &p, nil
					}
				}
			}
			same(t, "a recovery that loses nothing has running tasks wait, spends what open calls reserved, and changes nothing else", after, want)
		}
	})
}

func TestBrokenSnapshotsAreRefused(t *testing.T) {
	for _, page := range []string{`{"streams":[{"stream":7}]}`, `{"streams":[{"text":[]}]}`} {
		var s messages.State
		if err := json.Unmarshal([]byte(page), &s); err == nil {
			t.Errorf("%s was read as %v", page, s)
		}
	}
}

// Nobody can change the published schema or the tables of kinds for others.
func TestTablesAreCopies(t *testing.T) {
	messages.Schema()[0] = 'x'
	messages.Kinds()[0].Kind = "x"
	messages.Causes()[0] = "x"
	if messages.Schema()[0] != '{' || messages.Kinds()[0].Kind != messages.KindRunQueued || messages.Causes()[0] != messages.CauseError {
		t.Error("a table was changed from outside")
	}
}

// A long text folds in time linear in its length: each delta is appended, not copied.
func TestLongTextsFoldInPlace(t *testing.T) {
	const n = 20_000
	log := tokens(n)
	s := fold(t, messages.State{}, log[:2]...)
	perDelta := testing.AllocsPerRun(1, func() {
		s := s
		for _, e := range log[2:] {
			s, _ = s.Apply(e)
		}
	}) / n
	end := fold(t, s, log[2:]...)
	if text, _ := end.Stream("answer"); text.Text() != strings.Repeat("token ", n) || perDelta > 3 {
		t.Errorf("%d bytes, %.1f allocations per delta", text.Len(), perDelta)
	}
}

// What was seen live and not journaled is taken back: texts, progress of tasks and of tool calls, and the log. The State
// of the reader that saw it stays as it was.
func TestRecoveryTakesBack(t *testing.T) {
	open := logOf(messages.RunQueued{Job: "generate"}, messages.RunStarted{}, messages.ToolStarted{Call: "old", Tool: "read"},
		messages.ToolStarted{Call: "new", Tool: "read"}, messages.TextDelta{Stream: "kept", Text: "Hel"}, messages.ToolProgress{Call: "old", Done: 1},
		messages.Progress{Done: 1}, lines(1, "one"))
	live := extended(open, messages.TextDelta{Stream: "kept", Index: 1, Offset: 3, Text: "p"}, messages.TextDelta{Stream: "lost", Text: "x"},
		messages.ToolProgress{Call: "old", Done: 2}, messages.ToolProgress{Call: "new", Done: 7}, messages.Progress{Done: 5}, lines(2, "two"))
	durable := fold(t, messages.State{}, open...)
	seen := fold(t, durable, live[len(open):]...)
	before := asJSON(t, seen)
	from, seq, rewind := durable.Recovery()
	e := messages.Event{RunID: runID, From: from, Seq: seq, Time: epoch, Body: messages.RunRecovered{Rewind: rewind}}
	after := fold(t, seen, e)
	same(t, "both readers", after, fold(t, durable, e))
	same(t, "the reader's earlier state", seen, json.RawMessage(before))
	if after.Calls[0].Progress.Done != 1 || after.Calls[1].Progress.Done != 0 || len(after.Streams) != 1 {
		t.Errorf("after recovery: %s", asJSON(t, after))
	}
}

func TestIsStderr(t *testing.T) {
	for name, want := range map[string]bool{"stderr": true, "stderr.2": true, "stderr.": false, "stderrors": false, "stdout": false} {
		if messages.IsStderr(name) != want {
			t.Errorf("%s: want %t", name, want)
		}
	}
}

func TestIsAnswer(t *testing.T) {
	for name, want := range map[string]bool{"answer": true, "answer.1": true, "answer.12": true, "answer.": false,
		"answer.1.1": false, "answer.thought": false, "answers": false, "think.1": false, "": false} {
		if messages.IsAnswer(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}
