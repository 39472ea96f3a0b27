package journal

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Fault is a fault in a log, in a proof of one, or in a journal.
type Fault struct {
	// Run is the run with the faulty log, or "" if that is unknown.
	Run messages.RunID `json:"run_id,omitempty"`
	// Seq is the number of the first event in doubt, or 0.
	Seq  uint64        `json:"seq,omitempty"`
	Rule messages.Rule `json:"rule"`
	Says string        `json:"says"`
}

// Rules that a Fault can name besides the rules of [messages.State.Apply].
const (
	RuleBlock messages.Rule = "block" // a block holds the bytes that were written
	ruleChain messages.Rule = "chain" // a block follows the one before it, and so does the hash over the milestones
	RuleList  messages.Rule = "list"  // the lists agree with the logs
	RuleStore messages.Rule = "store" // the database is sound
	RuleProof messages.Rule = "proof" // a proof ends with the signature of everything before it
	RuleFile  messages.Rule = "file"  // a file is the one that the run wrote
	// RuleLedger: the logs are those that the ledger of ends has entries of.
	RuleLedger messages.Rule = "ledger"
)

// Error names the event, the fault and the rule.
func (f *Fault) Error() string {
	if f.Seq == 0 {
		return fmt.Sprintf("%s [%s]", f.Says, f.Rule)
	}
	return fmt.Sprintf("event %d: %s [%s]", f.Seq, f.Says, f.Rule)
}

// Audit checks a run's log, block by block: each block is whole and follows the one before, the reducer accepts every
// event, and the terminal names the artifacts that were written. Make one with only Run set. It is not safe for
// concurrent use.
type Audit struct {
	Run messages.RunID
	// Chain is the log's position after the blocks that were added.
	Chain  Chain
	Events int
	fold   messages.Fold
}

// Add checks the next block and returns its events. The error is a [*Fault].
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

// fault returns the error as a Fault of this run. An error that is not a Fault belongs to the next block.
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

// apply checks one event, and that a terminal names the run's artifacts.
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

// Log summarizes a log that was checked.
type Log struct {
	Run    messages.RunID  `json:"run_id"`
	Status messages.Status `json:"status"`
	// Seq is the number of the last event. Chain is the hash over the milestones.
	Seq   uint64 `json:"seq"`
	Chain string `json:"chain"`
	// Artifacts are the files that the run wrote.
	Artifacts []messages.Artifact `json:"artifacts,omitempty"`
	// Key is the public half of the key that signed a proof of the log.
	Key []byte `json:"key,omitempty"`
}

// Log summarizes the blocks that were added.
func (a *Audit) Log() Log {
	s := a.fold.Peek()
	return Log{Run: a.Run, Status: s.Status, Seq: a.Chain.Seq, Chain: a.Chain.Hash.String(), Artifacts: slices.Clone(s.Artifacts)}
}

// Report is the result of checking a journal or proofs.
type Report struct {
	Runs   int `json:"runs"`
	Events int `json:"events"`
	// Logs are the runs that the check was asked for by name.
	Logs []Log `json:"logs,omitempty"`
	// Removed are the runs whose logs somebody has removed.
	Removed []Removed `json:"removed,omitempty"`
	// Ledger sums up the ledgers of ends. It is nil if the journal has none, or was not asked for all runs.
	Ledger *LedgerLog `json:"ledger,omitempty"`
	Faults []Fault    `json:"faults"`
}

// Removed records what somebody removed with a log.
type Removed struct {
	Log
	RemovedAt time.Time `json:"removed_at"`
}
