package messages

import (
	"encoding/json"
	"strings"
)

// ChildStarted says that a sub-run began; its id is the parent's with ".c" and a number.
type ChildStarted struct {
	Child RunID  `json:"child"`
	Job   string `json:"job"`
	// Task started the child under this Name. Another attempt that starts a child of that name gets the same child.
	Task string `json:"task,omitempty"`
	Name string `json:"name,omitempty"`
	// Grant is the child's part of the run's budget. It spends from that alone.
	Grant Budget `json:"grant,omitzero"`
}

func (ChildStarted) info() *KindInfo { return childStarted }

var childStarted = row(ChildStarted{}, KindChildStarted, "children", "A sub-run began; its own log is under its own id.", traits{
	begins: true,
	legal: with(func(b ChildStarted, f *Fold) *Refusal {
		bad := !strings.HasPrefix(string(b.Child), string(f.s.RunID)+".c") || f.child(b.Child) >= 0
		return when(bad, ruleChild, "%q is not a new child of %s", b.Child, f.s.RunID)
	}),
	apply: to(func(b ChildStarted, f *Fold) {
		f.grant(-1, ChildState{Child: b.Child, Job: b.Job, Task: b.Task, Name: b.Name, Status: Processing}, b.Grant)
		f.openChildren++
	}),
})

// ChildEnded says that a sub-run has ended.
type ChildEnded struct {
	Child RunID `json:"child"`
	// Status is completed, failed or canceled.
	Status Status `json:"status"`
	// Cause is the reason in its terminal; "" if it completed.
	Cause Code `json:"cause,omitempty"`
	// WaitedMS is how long the sub-run waited for people, in milliseconds.
	WaitedMS int64 `json:"waited_ms,omitempty"`
	// Spent is what it has spent; the rest of its grant is the run's again. Added is what people have added to its budget.
	Spent Budget `json:"spent,omitzero"`
	Added Budget `json:"added,omitzero"`
	// Estimated says that a part of Spent is an estimate.
	Estimated bool `json:"estimated,omitempty"`
}

func (ChildEnded) info() *KindInfo { return childEnded }

var childEnded = row(ChildEnded{}, KindChildEnded, "children", "A sub-run has its terminal.", traits{
	legal: with(func(b ChildEnded, f *Fold) *Refusal {
		child, known := f.Child(b.Child)
		bad := !known || child.Status.IsEnded() || !b.Status.IsEnded()
		return when(bad, ruleChild, "child %q is not running, or does not end as %q", b.Child, b.Status)
	}),
	apply: to(func(b ChildEnded, f *Fold) {
		i := f.child(b.Child)
		c := f.s.Children[i]
		c.Status, c.WaitedMS = b.Status, b.WaitedMS
		if c.Grant != nil {
			p := f.purse()
			p.Granted, c.Grant = p.Granted.Minus(*c.Grant), nil
		}
		f.children.put(&f.s.Children, i, c)
		f.openChildren--
		if f.spend(b.Spent, b.Estimated); b.Added != (Budget{}) {
			f.addBudget(b.Added)
		}
	}),
	list: to(func(b ChildEnded, s *Summary) {
		s.spend(b.Spent, b.Estimated)
		s.add(b.Added)
	}),
})

// StepStarted says that a step of a plan began.
type StepStarted struct {
	Step string `json:"step"`
	Task string `json:"task,omitempty"`
}

func (StepStarted) info() *KindInfo { return stepStarted }

var stepStarted = row(StepStarted{}, KindStepStarted, "plan", "A step of a plan began.", traits{
	begins: true, taskSays: true,
	legal: with(func(b StepStarted, f *Fold) *Refusal {
		if i := f.step(b.Step); b.Step == "" || i >= 0 && f.s.Steps[i].Running {
			return violates(ruleStep, "step %q has no name, or is running", b.Step)
		}
		return f.legalSpeaker(b.Task)
	}),
	apply: to(func(b StepStarted, f *Fold) {
		i, next := f.step(b.Step), StepState{Name: b.Step, Task: b.Task, Rounds: 1, Running: true}
		if i >= 0 {
			next.Rounds += f.s.Steps[i].Rounds
		}
		f.steps.put(&f.s.Steps, i, next)
	}),
})

// StepSkipped is the outcome of a step that never began. No other step has it.
const StepSkipped = "skipped"

// StepEnded says how a step ended, and what follows.
type StepEnded struct {
	Step string `json:"step"`
	Task string `json:"task,omitempty"`
	// Outcome is the word that the plan gives its result, for example ok or failed.
	Outcome string `json:"outcome"`
	// Next lists the steps that start now, for people.
	Next string `json:"next,omitempty"`
	// Reason says for people why it ended so.
	Reason string `json:"reason,omitempty" text:"any"`
}

func (StepEnded) info() *KindInfo { return stepEnded }

var stepEnded = row(StepEnded{}, KindStepEnded, "plan", "A step of a plan ended; says what follows and why.", traits{
	taskSays: true,
	legal: with(func(b StepEnded, f *Fold) *Refusal {
		i := f.step(b.Step)
		switch running := i >= 0 && f.s.Steps[i].Running; {
		case b.Outcome == StepSkipped && (b.Step == "" || i >= 0):
			return violates(ruleStep, "step %q has no name, or began or ended before: it cannot be skipped", b.Step)
		case b.Outcome == StepSkipped:
			return f.legalSpeaker(b.Task)
		case !running:
			return violates(ruleStep, "step %q is not running", b.Step)
		}
		return nil
	}),
	apply: to(func(b StepEnded, f *Fold) {
		i, step := f.step(b.Step), StepState{Name: b.Step, Task: b.Task}
		if i >= 0 {
			step = f.s.Steps[i]
		}
		step.Running, step.Outcome = false, b.Outcome
		f.steps.put(&f.s.Steps, i, step)
	}),
})

// Notice says for people what the run goes without.
type Notice struct {
	Task string     `json:"task,omitempty"`
	Code NoticeCode `json:"code"`
	// Text says what is missing and why, in one line of up to LogLineBytes bytes.
	Text string `json:"text" text:"any"`
}

// NoticeCode is the kind of a notice. Newer versions may have others.
type NoticeCode string

// The codes of notices.
const (
	NoticeToolsMissing  NoticeCode = "tools_missing"  // a server of tools did not start, or a tool cannot be used
	NoticeToolsWithheld NoticeCode = "tools_withheld" // tools that the model may not call any more
	NoticeModelSwapped  NoticeCode = "model_swapped"  // another model answered than the one that was asked
	NoticeHistoryCut    NoticeCode = "history_cut"    // the model does not see all that was said before
	NoticeStageSkipped  NoticeCode = "stage_skipped"  // the run goes on without a part of its work
	NoticeToolChanged   NoticeCode = "tool_changed"   // the tool that the run calls is not what it was when it was first seen
	NoticeLingered      NoticeCode = "lingered"       // a program had done its work, and did not end by itself
	NoticeStepUnused    NoticeCode = "step_unused"    // an earlier attempt kept a step that the code no longer asks for
	NoticeMessageUnfit  NoticeCode = "message_unfit"  // a message is not of the form that the run waits for
)

func (Notice) info() *KindInfo { return noticed }

var noticed = row(Notice{}, KindNotice, "notices", "What the run goes without: tools, a model, a part of the history.", traits{
	taskSays: true,
	legal: with(func(b Notice, f *Fold) *Refusal {
		if b.Code == "" || b.Text == "" || len(b.Text) > LogLineBytes {
			return violates(RuleBody, "a notice has a code, and a text of up to %d bytes", LogLineBytes)
		}
		return f.legalSpeaker(b.Task)
	}),
	apply: to(func(b Notice, f *Fold) { f.s.Notices = append(f.s.Notices, b) }),
})

// FaultInjected says which fault a test injected, in which task and at which point.
type FaultInjected struct {
	// Fault is the kind of the fault, for example task.panic.
	Fault string `json:"fault"`
	Task  string `json:"task,omitempty"`
	// Point is the place in the code that it hit.
	Point string `json:"point,omitempty"`
}

func (FaultInjected) info() *KindInfo { return faultInjected }

var faultInjected = row(FaultInjected{}, KindFaultInjected, "faults", "A test injected a fault here.", traits{})

// Unknown carries an event of a kind that this version does not know, unchanged.
type Unknown struct {
	Type    Kind
	Payload json.RawMessage
}

func (Unknown) info() *KindInfo { return unknown }

// unknown is the row of all unknown kinds: milestones that change nothing.
var unknown = row(Unknown{}, "", "", "", traits{
	early: true,
})

// StepKept says that a task's step begins, or keeps its Result or Error, so that no later attempt repeats the step. An
// error that is Retryable leaves the step to the next attempt.
type StepKept struct {
	Step string `json:"step"`
	Task string `json:"task"`
	// Result is what the step returned, as JSON.
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
	// Begun: the step is about to begin. Another StepKept follows at its end.
	Begun bool `json:"begun,omitempty"`
	// Again, beside Begun: this step and its task's other steps may be repeated. Without it the step must not happen twice.
	Again bool `json:"again,omitempty"`
	// Input is the digest of the step's input, if the code names one. A kept result of another input is refused.
	Input string `json:"input,omitempty"`
	// Optional: later attempts need not ask for the step.
	Optional bool `json:"optional,omitempty"`
	// Within is the step of the same task that made this one.
	Within string `json:"within,omitempty"`
	// Since is the number of the newest event when the step began. The step's own events have greater numbers.
	Since uint64 `json:"since,omitempty"`
}

func (StepKept) info() *KindInfo { return stepKept }

var stepKept = row(StepKept{}, KindStepKept, "steps", "A task's step begins, or has ended and will not be made again.", traits{
	legal: with(StepKept.legal),
	apply: to(func(b StepKept, f *Fold) { f.kept.put(&f.s.Kept, f.keptStep(b), b) }),
})

// legal checks that the step is new, begun before, or left to another attempt by a retryable error.
func (b StepKept) legal(f *Fold) *Refusal {
	before, known := pick(f.s.Kept, f.keptStep(b))
	again := before.Begun && !b.Begun || before.Error != nil && before.Error.Retryable
	switch {
	case b.Step == "" || b.Task == "" || known && !again:
		return violates(ruleStep, "step %q of task %q repeats a name, or is kept", b.Step, b.Task)
	case b.Begun == (b.Result != nil || b.Error != nil) || b.Result != nil && b.Error != nil || b.Again && !b.Begun:
		return violates(RuleBody, "step %q begins, perhaps again, has a result or has an error", b.Step)
	case b.Begun && f.s.Canceling:
		return violates(ruleCancel, "a cancel has been accepted")
	}
	return f.legalSpeaker(b.Task)
}

func (f *Fold) keptStep(b StepKept) int { return f.kept.find(f.s.Kept, b.key(), f.single) }

func (b StepKept) key() string { return b.Task + "\x00" + b.Step }
func (b StepKept) live() bool  { return false }
