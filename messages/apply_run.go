package messages

import "slices"

func (s State) run(e Event) (State, *broken) {
	switch b := e.Body.(type) {
	case RunQueued:
		s.Status, s.Queued, s.QueuedAt, s.Log.Next = Pending, &b, e.Time, 1
		if b.Job == "" {
			return s, breaks(RuleBody, "run.queued names no job")
		}
	case RunStarted:
		if s.Status != Pending {
			return s, breaks(RuleOpening, "the run has started already")
		}
		s.Status = Processing
	case RunCanceling:
		s.Canceling = true
	case RunRecovered:
		return s.rewind(b.Rewind)
	default:
		return s.end(e)
	}
	return s, nil
}

func (s State) end(e Event) (State, *broken) {
	end := End{At: e.Time}
	var artifacts []Artifact
	switch b := e.Body.(type) {
	case RunCompleted:
		s.Status, end.By, end.Result, end.Degraded, artifacts = Completed, b.By, b.Result, b.Degraded, b.Artifacts
		if bad := s.checkComplete(b.By); bad != nil {
			return s, bad
		}
	case RunFailed:
		s.Status, end.By, end.Cause, end.Task, end.Error, artifacts = Failed, b.By, b.Cause, b.Task, b.Error, b.Artifacts
		if b.Error == nil || !slices.Contains(Causes(), b.Cause) {
			return s, breaks(RuleTerminal, "run.failed needs an error and a cause of the closed set, not %q", b.Cause)
		}
	case RunCanceled:
		s.Status, end.By, end.Cause, artifacts = Canceled, b.By, b.Cause, b.Artifacts
		if !slices.Contains(Causes(), b.Cause) {
			return s, breaks(RuleTerminal, "run.canceled needs a cause of the closed set, not %q", b.Cause)
		}
		if slices.ContainsFunc(artifacts, func(a Artifact) bool { return !a.Partial }) {
			return s, breaks(RuleArtifact, "after a cancel artifacts are partial")
		}
	}
	rewind := rewindOf(e.Body)
	if !slices.Contains([]Author{ByRun, BySupervisor, ByRecovery, ByNode}, end.By) {
		return s, breaks(RuleTerminal, "unknown author %q", end.By)
	}
	if (rewind != nil) != (end.By == ByRecovery) {
		return s, breaks(RuleRewind, "recovery, and nobody else, rewinds")
	}
	s.End, s.Artifacts = &end, listed(artifacts)
	if rewind == nil {
		return s, nil
	}
	return s.rewind(rewind)
}

func (s State) checkComplete(by Author) *broken {
	if by != ByRun {
		return breaks(RuleTerminal, "only the run itself completes, not %q", by)
	}
	for _, t := range s.Tasks {
		if t.Status == TaskRunning || t.Status == TaskWaiting {
			return breaks(RuleTerminal, "task %q is %s", t.Name, t.Status)
		}
	}
	for _, c := range s.Children {
		if !c.Status.IsEnded() {
			return breaks(RuleChild, "child %s has not ended", c.Child)
		}
	}
	return nil
}

func rewindOf(b Body) *Rewind {
	if r, ok := b.(RunRecovered); ok {
		return r.Rewind
	}
	_, rewind := authorOf(b)
	return rewind
}

// rewind sets what a reader may have seen beyond the journal back to what the journal holds.
func (s State) rewind(r *Rewind) (State, *broken) {
	if bad := s.checkRewind(r); bad != nil {
		return s, bad
	}
	kept := make([]Stream, 0, len(s.Streams))
	for _, t := range s.Streams {
		i := slices.IndexFunc(r.Streams, func(m StreamMark) bool { return m.Stream == t.Name })
		switch {
		case t.Closed:
			kept = append(kept, t)
		case i >= 0:
			t.text, t.Index = t.text.cut(r.Streams[i].Bytes), r.Streams[i].Index
			kept = append(kept, t)
		}
	}
	s.Streams, s.Progress, s.Log = kept, r.Progress, LogState{Next: 1, Lines: r.Log}
	if n := len(r.Log); n > 0 {
		s.Log.Next = r.Log[n-1].Number + 1
	}
	return s.rewindCalls(r.Tools), nil
}

// checkRewind holds that a rewind takes back and never gives: whoever sees it holds at least what the journal holds.
func (s State) checkRewind(r *Rewind) *broken {
	if r == nil {
		return breaks(RuleRewind, "run.recovered carries a rewind")
	}
	for i, m := range r.Streams {
		t, _ := s.Stream(m.Stream)
		again := slices.ContainsFunc(r.Streams[:i], func(n StreamMark) bool { return n.Stream == m.Stream })
		if t.Name == "" || t.Closed || again || m.Bytes < 0 || m.Bytes > t.Len() || m.Index > t.Index {
			return breaks(RuleRewind, "the rewind names text %q, which is not open, or shorter than it says", m.Stream)
		}
	}
	for _, p := range r.Progress {
		if !slices.ContainsFunc(s.Progress, func(q Progress) bool { return q.Task == p.Task }) {
			return breaks(RuleRewind, "the rewind names progress of %q, which told none", p.Task)
		}
	}
	for _, p := range r.Tools {
		if i := s.call(p.Call); i < 0 || s.Calls[i].Ended || s.Calls[i].Model {
			return breaks(RuleRewind, "the rewind names tool call %q, which is not open", p.Call)
		}
	}
	if n := len(r.Log); checkLines(r.Log) != nil || n > 0 && r.Log[n-1].Number >= s.Log.Next {
		return breaks(RuleRewind, "the rewind's log is not what was said")
	}
	return nil
}

func (s State) rewindCalls(tools []ToolProgress) State {
	calls := slices.Clone(s.Calls)
	for i, c := range calls {
		if !c.Model && !c.Ended {
			calls[i].Progress = ToolProgress{}
		}
		for _, p := range tools {
			if p.Call == c.ID {
				calls[i].Progress = p
			}
		}
	}
	s.Calls = calls
	return s
}

func (s State) task(body Body) (State, *broken) {
	var name string
	var attempt int
	var want, becomes TaskStatus
	switch b := body.(type) {
	case TaskStarted:
		name, attempt, want, becomes = b.Task, b.Attempt, "", TaskRunning
	case TaskRestarted:
		name, attempt, want, becomes = b.Task, b.Attempt, TaskWaiting, TaskRunning
	case TaskCompleted:
		name, attempt, want, becomes = b.Task, b.Attempt, TaskRunning, TaskFinished
	case TaskFailed:
		name, attempt, want, becomes = b.Task, b.Attempt, TaskRunning, TaskGone
		if b.WillRetry {
			becomes = TaskWaiting
		}
		if b.Error == nil || !slices.Contains(Causes(), b.Cause) {
			return s, breaks(RuleBody, "task.failed needs an error and a cause of the closed set, not %q", b.Cause)
		}
	}
	if name == "" {
		return s, breaks(RuleTask, "the task has no name")
	}
	now, _ := s.Task(name)
	expected := now.Attempt
	if becomes == TaskRunning {
		expected++
	}
	if now.Status != want || attempt != expected {
		return s, breaks(RuleTask, "task %q is %q at attempt %d", name, now.Status, now.Attempt)
	}
	s.Tasks = put(s.Tasks, TaskState{name, becomes, attempt}, func(t TaskState) bool { return t.Name == name })
	if want == TaskWaiting {
		s = s.reopen(name)
	}
	return s, nil
}

// reopen takes back what an earlier attempt of the task said.
func (s State) reopen(task string) State {
	streams := slices.Clone(s.Streams)
	for i, t := range streams {
		if t.Task == task {
			streams[i] = Stream{Name: t.Name, Task: t.Task, Thought: t.Thought}
		}
	}
	s.Streams = streams
	s.Progress = slices.DeleteFunc(slices.Clone(s.Progress), func(p Progress) bool { return p.Task == task })
	return s
}

// running reports whether a task may speak; "" is the run itself.
func (s State) running(task string) bool {
	t, _ := s.Task(task)
	return task == "" || t.Status == TaskRunning
}
