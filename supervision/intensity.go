package supervision

import (
	"fmt"
	"time"
)

// The intensity of the zero [Options].
const (
	defaultIntensity = 1
	defaultPeriod    = 5 * time.Second
)

// intensity is OTP's rule: append now, drop what is older than the period, more than the limit is too much.
type intensity struct {
	limit  int
	period time.Duration
	times  []time.Time
}

func newIntensity(o Options) intensity {
	return intensity{limit: max(orDefault(o.Intensity, defaultIntensity), 0), period: orDefault(o.Period, defaultPeriod)}
}

// add counts a restart and reports whether it is one too many.
func (i *intensity) add(now time.Time) bool {
	old := 0
	for old < len(i.times) && now.Sub(i.times[old]) > i.period {
		old++
	}
	i.times = append(i.times[:0], i.times[old:]...)
	i.times = append(i.times, now)
	return len(i.times) > i.limit
}

// Escalation is the failure of a supervisor that gave up, after it has stopped its children in order.
type Escalation struct {
	// Supervisor is the id of its PID.
	Supervisor string
	// Child is the one that was too much, and Reason its end; nil if it said goodbye.
	Child  string
	Reason error
	// Restarts is how many restarts were asked for within Period; 0 if the child could not be started.
	Restarts int
	Period   time.Duration
}

// Error names the supervisor, the child and the reason.
func (e *Escalation) Error() string {
	if e.Restarts == 0 {
		return fmt.Sprintf("supervisor %s gave up: child %q: %v", e.Supervisor, e.Child, e.Reason)
	}
	return fmt.Sprintf("supervisor %s gave up: restart %d within %v: child %q: %v",
		e.Supervisor, e.Restarts, e.Period, e.Child, e.Reason)
}

// Unwrap returns the Reason.
func (e *Escalation) Unwrap() error { return e.Reason }
