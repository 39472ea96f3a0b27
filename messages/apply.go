package messages

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// broken is a rule with the reason; check functions return nil when all is well.
type broken struct {
	rule   Rule
	reason string
}

func breaks(rule Rule, format string, args ...any) *broken {
	return &broken{rule, fmt.Sprintf(format, args...)}
}

// Apply returns the State after the event, or the unchanged State and a [*Refusal]. It judges unfiltered logs; a reader
// applies every event it is given and skips those whose Seq is not past its State.
func (s State) Apply(e Event) (State, error) {
	next, bad := s.step(e)
	if bad != nil {
		return s, &Refusal{RunID: e.RunID, Seq: e.Seq, Kind: e.Kind(), Rule: bad.rule, Reason: bad.reason}
	}
	next.RunID, next.Seq, next.UpdatedAt = e.RunID, e.Seq, e.Time
	if !e.IsDelta() {
		next.milestone = e.Seq
	}
	return next, nil
}

func (s State) step(e Event) (State, *broken) {
	if bad := s.checkEnvelope(e); bad != nil {
		return s, bad
	}
	if bad := s.checkPhase(e); bad != nil {
		return s, bad
	}
	if e.IsDelta() {
		return s.delta(e.Body, e.From == s.Seq+1)
	}
	return s.milestoneStep(e)
}

// checkEnvelope holds the law of numbers.
func (s State) checkEnvelope(e Event) *broken {
	switch {
	case s.Status.IsEnded():
		return breaks(RuleEnded, "the run has ended as %s", s.Status)
	case e.Body == nil:
		return breaks(RuleBody, "the event has no body")
	case e.RunID == "" || s.RunID != "" && e.RunID != s.RunID:
		return breaks(RuleRun, "the event is of run %q, the log of %q", e.RunID, s.RunID)
	case e.From == 0 || e.From > e.Seq:
		return breaks(RuleOrder, "from %d is not between 1 and seq %d", e.From, e.Seq)
	case e.From > s.Seq+1 || e.Seq <= s.Seq:
		return breaks(RuleOrder, "%d..%d does not continue %d", e.From, e.Seq, s.Seq)
	case e.From == e.Seq:
		return nil
	case e.From <= s.milestone:
		return breaks(RuleSpan, "%d..%d reaches back over the milestone %d", e.From, e.Seq, s.milestone)
	case !e.IsDelta() && (rewindOf(e.Body) == nil || e.Seq-e.From != Reserve):
		return breaks(RuleSpan, "only a delta, or recovery by its reserve, stands for more than one number")
	}
	return nil
}

// checkPhase holds what may happen before the run has started, and while it is canceling.
func (s State) checkPhase(e Event) *broken {
	k := e.Kind()
	switch {
	case (k == KindRunQueued) != (s.Seq == 0):
		return breaks(RuleOpening, "run.queued opens the log and comes once")
	case s.Status == Pending && !allowedPending(k):
		return breaks(RuleOpening, "the run has not started")
	case s.Canceling && (begins(k) || k == KindRunCompleted || k == KindRunFailed):
		return breaks(RuleCancel, "a cancel has been accepted")
	case !s.Canceling && k == KindRunCanceled:
		return breaks(RuleCancel, "no cancel has been accepted")
	}
	return nil
}

func allowedPending(k Kind) bool {
	switch k {
	case KindRunStarted, KindRunRecovered, KindRunCanceling, KindRunFailed, KindRunCanceled:
		return true
	}
	return !k.Known()
}

func begins(k Kind) bool {
	switch k {
	case KindRunStarted, KindRunCanceling, KindTaskStarted, KindTaskRestarted, KindStepStarted, KindChildStarted:
		return true
	}
	return false
}

func (s State) milestoneStep(e Event) (State, *broken) {
	switch b := e.Body.(type) {
	case RunQueued, RunStarted, RunCanceling, RunRecovered, RunCompleted, RunFailed, RunCanceled:
		return s.run(e)
	case TaskStarted, TaskCompleted, TaskFailed, TaskRestarted:
		return s.task(b)
	case TextDone:
		return s.done(TextDelta{Stream: b.Stream, Task: b.Task, Text: b.Text}, false, b.SHA256)
	case ThoughtDone:
		return s.done(TextDelta{Stream: b.Stream, Task: b.Task, Text: b.Text}, true, b.SHA256)
	case LLMStarted:
		return s.callStarted(Call{ID: b.Call, Task: b.Task, Model: true, Name: b.Model})
	case LLMCompleted:
		return s.callEnded(b.Call, true)
	case ToolStarted:
		return s.callStarted(Call{ID: b.Call, Task: b.Task, Name: b.Tool})
	case ToolCompleted:
		return s.callEnded(b.Call, false)
	case ArtifactPartial:
		return s.artifact(b.Artifact, true)
	case ArtifactWritten:
		return s.artifact(b.Artifact, b.Partial)
	default:
		return s.other(e.Body)
	}
}

func (s State) other(body Body) (State, *broken) {
	switch b := body.(type) {
	case InputRequired:
		return s.inputRequired(b)
	case InputReceived:
		return s.inputReceived(b)
	case ChildStarted:
		return s.childStarted(b)
	case ChildEnded:
		return s.childEnded(b)
	case StepStarted:
		return s.stepStarted(b)
	case StepEnded:
		return s.stepEnded(b)
	}
	return s, nil // fault.injected, and kinds of a newer version: facts that change nothing
}

func (s State) run(e Event) (State, *broken) {
	switch b := e.Body.(type) {
	case RunQueued:
		s.Status, s.Queued, s.QueuedAt, s.Log.Next = Pending, &b, e.Time, 1
		if b.Job == "" {
			return s, breaks(RuleBody, "run.queued names no job")
		}
	case RunStarted:
		if s.Status != Pending {
			return s, breaks(RuleOpening, "the run has started already")
		}
		s.Status = Processing
	case RunCanceling:
		s.Canceling = true
	case RunRecovered:
		return s.rewind(b.Rewind)
	default:
		return s.end(e)
	}
	return s, nil
}

func (s State) end(e Event) (State, *broken) {
	end := End{At: e.Time}
	var artifacts []Artifact
	switch b := e.Body.(type) {
	case RunCompleted:
		s.Status, end.By, end.Result, end.Degraded, artifacts = Completed, b.By, b.Result, b.Degraded, b.Artifacts
		if bad := s.checkComplete(b.By); bad != nil {
			return s, bad
		}
	case RunFailed:
		s.Status, end.By, end.Cause, end.Task, end.Error, artifacts = Failed, b.By, b.Cause, b.Task, b.Error, b.Artifacts
		if b.Error == nil || !slices.Contains(Causes(), b.Cause) {
			return s, breaks(RuleTerminal, "run.failed needs an error and a cause of the closed set, not %q", b.Cause)
		}
	case RunCanceled:
		s.Status, end.By, end.Cause, artifacts = Canceled, b.By, b.Cause, b.Artifacts
		if slices.ContainsFunc(artifacts, func(a Artifact) bool { return !a.Partial }) {
			return s, breaks(RuleArtifact, "after a cancel artifacts are partial")
		}
	}
	rewind := rewindOf(e.Body)
	if !slices.Contains([]Author{ByRun, BySupervisor, ByRecovery, ByNode}, end.By) {
		return s, breaks(RuleTerminal, "unknown author %q", end.By)
	}
	if (rewind != nil) != (end.By == ByRecovery) {
		return s, breaks(RuleRewind, "recovery, and nobody else, rewinds")
	}
	s.End, s.Artifacts = &end, listed(artifacts)
	if rewind == nil {
		return s, nil
	}
	return s.rewind(rewind)
}

func (s State) checkComplete(by Author) *broken {
	if by != ByRun {
		return breaks(RuleTerminal, "only the run itself completes, not %q", by)
	}
	for _, t := range s.Tasks {
		if t.Status == TaskRunning || t.Status == TaskWaiting {
			return breaks(RuleTerminal, "task %q is %s", t.Name, t.Status)
		}
	}
	for _, c := range s.Children {
		if !c.Status.IsEnded() {
			return breaks(RuleChild, "child %s has not ended", c.Child)
		}
	}
	return nil
}

func rewindOf(b Body) *Rewind {
	if r, ok := b.(RunRecovered); ok {
		return r.Rewind
	}
	_, rewind := authorOf(b)
	return rewind
}

// rewind sets what a reader may have seen beyond the journal back to what the journal holds.
func (s State) rewind(r *Rewind) (State, *broken) {
	if r == nil {
		return s, breaks(RuleRewind, "run.recovered carries a rewind")
	}
	kept := make([]Stream, 0, len(s.Streams))
	named := 0
	for _, t := range s.Streams {
		i := slices.IndexFunc(r.Streams, func(m StreamMark) bool { return m.Stream == t.Name })
		if i >= 0 && !t.Closed && r.Streams[i].Bytes <= t.Len() {
			t.text, t.Index = t.text.cut(r.Streams[i].Bytes), r.Streams[i].Index
			named++
		} else if !t.Closed {
			continue
		}
		kept = append(kept, t)
	}
	if named != len(r.Streams) {
		return s, breaks(RuleRewind, "the rewind names a text that is not open, or shorter than it says")
	}
	s.Streams, s.Progress = slices.Clip(kept), r.Progress
	s.Log.Lines = r.Log
	if n := len(r.Log); n > 0 {
		s.Log.Next = r.Log[n-1].Number + 1
	} else {
		s.Log.Next = 1
	}
	return s.rewindCalls(r.Tools), nil
}

func (s State) rewindCalls(tools []ToolProgress) State {
	calls := slices.Clone(s.Calls)
	for i, c := range calls {
		if !c.Model && !c.Ended {
			calls[i].Progress = ToolProgress{}
		}
		for _, p := range tools {
			if p.Call == c.ID {
				calls[i].Progress = p
			}
		}
	}
	s.Calls = calls
	return s
}

func (s State) task(body Body) (State, *broken) {
	var name string
	var attempt int
	var want, becomes TaskStatus
	switch b := body.(type) {
	case TaskStarted:
		name, attempt, want, becomes = b.Task, b.Attempt, "", TaskRunning
	case TaskRestarted:
		name, attempt, want, becomes = b.Task, b.Attempt, TaskWaiting, TaskRunning
	case TaskCompleted:
		name, attempt, want, becomes = b.Task, b.Attempt, TaskRunning, TaskFinished
	case TaskFailed:
		name, attempt, want, becomes = b.Task, b.Attempt, TaskRunning, TaskGone
		if b.WillRetry {
			becomes = TaskWaiting
		}
		if b.Error == nil || !slices.Contains(Causes(), b.Cause) {
			return s, breaks(RuleBody, "task.failed needs an error and a cause of the closed set, not %q", b.Cause)
		}
	}
	if name == "" {
		return s, breaks(RuleTask, "the task has no name")
	}
	now, _ := s.Task(name)
	expected := now.Attempt
	if becomes == TaskRunning {
		expected++
	}
	if now.Status != want || attempt != expected {
		return s, breaks(RuleTask, "task %q is %q at attempt %d", name, now.Status, now.Attempt)
	}
	s.Tasks = put(s.Tasks, TaskState{name, becomes, attempt}, func(t TaskState) bool { return t.Name == name })
	if want == TaskWaiting {
		s = s.reopen(name)
	}
	return s, nil
}

// reopen takes back what an earlier attempt of the task said.
func (s State) reopen(task string) State {
	streams := slices.Clone(s.Streams)
	for i, t := range streams {
		if t.Task == task {
			streams[i] = Stream{Name: t.Name, Task: t.Task, Thought: t.Thought}
		}
	}
	s.Streams = streams
	s.Progress = slices.DeleteFunc(slices.Clone(s.Progress), func(p Progress) bool { return p.Task == task })
	return s
}

// running reports whether a task may speak; "" is the run itself.
func (s State) running(task string) bool {
	t, _ := s.Task(task)
	return task == "" || t.Status == TaskRunning
}

// delta applies a delta, or each part of a merged one. fresh says that the event overlaps nothing already applied.
func (s State) delta(body Body, fresh bool) (State, *broken) {
	switch b := body.(type) {
	case TextDelta:
		return s.said(b, false, fresh)
	case ThoughtDelta:
		return s.said(TextDelta(b), true, fresh)
	case Progress:
		if !s.running(b.Task) {
			return s, breaks(RuleTask, "task %q is not running", b.Task)
		}
		s.Progress = put(s.Progress, b, func(p Progress) bool { return p.Task == b.Task })
		return s, nil
	case ToolProgress:
		return s.toolProgress(b)
	case Log:
		return s.logged(b, fresh)
	case Merged:
		return s.merged(b, fresh)
	}
	return s, breaks(RuleBody, "%T is not a delta", body)
}

func (s State) merged(m Merged, fresh bool) (State, *broken) {
	if len(m.Parts) < 2 {
		return s, breaks(RuleMerged, "a merged event has at least two parts, not %d", len(m.Parts))
	}
	for i, part := range m.Parts {
		key, ok := streamKey(part)
		if !ok || slices.ContainsFunc(m.Parts[:i], func(b Body) bool { k, _ := streamKey(b); return k == key }) {
			return s, breaks(RuleMerged, "part %d (%T) is of no stream, or of one named before", i, part)
		}
		var bad *broken
		if s, bad = s.delta(part, fresh); bad != nil {
			return s, bad
		}
	}
	return s, nil
}

func (s State) said(d TextDelta, thought, fresh bool) (State, *broken) {
	i := s.stream(d.Stream)
	t := Stream{Name: d.Stream, Task: d.Task, Thought: thought}
	if i >= 0 {
		t = s.Streams[i]
	} else {
		i = len(s.Streams)
	}
	if bad := s.checkSpeaker(t, d, thought); bad != nil {
		return s, bad
	}
	count, length := max(d.Count, 1), t.Len()
	overlap := length - d.Offset
	switch {
	case t.Closed:
		return s, breaks(RuleStream, "stream %q is closed", d.Stream)
	case d.Offset < 0 || overlap < 0 || d.Index > t.Index:
		return s, breaks(RuleStream, "stream %q holds %d bytes of %d deltas, not %d of %d", d.Stream, length, t.Index, d.Offset, d.Index)
	case fresh && (overlap > 0 || d.Index != t.Index):
		return s, breaks(RuleStream, "stream %q: a new delta repeats what was said", d.Stream)
	case len(d.Text) < overlap || d.Index+count < t.Index:
		return s, breaks(RuleStream, "stream %q: the delta ends before what was said", d.Stream)
	case overlap > 0 && t.text.slice(d.Offset) != d.Text[:overlap]:
		return s, breaks(RuleStream, "stream %q: the delta contradicts what was said", d.Stream)
	}
	t.text, t.Index = t.text.append(d.Text[overlap:]), d.Index+count
	s.Streams = with(s.Streams, i, t)
	return s, nil
}

func (s State) checkSpeaker(t Stream, d TextDelta, thought bool) *broken {
	switch {
	case d.Stream == "":
		return breaks(RuleStream, "the stream has no name")
	case t.Thought != thought || t.Task != d.Task:
		return breaks(RuleStream, "stream %q is of another kind or task", d.Stream)
	case !s.running(d.Task):
		return breaks(RuleTask, "task %q is not running", d.Task)
	case strings.ToValidUTF8(d.Text, "") != d.Text:
		return breaks(RuleBody, "stream %q: the text is not UTF-8", d.Stream)
	}
	return nil
}

func (s State) done(d TextDelta, thought bool, digest string) (State, *broken) {
	i := s.stream(d.Stream)
	t := Stream{Name: d.Stream, Task: d.Task, Thought: thought}
	if i >= 0 {
		t = s.Streams[i]
	} else {
		i = len(s.Streams)
	}
	if bad := s.checkSpeaker(t, d, thought); bad != nil {
		return s, bad
	}
	if t.Closed {
		return s, breaks(RuleStream, "stream %q is closed", d.Stream)
	}
	if Digest(d.Text) != digest {
		return s, breaks(RuleDigest, "stream %q: the text's sha256 is not %q", d.Stream, digest)
	}
	if t.Len() != len(d.Text) || t.Text() != d.Text {
		t.text = newText(d.Text)
	}
	t.Closed = true
	s.Streams = with(s.Streams, i, t)
	return s, nil
}

// Digest returns the lower-case hexadecimal SHA-256 of a text.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (s State) logged(b Log, fresh bool) (State, *broken) {
	n := len(b.Lines)
	for i, line := range b.Lines {
		if i > 0 && line.Number != b.Lines[i-1].Number+1 || len(line.Text) > LogLineBytes {
			return s, breaks(RuleLog, "log line %d is out of order or too long", line.Number)
		}
	}
	if n == 0 || n > LogTail {
		return s, breaks(RuleLog, "a log event has 1 to %d lines, not %d", LogTail, n)
	}
	first, last := b.Lines[0].Number, b.Lines[n-1].Number
	switch {
	case first > s.Log.Next && n < LogTail:
		return s, breaks(RuleLog, "log line %d leaves a gap after %d", first, s.Log.Next-1)
	case fresh && first < s.Log.Next, first == 0, last+1 < s.Log.Next:
		return s, breaks(RuleLog, "log line %d was said before", first)
	case last+1 == s.Log.Next:
		return s, nil
	}
	fold := b.Lines
	if first < s.Log.Next {
		fold = b.Lines[s.Log.Next-first:]
	}
	s.Log = LogState{Next: last + 1, Lines: newest(s.Log.Lines, fold)}
	return s, nil
}

// newest returns the last LogTail of the lines of a and then b, in new memory.
func newest(a, b []LogLine) []LogLine {
	a = a[max(0, min(len(a), len(a)+len(b)-LogTail)):]
	return slices.Concat(a, b)
}
