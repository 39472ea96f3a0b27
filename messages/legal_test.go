package messages_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/messages"
)

// story is a legal log, and what readers saw beyond the journal before its crashes.
type story struct {
	log   []messages.Event
	lost  []lost
	state messages.State
}

// lost are deltas that followed log[at-1] live and that log[at], recovery's event, takes back.
type lost struct {
	at     int
	deltas []messages.Event
}

// legal draws a story of up to some 60 events, most of them with an end.
func legal(t *rapid.T) story {
	w := &teller{t: t, judge: newJudge()}
	first := messages.RunQueued{Job: "generate", Input: json.RawMessage(`{"q":"<a>"}`), Mode: messages.Detached}
	if rapid.IntRange(0, 3).Draw(t, "after") == 0 {
		first.After = "r_before"
	}
	w.say(first)
	for range rapid.IntRange(0, 60).Draw(t, "length") {
		if w.judge.phase == "ended" {
			break
		}
		w.act()
	}
	if w.judge.phase != "ended" && rapid.IntRange(0, 4).Draw(t, "end") > 0 {
		w.end()
	}
	w.state = fold(t, messages.State{}, w.log...)
	return w.story
}

// The properties are worth what the stories are: all kinds occur in them, restarts, cancels and crashes too.
func TestStoriesTellEveryKind(t *testing.T) {
	stories := rapid.Custom(legal)
	seen := map[messages.Kind]int{}
	taken := 0
	for seed := range 150 {
		s := stories.Example(seed)
		for _, e := range s.log {
			seen[e.Kind()]++
		}
		for _, l := range s.lost {
			taken += len(l.deltas)
		}
		for _, d := range stretches(s.log) {
			seen[messages.Merge(d).Kind()]++
		}
	}
	for _, k := range messages.Kinds() {
		if seen[k.Kind] == 0 {
			t.Errorf("no story tells %s", k.Kind)
		}
	}
	if taken == 0 || seen["moon.rose"] == 0 {
		t.Errorf("%d deltas lost in crashes, %d unknown events", taken, seen["moon.rose"])
	}
}

// teller tells a story one legal event after another; what is legal it asks the judge.
type teller struct {
	story
	t     *rapid.T
	judge *judge
	n     int // names handed out
}

func (w *teller) say(bodies ...messages.Body) {
	for _, b := range bodies {
		e := next(w.judge.seq, b)
		if rapid.IntRange(0, 9).Draw(w.t, "message") == 0 {
			e.Message = fmt.Sprint("event ", e.Seq)
		}
		w.log = append(w.log, e)
		if rule := w.judge.take(e); rule != "" {
			w.t.Fatalf("the teller logOf an illegal %s: %s", asJSON(w.t, e), rule)
		}
	}
}

func (w *teller) name(prefix string) string {
	w.n++
	return fmt.Sprint(prefix, w.n)
}

func (w *teller) pick(list ...string) string { return rapid.SampledFrom(list).Draw(w.t, "pick") }

func (w *teller) piece() string { return w.pick("Hel", "lo, ", "wörld", "<b>", "…", "", "a\nb") }

// act does one thing that is possible now.
func (w *teller) act() {
	j := w.judge
	if j.phase == "pending" {
		can := []func(){w.recover, w.unknown}
		hold := func() { w.say(messages.RunHeld{After: "r_before"}) }
		if j.held {
			hold = func() { w.say(messages.RunReleased{By: "ada"}) }
		}
		if !j.canceling && j.after {
			can = append(can, hold, hold, hold, hold, hold, hold, func() { w.say(messages.RunMoved{After: "r_before"}) })
		}
		if !j.canceling {
			can = append(can, w.start, w.start, w.start, w.start, w.cancel)
		}
		w.one(can)
		return
	}
	can := []func(){w.log1, w.log1, w.speak, w.speak, w.speak, w.progress, w.artifact, w.unknown, w.fault, w.notice, w.spend, w.recover, w.call, w.ask}
	for _, key := range slices.Sorted(maps.Keys(j.open)) {
		can = append(can, w.follow(key))
	}
	for _, request := range slices.Sorted(maps.Keys(j.asked)) {
		if q := j.asked[request]; q.open {
			can = append(can, w.answer(request, q))
		}
	}
	if len(j.waiting) > 0 {
		can = append(can, w.hear)
	}
	for _, task := range slices.Sorted(maps.Keys(j.task)) {
		if j.task[task] == "running" {
			can = append(can, w.leave(task), w.keep(task))
		}
		if j.task[task] == "waiting" && !j.canceling {
			can = append(can, func() { w.say(messages.TaskRestarted{Task: task, Attempt: j.attempt[task] + 1}) })
		}
	}
	for _, stream := range slices.Sorted(maps.Keys(j.said)) {
		if s := j.said[stream]; !s.closed && w.speaks(s.task) {
			can = append(can, w.done(stream, s))
		}
		if s := j.said[stream]; !s.thought && s.gone == 0 && w.speaks(s.task) {
			can = append(can, w.close(stream, s))
		}
	}
	if !j.canceling {
		can = append(can, w.message, w.task, w.task, w.child, w.stepOf)
		if rapid.IntRange(0, 9).Draw(w.t, "cancel") == 0 {
			can = append(can, w.cancel)
		}
	}
	w.one(can)
}

func (w *teller) one(can []func()) { rapid.SampledFrom(can).Draw(w.t, "act")() }

func (w *teller) speaks(task string) bool { return task == "" || w.judge.task[task] == "running" }

// speaker draws the run itself or a running task.
func (w *teller) speaker() string {
	list := []string{""}
	for _, task := range slices.Sorted(maps.Keys(w.judge.task)) {
		if w.judge.task[task] == "running" {
			list = append(list, task, task)
		}
	}
	return w.pick(list...)
}

func (w *teller) start()  { w.say(messages.RunStarted{Node: "n1", Epoch: 1}) }
func (w *teller) cancel() { w.say(messages.RunCanceling{By: "ada"}) }
func (w *teller) fault()  { w.say(messages.FaultInjected{Fault: "panic"}) }
func (w *teller) notice() {
	w.say(messages.Notice{Code: messages.NoticeHistoryCut, Text: w.pick("x", "y")})
}
func (w *teller) task() { w.say(messages.TaskStarted{Task: w.name("task"), Attempt: 1}) }
func (w *teller) child() {
	w.say(messages.ChildStarted{Child: runID + messages.RunID(w.name(".c")), Job: "prompt"})
}

func (w *teller) unknown() {
	w.say(messages.Unknown{Type: "moon.rose", Payload: json.RawMessage(`{"phase":"full"}`)})
}

func (w *teller) log1() {
	count := rapid.SampledFrom([]int{1, 1, 2, 3, 40, 64}).Draw(w.t, "lines")
	texts := make([]string, count)
	for i := range texts {
		texts[i] = fmt.Sprint("line ", i)
	}
	l := lines(w.judge.line+1, texts...)
	if w.judge.line > 0 && count == 64 && rapid.Bool().Draw(w.t, "drop") {
		l = lines(w.judge.line+8, texts...)
	}
	w.say(l)
}

// speak says a few deltas on streams of one speaker.
func (w *teller) speak() {
	task := w.speaker()
	for range rapid.IntRange(1, 6).Draw(w.t, "deltas") {
		name := w.pick("text", "mind", "other") + "." + task
		d := messages.TextDelta{Stream: name, Task: task, Text: w.piece()}
		if s := w.judge.said[name]; s != nil {
			if s.closed {
				continue
			}
			d.Index, d.Offset = s.deltas, len(s.text)
		}
		if strings.HasPrefix(name, "mind") {
			w.say(messages.ThoughtDelta(d))
		} else {
			w.say(d)
		}
	}
}

func (w *teller) close(stream string, s *said) func() {
	return func() {
		dropped := s.closed || rapid.Bool().Draw(w.t, "dropped")
		w.say(messages.TextClosed{Stream: stream, Task: s.task, Bytes: len(s.text), SHA256: messages.Digest(s.text), Dropped: dropped})
	}
}

func (w *teller) done(stream string, s *said) func() {
	return func() {
		text := s.text
		if rapid.IntRange(0, 3).Draw(w.t, "edit") == 0 {
			text = w.piece() + text
		}
		done := textDone(stream, s.task, text)
		if s.thought {
			w.say(messages.ThoughtDone{Stream: stream, Task: s.task, Text: text, SHA256: done.SHA256, Confidence: new(0.5)})
		} else {
			w.say(done)
		}
	}
}

func (w *teller) progress() {
	w.say(messages.Progress{Task: w.speaker(), Done: rapid.Int64Range(0, 99).Draw(w.t, "done"), Unit: "files"})
}

func (w *teller) artifact() {
	task := w.speaker()
	a := messages.Artifact{Name: w.pick("llms.txt", "llms-full.txt", "a.txt", "b.txt"), Bytes: 7, SHA256: messages.Digest("a"), Partial: rapid.Bool().Draw(w.t, "partial")}
	if a.Partial && rapid.Bool().Draw(w.t, "first part") {
		w.say(messages.ArtifactPartial{Artifact: a, Task: task})
	} else {
		w.say(messages.ArtifactWritten{Artifact: a, Task: task})
	}
}

func (w *teller) call() {
	if rapid.Bool().Draw(w.t, "model") {
		w.say(messages.LLMStarted{Call: w.name("m"), Task: w.speaker(), Model: "qwen3-8b", Reserved: messages.Budget{Tokens: 70}})
	} else {
		w.say(messages.ToolStarted{Call: w.name("t"), Task: w.speaker(), Tool: "read_file"})
	}
}

// ask asks something new, or for a secret that another attempt got.
func (w *teller) ask() {
	b := messages.InputRequired{Request: w.name("q"), Task: w.speaker(), Prompt: "Which?"}
	b.InputKind = messages.InputKind(w.pick("", "clarification", "selection", "data", "confirmation", "review", "secret", "secret"))
	for _, name := range slices.Sorted(maps.Keys(w.judge.asked)) {
		q := w.judge.asked[name]
		mayAsk := w.speaks(q.task) && (!q.open || q.attempt < w.attempt(q.task))
		if q.kind == "secret" && mayAsk && rapid.Bool().Draw(w.t, "again") {
			b.Request, b.Task, b.InputKind = name, q.task, "secret"
		}
	}
	w.say(b)
}

func (w *teller) attempt(task string) int {
	if task == "" {
		return w.judge.recovered
	}
	return w.judge.attempt[task]
}

func (w *teller) answer(request string, q *asked) func() {
	return func() {
		b := messages.InputReceived{Request: request, ID: w.name("c"), Value: json.RawMessage(`"main"`)}
		if q.kind == "secret" {
			b.Value = nil
		}
		w.say(b)
	}
}

// spend says something about a budget.
func (w *teller) spend() {
	b := messages.BudgetGranted{Grant: messages.Budget{Tokens: 100}}
	for _, key := range slices.Sorted(maps.Keys(w.judge.open)) {
		if id, child := strings.CutPrefix(key, "child "); child {
			b.Child = messages.RunID(id)
		}
	}
	usage := messages.Usage{CompletionTokens: new(int64(9)), Cost: &messages.Cost{Amount: 0.5}, Estimated: rapid.Bool().Draw(w.t, "estimated")}
	w.say([]messages.Body{b, messages.BudgetGranted{Grant: b.Grant}, messages.UsageReported{By: "agent", Task: w.speaker(), Usage: usage},
		messages.BudgetWarning{Unit: w.pick("tokens", "cost"), Used: 8, Limit: 10}}[rapid.IntRange(0, 3).Draw(w.t, "spent")])
}

// message says something to the run, and hear gives such a message its end.
func (w *teller) message() {
	if len(w.judge.waiting) < messages.MostMessages {
		mode := messages.SayMode(w.pick("steer", "interrupt"))
		w.say(messages.MessageQueued{Said: messages.Said{Message: w.name("s"), Mode: mode, Content: w.piece() + "!"}})
	}
}

func (w *teller) hear() {
	if j := w.judge; !j.canceling && rapid.Bool().Draw(w.t, "delivered") {
		w.say(messages.MessageDelivered{Message: j.waiting[0], Task: w.speaker(), At: "answer.1"})
	} else {
		w.say(messages.MessageDropped{Message: w.pick(j.waiting...), Reason: messages.DropEnded})
	}
}

// keep begins or ends a step of the task.
func (w *teller) keep(task string) func() {
	return func() {
		b := messages.StepKept{Step: w.pick("charge", "ship"), Task: task}
		was := w.judge.kept[task+"/"+b.Step]
		if was == "ended" {
			b.Step, was = w.name("s"), ""
		}
		switch w.pick("begin", "result", "error") {
		case "begin":
			b.Begun = was == "" && !w.judge.canceling
			b.Again = b.Begun && rapid.Bool().Draw(w.t, "again")
		case "error":
			b.Error = &messages.Error{Code: "error", Message: "it broke", Retryable: rapid.Bool().Draw(w.t, "retryable")}
		}
		if !b.Begun && b.Error == nil {
			b.Result = json.RawMessage(`{"receipt":7}`)
		}
		w.say(b)
	}
}

func (w *teller) stepOf() {
	if name := w.pick("left", "out"); !w.judge.used["step "+name] && rapid.Bool().Draw(w.t, "skipped") {
		w.say(messages.StepEnded{Step: name, Task: w.speaker(), Outcome: messages.StepSkipped})
		return
	}
	if name := w.pick("outline", "draft"); w.judge.open["step "+name] == "" {
		w.say(messages.StepStarted{Step: name, Task: w.speaker()})
	}
}

// follow is what may come after the opening of what key names.
func (w *teller) follow(key string) func() {
	what, id, _ := strings.Cut(key, " ")
	return func() {
		switch {
		case what == "child":
			w.say(messages.ChildEnded{Child: messages.RunID(id), Status: messages.Completed})
		case what == "step":
			w.say(messages.StepEnded{Step: id, Outcome: "ok"})
		case w.judge.open[key] == "model":
			done := messages.LLMCompleted{Call: id, Task: w.judge.by[key], Model: "qwen3-8b", Evidence: "done-marker", Verdict: "completed"}
			for name, is := range w.judge.told {
				if is == "delivered" {
					done.Seen = append(done.Seen, name)
				}
			}
			slices.Sort(done.Seen)
			w.say(done)
		case rapid.IntRange(0, 2).Draw(w.t, "more") > 0:
			w.say(messages.ToolProgress{Call: id, Done: rapid.Int64Range(0, 9).Draw(w.t, "done")})
		default:
			w.say(messages.ToolCompleted{Call: id, Task: w.judge.by[key], Result: json.RawMessage(`{}`)})
		}
	}
}

func (w *teller) leave(task string) func() {
	return func() {
		attempt := w.judge.attempt[task]
		if rapid.Bool().Draw(w.t, "well") {
			w.say(messages.TaskCompleted{Task: task, Attempt: attempt})
			return
		}
		w.say(messages.TaskFailed{Task: task, Attempt: attempt, Cause: messages.CausePanic, Error: messages.Errorf("panic", "nil map"),
			WillRetry: rapid.IntRange(0, 2).Draw(w.t, "retry") > 0})
	}
}

// crash cuts the log anywhere after its last milestone, and returns the state of what the journal holds.
func (w *teller) crash() messages.State {
	wall := len(w.log)
	for wall > 0 && slices.Contains(deltaKinds, w.log[wall-1].Kind()) {
		wall--
	}
	at := rapid.IntRange(wall, len(w.log)).Draw(w.t, "durable")
	w.lost = append(w.lost, lost{at: at, deltas: slices.Clone(w.log[at:])})
	w.log = w.log[:at]
	w.judge = newJudge()
	for _, e := range w.log {
		w.judge.take(e)
	}
	return fold(w.t, messages.State{}, w.log...)
}

func (w *teller) recover() {
	_, _, rewind := w.crash().Recovery()
	w.say(messages.RunRecovered{Node: "n2", Epoch: uint64(w.judge.recovered + 2), Rewind: rewind,
		Restart: rapid.Bool().Draw(w.t, "restart")})
}

// end says the last word: the run's own, or recovery's.
func (w *teller) end() {
	j := w.judge
	if rapid.IntRange(0, 3).Draw(w.t, "crash") == 0 {
		w.endByRecovery()
		return
	}
	w.endChildren()
	if w.judge.phase == "processing" && !j.canceling && rapid.IntRange(0, 3).Draw(w.t, "well") > 0 {
		for _, task := range slices.Sorted(maps.Keys(j.task)) {
			if j.task[task] == "waiting" {
				w.say(messages.TaskRestarted{Task: task, Attempt: j.attempt[task] + 1})
			}
			if j.task[task] == "running" {
				w.say(messages.TaskCompleted{Task: task, Attempt: j.attempt[task]})
			}
		}
		s := fold(w.t, messages.State{}, w.log...)
		w.say(s.Terminal(messages.RunCompleted{By: messages.ByRun, Result: json.RawMessage(`{"n":1}`)}))
		return
	}
	s := fold(w.t, messages.State{}, w.log...)
	w.say(s.Terminal(messages.RunFailed{By: messages.BySupervisor, Cause: messages.CauseStalled, Error: messages.Errorf("stalled", "nothing happened")}))
}

// endByRecovery ends the run in one event where no child goes on, else in several. The first one rewinds.
func (w *teller) endByRecovery() {
	s := w.crash()
	_, _, rewind := s.Recovery()
	if w.judge.hasChildren() || len(w.judge.waiting) > 0 || rapid.Bool().Draw(w.t, "in two") {
		w.say(messages.RunRecovered{Node: "n2", Rewind: rewind})
		w.endChildren()
		rewind = nil
	}
	w.say(s.Terminal(messages.RunFailed{By: messages.ByRecovery, Cause: messages.CauseNodeLost,
		Error: messages.Errorf("node_lost", "the node died"), Rewind: rewind}))
}

func (w *teller) endChildren() {
	for _, key := range slices.Sorted(maps.Keys(w.judge.open)) {
		if strings.HasPrefix(key, "child ") {
			w.follow(key)()
		}
	}
	for len(w.judge.waiting) > 0 {
		w.say(messages.MessageDropped{Message: w.judge.waiting[0], Reason: messages.DropEnded})
	}
}

// mergeSome replaces random stretches of the log's deltas by their merged events, and some of those once more.
func mergeSome(t *rapid.T, log []messages.Event) []messages.Event {
	for range 2 {
		var out []messages.Event
		for i := 0; i < len(log); {
			n := 1
			for i+n < len(log) && messages.CanMerge(log[i+n-1], log[i+n]) && rapid.IntRange(0, 3).Draw(t, "go on") > 0 {
				n++
			}
			out = append(out, messages.Merge(log[i:i+n]))
			i += n
		}
		log = out
	}
	return log
}
