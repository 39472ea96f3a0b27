package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/internal/plan/internal/expression"
	"github.com/seed889630bf/lastword/messages"
)

// endUnit decides what follows the end of a unit: another attempt, another round, or the end of its step.
func (c *core) endUnit(u unit, e ending) {
	n, s := &c.steps[u.step], &c.states[u.step]
	w := &s.work[u.item]
	s.live--
	if e.outcome != completed && s.stopped != "" {
		e.outcome, e.message = canceled, s.stopped
	}
	if s.stopped == "" && e.outcome != completed && n.triesAgain(e.cause, w.tries) {
		delay := n.delay(w.tries)
		c.again(u, e.outcome, delay, fmt.Sprintf("attempt %d of %d ended by %s; the next comes in %v", w.tries, n.attempts(),
			e.cause, delay))
		return
	}
	if n.Repeat != nil && e.outcome == completed && s.stopped == "" {
		var next string
		if e, next = c.round(u, e); next != "" {
			c.again(u, e.outcome, 0, next)
			return
		}
	}
	if n.items == nil {
		c.endStep(u.step, e)
		return
	}
	s.results[u.item] = e.values(w.starts, nil)
	c.moves = append(c.moves, move{do: doEnd, unit: u, name: c.name(u), start: w.starts, outcome: e.outcome, reason: e.message})
	if e.outcome == completed {
		s.completedItems++
	} else if s.broken == nil && s.stopped == "" {
		e.outcome, e.message = failed, c.name(u)+": "+e.message
		s.broken = &e
		if !n.goesOn {
			c.stop(u.step, c.name(u)+" failed")
			return
		}
	}
	c.startItems(u.step)
}

// round decides what follows a round of a loop. next is why another round follows, or "".
func (c *core) round(u unit, e ending) (end ending, next string) {
	n, s := &c.steps[u.step], &c.states[u.step]
	w := &s.work[u.item]
	done, err := n.until == nil && w.rounds+1 >= n.Repeat.Most, error(nil)
	s.last = e.values(w.rounds+1, nil)
	if n.until != nil {
		c.inside(u, func(environment expression.Environment) { done, err = n.until.True(c.ctx, c.budget, environment) })
	}
	w.rounds++
	w.tries = 0
	if err != nil {
		return invalid(err), ""
	}
	switch {
	case done:
		return e, ""
	case w.rounds < n.Repeat.Most && n.until == nil:
		return e, fmt.Sprintf("round %d of %d", w.rounds, n.Repeat.Most)
	case w.rounds < n.Repeat.Most:
		return e, fmt.Sprintf("round %d of at most %d: %s is false", w.rounds, n.Repeat.Most, n.until)
	}
	e.outcome, e.cause = failed, messages.CauseLimitExceeded
	e.message = fmt.Sprintf("%s is still false after %d rounds", n.until, w.rounds)
	return e, ""
}

// again ends a round or an attempt, and starts the next one.
func (c *core) again(u unit, how Outcome, delay time.Duration, why string) {
	c.moves = append(c.moves, move{do: doEnd, unit: u, name: c.name(u), start: c.states[u.step].work[u.item].starts,
		outcome: how, next: []string{c.name(u)}, reason: why})
	c.launch(u, delay, why)
}

// lost are the causes after which nobody knows how far a step got.
var lost = []messages.Code{messages.CauseNodeLost, messages.CauseShutdown, messages.CauseJournalUnavailable}

// passing are the causes of temporary errors.
var passing = []messages.Code{messages.CauseProviderError, messages.CauseTransportClosed, messages.CauseEmptyCompletion,
	messages.CauseInvalidOutput, messages.CauseStalled, messages.CauseDeadline}

// attempts returns how often the step may be tried.
func (s *Step) attempts() int {
	if s.Retry == nil {
		return 3
	}
	return s.Retry.Attempts
}

// triesAgain reports whether the step is tried again. A step that must not run twice is tried again only if it is
// known to have ended.
func (s *Step) triesAgain(cause messages.Code, tries int) bool {
	if tries >= s.attempts() {
		return false
	}
	if slices.Contains(lost, cause) {
		return s.runsAgain()
	}
	if s.Retry == nil {
		return false
	}
	causes := s.Retry.Causes
	if len(causes) == 0 {
		causes = passing
	}
	return slices.Contains(causes, cause)
}

// runsAgain reports whether the step may run again if nobody knows how far it got.
func (s *Step) runsAgain() bool { return s.Idempotent || s.Read != nil || s.Write != nil }

// longestDelay bounds the wait between attempts.
const longestDelay = time.Minute

// delay returns the wait before the next attempt.
func (s *Step) delay(tries int) time.Duration {
	d := time.Second
	if s.Retry != nil {
		d = cmp.Or(time.Duration(s.Retry.Delay), d)
	}
	return max(d, min(min(d, longestDelay)<<min(tries-1, 20), longestDelay))
}

// endStep ends a step that has begun.
func (c *core) endStep(i int, e ending) { c.end(i, e, e.message) }

// skip ends a step that has not begun.
func (c *core) skip(i int, why string) { c.end(i, ending{outcome: skipped}, why) }

// end records the end of a step.
func (c *core) end(i int, e ending, why string) {
	n, s := &c.steps[i], &c.states[i]
	rounds := 0
	if len(s.work) > 0 {
		rounds = s.work[0].starts
		if n.Repeat != nil {
			rounds = s.work[0].rounds
		}
	}
	if c.over == nil {
		c.over = make([]ending, len(c.steps))
	}
	s.phase = ended
	c.left--
	c.over[i] = e
	c.values[n.Name] = e.values(rounds, s.results)
	m := move{do: doEnd, unit: unit{step: i}, name: n.Name, outcome: e.outcome, reason: why}
	if n.items == nil && len(s.work) > 0 {
		m.start = s.work[0].starts
	}
	s.items, s.work, s.results, s.last = nil, nil, nil, nil
	c.moves = append(c.moves, m)
	c.fresh = append(c.fresh, len(c.moves)-1)
	if (e.outcome == failed || e.outcome == canceled && s.stopped == "") && !n.goesOn && c.failure == nil {
		c.fail(i, e)
	}
}

// stop cancels a step, whatever it is doing.
func (c *core) stop(i int, why string) {
	s := &c.states[i]
	if s.stopped != "" || s.phase == ended {
		return
	}
	s.stopped = why
	c.ready = slices.DeleteFunc(c.ready, func(u unit) bool { return u.step == i })
	s.waiting = 0
	c.cancel(i)
}

// cancel cancels the step's running work. A step without running or queued work ends at once.
func (c *core) cancel(i int) {
	s := &c.states[i]
	switch {
	case s.phase == waiting || s.phase == queued:
		c.skip(i, s.stopped)
	case s.live == 0:
		c.startItems(i)
	default:
		for k := range s.work {
			if s.work[k].live {
				u := unit{i, k}
				c.moves = append(c.moves, move{do: doStop, unit: u, name: c.name(u), reason: s.stopped})
			}
		}
	}
}

// fail ends the plan: it cancels what runs, and skips what waits.
func (c *core) fail(i int, e ending) {
	c.failure, c.failed = &e, c.steps[i].Name
	c.ready = nil
	for j := range c.states {
		if s := &c.states[j]; s.phase != ended && s.stopped == "" {
			s.stopped, s.waiting = c.failed+" failed, which ends the plan", 0
			c.cancel(j)
		}
	}
}
