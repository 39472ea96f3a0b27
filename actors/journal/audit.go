package journal

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Fault is what is wrong in a log, in a proof of it, or in a journal.
type Fault struct {
	// Run is whose log is wrong, or "" where that is not known.
	Run messages.RunID `json:"run_id,omitempty"`
	// Seq is the number of the first event in doubt, or 0.
	Seq  uint64        `json:"seq,omitempty"`
	Rule messages.Rule `json:"rule"`
	Says string        `json:"says"`
}

// The rules that a Fault names beside those that [messages.State.Apply] holds events to.
const (
	RuleBlock messages.Rule = "block" // a block holds the bytes that were written
	RuleChain messages.Rule = "chain" // a block follows the one before it, and so does the hash over the milestones
	RuleList  messages.Rule = "list"  // the lists say what the logs say
	RuleStore messages.Rule = "store" // the database is sound
	RuleProof messages.Rule = "proof" // a proof ends with the signature of all that is before it
	RuleFile  messages.Rule = "file"  // a file is the one that the run wrote
)

// Error names the event, the fault and the rule.
func (f *Fault) Error() string {
	if f.Seq == 0 {
		return fmt.Sprintf("%s [%s]", f.Says, f.Rule)
	}
	return fmt.Sprintf("event %d: %s [%s]", f.Seq, f.Says, f.Rule)
}

// Audit checks a run's log, block by block: that each is whole and follows the one before it, that the reducer accepts
// every event, and that the terminal names the artifacts that were written. Make one with the Run alone.
type Audit struct {
	Run messages.RunID
	// Chain is where the log stands after the blocks that were added.
	Chain  Chain
	Events int
	fold   messages.Fold
}

// Add checks the next block, and returns its events. An error is a [*Fault].
func (a *Audit) Add(b StoredBlock) ([]messages.Event, error) {
	chain, events, err := b.Check(a.Chain)
	for _, e := range events {
		if err == nil {
			err = a.apply(e)
		}
	}
	if err != nil {
		return nil, a.fault(err)
	}
	a.Chain, a.Events = chain, a.Events+len(events)
	return events, nil
}

// fault is the error with the run. What is no Fault yet is of the block that comes next.
func (a *Audit) fault(err error) *Fault {
	f := &Fault{Seq: a.Chain.Seq + 1, Rule: RuleBlock, Says: err.Error()}
	if refused, ok := errors.AsType[*messages.Refusal](err); ok {
		f.Seq, f.Rule, f.Says = refused.Seq, refused.Rule, refused.Reason
	}
	if known, ok := errors.AsType[*Fault](err); ok {
		f = known
	}
	f.Run = a.Run
	return f
}

func (a *Audit) apply(e messages.Event) error {
	if e.RunID != a.Run {
		return &Fault{Seq: e.Seq, Rule: messages.RuleRun, Says: fmt.Sprintf("it is of run %s", e.RunID)}
	}
	made := a.fold.Peek().Artifacts
	if err := a.fold.Apply(e); err != nil || !e.IsTerminal() {
		return err
	}
	s := a.fold.Peek()
	if !slices.EqualFunc(s.Artifacts, made, func(named, made messages.Artifact) bool {
		made.Partial = made.Partial || s.Status == messages.Canceled
		return named == made
	}) {
		return &Fault{Seq: e.Seq, Rule: messages.RuleArtifact, Says: "the terminal names other files than the run wrote"}
	}
	return nil
}

// Log is what a log that was checked adds up to.
type Log struct {
	Run    messages.RunID  `json:"run_id"`
	Status messages.Status `json:"status"`
	// Seq is the number of the last event, and Chain the hash over the milestones.
	Seq   uint64 `json:"seq"`
	Chain string `json:"chain"`
	// Artifacts are the files that the run wrote.
	Artifacts []messages.Artifact `json:"artifacts,omitempty"`
	// Key is the public half of the key that has signed a proof of the log.
	Key []byte `json:"key,omitempty"`
}

// Log sums up the blocks that were added.
func (a *Audit) Log() Log {
	s := a.fold.Peek()
	return Log{Run: a.Run, Status: s.Status, Seq: a.Chain.Seq, Chain: a.Chain.Hash.String(), Artifacts: slices.Clone(s.Artifacts)}
}

// Report is what a check of a journal or of proofs has found.
type Report struct {
	Runs   int `json:"runs"`
	Events int `json:"events"`
	// Logs are the runs that the check was asked about by name.
	Logs []Log `json:"logs,omitempty"`
	// Removed are the runs that somebody has removed.
	Removed []Removed `json:"removed,omitempty"`
	Faults  []Fault   `json:"faults"`
}

// Removed says what went when somebody removed a log.
type Removed struct {
	Log
	RemovedAt time.Time `json:"removed_at"`
}
