package nats

import "github.com/seed889630bf/lastword/messages"

// Told makes the journal know of a block of the run, at this sequence of the stream.
func (j *Journal) Told(run messages.RunID, at uint64) { j.index.put(run, at, mark{Last: 2}) }
