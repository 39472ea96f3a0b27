package messages

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
)

// RunCompleted is the terminal of a run that did its work.
type RunCompleted struct {
	By Author `json:"by"`
	// Result is the job's result, as JSON.
	Result    json.RawMessage `json:"result,omitempty"`
	Degraded  bool            `json:"degraded,omitempty"`
	Artifacts []Artifact      `json:"artifacts"`
	// ArtifactCount is the number of artifacts if the list would be too long, and otherwise 0. The artifacts are then
	// the artifacts of the earlier events.
	ArtifactCount int `json:"artifact_count,omitempty"`
}

// RunFailed is the terminal of a run that failed. Task is the task that failed, or "".
type RunFailed struct {
	By        Author     `json:"by"`
	Cause     Code       `json:"cause"`
	Task      string     `json:"task,omitempty"`
	Error     *Error     `json:"error"`
	Artifacts []Artifact `json:"artifacts"`
	// ArtifactCount is as in RunCompleted.
	ArtifactCount int     `json:"artifact_count,omitempty"`
	Rewind        *Rewind `json:"rewind,omitempty"`
}

// RunCanceled is the terminal of a run that was cancelled. All its artifacts are partial.
type RunCanceled struct {
	By        Author     `json:"by"`
	Cause     Code       `json:"cause"`
	Artifacts []Artifact `json:"artifacts"`
	// ArtifactCount is as in RunCompleted.
	ArtifactCount int     `json:"artifact_count,omitempty"`
	Rewind        *Rewind `json:"rewind,omitempty"`
}

// Author is who wrote a terminal.
type Author string

// The authors of terminals: the run itself, the runs' supervisor, recovery after a restart, another node.
const (
	ByRun        Author = "run"
	BySupervisor Author = "supervisor"
	ByRecovery   Author = "recovery"
	ByNode       Author = "node"
)

// ending is the common content of terminals.
type ending struct {
	status    Status
	end       End
	artifacts []Artifact
	count     int
	rewind    *Rewind
}

func (RunCompleted) info() *KindInfo { return runCompleted }

var runCompleted = terminal(RunCompleted{}, KindRunCompleted, "Terminal: the job's work is done and its artifacts are on disk.", traits{
	begins: true,
	wire:   of(func(b RunCompleted) Body { b.Artifacts = listed(b.Artifacts); return b }),
	ending: of(func(b RunCompleted) ending {
		return ending{Completed, End{By: b.By, Result: b.Result, Degraded: b.Degraded}, b.Artifacts, b.ArtifactCount, nil}
	}),
	legal: with(func(b RunCompleted, f *Fold) *Refusal {
		switch {
		case b.By != ByRun:
			return violates(ruleTerminal, "only the run itself completes, not %q", b.By)
		case f.unfinished() > 0:
			return violates(ruleTerminal, "%d tasks are running or waiting", f.unfinished())
		}
		return nil
	}),
})

func (RunFailed) info() *KindInfo { return runFailed }

var runFailed = terminal(RunFailed{}, KindRunFailed, "Terminal: the run ended with a cause.", traits{
	early: true, begins: true,
	wire: of(func(b RunFailed) Body { b.Artifacts = listed(b.Artifacts); return b }),
	ending: of(func(b RunFailed) ending {
		return ending{Failed, End{By: b.By, Cause: b.Cause, Task: b.Task, Error: b.Error}, b.Artifacts, b.ArtifactCount, b.Rewind}
	}),
	legal: with(func(b RunFailed, f *Fold) *Refusal {
		bad := b.Error == nil || !b.Cause.isCause()
		return when(bad, ruleTerminal, "run.failed needs an error and a cause of the closed set, not %q", b.Cause)
	}),
})

func (RunCanceled) info() *KindInfo { return runCanceled }

var runCanceled = terminal(RunCanceled{}, KindRunCanceled, "Terminal: the run ended because it was asked to.", traits{
	early: true,
	wire:  of(func(b RunCanceled) Body { b.Artifacts = listed(b.Artifacts); return b }),
	ending: of(func(b RunCanceled) ending {
		return ending{Canceled, End{By: b.By, Cause: b.Cause}, b.Artifacts, b.ArtifactCount, b.Rewind}
	}),
	legal: with(func(b RunCanceled, f *Fold) *Refusal {
		switch {
		case !f.s.Canceling:
			return violates(ruleCancel, "no cancel has been accepted")
		case !b.Cause.isCause():
			return violates(ruleTerminal, "run.canceled needs a cause of the closed set, not %q", b.Cause)
		case slices.ContainsFunc(b.Artifacts, func(a Artifact) bool { return !a.Partial }):
			return violates(RuleArtifact, "after a cancel artifacts are partial")
		}
		return nil
	}),
})

// terminal makes the row of a terminal. All terminals end a run in the same way.
func terminal(zero Body, kind Kind, says string, t traits) *KindInfo {
	last, own := t.ending, t.legal
	t.rewind = func(b Body) *Rewind { return last(b).rewind }
	t.legal = func(b Body, f *Fold) *Refusal { return cmp.Or(own(b, f), f.legalEnd(last(b))) }
	t.apply = func(b Body, f *Fold) { f.end(last(b)) }
	t.list = func(b Body, s *Summary) { s.Status, s.Cause, s.OpenRequests = last(b).status, last(b).end.Cause, nil }
	return row(zero, kind, "run", says, t)
}

// legalEnd checks the author, the artifacts, the children, the messages and the rewind of a terminal.
func (f *Fold) legalEnd(w ending) *Refusal {
	by := w.end.By
	switch {
	case by != ByRun && by != BySupervisor && by != ByRecovery && by != ByNode:
		return violates(ruleTerminal, "unknown author %q", by)
	case w.rewind != nil && by != ByRecovery:
		return violates(ruleRewind, "recovery, and nobody else, rewinds")
	case w.rewind == nil && by == ByRecovery && f.s.Recoveries == 0:
		return violates(ruleRewind, "recovery rewinds, in its terminal or in run.recovered before it")
	case w.count != 0 && (w.count != len(f.s.Artifacts) || len(w.artifacts) > 0):
		return violates(RuleArtifact, "the run has %d artifacts, not %d", len(f.s.Artifacts), w.count)
	case f.OpenChildren() > 0:
		return violates(ruleChild, "%d children have not ended", f.OpenChildren())
	case f.OpenMessages() > 0:
		return violates(ruleMessage, "%d messages are neither delivered nor dropped", f.OpenMessages())
	case w.rewind != nil:
		return f.legalRewind(w.rewind)
	}
	return nil
}

// end applies a terminal to the State.
func (f *Fold) end(w ending) {
	if w.rewind != nil {
		f.rewind(w.rewind)
	}
	w.end.At = f.s.UpdatedAt
	if f.s.Purse != nil && f.s.Purse.Reserved != (Budget{}) {
		f.spend(f.s.Purse.Reserved, true)
		f.purse().Reserved = Budget{}
	}
	f.s.Status, f.s.End = w.status, &w.end
	switch {
	case w.count == 0:
		f.s.Artifacts = listed(w.artifacts)
	case w.status == Canceled:
		f.s.Artifacts = partial(f.s.Artifacts)
	}
	f.s.ArtifactTasks = nil
	f.artifacts = indexed[Artifact]{}
}

// Terminal returns the terminal to write when the run should end as wanted. After an accepted cancel it is always
// run.canceled. The artifacts come from the State.
func (s State) Terminal(wanted Body) Body {
	list, count := s.Artifacts, 0
	if sizeOf(reflect.ValueOf(list)) > mostRepeated {
		list, count = nil, len(list)
	}
	last := rowOf(wanted).ending
	if s.Canceling && last != nil {
		w := last(wanted)
		return RunCanceled{By: w.end.By, Cause: CauseCanceledByUser, Artifacts: partial(list), ArtifactCount: count, Rewind: w.rewind}
	}
	switch w := wanted.(type) {
	case RunCompleted:
		w.Artifacts, w.ArtifactCount = listed(list), count
		return w
	case RunFailed:
		w.Artifacts, w.ArtifactCount = listed(list), count
		return w
	}
	return wanted
}

// listed returns a copy of the list that is never nil: a terminal lists its artifacts even if there are none.
func listed(list []Artifact) []Artifact { return append([]Artifact{}, list...) }

// partial returns a copy of the list with every artifact marked as partial.
func partial(list []Artifact) []Artifact {
	out := listed(list)
	for i := range out {
		out[i].Partial = true
	}
	return out
}
