package messages_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "github.com/seed889630bf/lastword/messages"
)

// mutation makes an illegal log of a legal one. It changes every log that has what it needs.
type mutation struct {
	name string
	base string // the log on which it breaks exactly the rule: full, cancel or recovery
	rule Rule
	do   func(m *mutant) bool
}

type mutant struct {
	log  []Event
	pick func(n int) int
}

var failure = Errorf("error", "it broke")

// fullLog tells everything that an uncanceled run can tell.
func fullLog() []Event {
	return logOf(
		RunQueued{Job: "generate"}, RunStarted{}, TaskStarted{Task: "a", Attempt: 1}, TaskStarted{Task: "b", Attempt: 1},
		TextDelta{Stream: "x", Task: "a", Text: "Hel"}, TextDelta{Stream: "x", Task: "a", Index: 1, Offset: 3, Text: "lo"},
		ThoughtDelta{Stream: "m", Task: "a", Text: "hm"}, Progress{Task: "a", Done: 1}, lines(1, "one", "two"),
		LLMStarted{Call: "m1", Task: "a", Model: "q"}, ToolStarted{Call: "t1", Task: "a", Tool: "read"},
		ToolProgress{Call: "t1", Done: 1}, ToolCompleted{Call: "t1", Task: "a"}, LLMCompleted{Call: "m1", Task: "a", Model: "q", Evidence: "done-marker", Verdict: "completed"},
		textDone("x", "a", "Hello"), ThoughtDone{Stream: "m", Task: "a", Text: "hm", SHA256: Digest("hm")},
		TaskFailed{Task: "a", Attempt: 1, Cause: CauseError, Error: failure, WillRetry: true}, TaskRestarted{Task: "a", Attempt: 2},
		TextDelta{Stream: "x", Task: "a", Text: "Hi"}, lines(3, "three"),
		StepKept{Step: "pay", Task: "a", Begun: true}, StepKept{Step: "pay", Task: "a", Error: &Error{Code: "error", Message: "busy", Retryable: true}},
		StepKept{Step: "pay", Task: "a", Begun: true}, StepKept{Step: "pay", Task: "a", Result: json.RawMessage(`null`)},
		StepKept{Step: "pay", Task: "b", Error: failure},
		StepStarted{Step: "s", Task: "a"}, StepEnded{Step: "s", Task: "a", Outcome: "ok"},
		InputRequired{Request: "q", Task: "a", Prompt: "?"}, InputReceived{Request: "q", Value: json.RawMessage(`1`)},
		MessageQueued{to("s1")}, MessageQueued{to("s2")}, MessageDelivered{Message: "s1", Task: "a", At: "x"},
		MessageDropped{Message: "s2", Reason: DropRevoked}, LLMStarted{Call: "m2", Task: "a"}, LLMCompleted{Call: "m2", Task: "a", Seen: []string{"s1"}},
		ChildStarted{Child: runID + ".c1", Job: "prompt"}, ChildEnded{Child: runID + ".c1", Status: Completed},
		ArtifactPartial{Artifact: Artifact{Name: "f", Partial: true}}, ArtifactWritten{Artifact: Artifact{Name: "f"}},
		FaultInjected{Fault: "panic"}, Notice{Task: "a", Code: NoticeHistoryCut, Text: "cut"}, TaskCompleted{Task: "a", Attempt: 2}, TaskCompleted{Task: "b", Attempt: 1},
		RunCompleted{By: ByRun},
	)
}

func to(message string) Said { return Said{Message: message, Mode: Steer, Content: "x"} }

func cancelLog() []Event {
	return logOf(
		RunQueued{Job: "generate"}, RunStarted{}, TaskStarted{Task: "a", Attempt: 1}, TextDelta{Stream: "x", Task: "a", Text: "Hel"},
		TaskFailed{Task: "a", Attempt: 1, Cause: CauseError, Error: failure, WillRetry: true},
		RunCanceling{By: "ada"}, lines(1, "stopping"),
		RunCanceled{By: ByRun, Cause: CauseCanceledByUser, Artifacts: []Artifact{{Name: "f", Partial: true}}},
	)
}

func recoveryLog() []Event {
	log := logOf(
		RunQueued{Job: "generate"}, RunStarted{}, TaskStarted{Task: "a", Attempt: 1}, ToolStarted{Call: "t1", Task: "a", Tool: "read"},
		TextDelta{Stream: "done", Text: "all"}, textDone("done", "", "all"),
		TextDelta{Stream: "x", Task: "a", Text: "Hel"}, TextDelta{Stream: "y", Text: "yes"}, Progress{Task: "a", Done: 1},
		ToolProgress{Call: "t1", Done: 1}, lines(1, "one"))
	rewind := &Rewind{Streams: []StreamMark{{Stream: "x", Bytes: 3, Index: 1}, {Stream: "y", Bytes: 3, Index: 1}},
		Progress: []Progress{{Task: "a", Done: 1}}, Tools: []ToolProgress{{Call: "t1", Done: 1}}, Log: lines(1, "one").Lines}
	return extended(log, RunRecovered{Rewind: rewind}, RunFailed{By: ByRecovery, Cause: CauseNodeLost, Error: failure, Rewind: rewind})
}

// secretLog asks for a secret in every way in which one may be asked again.
func secretLog() []Event {
	secret := InputRequired{Request: "k", Task: "a", Prompt: "key?", InputKind: InputSecret}
	return extended(logOf(
		RunQueued{Job: "chat"}, RunStarted{}, TaskStarted{Task: "a", Attempt: 1}, InputRequired{Request: "d", Task: "a", InputKind: InputData},
		secret, InputReceived{Request: "k"}, secret, // the task lost it
		TaskFailed{Task: "a", Attempt: 1, Cause: CauseError, Error: failure, WillRetry: true}, TaskRestarted{Task: "a", Attempt: 2},
		secret, InputReceived{Request: "k", Value: json.RawMessage(`null`)}, InputRequired{Request: "own", InputKind: InputSecret}),
		RunRecovered{Rewind: &Rewind{}}, InputReceived{Request: "d", Value: json.RawMessage(`1`)},
		InputRequired{Request: "own", InputKind: InputSecret}, TaskRestarted{Task: "a", Attempt: 3}, secret,
		ChildStarted{Child: runID + ".c1", Job: "prompt"}, ChildEnded{Child: runID + ".c1", Status: Canceled},
		RunFailed{By: ByRecovery, Cause: CauseNodeLost, Error: failure})
}

func TestTheseLogsAreLegal(t *testing.T) {
	for name, log := range bases() {
		if i, rule := sentence(log); rule != "" {
			t.Errorf("%s: the judge refuses event %d by %s", name, i+1, rule)
		}
		fold(t, State{}, log...)
	}
}

func bases() map[string][]Event {
	return map[string][]Event{"full": fullLog(), "cancel": cancelLog(), "recovery": recoveryLog(), "secret": secretLog()}
}

// find picks an event that ok accepts, from number 2 on.
func (m *mutant) find(ok func(e Event) bool) (int, bool) {
	var at []int
	for i, e := range m.log {
		if i > 0 && ok(e) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return 0, false
	}
	return at[m.pick(len(at))], true
}

// stepBegins is the beginning of a step that is kept, and stepEnded the last end of one.
func stepBegins(e Event) bool { b, ok := e.Body.(StepKept); return ok && b.Begun }
func stepEnded(e Event) bool  { b, ok := e.Body.(StepKept); return ok && b.Task == "b" }

func ofKind(k Kind) func(Event) bool { return func(e Event) bool { return e.Kind() == k } }

func milestone(e Event) bool { return !e.IsDelta() && !e.IsTerminal() }

// event changes an event that ok accepts.
func event(ok func(Event) bool, change func(*Event)) func(*mutant) bool {
	return func(m *mutant) bool {
		i, found := m.find(ok)
		if found {
			change(&m.log[i])
		}
		return found
	}
}

// body changes the body of an event of type B.
func body[B Body](change func(*B)) func(*mutant) bool {
	return func(m *mutant) bool {
		var at []int
		for i, e := range m.log {
			if _, ok := e.Body.(B); ok {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			return false
		}
		e := &m.log[at[m.pick(len(at))]]
		b := e.Body.(B)
		change(&b)
		e.Body = b
		return true
	}
}

// insert says the bodies after an event that ok accepts; what follows moves up.
func insert(ok func(Event) bool, bodies ...Body) func(*mutant) bool {
	return func(m *mutant) bool {
		i, found := m.find(ok)
		if found {
			m.insert(i+1, bodies...)
		}
		return found
	}
}

func (m *mutant) insert(at int, bodies ...Body) {
	said := extended(m.log[:at], bodies...)
	by := said[len(said)-1].Seq - m.log[at-1].Seq
	for _, e := range m.log[at:] {
		e.From, e.Seq = e.From+by, e.Seq+by
		said = append(said, e)
	}
	m.log = said
}

// without drops an event that ok accepts; what follows moves down.
func without(ok func(Event) bool) func(*mutant) bool {
	return func(m *mutant) bool {
		i, found := m.find(ok)
		if found {
			by := m.log[i].Seq - m.log[i-1].Seq
			m.log = slices.Delete(m.log, i, i+1)
			for j := i; j < len(m.log); j++ {
				m.log[j].From, m.log[j].Seq = m.log[j].From-by, m.log[j].Seq-by
			}
		}
		return found
	}
}

// instead replaces the body of the first event of the kind, and cuts the log there.
func instead(k Kind, b Body) func(*mutant) bool {
	return func(m *mutant) bool {
		i := slices.IndexFunc(m.log, ofKind(k))
		if i > 0 {
			m.log = append(m.log[:i], next(m.log[i-1].Seq, b))
		}
		return i > 0
	}
}

func rewindOf(change func(*Rewind)) func(*mutant) bool {
	return body(func(b *RunRecovered) {
		r := *b.Rewind
		change(&r)
		b.Rewind = &r
	})
}

// inPlace changes the log where an event is that ok accepts, and leaves all numbers as they are.
func inPlace(ok func(Event) bool, change func(log []Event, i int) []Event) func(*mutant) bool {
	return func(m *mutant) bool {
		i, found := m.find(ok)
		if found {
			m.log = change(m.log, i)
		}
		return found
	}
}

// after says a body after the last event.
func after(b Body) func(*mutant) bool {
	return func(m *mutant) bool { m.log = extended(m.log, b); return true }
}

func mutations() []mutation {
	return slices.Concat(numbers(), opening(), cancels(), tasks(), streams(), logs(), things(), ends(), rewinding())
}

func numbers() []mutation {
	kept := func(b Body) func(*mutant) bool { return event(milestone, func(e *Event) { e.Body = b }) }
	recovered := ofKind(KindRunRecovered)
	return []mutation{
		{"swap two events", "full", RuleOrder, inPlace(milestone, func(log []Event, i int) []Event {
			log[i], log[i-1] = log[i-1], log[i]
			return log
		})},
		{"drop a milestone", "full", RuleOrder, inPlace(milestone, func(log []Event, i int) []Event { return slices.Delete(log, i, i+1) })},
		{"drop a delta", "full", RuleOrder, inPlace(Event.IsDelta, func(log []Event, i int) []Event { return slices.Delete(log, i, i+1) })},
		{"say an event twice", "full", RuleOrder, inPlace(milestone, func(log []Event, i int) []Event { return slices.Insert(log, i, log[i]) })},
		{"say a delta twice", "full", RuleOrder, inPlace(Event.IsDelta, func(log []Event, i int) []Event { return slices.Insert(log, i, log[i]) })},
		{"leave a number out", "full", RuleOrder, event(milestone, func(e *Event) { e.From, e.Seq = e.From+1, e.Seq+1 })},
		{"use a number again", "full", RuleOrder, event(milestone, func(e *Event) { e.From, e.Seq = e.From-1, e.Seq-1 })},
		{"number 0", "full", RuleOrder, event(milestone, func(e *Event) { e.From, e.Seq = 0, 0 })},
		{"from beyond seq", "full", RuleOrder, event(milestone, func(e *Event) { e.From = e.Seq + 1 })},
		{"begin at 2", "full", RuleOrder, func(m *mutant) bool { m.log = m.log[1:]; return true }},
		{"a second terminal", "full", RuleEnded, after(RunFailed{By: ByRun, Cause: CauseError, Error: failure})},
		{"a delta after the terminal", "cancel", RuleEnded, after(Progress{})},
		{"an unknown kind after the terminal", "recovery", RuleEnded, after(Unknown{Type: "moon.rose"})},
		{"an event of another run", "full", RuleRun, event(milestone, func(e *Event) { e.RunID = "r_other" })},
		{"an event of no run", "full", RuleRun, event(Event.IsDelta, func(e *Event) { e.RunID = "" })},
		{"a milestone of two numbers", "full", RuleSpan, event(milestone, func(e *Event) { e.From-- })},
		{"a delta over a milestone", "full", RuleSpan, event(Event.IsDelta, func(e *Event) { e.From-- })},
		{"a recovery of too few numbers", "recovery", RuleSpan, event(recovered, func(e *Event) { e.Seq-- })},
		{"a recovery of too many numbers", "recovery", RuleSpan, event(recovered, func(e *Event) { e.Seq++ })},
		{"a recovery of one number", "recovery", RuleSpan, event(recovered, func(e *Event) { e.Seq = e.From })},
		{"a recovery over a milestone", "recovery", RuleSpan, event(recovered, func(e *Event) { e.From, e.Seq = 6, 6+Reserve })},
		{"an event without a body", "full", RuleBody, kept(nil)},
		{"a known kind as an unknown", "full", RuleBody, kept(Unknown{Type: KindRunCompleted})},
		{"a kind without a name", "full", RuleBody, kept(Unknown{})},
		{"a body by pointer", "full", RuleBody, insert(ofKind(KindRunStarted), &FaultInjected{})},
		{"a notice without words", "full", RuleBody, insert(ofKind(KindNotice), Notice{Code: NoticeHistoryCut})},
		{"a delta by pointer", "full", RuleBody, insert(ofKind(KindRunStarted), &Progress{})},
	}
}

func opening() []mutation {
	started := ofKind(KindRunStarted)
	return []mutation{
		{"queued twice", "full", RuleOpening, insert(started, RunQueued{Job: "prompt"})},
		{"begin with run.started", "full", RuleOpening, func(m *mutant) bool { m.log[0].Body = RunStarted{}; return true }},
		{"work before the start", "full", RuleOpening, without(started)},
		{"a delta before the start", "full", RuleOpening, instead(KindRunStarted, Progress{})},
		{"started twice", "full", RuleOpening, insert(started, RunStarted{})},
		{"started again later", "full", RuleOpening, insert(milestone, FaultInjected{}, RunStarted{})},
		{"completed before the start", "full", RuleOpening, instead(KindRunStarted, RunCompleted{By: ByRun})},
		{"a job without a name", "full", RuleBody, body(func(b *RunQueued) { b.Job = "" })},
	}
}

func cancels() []mutation {
	canceling := ofKind(KindRunCanceling)
	return []mutation{
		{"complete after canceling", "cancel", RuleCancel, instead(KindRunCanceled, RunCompleted{By: ByRun})},
		{"fail after canceling", "cancel", RuleCancel, instead(KindRunCanceled, RunFailed{By: ByRun, Cause: CauseError, Error: failure})},
		{"canceled without canceling", "full", RuleCancel, instead(KindRunCompleted, RunCanceled{By: ByRun, Cause: CauseCanceledByUser})},
		{"cancel twice", "cancel", RuleCancel, insert(canceling, RunCanceling{})},
		{"start after canceling", "cancel", RuleCancel, insert(canceling, RunStarted{})},
		{"a task begins after canceling", "cancel", RuleCancel, insert(canceling, TaskStarted{Task: "b", Attempt: 1})},
		{"a task restarts after canceling", "cancel", RuleCancel, insert(canceling, TaskRestarted{Task: "a", Attempt: 2})},
		{"a step begins after canceling", "cancel", RuleCancel, insert(canceling, StepStarted{Step: "s"})},
		{"a step that is once begins after canceling", "cancel", RuleCancel, insert(canceling, StepKept{Step: "pay", Task: "a", Begun: true})},
		{"a child begins after canceling", "cancel", RuleCancel, insert(canceling, ChildStarted{Child: runID + ".c1"})},
		{"a whole artifact after a cancel", "cancel", RuleArtifact, body(func(b *RunCanceled) { b.Artifacts = []Artifact{{Name: "f"}} })},
		{"canceled for no known cause", "cancel", RuleTerminal, body(func(b *RunCanceled) { b.Cause = "moon" })},
	}
}

func tasks() []mutation {
	started, begun := ofKind(KindRunStarted), ofKind(KindTaskStarted)
	return []mutation{
		{"a task starts twice", "full", RuleTask, insert(begun, TaskStarted{Task: "a", Attempt: 1})},
		{"the first attempt is 2", "full", RuleTask, body(func(b *TaskStarted) { b.Attempt = 2 })},
		{"a task without a name", "full", RuleTask, body(func(b *TaskStarted) { b.Task = "" })},
		{"the second attempt is 1", "full", RuleTask, body(func(b *TaskRestarted) { b.Attempt = 1 })},
		{"complete what is not running", "full", RuleTask, insert(started, TaskCompleted{Task: "a", Attempt: 1})},
		{"complete another attempt", "full", RuleTask, body(func(b *TaskCompleted) { b.Attempt++ })},
		{"fail another attempt", "full", RuleTask, body(func(b *TaskFailed) { b.Attempt++ })},
		{"restart what is running", "full", RuleTask, insert(begun, TaskRestarted{Task: "a", Attempt: 2})},
		{"restart what failed permanently", "full", RuleTask, body(func(b *TaskFailed) { b.WillRetry = false })},
		{"fail what is completed", "full", RuleTask, insert(ofKind(KindTaskCompleted), TaskFailed{Task: "a", Attempt: 2, Cause: CauseError, Error: failure})},
		{"fail without an error", "full", RuleBody, body(func(b *TaskFailed) { b.Error = nil })},
		{"fail for no known cause", "full", RuleBody, body(func(b *TaskFailed) { b.Cause = "moon" })},
		{"a delta of an idle task", "full", RuleTask, insert(started, TextDelta{Stream: "x", Task: "a"})},
		{"a done of an idle task", "full", RuleTask, insert(started, textDone("x", "a", ""))},
		{"progress between attempts", "full", RuleTask, insert(ofKind(KindTaskFailed), Progress{Task: "a"})},
		{"a tool call of an idle task", "full", RuleTask, insert(started, ToolStarted{Call: "t9", Task: "a"})},
		{"a model call of an idle task", "full", RuleTask, insert(started, LLMStarted{Call: "m9", Task: "a"})},
		{"a question of an idle task", "full", RuleTask, insert(started, InputRequired{Request: "q9", Task: "a"})},
		{"a step of an idle task", "full", RuleTask, insert(started, StepStarted{Step: "s9", Task: "a"})},
	}
}

func streams() []mutation {
	second := func(e Event) bool { d, ok := e.Body.(TextDelta); return ok && d.Index == 1 }
	change := func(do func(*TextDelta)) func(*mutant) bool {
		return event(second, func(e *Event) { d := e.Body.(TextDelta); do(&d); e.Body = d })
	}
	again := func(text string, count uint64) func(*mutant) bool {
		return event(second, func(e *Event) {
			d := e.Body.(TextDelta)
			e.From--
			e.Body = TextDelta{Stream: d.Stream, Task: d.Task, Count: count, Text: text}
		})
	}
	return []mutation{
		{"a hole in the text", "full", RuleStream, body(func(b *TextDelta) { b.Offset++ })},
		{"an offset before the text", "full", RuleStream, body(func(b *TextDelta) { b.Offset = -1 })},
		{"text said again", "full", RuleStream, change(func(d *TextDelta) { d.Offset-- })},
		{"an ordinal left out", "full", RuleStream, body(func(b *TextDelta) { b.Index++ })},
		{"another media type", "full", RuleStream, change(func(d *TextDelta) { d.MediaType = TextJSON })},
		{"an ordinal used again", "full", RuleStream, change(func(d *TextDelta) { d.Index = 0 })},
		{"more deltas than numbers", "full", RuleStream, body(func(b *TextDelta) { b.Count = 2 })},
		{"a count that wraps", "full", RuleStream, body(func(b *TextDelta) { b.Count = ^uint64(0) })},
		{"a merged delta that contradicts", "full", RuleStream, again("HeXlo", 2)},
		{"a merged delta that ends too soon", "full", RuleStream, again("He", 1)},
		{"a merged delta of fewer than were said", "full", RuleStream, func(m *mutant) bool {
			i, ok := m.find(second)
			if ok {
				d := m.log[i].Body.(TextDelta)
				m.insert(i+1, TextDelta{Stream: d.Stream, Task: d.Task, Count: 1, Text: "Hello!"})
				m.log[i+1].From -= 2
			}
			return ok
		}},
		{"a new delta that repeats an ordinal", "full", RuleStream, insert(second, Progress{Task: "a"}, TextDelta{Stream: "x", Task: "a", Index: 1, Offset: 5})},
		{"a delta after done", "full", RuleStream, insert(ofKind(KindTextDone), TextDelta{Stream: "x", Task: "a", Index: 2, Offset: 5})},
		{"a thought after its done", "full", RuleStream, insert(ofKind(KindThoughtDone), ThoughtDelta{Stream: "m", Task: "a", Index: 1, Offset: 2})},
		{"done twice", "full", RuleStream, insert(ofKind(KindTextDone), textDone("x", "a", "Hello"))},
		{"another task's stream", "full", RuleStream, change(func(d *TextDelta) { d.Task = "b" })},
		{"a text becomes a thought", "full", RuleStream, insert(second, ThoughtDelta{Stream: "x", Task: "a", Index: 2, Offset: 5})},
		{"a thought is done as a text", "full", RuleStream, insert(ofKind(KindThoughtDelta), textDone("m", "a", "hm"))},
		{"a stream without a name", "full", RuleStream, body(func(b *TextDelta) { b.Stream = "" })},
		{"a text that is not UTF-8", "full", RuleBody, body(func(b *TextDelta) { b.Text = "\xff" })},
		{"a done that is not UTF-8", "full", RuleBody, body(func(b *TextDone) { b.Text = "\xff" })},
		{"another digest", "full", RuleDigest, body(func(b *TextDone) { b.SHA256 = Digest("other") })},
		{"a digest in upper case", "full", RuleDigest, body(func(b *TextDone) { b.SHA256 = strings.ToUpper(b.SHA256) })},
		{"no digest", "full", RuleDigest, body(func(b *ThoughtDone) { b.SHA256 = "" })},
		{"another text", "full", RuleDigest, body(func(b *ThoughtDone) { b.Text += "!" })},
	}
}

func logs() []mutation {
	started := ofKind(KindRunStarted)
	many := make([]string, LogTail+1)
	merged := func(parts ...Body) func(*mutant) bool { return insert(started, Merged{Parts: parts}) }
	return []mutation{
		{"a line left out", "full", RuleLog, body(func(b *Log) { *b = lines(b.Lines[0].Number+1, "x") })},
		{"a line said again", "full", RuleLog, insert(ofKind(KindLog), lines(1, "again"))},
		{"line 0", "full", RuleLog, body(func(b *Log) { *b = lines(0, "x") })},
		{"no lines", "full", RuleLog, body(func(b *Log) { b.Lines = nil })},
		{"lines out of order", "full", RuleLog, body(func(b *Log) { b.Lines = append(lines(2, "x").Lines, lines(1, "y").Lines...) })},
		{"a line too long", "full", RuleLog, body(func(b *Log) { *b = lines(b.Lines[0].Number, strings.Repeat("x", LogLineBytes+1)) })},
		{"too many lines", "full", RuleLog, body(func(b *Log) { *b = lines(b.Lines[0].Number, many...) })},
		{"merged of nothing", "full", RuleMerged, merged()},
		{"merged of one", "full", RuleMerged, merged(Progress{})},
		{"merged of a stream twice", "full", RuleMerged, merged(TextDelta{Stream: "r"}, Progress{}, TextDelta{Stream: "r", Index: 1})},
		{"merged of a text and a thought of one name", "full", RuleMerged, merged(TextDelta{Stream: "r"}, ThoughtDelta{Stream: "r"})},
		{"merged in merged", "full", RuleMerged, merged(Progress{}, Merged{Parts: []Body{Progress{Task: "a"}, lines(1, "x")}})},
		{"merged of a milestone", "full", RuleMerged, merged(Progress{}, RunStarted{})},
		{"merged of nil", "full", RuleMerged, merged(Progress{}, nil)},
		{"merged with an illegal part", "full", RuleTask, merged(Progress{}, Progress{Task: "nobody"})},
	}
}

func things() []mutation {
	started, tool, model := ofKind(KindRunStarted), ofKind(KindToolStarted), ofKind(KindLLMStarted)
	secret := func(e Event) bool { b, ok := e.Body.(InputRequired); return ok && b.InputKind == InputSecret }
	return []mutation{
		{"a tool call twice", "full", RuleCall, insert(tool, ToolStarted{Call: "t1", Task: "a"})},
		{"a call id used again", "full", RuleCall, insert(ofKind(KindToolCompleted), LLMStarted{Call: "t1", Task: "a"})},
		{"a call without an id", "full", RuleCall, body(func(b *LLMStarted) { b.Call = "" })},
		{"a tool ends a model call", "full", RuleCall, insert(model, ToolCompleted{Call: "m1", Task: "a"})},
		{"a model ends a tool call", "full", RuleCall, insert(tool, LLMCompleted{Call: "t1", Task: "a"})},
		{"a call ends twice", "full", RuleCall, insert(ofKind(KindToolCompleted), ToolCompleted{Call: "t1", Task: "a"})},
		{"another task ends a tool call", "full", RuleCall, body(func(b *ToolCompleted) { b.Task = "b" })},
		{"the run ends a task's model call", "full", RuleCall, body(func(b *LLMCompleted) { b.Task = "" })},
		{"an end without a call", "full", RuleCall, insert(started, LLMCompleted{Call: "m1"})},
		{"tool progress of a model call", "full", RuleCall, insert(model, ToolProgress{Call: "m1"})},
		{"tool progress after its end", "full", RuleCall, insert(ofKind(KindToolCompleted), ToolProgress{Call: "t1"})},
		{"an artifact without a name", "full", RuleArtifact, body(func(b *ArtifactWritten) { b.Name = "" })},
		{"an artifact of negative size", "full", RuleArtifact, body(func(b *ArtifactWritten) { b.Bytes = -1 })},
		{"a first part that is whole", "full", RuleArtifact, body(func(b *ArtifactPartial) { b.Partial = false })},
		{"an answer to nothing", "full", RuleInput, insert(started, InputReceived{Request: "q"})},
		{"answered twice", "full", RuleInput, insert(ofKind(KindInputReceived), InputReceived{Request: "q"})},
		{"asked twice", "full", RuleInput, insert(ofKind(KindInputRequired), InputRequired{Request: "q"})},
		{"asked again", "full", RuleInput, insert(ofKind(KindInputReceived), InputRequired{Request: "q"})},
		{"asked without a name", "full", RuleInput, body(func(b *InputRequired) { b.Request = "" })},
		{"a request of no known kind", "full", RuleBody, body(func(b *InputRequired) { b.InputKind = "oracle" })},
		{"an answer that is due before it is asked", "full", RuleBody, body(func(b *InputRequired) { b.TimeoutMS = -1 })},
		{"a secret in the log", "secret", RuleInput, body(func(b *InputReceived) { b.Value = json.RawMessage(`"x"`) })},
		{"a secret asked twice", "secret", RuleInput, insert(secret, InputRequired{Request: "k", Task: "a", InputKind: InputSecret})},
		{"a secret asked by another task", "secret", RuleInput, insert(ofKind(KindInputReceived), InputRequired{Request: "k", InputKind: InputSecret})},
		{"a secret asked as data", "secret", RuleInput, insert(ofKind(KindInputReceived), InputRequired{Request: "k", Task: "a", InputKind: InputData})},
		{"data asked again after a restart", "secret", RuleInput, insert(ofKind(KindTaskRestarted), InputRequired{Request: "d", Task: "a", InputKind: InputData})},
		{"a run held that waits for none", "full", RuleOpening, insert(started, RunHeld{After: "r_b"})},
		{"a run moved that does not wait", "full", RuleOpening, insert(started, RunMoved{After: "r_b"})},
		{"a run released that is not held", "full", RuleOpening, insert(started, RunReleased{})},
		{"a message twice", "full", RuleMessage, insert(ofKind(KindMessageDelivered), MessageQueued{to("s1")})},
		{"a message without a name", "full", RuleBody, body(func(b *MessageQueued) { b.Message = "" })},
		{"a message of no known mode", "full", RuleBody, body(func(b *MessageQueued) { b.Mode = "next" })},
		{"an empty message", "full", RuleBody, body(func(b *MessageQueued) { b.Content = " " })},
		{"a message that is too long", "full", RuleBody, body(func(b *MessageQueued) { b.Content = strings.Repeat("x", MessageBytes+1) })},
		{"a message out of its order", "full", RuleMessage, body(func(b *MessageDelivered) { b.Message = "s2" })},
		{"a message delivered nowhere", "full", RuleMessage, body(func(b *MessageDelivered) { b.At = "" })},
		{"a message delivered twice", "full", RuleMessage, insert(ofKind(KindMessageDropped), MessageDelivered{Message: "s1", At: "x"})},
		{"a message to an idle task", "full", RuleTask, body(func(b *MessageDelivered) { b.Task = "c" })},
		{"a message dropped after its delivery", "full", RuleMessage, insert(ofKind(KindMessageDropped), MessageDropped{Message: "s1", Reason: DropEnded})},
		{"a message dropped for no known reason", "full", RuleBody, body(func(b *MessageDropped) { b.Reason = "lost" })},
		{"a message seen that was dropped", "full", RuleMessage, body(func(b *LLMCompleted) { b.Seen = []string{"s2"} })},
		{"a run that ends with an open message", "full", RuleMessage, insert(ofKind(KindTaskCompleted), MessageQueued{to("s3")})},
		{"somebody else's child", "full", RuleChild, body(func(b *ChildStarted) { b.Child = "r_other.c1" })},
		{"a child twice", "full", RuleChild, insert(ofKind(KindChildEnded), ChildStarted{Child: runID + ".c1"})},
		{"a child ends twice", "full", RuleChild, insert(ofKind(KindChildEnded), ChildEnded{Child: runID + ".c1", Status: Failed})},
		{"a child ends unborn", "full", RuleChild, insert(started, ChildEnded{Child: runID + ".c1", Status: Failed})},
		{"a child ends as processing", "full", RuleChild, body(func(b *ChildEnded) { b.Status = Processing })},
		{"a step begins twice", "full", RuleStep, insert(ofKind(KindStepStarted), StepStarted{Step: "s"})},
		{"a step ends twice", "full", RuleStep, insert(ofKind(KindStepEnded), StepEnded{Step: "s"})},
		{"a step is skipped that began", "full", RuleStep, insert(ofKind(KindStepEnded), StepEnded{Step: "s", Outcome: "skipped"})},
		{"a step is skipped twice", "full", RuleStep, insert(ofKind(KindStepEnded), StepEnded{Step: "k", Outcome: "skipped"},
			StepEnded{Step: "k", Outcome: "skipped"})},
		{"a skipped step without a name", "full", RuleStep, insert(ofKind(KindStepEnded), StepEnded{Outcome: "skipped"})},
		{"a result is kept twice", "full", RuleStep, insert(stepEnded, StepKept{Step: "pay", Task: "a", Result: json.RawMessage(`2`)})},
		{"a kept step begins", "full", RuleStep, insert(stepEnded, StepKept{Step: "pay", Task: "a", Begun: true})},
		{"a permanent error and then a result", "full", RuleStep, insert(stepEnded, StepKept{Step: "pay", Task: "b", Result: json.RawMessage(`2`)})},
		{"a step that is once begins twice", "full", RuleStep, insert(stepBegins, StepKept{Step: "pay", Task: "a", Begun: true})},
		{"a kept step without a name", "full", RuleStep, body(func(b *StepKept) { b.Step = "" })},
		{"a kept step of no task", "full", RuleStep, body(func(b *StepKept) { b.Task = "" })},
		{"a kept step of an idle task", "full", RuleTask, insert(started, StepKept{Step: "pay", Task: "a", Result: json.RawMessage(`2`)})},
		{"a step is kept with nothing", "full", RuleBody, insert(stepEnded, StepKept{Step: "pay2", Task: "a"})},
		{"a step is kept with a result and an error", "full", RuleBody,
			insert(stepEnded, StepKept{Step: "pay2", Task: "a", Result: json.RawMessage(`2`), Error: failure})},
		{"a step begins and has a result", "full", RuleBody,
			insert(stepEnded, StepKept{Step: "pay2", Task: "a", Result: json.RawMessage(`2`), Begun: true})},
		{"a step that begins again begins twice", "full", RuleStep, insert(stepBegins, StepKept{Step: "pay", Task: "a", Begun: true, Again: true})},
		{"a step is made again and has a result", "full", RuleBody,
			insert(stepEnded, StepKept{Step: "pay2", Task: "a", Result: json.RawMessage(`2`), Again: true})},
		{"a step without a name", "full", RuleStep, body(func(b *StepStarted) { b.Step = "" })},
	}
}

func ends() []mutation {
	failed := func(b RunFailed) func(*mutant) bool { return instead(KindRunCompleted, b) }
	return []mutation{
		{"complete with a task running", "full", RuleTerminal, without(ofKind(KindTaskCompleted))},
		{"complete with a task waiting", "full", RuleTerminal, instead(KindTaskRestarted, RunCompleted{By: ByRun})},
		{"complete with a child running", "full", RuleChild, without(ofKind(KindChildEnded))},
		{"fail with a child running", "secret", RuleChild, without(ofKind(KindChildEnded))},
		{"cancel with a child running", "cancel", RuleChild, insert(ofKind(KindTaskStarted), ChildStarted{Child: runID + ".c1"})},
		{"recovery ends in one with a child running", "recovery", RuleChild, insert(ofKind(KindTaskStarted), ChildStarted{Child: runID + ".c1"})},
		{"completed by the supervisor", "full", RuleTerminal, body(func(b *RunCompleted) { b.By = BySupervisor })},
		{"completed by nobody", "full", RuleTerminal, body(func(b *RunCompleted) { b.By = "" })},
		{"failed without an error", "full", RuleTerminal, failed(RunFailed{By: ByRun, Cause: CauseError})},
		{"failed for no known cause", "full", RuleTerminal, failed(RunFailed{By: ByRun, Cause: "moon", Error: failure})},
		{"failed by a stranger", "full", RuleTerminal, failed(RunFailed{By: "me", Cause: CauseError, Error: failure})},
		{"canceled by a stranger", "cancel", RuleTerminal, body(func(b *RunCanceled) { b.By = "me" })},
		{"failed by recovery without a rewind", "full", RuleRewind, failed(RunFailed{By: ByRecovery, Cause: CauseNodeLost, Error: failure})},
		{"canceled by recovery without a rewind", "cancel", RuleRewind, body(func(b *RunCanceled) { b.By = ByRecovery })},
		{"the run rewinds", "full", RuleRewind, failed(RunFailed{By: ByRun, Cause: CauseError, Error: failure, Rewind: &Rewind{}})},
		{"the end rewinds what was not said", "recovery", RuleRewind, instead(KindRunFailed, RunFailed{By: ByRecovery, Cause: CauseError,
			Error: failure, Rewind: &Rewind{Log: lines(7, "x").Lines}})},
	}
}

func rewinding() []mutation {
	mark := func(change func(*StreamMark)) func(*mutant) bool {
		return rewindOf(func(r *Rewind) {
			if r.Streams = slices.Clone(r.Streams); len(r.Streams) > 0 {
				change(&r.Streams[0])
			}
		})
	}
	return []mutation{
		{"recovered without a rewind", "recovery", RuleRewind, event(ofKind(KindRunRecovered), func(e *Event) { e.Seq, e.Body = e.From, RunRecovered{} })},
		{"a task goes on across recovery", "recovery", RuleTask, insert(ofKind(KindRunRecovered), Progress{Task: "a"})},
		{"a restart at the old attempt", "recovery", RuleTask, insert(ofKind(KindRunRecovered), TaskRestarted{Task: "a", Attempt: 1})},
		{"a rewind past the text", "recovery", RuleRewind, mark(func(s *StreamMark) { s.Bytes++ })},
		{"a rewind to less than nothing", "recovery", RuleRewind, mark(func(s *StreamMark) { s.Bytes = -1 })},
		{"a rewind past the deltas", "recovery", RuleRewind, mark(func(s *StreamMark) { s.Index++ })},
		{"a rewind of no stream", "recovery", RuleRewind, mark(func(s *StreamMark) { s.Stream = "nobody" })},
		{"a rewind of a nameless stream", "recovery", RuleRewind, mark(func(s *StreamMark) { *s = StreamMark{} })},
		{"a rewind of a closed stream", "recovery", RuleRewind, mark(func(s *StreamMark) { *s = StreamMark{Stream: "done"} })},
		{"a rewind of a stream twice", "recovery", RuleRewind, mark(func(s *StreamMark) { s.Stream = "y" })},
		{"a rewind of a stranger's progress", "recovery", RuleRewind, rewindOf(func(r *Rewind) { r.Progress = []Progress{{Task: "nobody"}} })},
		{"a rewind of progress twice", "recovery", RuleRewind, rewindOf(func(r *Rewind) { r.Progress = append(slices.Clip(r.Progress), r.Progress...) })},
		{"a rewind of no tool call", "recovery", RuleRewind, rewindOf(func(r *Rewind) { r.Tools = []ToolProgress{{Call: "t9"}} })},
		{"a rewind past the log", "recovery", RuleRewind, rewindOf(func(r *Rewind) { r.Log = lines(2_000, "x").Lines })},
		{"a rewind of lines out of order", "recovery", RuleRewind, rewindOf(func(r *Rewind) { r.Log = append(lines(2, "x").Lines, lines(1, "x").Lines...) })},
	}
}

// refusal folds the log and returns the index of the first refused event and the rule, or len(log).
func refusal(t tester, log []Event) (int, Rule) {
	t.Helper()
	var s State
	for i, e := range log {
		next, err := s.Apply(e)
		if err != nil {
			if ruleOf(err) == "" || !strings.Contains(err.Error(), "refused") || asJSON(t, next) != asJSON(t, s) {
				t.Fatalf("event %d: %v", i+1, err)
			}
			return i, ruleOf(err)
		}
		s = next
	}
	return len(log), ""
}

func TestEveryMutationBreaksItsRule(t *testing.T) {
	names, rules := map[string]bool{}, map[Rule]bool{}
	for _, mu := range mutations() {
		t.Run(mu.name, func(t *testing.T) {
			m := &mutant{bases()[mu.base], func(int) int { return 0 }}
			if !mu.do(m) {
				t.Fatalf("the %s log has nothing to change", mu.base)
			}
			at, rule := refusal(t, m.log)
			wantAt, want := sentence(m.log)
			if rule != mu.rule || want != mu.rule || at != wantAt {
				t.Errorf("event %d is refused by %q, the judge says %d by %q, the table %q", at+1, rule, wantAt+1, want, mu.rule)
			}
			names[mu.name], rules[rule] = true, true
		})
	}
	all := ruleDocs(t)
	for _, r := range all {
		if !rules[Rule(r[0])] {
			t.Errorf("no mutation breaks rule %q", r[0])
		}
	}
	if len(names) != len(mutations()) || len(all) != len(rules) {
		t.Errorf("%d names for %d mutations, %d of %d rules", len(names), len(mutations()), len(rules), len(all))
	}
}

// ruleDocs returns the rules and what the source says that each holds.
func ruleDocs(t *testing.T) [][2]string {
	t.Helper()
	source, err := os.ReadFile("error.go")
	must(t, err)
	var out [][2]string
	for _, m := range regexp.MustCompile(`Rule += "(\w+)" +// (.*)`).FindAllStringSubmatch(string(source), -1) {
		out = append(out, [2]string{m[1], m[2]})
	}
	return out
}

// On any log, State and the judge agree where a mutation becomes illegal, and by which rule.
func TestTheJudgeAgreesOnMutationsOfAnyLog(t *testing.T) {
	refused := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		log := legal(t).log
		where := rapid.IntRange(0, 1<<20).Draw(t, "where")
		for _, mu := range mutations() {
			m := &mutant{slices.Clone(log), func(n int) int { return where % n }}
			if !mu.do(m) {
				continue
			}
			at, rule := refusal(t, m.log)
			if wantAt, want := sentence(m.log); at != wantAt || rule != want {
				t.Fatalf("%s: event %d is refused by %q, the judge says %d by %q\n%s", mu.name, at+1, rule, wantAt+1, want, asJSON(t, m.log[min(at, wantAt)]))
			}
			if rule != "" {
				refused[mu.name]++
			}
		}
	})
	for _, mu := range mutations() {
		if refused[mu.name] == 0 {
			t.Logf("%s was never refused on a logOf log", mu.name)
		}
	}
	if len(refused) < len(mutations())*3/4 {
		t.Errorf("only %d of %d mutations were refused on logOf logs", len(refused), len(mutations()))
	}
}
