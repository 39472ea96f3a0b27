package messages_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	. "github.com/seed889630bf/lastword/messages"
)

// judge is a second reading of the contract, apart from State: it says which rule the next event of a log breaks, if
// any. It forgets what it does not need for that, and it is mutable, plain and slow.
type judge struct {
	run       RunID
	seq, wall uint64 // the last number, and the last milestone's
	phase     string // "", pending, processing, ended
	canceling bool
	after     bool // it waits for a run before it
	held      bool
	task      map[string]string // running, waiting, completed, failed
	attempt   map[string]int
	said      map[string]*said
	known     map[string]bool   // tasks with progress
	open      map[string]string // "call t1" -> tool or model, "ask q1", "child r.c1", "step s"
	used      map[string]bool   // the same keys, for ever
	by        map[string]string // the same keys: the task that began it
	asked     map[string]*asked // by request
	kept      map[string]string // "task/step" -> begun, ended
	waiting   []string          // messages without an end, in their order
	told      map[string]string // message -> open, delivered, dropped
	line      uint64            // the last log line
	recovered int               // how often
}

type asked struct {
	kind, task string
	attempt    int
	open       bool
}

type said struct {
	media           string
	task            string
	thought, closed bool
	text            string // what was dropped is in it as zeros
	gone            int    // bytes that were dropped
	deltas          uint64
}

func newJudge() *judge {
	return &judge{task: map[string]string{}, attempt: map[string]int{}, said: map[string]*said{}, known: map[string]bool{},
		open: map[string]string{}, used: map[string]bool{}, by: map[string]string{}, asked: map[string]*asked{},
		kept: map[string]string{}, told: map[string]string{}}
}

// sentence returns the index of the first illegal event and the rule it breaks, or len(log).
func sentence(log []Event) (int, Rule) {
	j := newJudge()
	for i, e := range log {
		if rule := j.take(e); rule != "" {
			return i, rule
		}
	}
	return len(log), ""
}

var deltaKinds = []Kind{"text.delta", "thought.delta", "progress", "tool.progress", "log", "merged"}

// take judges the event and, when it is legal, remembers it. After an illegal one the judge is spoiled.
func (j *judge) take(e Event) Rule {
	if rule := j.numbers(e); rule != "" {
		return rule
	}
	kind := e.Kind()
	if rule := j.order(kind); rule != "" {
		return rule
	}
	if rule := j.say(e.Body, e.From == j.seq+1, e.Seq-e.From+1); rule != "" {
		return rule
	}
	j.run, j.seq = e.RunID, e.Seq
	if !slices.Contains(deltaKinds, kind) {
		j.wall = e.Seq
	}
	return ""
}

func (j *judge) numbers(e Event) Rule {
	if j.phase == "ended" {
		return RuleEnded
	}
	if e.Body == nil {
		return RuleBody
	}
	if u, ok := e.Body.(Unknown); ok && (u.Type == "" || u.Type.Known()) {
		return RuleBody
	}
	if e.RunID == "" || j.run != "" && e.RunID != j.run {
		return RuleRun
	}
	if e.From < 1 || e.From > e.Seq || e.From > j.seq+1 || e.Seq < j.seq+1 {
		return RuleOrder
	}
	span, delta := e.Seq-e.From, slices.Contains(deltaKinds, e.Kind())
	if delta && span > 0 && e.From <= j.wall || !delta && span != 0 && (!carriesRewind(e.Body) || e.From <= j.wall) {
		return RuleSpan
	}
	if carriesRewind(e.Body) && span != 1_000_000 {
		return RuleSpan
	}
	return ""
}

func carriesRewind(b Body) bool {
	switch b := b.(type) {
	case RunRecovered:
		return b.Rewind != nil
	case RunFailed:
		return b.Rewind != nil
	case RunCanceled:
		return b.Rewind != nil
	}
	return false
}

func (j *judge) order(k Kind) Rule {
	if (k == "run.queued") != (j.seq == 0) {
		return RuleOpening
	}
	early := []Kind{"run.held", "run.released", "run.moved", "run.started", "run.recovered", "run.canceling", "run.failed", "run.canceled"}
	if j.phase == "pending" && k.Known() && !slices.Contains(early, k) {
		return RuleOpening
	}
	late := []Kind{"run.held", "run.released", "run.moved", "run.started", "run.canceling", "task.started", "task.restarted", "step.started", "child.started", "run.completed", "run.failed",
		"message.queued", "message.delivered"}
	if j.canceling && slices.Contains(late, k) || !j.canceling && k == "run.canceled" {
		return RuleCancel
	}
	return ""
}

func (j *judge) say(b Body, fresh bool, numbers uint64) Rule {
	switch b := b.(type) {
	case RunQueued:
		j.phase, j.after = "pending", b.After != ""
		return when(b.Job == "", RuleBody)
	case RunStarted:
		bad := j.phase != "pending"
		j.phase, j.after, j.held = "processing", false, false
		return when(bad, RuleOpening)
	case RunHeld:
		bad := !j.after || j.held
		j.held = true
		return when(bad, RuleOpening)
	case RunReleased:
		bad := !j.held
		j.after, j.held = false, false
		return when(bad, RuleOpening)
	case RunMoved:
		bad := !j.after || b.After == ""
		j.held = false
		return when(bad, RuleOpening)
	case RunCanceling:
		j.canceling = true
	case RunRecovered:
		for task, status := range j.task {
			if status == "running" || status == "completed" && b.Restart {
				j.task[task] = "waiting"
			}
		}
		j.recovered++
		return j.rewind(b.Rewind)
	case RunCompleted:
		busy := b.By != "run"
		for _, status := range j.task {
			busy = busy || status == "running" || status == "waiting"
		}
		if busy {
			return RuleTerminal
		}
		if j.hasChildren() {
			return RuleChild
		}
		if len(j.waiting) > 0 {
			return RuleMessage
		}
		j.phase = "ended"
	case RunFailed:
		return j.end(b.By, b.Rewind, b.Error == nil || !slices.Contains(Causes(), b.Cause), nil)
	case RunCanceled:
		return j.end(b.By, b.Rewind, !slices.Contains(Causes(), b.Cause), b.Artifacts)
	case TaskStarted:
		return j.step(b.Task, b.Attempt, 1, "", "running")
	case TaskRestarted:
		if rule := j.step(b.Task, b.Attempt, 1, "waiting", "running"); rule != "" {
			return rule
		}
		delete(j.known, b.Task)
		for _, s := range j.said {
			if s.task == b.Task {
				*s = said{task: s.task, thought: s.thought}
			}
		}
	case TaskCompleted:
		return j.step(b.Task, b.Attempt, 0, "running", "completed")
	case TaskFailed:
		if b.Error == nil || !slices.Contains(Causes(), b.Cause) {
			return RuleBody
		}
		return j.step(b.Task, b.Attempt, 0, "running", map[bool]string{true: "waiting", false: "failed"}[b.WillRetry])
	default:
		return j.content(b, fresh, numbers)
	}
	return ""
}

func (j *judge) hasChildren() bool {
	for key := range j.open {
		if strings.HasPrefix(key, "child ") {
			return true
		}
	}
	return false
}

func (j *judge) content(b Body, fresh bool, numbers uint64) Rule {
	switch b := b.(type) {
	case TextDelta:
		return j.delta(b, false, fresh, numbers)
	case ThoughtDelta:
		return j.delta(TextDelta(b), true, fresh, numbers)
	case TextDone:
		return j.done(b.Stream, b.Task, b.Text, b.SHA256, false)
	case TextClosed:
		return j.close(b)
	case ThoughtDone:
		return j.done(b.Stream, b.Task, b.Text, b.SHA256, true)
	case Progress:
		j.known[b.Task] = true
		return j.speaks(b.Task)
	case Log:
		return j.log(b.Lines, fresh)
	case Merged:
		if len(b.Parts) < 2 {
			return RuleMerged
		}
		seen := map[string]bool{}
		for _, part := range b.Parts {
			key := partKey(part)
			if key == "" || seen[key] {
				return RuleMerged
			}
			seen[key] = true
			if rule := j.content(part, fresh, numbers); rule != "" {
				return rule
			}
		}
		return ""
	case LLMStarted:
		return j.begin("call "+b.Call, "model", b.Task, true, RuleCall)
	case LLMCompleted:
		rule := j.hangUp(b.Call, "model", b.Task)
		for _, name := range b.Seen {
			if rule == "" && j.told[name] != "delivered" {
				rule = RuleMessage
			}
		}
		return rule
	case ToolStarted:
		return j.begin("call "+b.Call, "tool", b.Task, true, RuleCall)
	case ToolProgress:
		return when(j.open["call "+b.Call] != "tool", RuleCall)
	case ToolCompleted:
		return j.hangUp(b.Call, "tool", b.Task)
	case ArtifactPartial:
		return when(b.Name == "" || b.Bytes < 0 || !b.Partial, RuleArtifact)
	case ArtifactWritten:
		return when(b.Name == "" || b.Bytes < 0, RuleArtifact)
	case InputRequired:
		return j.ask(b)
	case InputReceived:
		q := j.asked[b.Request]
		if q == nil || !q.open || q.kind == "secret" && string(b.Value) != "" && string(b.Value) != "null" {
			return RuleInput
		}
		q.open = false
		return ""
	case MessageQueued:
		size := len(strings.TrimSpace(b.Content))
		if b.Message == "" || len(b.Message) > 128 || b.Mode != "steer" && b.Mode != "interrupt" || size == 0 || len(b.Content) > 32768 {
			return RuleBody
		}
		if j.told[b.Message] != "" || len(j.waiting) == 16 {
			return RuleMessage
		}
		j.told[b.Message], j.waiting = "open", append(j.waiting, b.Message)
		return ""
	case MessageDelivered:
		if b.At == "" || len(j.waiting) == 0 || j.waiting[0] != b.Message {
			return RuleMessage
		}
		j.told[b.Message], j.waiting = "delivered", j.waiting[1:]
		return j.speaks(b.Task)
	case MessageDropped:
		at := slices.Index(j.waiting, b.Message)
		if at < 0 {
			return RuleMessage
		}
		j.told[b.Message], j.waiting = "dropped", slices.Delete(j.waiting, at, at+1)
		return when(b.Reason != "revoked" && b.Reason != "run_ended" && b.Reason != "canceled", RuleBody)
	case ChildStarted:
		if !strings.HasPrefix(string(b.Child), string(j.run)+".c") {
			return RuleChild
		}
		return j.begin("child "+string(b.Child), "child", "", true, RuleChild)
	case ChildEnded:
		if b.Status != "completed" && b.Status != "failed" && b.Status != "canceled" {
			return RuleChild
		}
		return j.finish("child "+string(b.Child), "child", RuleChild)
	case StepStarted:
		return j.begin("step "+b.Step, "step", b.Task, false, RuleStep)
	case StepEnded:
		if b.Outcome == "skipped" {
			rule := j.begin("step "+b.Step, "step", b.Task, true, RuleStep)
			if rule == "" {
				delete(j.open, "step "+b.Step)
			}
			return rule
		}
		return j.finish("step "+b.Step, "step", RuleStep)
	case StepKept:
		return j.keep(b)
	case UsageReported:
		if b.By == "" || b.ModelCalls < 0 || b.ToolCalls < 0 {
			return RuleBody
		}
		return j.speaks(b.Task)
	case BudgetWarning:
		return when(!slices.Contains([]string{"tokens", "input", "output", "model_calls", "tool_calls", "cost", "time"}, b.Unit), RuleBody)
	case BudgetGranted:
		return when(b.Child != "" && j.open["child "+string(b.Child)] == "", RuleChild)
	case Notice:
		if b.Code == "" || b.Text == "" || len(b.Text) > LogLineBytes {
			return RuleBody
		}
		return j.speaks(b.Task)
	case FaultInjected, Unknown:
		return ""
	}
	return RuleBody
}

// keep: a step begins or ends; it ends permanently unless its error is retryable.
func (j *judge) keep(b StepKept) Rule {
	key, becomes := b.Task+"/"+b.Step, "ended"
	switch {
	case b.Begun:
		becomes = "begun"
	case b.Error != nil && b.Error.Retryable:
		becomes = ""
	}
	if was := j.kept[key]; b.Step == "" || b.Task == "" || was == "ended" || was == "begun" && b.Begun {
		return RuleStep
	}
	said := 0
	for _, is := range []bool{b.Begun, b.Result != nil, b.Error != nil} {
		if is {
			said++
		}
	}
	if said != 1 || b.Again && !b.Begun {
		return RuleBody
	}
	if b.Begun && j.canceling {
		return RuleCancel
	}
	j.kept[key] = becomes
	return j.speaks(b.Task)
}

func when(broken bool, rule Rule) Rule {
	if broken {
		return rule
	}
	return ""
}

func partKey(b Body) string {
	switch b := b.(type) {
	case TextDelta:
		return "text " + b.Stream
	case ThoughtDelta:
		return "text " + b.Stream
	case Progress:
		return "progress " + b.Task
	case ToolProgress:
		return "call " + b.Call
	case Log:
		return "log"
	}
	return ""
}

func (j *judge) step(task string, attempt, ahead int, from, to string) Rule {
	if task == "" || j.task[task] != from || attempt != j.attempt[task]+ahead {
		return RuleTask
	}
	j.task[task], j.attempt[task] = to, attempt
	return ""
}

func (j *judge) speaks(task string) Rule {
	return when(task != "" && j.task[task] != "running", RuleTask)
}

func (j *judge) begin(key, what, task string, once bool, rule Rule) Rule {
	if strings.HasSuffix(key, " ") || j.open[key] != "" || once && j.used[key] {
		return rule
	}
	j.open[key], j.used[key], j.by[key] = what, true, task
	return j.speaks(task)
}

func (j *judge) hangUp(call, what, task string) Rule {
	if j.by["call "+call] != task {
		return RuleCall
	}
	return j.finish("call "+call, what, RuleCall)
}

// ask holds that a name is asked once; a secret again, by the same task, when the one it got is gone with its attempt.
func (j *judge) ask(b InputRequired) Rule {
	now := &asked{kind: string(b.InputKind), task: b.Task, attempt: j.attempt[b.Task], open: true}
	if b.Task == "" {
		now.attempt = j.recovered
	}
	if before := j.asked[b.Request]; before != nil {
		secret := before.kind == "secret" && now.kind == "secret" && before.task == now.task
		if !secret || before.open && before.attempt == now.attempt {
			return RuleInput
		}
	}
	j.asked[b.Request] = now
	kinds := []string{"", "clarification", "selection", "data", "confirmation", "review", "secret"}
	switch {
	case b.Request == "":
		return RuleInput
	case !slices.Contains(kinds, now.kind) || b.TimeoutMS < 0:
		return RuleBody
	}
	return j.speaks(b.Task)
}

func (j *judge) finish(key, what string, rule Rule) Rule {
	if j.open[key] != what {
		return rule
	}
	delete(j.open, key)
	return ""
}

func (j *judge) speaker(stream, task, text string, thought bool) (*said, Rule) {
	s := j.said[stream]
	if s == nil {
		s = &said{task: task, thought: thought}
	}
	switch {
	case stream == "" || s.task != task || s.thought != thought:
		return s, RuleStream
	case j.speaks(task) != "":
		return s, RuleTask
	case !utf8.ValidString(text):
		return s, RuleBody
	case s.closed:
		return s, RuleStream
	}
	j.said[stream] = s
	return s, ""
}

func (j *judge) delta(d TextDelta, thought, fresh bool, numbers uint64) Rule {
	s, rule := j.speaker(d.Stream, d.Task, d.Text, thought)
	if rule != "" {
		return rule
	}
	if d.MediaType != "" && s.deltas > 0 && d.MediaType != s.media {
		return RuleStream
	}
	s.media = cmp.Or(d.MediaType, s.media)
	count := max(d.Count, 1)
	begin, end := d.Offset+d.Dropped, d.Offset+d.Dropped+len(d.Text)
	if d.Offset < 0 || d.Dropped < 0 || thought && d.Dropped > 0 || d.Offset > len(s.text) || end < len(s.text) ||
		d.Index > s.deltas || d.Index+count < s.deltas || count > numbers || fresh && (d.Offset != len(s.text) || d.Index != s.deltas) {
		return RuleStream
	}
	for i := max(begin, s.gone); i < len(s.text); i++ {
		if s.text[i] != d.Text[i-begin] {
			return RuleStream
		}
	}
	if begin > len(s.text) {
		s.gone, s.text = begin, strings.Repeat("\x00", begin)
	}
	s.text, s.deltas = s.text[:begin]+d.Text, d.Index+count
	return ""
}

func (j *judge) close(b TextClosed) Rule {
	s := j.said[b.Stream]
	if s == nil || s.thought || s.task != b.Task || s.closed && !b.Dropped || b.Bytes != len(s.text) {
		return RuleStream
	}
	sum := sha256.Sum256([]byte(s.text))
	if s.gone == 0 && b.SHA256 != hex.EncodeToString(sum[:]) || !regexp.MustCompile("^[0-9a-f]{64}$").MatchString(b.SHA256) {
		return RuleDigest
	}
	if rule := j.speaks(b.Task); rule != "" {
		return rule
	}
	if s.closed = true; b.Dropped {
		s.gone = len(s.text)
	}
	return ""
}

func (j *judge) done(stream, task, text, digest string, thought bool) Rule {
	s, rule := j.speaker(stream, task, text, thought)
	if rule != "" {
		return rule
	}
	sum := sha256.Sum256([]byte(text))
	s.text, s.gone, s.closed = text, 0, true
	return when(digest != hex.EncodeToString(sum[:]), RuleDigest)
}

func badLines(lines []LogLine) bool {
	for i, line := range lines {
		if line.Number != lines[0].Number+uint64(i) || line.Number == 0 || len(line.Text) > 1024 {
			return true
		}
	}
	return len(lines) > 64
}

func (j *judge) log(lines []LogLine, fresh bool) Rule {
	if len(lines) == 0 || badLines(lines) {
		return RuleLog
	}
	first, last := lines[0].Number, lines[len(lines)-1].Number
	gap := first > j.line+1 && len(lines) < 64
	if gap || fresh && first <= j.line || last < j.line {
		return RuleLog
	}
	j.line = last
	return ""
}

func (j *judge) end(by Author, r *Rewind, empty bool, artifacts []Artifact) Rule {
	if empty {
		return RuleTerminal
	}
	for _, a := range artifacts {
		if !a.Partial {
			return RuleArtifact
		}
	}
	if by != "run" && by != "supervisor" && by != "recovery" && by != "node" {
		return RuleTerminal
	}
	if r != nil && by != "recovery" || by == "recovery" && r == nil && j.recovered == 0 {
		return RuleRewind
	}
	if j.hasChildren() {
		return RuleChild
	}
	if len(j.waiting) > 0 {
		return RuleMessage
	}
	j.phase = "ended"
	if r != nil {
		return j.rewind(r)
	}
	return ""
}

func (j *judge) rewind(r *Rewind) Rule {
	if r == nil || badLines(r.Log) {
		return RuleRewind
	}
	held := map[string]bool{}
	for _, m := range r.Streams {
		s := j.said[m.Stream]
		if s == nil || s.closed || held[m.Stream] || m.Bytes < 0 || m.Bytes > len(s.text) || m.Index > s.deltas {
			return RuleRewind
		}
		held[m.Stream] = true
		s.text, s.deltas = s.text[:m.Bytes], m.Index
	}
	for name, s := range j.said {
		if !s.closed && !held[name] {
			delete(j.said, name)
		}
	}
	known := map[string]bool{}
	for _, p := range r.Progress {
		if !j.known[p.Task] || known[p.Task] {
			return RuleRewind
		}
		known[p.Task] = true
	}
	for _, p := range r.Tools {
		if j.open["call "+p.Call] != "tool" {
			return RuleRewind
		}
	}
	last := uint64(0)
	if n := len(r.Log); n > 0 {
		last = r.Log[n-1].Number
	}
	if last > j.line {
		return RuleRewind
	}
	j.known, j.line = known, last
	return ""
}
