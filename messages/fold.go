package messages

import (
	"slices"
	"sync"
)

// MaxEventBytes is the largest Size of an event.
const MaxEventBytes = 16 << 20

// Fold grows a State in place, event by event. The cost of an event does not depend on the length of the log. The
// zero Fold is a run that has not begun. A Fold is not safe for concurrent use; the States that it returns are.
type Fold struct {
	s State

	tasks     indexed[TaskState]
	streams   indexed[Stream]
	progress  indexed[Progress]
	calls     indexed[Call]
	artifacts indexed[Artifact]
	inputs    indexed[Input]
	children  indexed[ChildState]
	steps     indexed[StepState]
	kept      indexed[StepKept]
	messages  indexed[Message]

	openInputs, openChildren, openMessages int32

	made    map[string]made // by task, once any task was restarted
	numbers uint64          // how many numbers the current event stands for
	fresh   bool            // the current event overlaps nothing that was applied

	ownArtifactTasks bool // nobody else holds the memory of ArtifactTasks
	single           bool // used for one event, so it has no counts and no indexes
}

// NewFold returns a Fold that continues from s. It does not change s.
func NewFold(s State) *Fold {
	f := &Fold{s: s, openInputs: int32(len(open(s.Inputs))), openChildren: int32(len(open(s.Children))),
		openMessages: int32(len(open(s.Messages)))}
	f.s.clip()
	return f
}

// clip removes spare capacity, because others may hold the same lists and append to them.
func (s *State) clip() {
	s.Tasks, s.Streams, s.Progress = slices.Clip(s.Tasks), slices.Clip(s.Streams), slices.Clip(s.Progress)
	s.Calls, s.Inputs, s.Children, s.Steps = slices.Clip(s.Calls), slices.Clip(s.Inputs), slices.Clip(s.Children), slices.Clip(s.Steps)
	s.Artifacts, s.ArtifactTasks, s.Log.Lines = slices.Clip(s.Artifacts), slices.Clip(s.ArtifactTasks), slices.Clip(s.Log.Lines)
	s.Kept, s.Notices, s.Messages = slices.Clip(s.Kept), slices.Clip(s.Notices), slices.Clip(s.Messages)
	for len(s.ArtifactTasks) < len(s.Artifacts) && !s.Status.IsEnded() { // a State of an older version lacks them
		s.ArtifactTasks = append(s.ArtifactTasks, "")
	}
}

// Apply adds the event, or returns a [*Refusal] and changes nothing. It expects the unfiltered log: apply every event
// whose Seq is past the State's.
func (f *Fold) Apply(e Event) error {
	part, bad := f.takePart(e)
	if !part {
		if !e.IsDelta() {
			e = e.Whole(f.textOf)
		}
		bad = f.legal(e)
	}
	switch {
	case bad != nil:
		bad.RunID, bad.Seq, bad.Kind = e.RunID, e.Seq, e.Kind()
		return bad
	case part:
		return nil
	}
	f.s.RunID, f.s.Seq, f.s.UpdatedAt = e.RunID, e.Seq, e.Time
	row := e.Body.info()
	if row.Level != Delta {
		f.s.Milestone = e.Seq
	}
	if row.apply != nil {
		row.apply(e.Body, f)
	}
	return nil
}

// Apply returns the State after the event, or the unchanged State and a [*Refusal]. A loop over a log is faster with
// a [Fold].
func (s State) Apply(e Event) (State, error) {
	f := singles.Get().(*Fold)
	f.s = s
	f.s.clip()
	err := f.Apply(e)
	if err == nil {
		s = f.s
	}
	*f = Fold{single: true}
	singles.Put(f)
	return s, err
}

// singles pools Folds that are used for one event each.
var singles = sync.Pool{New: func() any { return &Fold{single: true} }}

// State returns the sum of the events. It never changes.
func (f *Fold) State() State {
	f.tasks.own, f.streams.own, f.progress.own, f.calls.own = false, false, false, false
	f.artifacts.own, f.inputs.own, f.children.own, f.steps.own = false, false, false, false
	f.ownArtifactTasks, f.kept.own, f.messages.own = false, false, false
	return f.s
}

// Peek returns the growing State, to be read at once: do not keep it or change it.
func (f *Fold) Peek() *State { return &f.s }

// Task returns the task's state, or false when it has not started.
func (f *Fold) Task(name string) (TaskState, bool) {
	return pick(f.s.Tasks, f.tasks.find(f.s.Tasks, name, f.single))
}

// Stream returns the stream, or false when nothing was said on it.
func (f *Fold) Stream(name string) (Stream, bool) { return pick(f.s.Streams, f.stream(name)) }

// textOf returns what is kept of a text or thought.
func (f *Fold) textOf(stream string) string {
	t, _ := f.Stream(stream)
	return t.Text()
}

// Input returns the request, or false if there is none.
func (f *Fold) Input(request string) (Input, bool) { return pick(f.s.Inputs, f.input(request)) }

// Child returns the sub-run, or false when it has not started.
func (f *Fold) Child(id RunID) (ChildState, bool) { return pick(f.s.Children, f.child(id)) }

// Call returns the model call or tool call, or false when it has not started.
func (f *Fold) Call(id string) (Call, bool) { return pick(f.s.Calls, f.call(id)) }

// OpenInputs returns how many requests have no answer yet.
func (f *Fold) OpenInputs() int { return int(f.openInputs) }

// OpenChildren returns how many sub-runs have not ended.
func (f *Fold) OpenChildren() int {
	if f.single {
		return len(open(f.s.Children))
	}
	return int(f.openChildren)
}

// pick returns the item at the index, or false for -1.
func pick[T any](list []T, i int) (T, bool) {
	if i < 0 {
		var none T
		return none, false
	}
	return list[i], true
}

func (f *Fold) stream(name string) int     { return f.streams.find(f.s.Streams, name, f.single) }
func (f *Fold) progressOf(task string) int { return f.progress.find(f.s.Progress, task, f.single) }
func (f *Fold) call(id string) int         { return f.calls.find(f.s.Calls, id, f.single) }
func (f *Fold) artifact(name string) int   { return f.artifacts.find(f.s.Artifacts, name, f.single) }
func (f *Fold) input(request string) int   { return f.inputs.find(f.s.Inputs, request, f.single) }
func (f *Fold) child(id RunID) int         { return f.children.find(f.s.Children, string(id), f.single) }
func (f *Fold) step(name string) int       { return f.steps.find(f.s.Steps, name, f.single) }

// legal returns why the event is not legal now, or nil. It changes nothing.
func (f *Fold) legal(e Event) *Refusal {
	if f.s.Status.IsEnded() {
		return violates(RuleEnded, "the run has ended as %s", f.s.Status)
	}
	row := rowOf(e.Body)
	if row == noKind || misnamed(e.Body) {
		return violates(RuleBody, "the event has no body of its kind")
	}
	if bad := f.s.legalNumbers(e, row); bad != nil {
		return bad
	}
	if bad := f.s.legalPhase(row); bad != nil || row.legal == nil {
		return bad
	}
	f.numbers, f.fresh = e.Seq-e.From+1, e.From == f.s.Seq+1
	return row.legal(e.Body, f)
}

// misnamed reports whether an Unknown has the name of a known kind, and so would evade that kind's rules.
func misnamed(b Body) bool {
	u, ok := b.(Unknown)
	return ok && (u.Type == "" || u.Type.Known())
}

// legalNumbers checks From and Seq.
func (s *State) legalNumbers(e Event, row *KindInfo) *Refusal {
	recovers := row.rewind != nil && row.rewind(e.Body) != nil
	switch {
	case e.RunID == "" || s.RunID != "" && e.RunID != s.RunID:
		return violates(RuleRun, "the event is of run %q, the log of %q", e.RunID, s.RunID)
	case e.From == 0 || e.From > e.Seq:
		return violates(RuleOrder, "from %d is not between 1 and seq %d", e.From, e.Seq)
	case e.From > s.Seq+1 || e.Seq <= s.Seq:
		return violates(RuleOrder, "%d..%d does not continue %d", e.From, e.Seq, s.Seq)
	case recovers && e.Seq-e.From != Reserve:
		return violates(ruleSpan, "recovery skips the reserve, not %d numbers", e.Seq-e.From)
	case e.From == e.Seq:
		return nil
	case e.From <= s.Milestone:
		return violates(ruleSpan, "%d..%d reaches back over the milestone %d", e.From, e.Seq, s.Milestone)
	case row.Level != Delta && !recovers:
		return violates(ruleSpan, "only a delta or a recovery stands for more than one number")
	}
	return nil
}

// legalPhase checks what may come before run.started, and after run.canceling.
func (s *State) legalPhase(row *KindInfo) *Refusal {
	switch {
	case (row == runQueued) != (s.Seq == 0):
		return violates(ruleOpening, "run.queued opens the log and comes once")
	case s.Status == Pending && !row.early:
		return violates(ruleOpening, "the run has not started")
	case s.Canceling && row.begins:
		return violates(ruleCancel, "a cancel has been accepted")
	}
	return nil
}
