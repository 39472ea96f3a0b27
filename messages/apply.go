package messages

import "fmt"

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
		next.Milestone = e.Seq
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
		return s.delta(e.Body, reach{fresh: e.From == s.Seq+1, numbers: e.Seq - e.From + 1})
	}
	return s.milestoneStep(e)
}

// checkEnvelope holds the law of numbers.
func (s State) checkEnvelope(e Event) *broken {
	switch {
	case s.Status.IsEnded():
		return breaks(RuleEnded, "the run has ended as %s", s.Status)
	case e.Body == nil || misnamed(e.Body):
		return breaks(RuleBody, "the event has no body of its kind")
	case e.RunID == "" || s.RunID != "" && e.RunID != s.RunID:
		return breaks(RuleRun, "the event is of run %q, the log of %q", e.RunID, s.RunID)
	case e.From == 0 || e.From > e.Seq:
		return breaks(RuleOrder, "from %d is not between 1 and seq %d", e.From, e.Seq)
	case e.From > s.Seq+1 || e.Seq <= s.Seq:
		return breaks(RuleOrder, "%d..%d does not continue %d", e.From, e.Seq, s.Seq)
	case rewindOf(e.Body) != nil && e.Seq-e.From != Reserve:
		return breaks(RuleSpan, "recovery skips the reserve, not %d numbers", e.Seq-e.From)
	case e.From == e.Seq:
		return nil
	case e.From <= s.Milestone:
		return breaks(RuleSpan, "%d..%d reaches back over the milestone %d", e.From, e.Seq, s.Milestone)
	case !e.IsDelta() && rewindOf(e.Body) == nil:
		return breaks(RuleSpan, "only a delta or a recovery stands for more than one number")
	}
	return nil
}

// misnamed reports an Unknown that hides one of the known kinds from its rules.
func misnamed(b Body) bool {
	u, ok := b.(Unknown)
	return ok && (u.Type == "" || u.Type.Known())
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
	case FaultInjected, Unknown: // facts that change nothing
		return s, nil
	}
	return s, breaks(RuleBody, "%T is not a body", body)
}
