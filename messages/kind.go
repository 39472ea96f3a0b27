package messages

// Kind names what an event says. [Kinds] lists all of them.
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
	KindTextClosed   Kind = "text.closed"
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

	KindStepKept Kind = "step.kept"

	KindChildStarted Kind = "child.started"
	KindChildEnded   Kind = "child.ended"

	KindStepStarted Kind = "step.started"
	KindStepEnded   Kind = "step.ended"

	KindFaultInjected Kind = "fault.injected"
)

// Level says whether events may be merged.
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

// KindInfo describes a kind.
type KindInfo struct {
	Kind  Kind
	Level Level
	// Group is the kind's heading in the documentation.
	Group string
	// Says is the kind's sentence in the documentation.
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

// kinds lists the rows of the table. Each row is defined beside the type of its body.
var kinds = []*KindInfo{
	runQueued, runStarted, runRecovered, runCanceling, runCompleted, runFailed, runCanceled,
	taskStarted, taskCompleted, taskFailed, taskRestarted,
	progress, logged, merged,
	textDelta, textDone, textClosed, thoughtDelta, thoughtDone,
	llmStarted, llmCompleted,
	toolStarted, toolProgress, toolCompleted,
	artifactPartial, artifactWritten,
	inputRequired, inputReceived,
	stepKept,
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

// Known reports whether this version knows the kind.
func (k Kind) Known() bool { return kindIndex[k] != nil }

// info returns the kind's row, or the row of unknown kinds.
func (k Kind) info() *KindInfo {
	if row := kindIndex[k]; row != nil {
		return row
	}
	return unknown
}

// Level returns the kind's level. An unknown kind is a milestone, because an event that nobody can read must not be
// merged.
func (k Kind) Level() Level { return k.info().Level }

// IsTerminal reports whether an event of this kind ends its run.
func (k Kind) IsTerminal() bool { return k.info().ending != nil }

// TaskMaySay reports whether a task may emit the kind itself. Only the run emits the others.
func (k Kind) TaskMaySay() bool { return k.info().taskSays }
