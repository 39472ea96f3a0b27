package messages

import "slices"

// TaskStarted says that a task began its first attempt.
type TaskStarted struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
}

func (TaskStarted) info() *KindInfo { return taskStarted }

var taskStarted = row(TaskStarted{}, KindTaskStarted, "task", "A task began its first attempt.", traits{
	begins: true,
	legal:  with(func(b TaskStarted, f *Fold) *Refusal { return f.legalTask(b.Task, "", b.Attempt-1) }),
	apply:  to(func(b TaskStarted, f *Fold) { f.setTask(TaskState{b.Task, TaskRunning, b.Attempt}) }),
})

// TaskCompleted says that a task returned without an error.
type TaskCompleted struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
}

func (TaskCompleted) info() *KindInfo { return taskCompleted }

var taskCompleted = row(TaskCompleted{}, KindTaskCompleted, "task", "A task returned without an error.", traits{
	legal: with(func(b TaskCompleted, f *Fold) *Refusal { return f.legalTask(b.Task, TaskRunning, b.Attempt) }),
	apply: to(func(b TaskCompleted, f *Fold) {
		f.forfeit(b.Task)
		f.setTask(TaskState{b.Task, TaskFinished, b.Attempt})
	}),
})

// TaskFailed says that an attempt failed.
type TaskFailed struct {
	Task      string `json:"task"`
	Attempt   int    `json:"attempt"`
	Cause     Code   `json:"cause"`
	Error     *Error `json:"error"`
	WillRetry bool   `json:"will_retry"`
	// DelayMS is how long the next attempt waits, in milliseconds.
	DelayMS int64 `json:"delay_ms,omitempty"`
}

func (TaskFailed) info() *KindInfo { return taskFailed }

var taskFailed = row(TaskFailed{}, KindTaskFailed, "task", "An attempt failed; says whether another follows, and when.", traits{
	legal: with(func(b TaskFailed, f *Fold) *Refusal {
		if b.Error == nil || !b.Cause.isCause() {
			return violates(RuleBody, "task.failed needs an error and a cause of the closed set, not %q", b.Cause)
		}
		return f.legalTask(b.Task, TaskRunning, b.Attempt)
	}),
	apply: to(func(b TaskFailed, f *Fold) {
		becomes := TaskGaveUp
		if b.WillRetry {
			becomes = TaskWaiting
		}
		f.forfeit(b.Task)
		f.setTask(TaskState{b.Task, becomes, b.Attempt})
	}),
})

// TaskRestarted begins another attempt. The task's streams are open and empty again, and its artifacts no longer
// belong to the run.
type TaskRestarted struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
}

func (TaskRestarted) info() *KindInfo { return taskRestarted }

var taskRestarted = row(TaskRestarted{}, KindTaskRestarted, "task", "Another attempt begins; the task's streams start again from nothing.", traits{
	begins: true, takesBack: true,
	legal: with(func(b TaskRestarted, f *Fold) *Refusal { return f.legalTask(b.Task, TaskWaiting, b.Attempt-1) }),
	apply: to(func(b TaskRestarted, f *Fold) {
		f.setTask(TaskState{b.Task, TaskRunning, b.Attempt})
		if i := f.progressOf(b.Task); i >= 0 {
			f.progress.drop(&f.s.Progress, i)
		}
		f.takeBack(b.Task)
	}),
})

// legalTask checks the task's status and attempt. A task that never started has the status "" and attempt 0.
func (f *Fold) legalTask(name string, status TaskStatus, attempt int) *Refusal {
	if name == "" {
		return violates(ruleTask, "the task has no name")
	}
	now, _ := f.Task(name)
	if now.Status != status || now.Attempt != attempt {
		return violates(ruleTask, "task %q is %q at attempt %d", name, now.Status, now.Attempt)
	}
	return nil
}

func (f *Fold) setTask(t TaskState) {
	f.tasks.put(&f.s.Tasks, f.tasks.find(f.s.Tasks, t.Name, f.single), t)
}

// unfinished returns how many tasks are running or waiting.
func (f *Fold) unfinished() (n int) {
	for _, t := range f.s.Tasks {
		if t.Status == TaskRunning || t.Status == TaskWaiting {
			n++
		}
	}
	return n
}

// legalSpeaker checks that the task is running; "" is the run itself.
func (f *Fold) legalSpeaker(task string) *Refusal {
	if now, _ := f.Task(task); task != "" && now.Status != TaskRunning {
		return violates(ruleTask, "task %q is not running", task)
	}
	return nil
}

// attempt returns the number of the task's attempt. For the run itself it is the number of recoveries.
func (f *Fold) attempt(task string) int {
	if task == "" {
		return f.s.Recoveries
	}
	now, _ := f.Task(task)
	return now.Attempt
}

// made lists what an attempt of a task has made: streams with content, and artifacts.
type made struct{ texts, artifacts []string }

// takeBack takes back what an earlier attempt made. Its streams are open and empty again; its artifacts are dropped,
// the last first. It visits nothing else.
func (f *Fold) takeBack(task string) {
	if f.made == nil {
		f.made = map[string]made{}
		for _, t := range f.s.Streams {
			f.noteText(t)
		}
		for i, writer := range f.s.ArtifactTasks {
			f.noteArtifact(writer, f.s.Artifacts[i].Name)
		}
	}
	for _, name := range f.made[task].texts {
		if i := f.stream(name); i >= 0 && f.s.Streams[i].Task == task {
			f.streams.put(&f.s.Streams, i, Stream{Name: name, Task: task, Thought: f.s.Streams[i].Thought})
		}
	}
	var match []int
	for _, name := range f.made[task].artifacts {
		if i := f.artifact(name); i >= 0 && f.s.ArtifactTasks[i] == task {
			match = append(match, i)
		}
	}
	delete(f.made, task)
	slices.Sort(match)
	for _, i := range slices.Backward(slices.Compact(match)) {
		last := len(f.s.Artifacts) - 1
		f.artifacts.drop(&f.s.Artifacts, i) // it moves the last to i, and the tasks must follow
		f.artifactTasks()[i] = f.s.ArtifactTasks[last]
		f.s.ArtifactTasks = f.s.ArtifactTasks[:last]
	}
}

// noteText records that the stream has content, once a restart needs to know.
func (f *Fold) noteText(t Stream) {
	if f.made != nil && t.Task != "" && !t.empty() {
		m := f.made[t.Task]
		m.texts = append(m.texts, t.Name)
		f.made[t.Task] = m
	}
}

// noteArtifact records that the task wrote the artifact, once a restart needs to know.
func (f *Fold) noteArtifact(task, name string) {
	if f.made != nil && task != "" {
		m := f.made[task]
		m.artifacts = append(m.artifacts, name)
		f.made[task] = m
	}
}
