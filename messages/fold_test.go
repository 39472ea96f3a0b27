package messages_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/messages"
)

// both applies every event to a Fold and to a State, which must say the same of it, and keeps some snapshots.
type both struct {
	t     tester
	fold  *messages.Fold
	state messages.State
	kept  []messages.State
	said  []string
}

func (b *both) apply(e messages.Event) bool {
	before := b.fold.Peek().Seq
	next, want := b.state.Apply(e)
	err := b.fold.Apply(e)
	if fmt.Sprint(err) != fmt.Sprint(want) {
		b.t.Fatalf("event %s: the fold says %v, the state %v", asJSON(b.t, e), err, want)
	}
	if err != nil && b.fold.Peek().Seq != before {
		b.t.Fatalf("refused, and yet at %d", b.fold.Peek().Seq)
	}
	b.state = next
	return err == nil
}

func (b *both) snapshot() {
	s := b.fold.State()
	same(b.t, "the fold", s, b.state)
	same(b.t, "what it looks like", b.fold.Peek(), s)
	b.kept, b.said = append(b.kept, s), append(b.said, asJSON(b.t, s))
}

func (b *both) end() {
	b.snapshot()
	for i, s := range b.kept {
		if asJSON(b.t, s) != b.said[i] {
			b.t.Fatalf("the snapshot at %d was changed to\n%s\nfrom\n%s", s.Seq, asJSON(b.t, s), b.said[i])
		}
	}
}

// One law: a Fold says of any log what State.Apply says, refusals too, and its snapshots never change.
func TestFoldAgreesWithApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := mergeSome(t, legal(t).log)
		at := rapid.IntRange(0, len(log)).Draw(t, "go on from")
		b := both{t: t, fold: new(messages.Fold)}
		for i, e := range log {
			if i == at {
				b.fold = messages.NewFold(b.state)
			}
			for range rapid.IntRange(0, 2).Draw(t, "others") {
				b.apply(next(b.state.Seq, rapid.SampledFrom(samples()).Draw(t, "sample")))
			}
			e.From, e.Seq = e.From-e.Seq+b.state.Seq+1+(e.Seq-e.From), b.state.Seq+1+(e.Seq-e.From)
			b.apply(e)
			if rapid.IntRange(0, 3).Draw(t, "look") == 0 {
				b.snapshot()
			}
		}
		b.end()
	})
}

// Long lists are kept in another way than short ones; what they say is the same.
func TestFoldAgreesWithApplyOnWideRuns(t *testing.T) {
	taken := map[messages.Kind]int{}
	for seed := range uint64(3) {
		t.Logf("seed %d", seed)
		w := wide{both{t: t, fold: new(messages.Fold)}, rand.New(rand.NewPCG(seed, 10))}
		w.apply(next(0, messages.RunQueued{Job: "plan"}))
		w.apply(next(1, messages.RunStarted{}))
		for i := range 4000 {
			e := next(w.state.Seq, w.body())
			if w.apply(e) {
				taken[e.Kind()]++
			}
			switch {
			case i%400 == 399:
				w.snapshot()
			case i%1000 == 500: // goes over to a snapshot that went over the wire
				var s messages.State
				must(t, json.Unmarshal([]byte(asJSON(t, w.fold.State())), &s))
				w.fold = messages.NewFold(s)
			}
			w.lookUp()
		}
		w.end()
	}
	for _, k := range messages.Kinds() {
		if taken[k.Kind] < 20 && k.Group != "run" && !strings.HasPrefix(string(k.Kind), "thought") && k.Group != "faults" {
			t.Errorf("%s was taken %d times", k.Kind, taken[k.Kind])
		}
	}
}

type wide struct {
	both
	*rand.Rand
}

// body says something of one of some sixty things of every sort, not always what is legal.
func (w *wide) body() messages.Body {
	n := w.IntN(60)
	name := func(prefix string) string { return fmt.Sprint(prefix, n) }
	task := messages.TaskState{Name: name("task")}
	if now, ok := w.state.Task(task.Name); ok {
		task = now
	}
	stream, _ := w.state.Stream(name("text"))
	switch w.IntN(23) {
	case 0, 1:
		return messages.TaskStarted{Task: task.Name, Attempt: 1}
	case 2:
		return messages.TaskFailed{Task: task.Name, Attempt: task.Attempt, Cause: messages.CauseError, Error: failure, WillRetry: true}
	case 3, 4:
		return messages.TaskRestarted{Task: task.Name, Attempt: task.Attempt + 1}
	case 5, 6:
		if w.IntN(3) == 0 { // a stream that a rewind dropped may become another task's
			task.Name = fmt.Sprint("task", (n+1)%60)
		}
		return messages.TextDelta{Stream: name("text"), Task: task.Name, Index: stream.Index, Offset: stream.Len(), Text: "x"}
	case 7:
		if w.IntN(2) == 0 {
			return messages.TextClosed{Stream: name("text"), Task: stream.Task, Bytes: stream.Len(),
				SHA256: messages.Digest(stream.Text()), Dropped: w.IntN(2) == 0}
		}
		return textDone(name("text"), stream.Task, stream.Text())
	case 8:
		return messages.Progress{Task: task.Name, Done: int64(w.IntN(9))}
	case 9:
		return messages.LLMStarted{Call: fmt.Sprint("m", w.IntN(200)), Task: task.Name, Reserved: messages.Budget{Tokens: 70}}
	case 10:
		return messages.ToolStarted{Call: fmt.Sprint("c", w.IntN(400)), Task: task.Name}
	case 11, 12:
		return messages.ToolProgress{Call: w.openCall().ID, Done: 3}
	case 13:
		if c := w.openCall(); c.Model {
			return messages.LLMCompleted{Call: c.ID, Task: c.Task}
		} else {
			return messages.ToolCompleted{Call: c.ID, Task: c.Task}
		}
	case 14:
		return messages.ArtifactWritten{Artifact: messages.Artifact{Name: fmt.Sprint("file", w.IntN(90))}, Task: task.Name}
	case 15:
		return messages.ArtifactPartial{Artifact: messages.Artifact{Name: fmt.Sprint("file", w.IntN(90)), Partial: true}, Task: task.Name}
	case 16:
		return messages.InputRequired{Request: name("q"), Task: task.Name, InputKind: messages.InputSecret}
	case 17:
		return messages.InputReceived{Request: name("q")}
	case 18:
		return []messages.Body{messages.ChildStarted{Child: runID + messages.RunID(name(".c"))},
			messages.ChildEnded{Child: runID + messages.RunID(name(".c")), Status: messages.Failed, Spent: messages.Budget{Tokens: 3}}}[w.IntN(2)]
	case 19:
		return []messages.Body{messages.StepStarted{Step: name("s")}, messages.StepEnded{Step: name("s"), Outcome: "ok"},
			messages.StepEnded{Step: name("s"), Outcome: messages.StepSkipped},
			messages.StepKept{Step: name("s"), Task: task.Name, Result: json.RawMessage(`1`)},
			messages.StepKept{Step: name("s"), Task: task.Name, Begun: true},
			messages.Notice{Task: task.Name, Code: messages.NoticeHistoryCut, Text: name("cut")}}[w.IntN(6)]
	case 20:
		return []messages.Body{lines(w.state.Log.Next, "line"), messages.TaskCompleted{Task: task.Name, Attempt: task.Attempt},
			messages.Merged{Parts: []messages.Body{messages.Progress{Task: task.Name}, lines(w.state.Log.Next, "merged")}}}[w.IntN(3)]
	}
	if w.IntN(4) == 0 {
		return []messages.Body{messages.BudgetGranted{Child: runID + messages.RunID(name(".c")), Grant: messages.Budget{Tokens: 9}},
			messages.BudgetGranted{Grant: messages.Budget{Tokens: 9}}, messages.BudgetWarning{Unit: "tokens", Used: 8, Limit: 10},
			messages.UsageReported{By: "agent", Usage: messages.Usage{CompletionTokens: new(int64(n))}}}[w.IntN(4)]
	}
	if w.IntN(2) == 0 {
		return []messages.Body{messages.MessageQueued{Said: messages.Said{Message: name("s"), Mode: messages.Steer, Content: "x"}},
			messages.MessageDelivered{Message: w.openMessage(), At: "answer.1"},
			messages.MessageDropped{Message: w.openMessage(), Reason: messages.DropRevoked}}[w.IntN(3)]
	}
	if w.IntN(20) > 0 {
		return messages.RunCompleted{By: messages.ByRun}
	}
	_, _, rewind := w.state.Recovery()
	rewind.Streams = slices.DeleteFunc(rewind.Streams, func(messages.StreamMark) bool { return w.IntN(4) == 0 })
	return messages.RunRecovered{Rewind: rewind}
}

func (w *wide) openMessage() string {
	for _, m := range w.state.Messages {
		if m.At == "" && m.Dropped == "" {
			return m.Message
		}
	}
	return "none"
}

func (w *wide) openCall() messages.Call {
	if len(w.state.Calls) == 0 {
		return messages.Call{}
	}
	return w.state.Calls[w.IntN(len(w.state.Calls))]
}

// lookUp asks for one thing of each sort, and for the counts.
func (w *wide) lookUp() {
	s, f := w.state, w.fold
	i := w.IntN(1000)
	if n := len(s.Tasks); n > 0 {
		got, ok := f.Task(s.Tasks[i%n].Name)
		same(w.t, fmt.Sprint("task, found ", ok), got, s.Tasks[i%n])
	}
	if n := len(s.Streams); n > 0 {
		got, ok := f.Stream(s.Streams[i%n].Name)
		same(w.t, fmt.Sprint("stream, found ", ok), got, s.Streams[i%n])
	}
	open := 0
	for _, in := range s.Inputs {
		if got, ok := f.Input(in.Request); !ok || got.Closed != in.Closed {
			w.t.Fatalf("request %s is %v", in.Request, got)
		}
		if !in.Closed {
			open++
		}
	}
	children := 0
	for _, c := range s.Children {
		if got, ok := f.Child(c.Child); !ok || !reflect.DeepEqual(got, c) {
			w.t.Fatalf("child %s is %v", c.Child, got)
		}
		if !c.Status.IsEnded() {
			children++
		}
	}
	told := 0
	for _, m := range s.Messages {
		if got, ok := f.Message(m.Message); !ok || got != m {
			w.t.Fatalf("message %s is %v", m.Message, got)
		}
		if m.At == "" && m.Dropped == "" {
			told++
		}
	}
	if f.OpenMessages() != told {
		w.t.Fatalf("%d messages are open, not %d", f.OpenMessages(), told)
	}
	if f.OpenInputs() != open || f.OpenChildren() != children {
		w.t.Fatalf("%d requests and %d children are open, not %d and %d", f.OpenInputs(), f.OpenChildren(), open, children)
	}
	if _, ok := f.Task("nobody"); ok {
		w.t.Fatalf("nobody is a task")
	}
}

// Two Folds that go on from one snapshot do not see each other.
func TestFoldsOfOneSnapshotPart(t *testing.T) {
	f := new(messages.Fold)
	for _, e := range logOf(messages.RunQueued{Job: "plan"}, messages.RunStarted{}, messages.StepStarted{Step: "a"}, messages.StepStarted{Step: "b"},
		messages.StepStarted{Step: "c"}, lines(1, "one")) {
		must(t, f.Apply(e))
	}
	s := f.State()
	before := asJSON(t, s)
	others := []*messages.Fold{f, messages.NewFold(s), messages.NewFold(s)}
	for said := range 3 {
		for i, g := range others {
			name := fmt.Sprint("step ", i)
			b := []messages.Body{messages.StepStarted{Step: name}, lines(2, name), messages.StepEnded{Step: "a", Outcome: name}}[said]
			must(t, g.Apply(next(g.Peek().Seq, b)))
		}
	}
	for i, g := range others {
		name, now := fmt.Sprint("step ", i), g.State()
		if now.Steps[3].Name != name || now.Log.Lines[1].Text != name || now.Steps[0].Outcome != name {
			t.Errorf("%s: %s", name, asJSON(t, now))
		}
	}
	same(t, "the snapshot", s, json.RawMessage(before))
}

// runs that are long in one way each: n of the things, and for each of them what may happen to it later.
func long(n int) map[string]func(yield func(messages.Body)) {
	each := func(bodies ...func(name string) messages.Body) func(func(messages.Body)) {
		return func(yield func(messages.Body)) {
			for _, b := range bodies {
				for i := range n {
					yield(b(fmt.Sprint("x", i)))
				}
			}
		}
	}
	started := func(x string) messages.Body { return messages.TaskStarted{Task: x, Attempt: 1} }
	failed := func(x string) messages.Body {
		return messages.TaskFailed{Task: x, Attempt: 1, Cause: messages.CauseError, Error: failure, WillRetry: true}
	}
	again := func(x string) messages.Body { return messages.TaskRestarted{Task: x, Attempt: 2} }
	child := func(x string) messages.RunID { return runID + ".c" + messages.RunID(x) }
	return map[string]func(func(messages.Body)){
		"tool calls": each(
			func(x string) messages.Body { return messages.ToolStarted{Call: x} },
			func(x string) messages.Body { return messages.ToolProgress{Call: x, Done: 1} },
			func(x string) messages.Body { return messages.ToolCompleted{Call: x} }),
		"model calls": each(
			func(x string) messages.Body { return messages.LLMStarted{Call: x} },
			func(x string) messages.Body { return messages.LLMCompleted{Call: x} }),
		"texts": each(
			func(x string) messages.Body { return messages.TextDelta{Stream: x, Text: "x"} },
			func(x string) messages.Body { return messages.TextDelta{Stream: x, Text: "y", Index: 1, Offset: 1} },
			func(x string) messages.Body { return textDone(x, "", "xy") }),
		"tasks": each(started, failed, again,
			func(x string) messages.Body { return messages.TaskCompleted{Task: x, Attempt: 2} }),
		"tasks that lose all": each(started,
			func(x string) messages.Body { return messages.TextDelta{Stream: x, Task: x, Text: "x"} },
			func(x string) messages.Body { return messages.Progress{Task: x, Done: 1} },
			func(x string) messages.Body {
				return messages.ArtifactWritten{Artifact: messages.Artifact{Name: x}, Task: x}
			}, failed, again),
		"steps": each(
			func(x string) messages.Body { return messages.StepStarted{Step: x} },
			func(x string) messages.Body { return messages.StepEnded{Step: x} }),
		"kept steps": func(yield func(messages.Body)) {
			yield(started("t"))
			for i := range 2 * n {
				b := messages.StepKept{Step: fmt.Sprint("x", i%n), Task: "t", Begun: i < n}
				if !b.Begun {
					b.Result = json.RawMessage(`1`)
				}
				yield(b)
			}
		},
		"children": each(
			func(x string) messages.Body { return messages.ChildStarted{Child: child(x)} },
			func(x string) messages.Body { return messages.ChildEnded{Child: child(x), Status: messages.Completed} }),
		"requests": each(
			func(x string) messages.Body { return messages.InputRequired{Request: x} },
			func(x string) messages.Body { return messages.InputReceived{Request: x} }),
		"messages": func(yield func(messages.Body)) {
			for i := range n {
				yield(messages.MessageQueued{Said: messages.Said{Message: fmt.Sprint("x", i), Mode: messages.Steer, Content: "x"}})
				yield(messages.MessageDropped{Message: fmt.Sprint("x", i), Reason: messages.DropEnded})
			}
		},
		"artifacts": each(
			func(x string) messages.Body { return messages.ArtifactWritten{Artifact: messages.Artifact{Name: x}} },
			func(x string) messages.Body { return messages.ArtifactWritten{Artifact: messages.Artifact{Name: x}} }),
		"recoveries of a long run": func(yield func(messages.Body)) {
			for i := range n {
				yield(messages.TaskStarted{Task: fmt.Sprint("x", i), Attempt: 1})
				yield(textDone(fmt.Sprint("x", i), "", ""))
				yield(messages.ToolStarted{Call: fmt.Sprint("x", i)})
			}
			for range n {
				yield(messages.RunRecovered{Rewind: &messages.Rewind{}})
			}
		},
	}
}

// What an event costs does not grow with the run: twice as many things take twice the memory to fold, not four times.
func TestFoldingIsLinear(t *testing.T) {
	cost := func(n int, name string) float64 {
		f := messages.NewFold(fold(t, messages.State{}, logOf(messages.RunQueued{Job: "plan"}, messages.RunStarted{})...))
		var log []messages.Event
		seq := f.Peek().Seq
		long(n)[name](func(b messages.Body) {
			log = append(log, next(seq, b))
			seq = log[len(log)-1].Seq
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, e := range log {
			if err := f.Apply(e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	for name := range long(0) {
		half, whole := cost(1000, name), cost(2000, name)
		t.Logf("%s: %.0f and %.0f bytes", name, half/1000, whole/2000)
		if whole > 2.5*half {
			t.Errorf("%s: 2,000 take %.1f times the memory of 1,000", name, whole/half)
		}
	}
}

// A delta of a text costs the growth of the text, and nothing else.
func TestFoldOfTextAllocatesTheTextAlone(t *testing.T) {
	const n = 2000
	log := tokens(n)
	f := messages.NewFold(fold(t, messages.State{}, log[:3]...))
	i := 3
	perDelta := testing.AllocsPerRun(n-10, func() {
		must(t, f.Apply(log[i]))
		i++
	})
	if perDelta > 0.05 {
		t.Errorf("%.2f allocations per delta", perDelta)
	}
}

// "result, summary and artifacts belong to their attempt", also in a State that went over the wire.
func TestArtifactsBelongToTheirAttempt(t *testing.T) {
	write := func(name, task string) messages.Body {
		return messages.ArtifactWritten{Artifact: messages.Artifact{Name: name}, Task: task}
	}
	log := logOf(messages.RunQueued{Job: "plan"}, messages.RunStarted{}, messages.TaskStarted{Task: "a", Attempt: 1},
		messages.TaskStarted{Task: "b", Attempt: 1}, write("1", "a"), write("2", "b"), write("3", ""), write("4", "a"), write("5", "a"),
		write("5", "b"), write("2", "a"), write("1", ""),
		messages.TaskFailed{Task: "a", Attempt: 1, Cause: messages.CauseError, Error: failure, WillRetry: true})
	s := fold(t, messages.State{}, log...)
	var back messages.State
	must(t, json.Unmarshal([]byte(asJSON(t, s)), &back))
	for _, s := range []messages.State{s, back} {
		s = fold(t, s, next(s.Seq, messages.TaskRestarted{Task: "a", Attempt: 2}))
		var left []string
		for _, a := range s.Artifacts {
			left = append(left, a.Name)
		}
		if slices.Sort(left); !slices.Equal(left, []string{"1", "3", "5"}) {
			t.Errorf("after the restart there are %v", left)
		}
		end := fold(t, s, next(s.Seq, s.Terminal(messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Error: failure})))
		same(t, "the terminal's", end.Artifacts, s.Artifacts)
	}
}

// A State that does not say who wrote its artifacts goes on: they are the run's own.
func TestArtifactsOfNobodyStay(t *testing.T) {
	s := fold(t, messages.State{}, logOf(messages.RunQueued{Job: "plan"}, messages.RunStarted{}, messages.TaskStarted{Task: "a", Attempt: 1},
		messages.ArtifactWritten{Artifact: messages.Artifact{Name: "1"}, Task: "a"},
		messages.TaskFailed{Task: "a", Attempt: 1, Cause: messages.CauseError, Error: failure, WillRetry: true})...)
	s.ArtifactTasks = nil
	s = fold(t, s, next(s.Seq, messages.ArtifactWritten{Artifact: messages.Artifact{Name: "1", Bytes: 2}}),
		next(s.Seq+1, messages.TaskRestarted{Task: "a", Attempt: 2}))
	if len(s.Artifacts) != 1 || s.Artifacts[0].Bytes != 2 {
		t.Errorf("there are %v", s.Artifacts)
	}
}

// The newest owning event says who owns the run.
func TestStateNamesItsOwner(t *testing.T) {
	s := fold(t, messages.State{}, logOf(messages.RunQueued{Job: "plan"}, messages.RunStarted{Node: "n1", Epoch: 3})...)
	if s.Node != "n1" || s.Epoch != 3 {
		t.Errorf("owned by %s, epoch %d", s.Node, s.Epoch)
	}
	_, _, rewind := s.Recovery()
	if s = fold(t, s, next(s.Seq, messages.RunRecovered{Node: "n2", Epoch: 4, Rewind: rewind})); s.Node != "n2" || s.Epoch != 4 {
		t.Errorf("then by %s, epoch %d", s.Node, s.Epoch)
	}
}

// tokens is a log of n deltas.
func tokens(n int) []messages.Event {
	log := logOf(messages.RunQueued{Job: "prompt"}, messages.RunStarted{})
	const token = "token "
	for i := range n {
		log = append(log, next(uint64(i+2), messages.TextDelta{Stream: "answer", Index: uint64(i), Offset: i * len(token), Text: token}))
	}
	return log
}
