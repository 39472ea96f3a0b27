package plan

import (
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// Replayed are the ends of steps that a new core comes to from the log of a run, with what became of its sub-runs.
func Replayed(in Input, config Config, events []messages.Event, child func(messages.RunID) messages.State) ([]messages.StepEnded, error) {
	g, err := compile(in.Plan, config.Jobs)
	if err != nil {
		return nil, err
	}
	params, err := in.Plan.Values(in.Params)
	if err != nil {
		return nil, err
	}
	log, err := recall(func(yield func(messages.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	var ends []messages.StepEnded
	c, started := newCore(g, params), map[pastWork]move{}
	take := func(moves []move) {
		for _, m := range moves {
			switch m.do {
			case doStart:
				started[pastWork{m.name, m.start}] = m
			case doEnd:
				ends = append(ends, messages.StepEnded{Step: m.name, Outcome: string(m.outcome), Next: nextSteps(m.next), Reason: clipped(m.reason)})
			}
		}
	}
	take(c.begin())
	for _, key := range log.order {
		m, ok := started[key]
		if !ok {
			continue
		}
		said := log.ended[key]
		e := ending{outcome: Outcome(said.Outcome), cause: messages.CauseInvalidInput, message: said.Reason}
		if id := log.children[childName(m)]; id != "" {
			e = endingOf(child(id))
		}
		take(c.ended(m.unit, e))
	}
	return slices.Clip(ends), nil
}
