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
	Zero Body
	traits
}

// Kinds returns the table of all kinds, in the order of the documentation.
func Kinds() []KindInfo {
	out := make([]KindInfo, len(kinds))
	for i, k := range kinds {
		out[i] = *k
	}
	return out
}

// kinds lists the rows; each stands with the type of its body.
var kinds = []*KindInfo{
	runQueued, runStarted, runRecovered, runCanceling, runCompleted, runFailed, runCanceled,
	taskStarted, taskCompleted, taskFailed, taskRestarted,
	progress, logged, merged,
	textDelta, textDone, thoughtDelta, thoughtDone,
	llmStarted, llmCompleted,
	toolStarted, toolProgress, toolCompleted,
	artifactPartial, artifactWritten,
	inputRequired, inputReceived,
	childStarted, childEnded,
	stepStarted, stepEnded,
	faultInjected,
}

var kindIndex = func() map[Kind]*KindInfo {
	m := make(map[Kind]*KindInfo, len(kinds))
	for _, k := range kinds {
		m[k.Kind] = k
	}
	return m
}()

// Known reports whether this version has the kind in its table.
func (k Kind) Known() bool { return kindIndex[k] != nil }

// info returns the kind's row, or that of the kinds that are not known.
func (k Kind) info() *KindInfo {
	if row := kindIndex[k]; row != nil {
		return row
	}
	return unknown
}

// Level returns the kind's level. A kind that is not known is a milestone: what cannot be read must not be merged.
func (k Kind) Level() Level { return k.info().Level }

// IsTerminal reports whether an event of this kind ends its run.
func (k Kind) IsTerminal() bool { return k.info().last != nil }

// TaskMaySay reports whether a task may say the kind by itself; all else is the run's alone.
func (k Kind) TaskMaySay() bool { return k.info().taskSays }
