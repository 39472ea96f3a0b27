package messages

import (
	"slices"
	"sync"
	"time"
)

// MaxEventBytes is the most that one event may hold, by its Size.
const MaxEventBytes = 16 << 20

// Fold grows a State in place, event by event: what an event costs does not depend on how long the log is. The zero Fold
// is that of a run not yet begun. A Fold is not safe for concurrent use; the States that it gives out are.
type Fold struct {
	s  State
	at moment

	tasks      shelf[TaskState]
	streams    shelf[Stream]
	progress   shelf[Progress]
	calls      shelf[Call]
	artifacts  shelf[Artifact]
	inputs     shelf[Input]
	children   shelf[ChildState]
	steps      shelf[StepState]
	ownWriters bool // nobody else sees the memory of ArtifactTasks

	waiting int                 // how many tasks wait for another attempt
	said    map[string][]string // by task, the streams that hold something, once a task was restarted
	wrote   map[string][]string // by task, the artifacts that it wrote, once a task was restarted
	bare    bool                // of one event: it keeps no counts and makes no index
}

// moment is what an event's envelope says to its body.
type moment struct {
	time    time.Time
	fresh   bool   // the event overlaps nothing already applied
	numbers uint64 // how many numbers it stands for
}

// NewFold goes on from s, which stays as it is.
func NewFold(s State) *Fold {
	f := &Fold{s: s}
	f.s.clip()
	f.tasks, f.streams, f.progress, f.calls = shelve(s.Tasks), shelve(s.Streams), shelve(s.Progress), shelve(s.Calls)
	f.artifacts, f.inputs, f.children, f.steps = shelve(s.Artifacts), shelve(s.Inputs), shelve(s.Children), shelve(s.Steps)
	for _, t := range s.Tasks {
		if t.Status == TaskWaiting {
			f.waiting++
		}
	}
	return f
}

// clip leaves the lists no room to grow in place: whoever else has them may grow them too.
func (s *State) clip() {
	s.Tasks, s.Streams, s.Progress = slices.Clip(s.Tasks), slices.Clip(s.Streams), slices.Clip(s.Progress)
	s.Calls, s.Inputs, s.Children, s.Steps = slices.Clip(s.Calls), slices.Clip(s.Inputs), slices.Clip(s.Children), slices.Clip(s.Steps)
	s.Artifacts, s.ArtifactTasks, s.Log.Lines = slices.Clip(s.Artifacts), slices.Clip(s.ArtifactTasks), slices.Clip(s.Log.Lines)
	for len(s.ArtifactTasks) < len(s.Artifacts) && !s.Status.IsEnded() { // a State of an older version does not say
		s.ArtifactTasks = append(s.ArtifactTasks, "")
	}
}

// Apply takes the event, or leaves the Fold as it is and returns a [*Refusal]. It judges unfiltered logs; a reader
// applies every event it is given and skips those whose Seq is not past its State.
func (f *Fold) Apply(e Event) error {
	if bad := f.legal(e); bad != nil {
		return &Refusal{RunID: e.RunID, Seq: e.Seq, Kind: e.Kind(), Rule: bad.rule, Reason: bad.reason}
	}
	row := e.Body.info()
	if row.apply != nil {
		row.apply(e.Body, f)
	}
	f.s.RunID, f.s.Seq, f.s.UpdatedAt = e.RunID, e.Seq, e.Time
	if row.Level != Delta {
		f.s.Milestone = e.Seq
	}
	return nil
}

// Apply returns the State after the event, or the unchanged State and a [*Refusal]. It is [Fold.Apply] for one event:
// a loop over a log is better off with a [Fold].
func (s State) Apply(e Event) (State, error) {
	f := bares.Get().(*Fold)
	f.s = s
	f.s.clip()
	err := f.Apply(e)
	if err == nil {
		s = f.s
	}
	*f = Fold{bare: true}
	bares.Put(f)
	return s, err
}

// bares has Folds for one event each.
var bares = sync.Pool{New: func() any { return &Fold{bare: true} }}

// State returns what the events add up to. It never changes, and is the same one until another event is applied.
func (f *Fold) State() State {
	f.tasks.own, f.streams.own, f.progress.own, f.calls.own = false, false, false, false
	f.artifacts.own, f.inputs.own, f.children.own, f.steps.own = false, false, false, false
	f.ownWriters = false
	return f.s
}

// Look returns the State as it grows: it is read at once, and never kept or changed.
func (f *Fold) Look() *State { return &f.s }

// Task returns the task's state, or false when it has not started.
func (f *Fold) Task(name string) (TaskState, bool) {
	return pick(f.s.Tasks, f.tasks.find(f.s.Tasks, name, f.bare))
}

// Stream returns the stream, or false when nothing was said on it.
func (f *Fold) Stream(name string) (Stream, bool) { return pick(f.s.Streams, f.stream(name)) }

// Input returns the request, or false when nobody asked.
func (f *Fold) Input(request string) (Input, bool) { return pick(f.s.Inputs, f.input(request)) }

// Child returns the sub-run, or false when it has not started.
func (f *Fold) Child(id RunID) (ChildState, bool) { return pick(f.s.Children, f.child(id)) }

// Call returns the model call or tool call, or false when it has not started.
func (f *Fold) Call(id string) (Call, bool) { return pick(f.s.Calls, f.call(id)) }

// OpenInputs returns how many requests have no answer.
func (f *Fold) OpenInputs() int { return f.inputs.live }

// OpenChildren returns how many sub-runs have not ended.
func (f *Fold) OpenChildren() int {
	if f.bare {
		return living(f.s.Children)
	}
	return f.children.live
}

func pick[T any](list []T, i int) (T, bool) {
	if i < 0 {
		var none T
		return none, false
	}
	return list[i], true
}

func (f *Fold) stream(name string) int   { return f.streams.find(f.s.Streams, name, f.bare) }
func (f *Fold) told(task string) int     { return f.progress.find(f.s.Progress, task, f.bare) }
func (f *Fold) call(id string) int       { return f.calls.find(f.s.Calls, id, f.bare) }
func (f *Fold) artifact(name string) int { return f.artifacts.find(f.s.Artifacts, name, f.bare) }
func (f *Fold) input(request string) int { return f.inputs.find(f.s.Inputs, request, f.bare) }
func (f *Fold) child(id RunID) int       { return f.children.find(f.s.Children, string(id), f.bare) }
func (f *Fold) step(name string) int     { return f.steps.find(f.s.Steps, name, f.bare) }

// legal returns why the event may not come now, or nil; it changes nothing.
func (f *Fold) legal(e Event) *broken {
	if f.s.Status.IsEnded() {
		return breaks(RuleEnded, "the run has ended as %s", f.s.Status)
	}
	row := rowOf(e.Body)
	if row == stranger || misnamed(e.Body) {
		return breaks(RuleBody, "the event has no body of its kind")
	}
	if bad := f.s.legalNumbers(e, row); bad != nil {
		return bad
	}
	if bad := f.s.legalPhase(row); bad != nil || row.legal == nil {
		return bad
	}
	f.at = moment{time: e.Time, fresh: e.From == f.s.Seq+1, numbers: e.Seq - e.From + 1}
	return row.legal(e.Body, f)
}

// misnamed reports an Unknown that hides one of the known kinds from its rules.
func misnamed(b Body) bool {
	u, ok := b.(Unknown)
	return ok && (u.Type == "" || u.Type.Known())
}

// legalNumbers holds the law of numbers.
func (s *State) legalNumbers(e Event, row *KindInfo) *broken {
	recovers := row.rewind != nil && row.rewind(e.Body) != nil
	switch {
	case e.RunID == "" || s.RunID != "" && e.RunID != s.RunID:
		return breaks(RuleRun, "the event is of run %q, the log of %q", e.RunID, s.RunID)
	case e.From == 0 || e.From > e.Seq:
		return breaks(RuleOrder, "from %d is not between 1 and seq %d", e.From, e.Seq)
	case e.From > s.Seq+1 || e.Seq <= s.Seq:
		return breaks(RuleOrder, "%d..%d does not continue %d", e.From, e.Seq, s.Seq)
	case recovers && e.Seq-e.From != Reserve:
		return breaks(RuleSpan, "recovery skips the reserve, not %d numbers", e.Seq-e.From)
	case e.From == e.Seq:
		return nil
	case e.From <= s.Milestone:
		return breaks(RuleSpan, "%d..%d reaches back over the milestone %d", e.From, e.Seq, s.Milestone)
	case row.Level != Delta && !recovers:
		return breaks(RuleSpan, "only a delta or a recovery stands for more than one number")
	}
	return nil
}

// legalPhase holds what may happen before the run has started, and while it is canceling.
func (s *State) legalPhase(row *KindInfo) *broken {
	switch {
	case (row == runQueued) != (s.Seq == 0):
		return breaks(RuleOpening, "run.queued opens the log and comes once")
	case s.Status == Pending && !row.early:
		return breaks(RuleOpening, "the run has not started")
	case s.Canceling && row.begins:
		return breaks(RuleCancel, "a cancel has been accepted")
	}
	return nil
}
