package messages

import (
	"cmp"
	"encoding/json"
	"time"
)

// RunQueued is the first event of every log: number 1.
type RunQueued struct {
	// Job is the name of the job.
	Job string `json:"job"`
	// Version is the version of the job's code, if the job names one.
	Version string `json:"version,omitempty"`
	// Title says in a few words what the run is about, if its job says so.
	Title string `json:"title,omitempty" text:"any"`
	// Input is the job's input as JSON, without secrets.
	Input json.RawMessage `json:"input,omitempty"`
	// Principal is on whose behalf the run is; "" is whoever runs the program.
	Principal string `json:"principal,omitempty"`
	// Mode says what happens when the caller leaves.
	Mode Mode `json:"mode"`
	// Labels are the caller's own, for example the id of a conversation.
	Labels map[string]string `json:"labels,omitempty"`
	// Parent is the run that started this one, or "".
	Parent RunID `json:"parent,omitempty"`
	// After is the run of the same conversation that this one waits for, or "".
	After RunID `json:"after,omitempty"`
	// Place, if set, is a time of RFC 3339: it orders the run among those that wait, as if it had been queued then.
	Place string `json:"place,omitempty"`
	// Limits hold for this run.
	Limits Limits `json:"limits"`
}

// Mode says what happens to a run when its caller leaves.
type Mode string

// An attached run is cancelled when its caller leaves; a detached run continues.
const (
	Attached Mode = "attached"
	Detached Mode = "detached"
)

// Limits bound a run. Zero means the default of the node that accepts the run.
type Limits struct {
	// WallClockMS is the longest the run may take, in milliseconds.
	WallClockMS int64 `json:"wall_clock_ms,omitempty"`
	// StallMS is the longest the run may go without an event, in milliseconds.
	StallMS int64 `json:"stall_ms,omitempty"`
	// Bytes bounds the run's log after merging.
	Bytes int64 `json:"bytes,omitempty"`
	// Budget bounds what the run and its sub-runs spend. OnBudget says what follows when it is used up.
	Budget   Budget   `json:"budget,omitzero"`
	OnBudget OnBudget `json:"on_budget,omitempty"`
}

// Or returns the limits; where they are zero it returns the others.
func (l Limits) Or(others Limits) Limits {
	return Limits{WallClockMS: cmp.Or(l.WallClockMS, others.WallClockMS), StallMS: cmp.Or(l.StallMS, others.StallMS),
		Bytes: cmp.Or(l.Bytes, others.Bytes), Budget: l.Budget.Or(others.Budget), OnBudget: cmp.Or(l.OnBudget, others.OnBudget)}
}

func (RunQueued) info() *KindInfo { return runQueued }

var runQueued = row(RunQueued{}, KindRunQueued, "run", "The run exists: its job, input without secrets, owner and limits.", traits{
	legal: with(func(b RunQueued, _ *Fold) *Refusal {
		return when(b.Job == "", RuleBody, "run.queued names no job")
	}),
	apply: to(func(b RunQueued, f *Fold) {
		f.s.Status, f.s.Queued, f.s.QueuedAt, f.s.Log.Next, f.s.After, f.s.Place = Pending, &b, f.s.UpdatedAt, 1, b.After, b.Place
	}),
	list: to(func(b RunQueued, s *Summary) {
		s.Job, s.Principal, s.Labels, s.Status, s.QueuedAt = b.Job, b.Principal, b.Labels, Pending, s.UpdatedAt
		if s.Input = inputWords(b.Title, b.Input); b.Limits.Budget != (Budget{}) {
			s.Budget = &b.Limits.Budget
		}
	}),
})

// RunStarted says that the run's actor has begun, and on which node.
type RunStarted struct {
	// Node is the name of the node that owns the run.
	Node string `json:"node,omitempty"`
	// Epoch is the owner's epoch: greater than any before it in the log.
	Epoch uint64 `json:"epoch,omitempty"`
}

func (RunStarted) info() *KindInfo { return runStarted }

var runStarted = row(RunStarted{}, KindRunStarted, "run", "The run's actor has begun.", traits{
	early: true, begins: true,
	legal: with(func(_ RunStarted, f *Fold) *Refusal {
		return when(f.s.Status != Pending, ruleOpening, "the run has started already")
	}),
	apply: to(func(b RunStarted, f *Fold) { f.s.Status, f.s.Node, f.s.Epoch = Processing, b.Node, b.Epoch; f.begins() }),
	list:  to(func(_ RunStarted, s *Summary) { s.Status, s.Cause = Processing, "" }),
})

// RunRecovered says that the run continues after its process died. Each task that was running waits for another
// attempt, and questions stay open.
type RunRecovered struct {
	// Node is the name of the node that owns the run now.
	Node string `json:"node,omitempty"`
	// Epoch is the owner's epoch: greater than any before it in the log.
	Epoch uint64 `json:"epoch,omitempty"`
	// Restart says that the run starts again: completed tasks wait for another attempt too.
	Restart bool `json:"restart,omitempty"`
	// Rewind takes readers back to what the journal holds.
	Rewind *Rewind `json:"rewind"`
}

func (RunRecovered) info() *KindInfo { return runRecovered }

var runRecovered = row(RunRecovered{}, KindRunRecovered, "run", "The run goes on after its process died; carries a rewind.", traits{
	early: true, takesBack: true,
	rewind: of(func(b RunRecovered) *Rewind { return b.Rewind }),
	legal: with(func(b RunRecovered, f *Fold) *Refusal {
		if b.Rewind == nil {
			return violates(ruleRewind, "run.recovered carries a rewind")
		}
		return f.legalRewind(b.Rewind)
	}),
	apply: to(func(b RunRecovered, f *Fold) {
		f.rewind(b.Rewind)
		wait := func(t TaskState) { t.Status = TaskWaiting; f.setTask(t) }
		for _, i := range open(f.s.Tasks) {
			f.forfeit(f.s.Tasks[i].Name)
			wait(f.s.Tasks[i])
		}
		for _, t := range f.s.Tasks {
			if b.Restart && t.Status == TaskFinished {
				wait(t)
			}
		}
		f.s.Node, f.s.Epoch = b.Node, b.Epoch
		f.s.Recoveries++
	}),
})

// RunCanceling accepts a cancel: from now on only run.canceled can end the run.
type RunCanceling struct {
	// ID is the id of the command that asked, or "".
	ID string `json:"id,omitempty"`
	// By is the principal who asked, or "".
	By string `json:"by,omitempty"`
	// Reason is what the canceller wrote, for people.
	Reason string `json:"reason,omitempty" text:"any"`
}

func (RunCanceling) info() *KindInfo { return runCanceling }

var runCanceling = row(RunCanceling{}, KindRunCanceling, "run", "Cancel is accepted; the run will end as run.canceled.", traits{
	early: true, begins: true,
	apply: to(func(_ RunCanceling, f *Fold) { f.s.Canceling = true }),
	list:  to(func(_ RunCanceling, s *Summary) { s.Canceling = true }),
})

// Duration is a duration that JSON writes as text, such as 90s.
type Duration time.Duration

// MarshalText writes the time as [time.Duration.String] does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what [time.ParseDuration] does.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// Busy says what becomes of a start in a conversation whose turn works.
type Busy string

// The run waits (the default), its message goes to the working turn, or the start is refused. A turn that only waits
// for people is superseded.
const (
	BusyQueue     Busy = "queue"
	BusySteer     Busy = "steer"
	BusyInterrupt Busy = "interrupt"
	BusyReject    Busy = "reject"
)

// MostWaiting bounds the runs that wait in a conversation. HeldFor is how long a held run waits for a person.
const (
	MostWaiting = 16
	HeldFor     = 24 * time.Hour
)

// RunHeld says that a run that waits does not begin by itself: the run before it failed or was canceled.
type RunHeld struct {
	// After is the run that did not complete.
	After RunID `json:"after"`
}

func (RunHeld) info() *KindInfo { return runHeld }

var runHeld = row(RunHeld{}, KindRunHeld, "run", "The run before it did not complete: a person releases it, or cancels it.", traits{
	early: true, begins: true,
	legal: with(func(_ RunHeld, f *Fold) *Refusal {
		return when(f.s.After == "" || !f.s.HeldAt.IsZero(), ruleOpening, "the run does not wait, or is held already")
	}),
	apply: to(func(_ RunHeld, f *Fold) { f.s.HeldAt = f.s.UpdatedAt }),
	list:  to(func(_ RunHeld, s *Summary) { s.Cause = held }),
})

// RunReleased says that a person lets a held run begin.
type RunReleased struct {
	// ID is the id of the command that asked, or "".
	ID string `json:"id,omitempty"`
	// By is the principal who asked, or "".
	By string `json:"by,omitempty"`
}

func (RunReleased) info() *KindInfo { return runReleased }

var runReleased = row(RunReleased{}, KindRunReleased, "run", "A person lets a held run begin.", traits{
	early: true, begins: true,
	legal: with(func(_ RunReleased, f *Fold) *Refusal {
		return when(f.s.HeldAt.IsZero(), ruleOpening, "the run is not held")
	}),
	apply: to(func(_ RunReleased, f *Fold) { f.begins() }),
	list:  to(func(_ RunReleased, s *Summary) { s.Cause = "" }),
})

// RunMoved gives a run that waits another place in its conversation. It is not held any more.
type RunMoved struct {
	// By is the principal who asked, or "".
	By string `json:"by,omitempty"`
	// Replaces is the run that was replaced by another in front of this one, or "" if a person moved one.
	Replaces RunID `json:"replaces,omitempty"`
	// After is the run that it waits for now.
	After RunID `json:"after"`
	// Place is a time of RFC 3339: it orders the run among those that wait, as if it had been queued then.
	Place string `json:"place"`
}

func (RunMoved) info() *KindInfo { return runMoved }

var runMoved = row(RunMoved{}, KindRunMoved, "run", "A person gives a run that waits another place.", traits{
	early: true, begins: true,
	legal: with(func(b RunMoved, f *Fold) *Refusal {
		return when(f.s.After == "" || b.After == "" || b.After == f.s.RunID, ruleOpening, "the run does not wait, or would wait for itself")
	}),
	apply: to(func(b RunMoved, f *Fold) { f.s.After, f.s.Place, f.s.HeldAt = b.After, b.Place, time.Time{} }),
	list:  to(func(_ RunMoved, s *Summary) { s.Cause = "" }),
})

// begins ends the wait for the run before.
func (f *Fold) begins() {
	if f.s.After != "" {
		f.s.After, f.s.HeldAt, f.s.BeganAt = "", time.Time{}, f.s.UpdatedAt
	}
}
