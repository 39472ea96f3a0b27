package messages

import (
	"slices"
	"strings"
)

func (s State) call(id string) int {
	return slices.IndexFunc(s.Calls, func(c Call) bool { return c.ID == id })
}

func (s State) callStarted(c Call) (State, *broken) {
	switch {
	case c.ID == "" || s.call(c.ID) >= 0:
		return s, breaks(RuleCall, "call %q has no name of its own", c.ID)
	case !s.running(c.Task):
		return s, breaks(RuleTask, "task %q is not running", c.Task)
	}
	s.Calls = with(s.Calls, len(s.Calls), c)
	return s, nil
}

func (s State) callEnded(id string, model bool) (State, *broken) {
	i := s.call(id)
	if i < 0 || s.Calls[i].Ended || s.Calls[i].Model != model {
		return s, breaks(RuleCall, "call %q is not open", id)
	}
	c := s.Calls[i]
	c.Ended = true
	s.Calls = with(s.Calls, i, c)
	return s, nil
}

func (s State) toolProgress(p ToolProgress) (State, *broken) {
	i := s.call(p.Call)
	if i < 0 || s.Calls[i].Ended || s.Calls[i].Model {
		return s, breaks(RuleCall, "tool call %q is not open", p.Call)
	}
	c := s.Calls[i]
	c.Progress = p
	s.Calls = with(s.Calls, i, c)
	return s, nil
}

func (s State) artifact(a Artifact, partial bool) (State, *broken) {
	if a.Name == "" || a.Bytes < 0 || a.Partial != partial {
		return s, breaks(RuleArtifact, "artifact %q has no name, no size, or the wrong kind", a.Name)
	}
	s.Artifacts = put(s.Artifacts, a, func(b Artifact) bool { return b.Name == a.Name })
	return s, nil
}

func (s State) inputRequired(b InputRequired) (State, *broken) {
	named := slices.ContainsFunc(s.Inputs, func(i Input) bool { return i.Request == b.Request })
	switch {
	case b.Request == "" || named:
		return s, breaks(RuleInput, "request %q has no name of its own", b.Request)
	case !s.running(b.Task):
		return s, breaks(RuleTask, "task %q is not running", b.Task)
	}
	in := Input{Request: b.Request, Task: b.Task, Prompt: b.Prompt, Schema: b.Schema}
	s.Inputs = with(s.Inputs, len(s.Inputs), in)
	return s, nil
}

func (s State) inputReceived(b InputReceived) (State, *broken) {
	i := slices.IndexFunc(s.Inputs, func(i Input) bool { return i.Request == b.Request })
	if i < 0 || s.Inputs[i].Closed {
		return s, breaks(RuleInput, "request %q is not open", b.Request)
	}
	in := s.Inputs[i]
	in.Closed, in.Value = true, b.Value
	s.Inputs = with(s.Inputs, i, in)
	return s, nil
}

func (s State) child(id RunID) int {
	return slices.IndexFunc(s.Children, func(c ChildState) bool { return c.Child == id })
}

func (s State) childStarted(b ChildStarted) (State, *broken) {
	if !strings.HasPrefix(string(b.Child), string(s.RunID)+".c") || s.child(b.Child) >= 0 {
		return s, breaks(RuleChild, "%q is no new child of %s", b.Child, s.RunID)
	}
	s.Children = with(s.Children, len(s.Children), ChildState{b.Child, b.Job, Processing})
	return s, nil
}

func (s State) childEnded(b ChildEnded) (State, *broken) {
	i := s.child(b.Child)
	if i < 0 || s.Children[i].Status.IsEnded() || !b.Status.IsEnded() {
		return s, breaks(RuleChild, "child %q is not running, or does not end as %q", b.Child, b.Status)
	}
	c := s.Children[i]
	c.Status = b.Status
	s.Children = with(s.Children, i, c)
	return s, nil
}

func (s State) stepStarted(b StepStarted) (State, *broken) {
	i := slices.IndexFunc(s.Steps, func(t StepState) bool { return t.Name == b.Step })
	step := StepState{Name: b.Step, Task: b.Task}
	if i >= 0 {
		step.Rounds = s.Steps[i].Rounds
	} else {
		i = len(s.Steps)
	}
	switch {
	case b.Step == "" || i < len(s.Steps) && s.Steps[i].Running:
		return s, breaks(RuleStep, "step %q has no name, or is running", b.Step)
	case !s.running(b.Task):
		return s, breaks(RuleTask, "task %q is not running", b.Task)
	}
	step.Rounds++
	step.Running = true
	s.Steps = with(s.Steps, i, step)
	return s, nil
}

func (s State) stepEnded(b StepEnded) (State, *broken) {
	i := slices.IndexFunc(s.Steps, func(t StepState) bool { return t.Name == b.Step })
	if i < 0 || !s.Steps[i].Running {
		return s, breaks(RuleStep, "step %q is not running", b.Step)
	}
	step := s.Steps[i]
	step.Running, step.Outcome = false, b.Outcome
	s.Steps = with(s.Steps, i, step)
	return s, nil
}
