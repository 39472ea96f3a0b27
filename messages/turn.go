package messages

import "time"

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

var runHeld = row[RunHeld](KindRunHeld, "run", "The run before it did not complete: a person releases it, or cancels it.", traits{
	early: true, begins: true,
	legal: with(func(_ RunHeld, f *Fold) *Refusal {
		return when(f.s.After == "" || !f.s.HeldAt.IsZero(), RuleOpening, "the run does not wait, or is held already")
	}),
	apply: to(func(_ RunHeld, f *Fold) { f.s.HeldAt = f.s.UpdatedAt }),
})

// RunReleased says that a person lets a held run begin.
type RunReleased struct {
	// ID is the id of the command that asked, or "".
	ID string `json:"id,omitempty"`
	// By is the principal who asked, or "".
	By string `json:"by,omitempty"`
}

func (RunReleased) info() *KindInfo { return runReleased }

var runReleased = row[RunReleased](KindRunReleased, "run", "A person lets a held run begin.", traits{
	early: true, begins: true,
	legal: with(func(_ RunReleased, f *Fold) *Refusal {
		return when(f.s.HeldAt.IsZero(), RuleOpening, "the run is not held")
	}),
	apply: to(func(_ RunReleased, f *Fold) { f.begins() }),
})

// begins ends the wait for the run before.
func (f *Fold) begins() {
	if f.s.After != "" {
		f.s.After, f.s.HeldAt, f.s.BeganAt = "", time.Time{}, f.s.UpdatedAt
	}
}
