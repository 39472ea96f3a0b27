package messages

// Kind names what an event says. The set is closed: [Kinds] lists it.
type Kind string

// The kinds of run-events/1.
const (
	KindRunQueued    Kind = "run.queued"
	KindRunStarted   Kind = "run.started"
	KindRunRecovered Kind = "run.recovered"
	KindRunCanceling Kind = "run.canceling"
	KindRunCompleted Kind = "run.completed"
	KindRunFailed    Kind = "run.failed"
	KindRunCanceled  Kind = "run.canceled"

	KindTaskStarted   Kind = "task.started"
	KindTaskCompleted Kind = "task.completed"
	KindTaskFailed    Kind = "task.failed"
	KindTaskRestarted Kind = "task.restarted"

	KindProgress Kind = "progress"
	KindLog      Kind = "log"
	KindMerged   Kind = "merged"

	KindTextDelta    Kind = "text.delta"
	KindTextDone     Kind = "text.done"
	KindThoughtDelta Kind = "thought.delta"
	KindThoughtDone  Kind = "thought.done"

	KindLLMStarted   Kind = "llm.started"
	KindLLMCompleted Kind = "llm.completed"

	KindToolStarted   Kind = "tool.started"
	KindToolProgress  Kind = "tool.progress"
	KindToolCompleted Kind = "tool.completed"

	KindArtifactPartial Kind = "artifact.partial"
	KindArtifactWritten Kind = "artifact.written"

	KindInputRequired Kind = "input.required"
	KindInputReceived Kind = "input.received"

	KindChildStarted Kind = "child.started"
	KindChildEnded   Kind = "child.ended"

	KindStepStarted Kind = "step.started"
	KindStepEnded   Kind = "step.ended"

	KindFaultInjected Kind = "fault.injected"
)

// Level says whether an event may be merged.
type Level uint8

// Milestones are never merged, dropped or reordered; deltas may be merged with their neighbours.
const (
	Milestone Level = iota
	Delta
)

// String returns "milestone" or "delta".
func (l Level) String() string {
	if l == Delta {
		return "delta"
	}
	return "milestone"
}

// KindInfo is a row of the table of kinds.
type KindInfo struct {
	Kind  Kind
	Level Level
	// Group is the heading under which the documentation lists the kind.
	Group string
	// Says is one sentence for the documentation.
	Says string
	// Zero is the zero value of the kind's body type.
	Zero   Body
	decode func([]byte) (Body, error)
}

// Kinds returns the table of all kinds, in the order of the documentation.
func Kinds() []KindInfo { return append([]KindInfo(nil), kinds...) }

var kinds = []KindInfo{
	row[RunQueued]("run", Milestone, "The run exists: its job, input without secrets, owner and limits."),
	row[RunStarted]("run", Milestone, "The run's actor has begun."),
	row[RunRecovered]("run", Milestone, "The run goes on after its process died; carries a rewind."),
	row[RunCanceling]("run", Milestone, "Cancel is accepted; the run will end as run.canceled."),
	row[RunCompleted]("run", Milestone, "Terminal: the job's work is done and its artifacts are on disk."),
	row[RunFailed]("run", Milestone, "Terminal: the run ended with a cause."),
	row[RunCanceled]("run", Milestone, "Terminal: the run ended because it was asked to."),

	row[TaskStarted]("task", Milestone, "A task began its first attempt."),
	row[TaskCompleted]("task", Milestone, "A task returned without an error."),
	row[TaskFailed]("task", Milestone, "An attempt failed; says whether another follows, and when."),
	row[TaskRestarted]("task", Milestone, "Another attempt begins; the task's streams start again from nothing."),

	row[Progress]("progress", Delta, "How far a task is; the latest counts."),
	row[Log]("progress", Delta, "Lines for the person who looks closer, numbered per run."),
	row[Merged]("progress", Delta, "Several deltas of several streams as one event."),

	row[TextDelta]("content", Delta, "A piece of a text."),
	row[TextDone]("content", Milestone, "The whole text, authoritative; closes its stream."),
	row[ThoughtDelta]("content", Delta, "A piece of a thought."),
	row[ThoughtDone]("content", Milestone, "The whole thought, authoritative; closes its stream."),

	row[LLMStarted]("model", Milestone, "A call to a language model began."),
	row[LLMCompleted]("model", Milestone, "A call to a language model ended, with the verdict on its end."),

	row[ToolStarted]("tools", Milestone, "A tool call began."),
	row[ToolProgress]("tools", Delta, "How far a tool call is; the latest counts."),
	row[ToolCompleted]("tools", Milestone, "A tool call ended, with its result or its error."),

	row[ArtifactPartial]("artifacts", Milestone, "A readable first part of an artifact exists."),
	row[ArtifactWritten]("artifacts", Milestone, "An artifact is on disk, synced, under its final name."),

	row[InputRequired]("people", Milestone, "The run waits for an answer."),
	row[InputReceived]("people", Milestone, "The answer came."),

	row[ChildStarted]("children", Milestone, "A sub-run began; its own log is under its own id."),
	row[ChildEnded]("children", Milestone, "A sub-run has its terminal."),

	row[StepStarted]("plan", Milestone, "A step of a plan began."),
	row[StepEnded]("plan", Milestone, "A step of a plan ended; says what follows and why."),

	row[FaultInjected]("faults", Milestone, "A test injected a fault here."),
}

func row[B Body](group string, level Level, says string) KindInfo {
	var zero B
	return KindInfo{Kind: zero.Kind(), Level: level, Group: group, Says: says, Zero: zero, decode: decodeBody[B]}
}

var kindIndex = func() map[Kind]*KindInfo {
	m := make(map[Kind]*KindInfo, len(kinds))
	for i := range kinds {
		m[kinds[i].Kind] = &kinds[i]
	}
	return m
}()

// Known reports whether this version has the kind in its table.
func (k Kind) Known() bool { return kindIndex[k] != nil }

// Level returns the kind's level. A kind that is not known is a milestone: what cannot be read must not be merged.
func (k Kind) Level() Level {
	switch k {
	case KindTextDelta, KindThoughtDelta, KindProgress, KindToolProgress, KindLog, KindMerged:
		return Delta
	}
	return Milestone
}

// IsTerminal reports whether an event of this kind ends its run.
func (k Kind) IsTerminal() bool {
	return k == KindRunCompleted || k == KindRunFailed || k == KindRunCanceled
}
