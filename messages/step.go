package messages

import (
	"encoding/json"
	"slices"
)

// StepKept keeps how a step of a task ended, so that no later attempt repeats it: its Result, or its Error. An error that
// is Retryable leaves the step to another attempt.
type StepKept struct {
	Step   string          `json:"step"`
	Task   string          `json:"task"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
	// Begun: the step must not be made twice, and is about to begin. Its end follows.
	Begun bool `json:"begun,omitempty"`
}

func (StepKept) Kind() Kind      { return KindStepKept }
func (StepKept) info() *KindInfo { return stepKept }

var stepKept = row[StepKept]("steps", "A task's step has ended, and will not be made again.", traits{
	size:  of(func(b StepKept) int { return len(b.Step) + len(b.Task) + len(b.Result) + b.Error.size() }),
	own:   with(func(b StepKept, task string) Body { b.Task = task; return b }),
	clone: of(func(b StepKept) Body { b.Result, b.Error = slices.Clone(b.Result), cloned(b.Error); return b }),
	legal: with(StepKept.legal),
	apply: to(func(b StepKept, f *Fold) { f.kept.set(&f.s.Kept, f.keptStep(b), b) }),
})

func (b StepKept) legal(f *Fold) *violation {
	before, known := pick(f.s.Kept, f.keptStep(b))
	again := before.Begun && !b.Begun || before.Error != nil && before.Error.Retryable
	switch {
	case b.Step == "" || b.Task == "" || known && !again:
		return violates(RuleStep, "step %q of task %q has no name of its own, or is kept", b.Step, b.Task)
	case b.Begun == (b.Result != nil || b.Error != nil) || b.Result != nil && b.Error != nil:
		return violates(RuleBody, "step %q begins, has a result or has an error", b.Step)
	case b.Begun && f.s.Canceling:
		return violates(RuleCancel, "a cancel has been accepted")
	}
	return f.legalSpeaker(b.Task)
}

func (f *Fold) keptStep(b StepKept) int { return f.kept.find(f.s.Kept, b.key(), f.single) }

func (b StepKept) key() string { return b.Task + "\x00" + b.Step }
func (b StepKept) live() bool  { return false }
