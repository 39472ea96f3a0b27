package messages

import (
	"encoding/json"
	"reflect"
)

// Kind names what an event says. [Kinds] lists all of them.
type Kind string

// The kinds of run-events/1.
const (
	KindRunQueued    Kind = "run.queued"
	KindRunStarted   Kind = "run.started"
	KindRunRecovered Kind = "run.recovered"
	KindRunHeld      Kind = "run.held"
	KindRunReleased  Kind = "run.released"
	KindRunMoved     Kind = "run.moved"
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

	KindMessageQueued    Kind = "message.queued"
	KindMessageDelivered Kind = "message.delivered"
	KindMessageDropped   Kind = "message.dropped"

	KindStepKept Kind = "step.kept"

	KindUsage         Kind = "usage"
	KindBudgetWarning Kind = "budget.warning"
	KindBudgetGranted Kind = "budget.granted"

	KindChildStarted Kind = "child.started"
	KindChildEnded   Kind = "child.ended"

	KindStepStarted Kind = "step.started"
	KindStepEnded   Kind = "step.ended"

	KindFaultInjected Kind = "fault.injected"

	KindNotice Kind = "notice"
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
	runQueued, runHeld, runReleased, runMoved, runStarted, runRecovered, runCanceling, runCompleted, runFailed, runCanceled,
	taskStarted, taskCompleted, taskFailed, taskRestarted,
	progress, logged, merged,
	textDelta, textDone, textClosed, thoughtDelta, thoughtDone,
	llmStarted, llmCompleted,
	toolStarted, toolProgress, toolCompleted,
	artifactPartial, artifactWritten,
	inputRequired, inputReceived,
	messageQueued, messageDelivered, messageDropped,
	stepKept,
	usageReported, budgetWarning, budgetGranted,
	childStarted, childEnded,
	stepStarted, stepEnded,
	faultInjected,
	noticed,
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

// traits define the behaviour of a kind. A nil function does nothing.
type traits struct {
	level     Level
	early     bool // may come before run.started
	begins    bool // may not come after an accepted cancel
	taskSays  bool // a task may emit it
	takesBack bool // takes texts back, so readers of a text's deltas must see it

	own  func(Body, string) Body // the body as emitted by the task; nil if setting the field Task is enough
	wire func(Body) Body         // the body in the form that is written

	key    func(Body) partKey // deltas with equal keys can be merged
	stream func(Body) string  // the name of its text or thought
	closes Kind               // the kind of the deltas that it closes

	rewind func(Body) *Rewind
	ending func(Body) ending // the ending of a terminal

	legal func(Body, *Fold) *Refusal // why the body is not legal now; changes nothing
	apply func(Body, *Fold)          // its change to the State
	list  func(Body, *Summary)       // its change to a Summary

	body reflect.Type
	task []int // the index of the body's field Task; nil if it has none
}

// row makes the row of the kind with bodies of zero's type.
func row(zero Body, kind Kind, group, says string, t traits) *KindInfo {
	t.body = reflect.TypeOf(zero)
	if task, ok := t.body.FieldByName("Task"); ok {
		t.task = task.Index
	}
	return &KindInfo{Kind: kind, Level: t.level, Group: group, Says: says, Zero: zero, traits: t}
}

// decode reads the JSON of a body.
func (t *traits) decode(payload []byte) (Body, error) {
	b := reflect.New(t.body)
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	err := json.Unmarshal(payload, b.Interface())
	return b.Elem().Interface().(Body), err
}

// rowOf returns the row of the body's kind. For a pointer to a body it returns noKind.
func rowOf(b Body) *KindInfo {
	if b != nil {
		if row := b.info(); reflect.TypeOf(b) == row.body {
			return row
		}
	}
	return noKind
}

var noKind = &KindInfo{}

// of, with and to adapt a function of one body type to any body.
func of[B Body, R any](f func(B) R) func(Body) R { return func(b Body) R { return f(b.(B)) } }

func with[B Body, A, R any](f func(B, A) R) func(Body, A) R {
	return func(b Body, a A) R { return f(b.(B), a) }
}

func to[B Body, A any](f func(B, A)) func(Body, A) { return func(b Body, a A) { f(b.(B), a) } }

// TaskOf returns the task that the body names, or "".
func TaskOf(b Body) string {
	if row := rowOf(b); row.task != nil {
		return reflect.ValueOf(b).FieldByIndex(row.task).String()
	}
	return ""
}

// Owned returns the body with the given task, if its kind names a task.
func Owned(b Body, task string) Body {
	row := rowOf(b)
	if row.task != nil {
		owned := reflect.New(row.body).Elem()
		owned.Set(reflect.ValueOf(b))
		owned.FieldByIndex(row.task).SetString(task)
		return owned.Interface().(Body)
	}
	if row.own != nil {
		return row.own(b, task)
	}
	return b
}

// Clone returns a copy of the body that shares no memory with it.
func Clone(b Body) Body {
	if b == nil {
		return nil
	}
	return copied(reflect.ValueOf(b)).Interface().(Body)
}

// copied returns a copy of a value and of all that it refers to. Maps hold texts alone.
func copied(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch k := v.Kind(); {
	case k == reflect.Struct:
		for i := range v.NumField() {
			c.Field(i).Set(copied(v.Field(i)))
		}
	case k == reflect.Interface && !v.IsNil():
		c.Set(copied(v.Elem()))
	case k == reflect.Pointer && !v.IsNil():
		c.Set(reflect.New(v.Type().Elem()))
		c.Elem().Set(copied(v.Elem()))
	case k == reflect.Slice && !v.IsNil():
		c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		reflect.Copy(c, v)
		for i := 0; v.Type() != rawJSON && i < v.Len(); i++ {
			c.Index(i).Set(copied(v.Index(i)))
		}
	case k == reflect.Map && !v.IsNil():
		c.Set(reflect.MakeMap(v.Type()))
		for name, value := range v.Seq2() {
			c.SetMapIndex(name, value)
		}
	}
	return c
}
