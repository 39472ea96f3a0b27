package messages

import (
	"encoding/json"
	"slices"
	"time"
)

// Status is the status of a run.
type Status string

// A run is pending until it starts, and processing until its terminal, which decides its final status.
const (
	Pending    Status = "pending"
	Processing Status = "processing"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Canceled   Status = "canceled"
)

// IsEnded reports whether the run has its terminal.
func (s Status) IsEnded() bool { return s == Completed || s == Failed || s == Canceled }

// State is the sum of a log up to the number Seq. The zero State is a run that has not begun. A State is a value:
// Apply does not change the State that it is called on, and nobody may change its slices.
type State struct {
	RunID RunID `json:"run_id"`
	// Seq is the number of the last event in it.
	Seq    uint64 `json:"seq"`
	Status Status `json:"status"`
	// Canceling says that a cancel was accepted; only run.canceled can follow.
	Canceling bool `json:"canceling,omitempty"`
	// Node and Epoch are the node and the epoch of the run's owner.
	Node  string `json:"node,omitempty"`
	Epoch uint64 `json:"epoch,omitempty"`
	// QueuedAt is the time of the first event.
	QueuedAt time.Time `json:"queued_at"`
	// UpdatedAt is the time of the last event.
	UpdatedAt time.Time `json:"updated_at"`

	// After is the earlier run of the same conversation while this run waits for it, else "". HeldAt is when the run was held,
	// and BeganAt when it began after it waited. Place, unless "", is a time that orders it among those that wait, instead of QueuedAt.
	After   RunID     `json:"after,omitempty"`
	Place   string    `json:"place,omitempty"`
	HeldAt  time.Time `json:"held_at,omitzero"`
	BeganAt time.Time `json:"began_at,omitzero"`
	// Queued is the run's first event: its job, input, mode, labels and limits.
	Queued *RunQueued `json:"queued,omitempty"`
	// Tasks are in the order in which they began, as are Streams, Calls, Inputs, Children and Steps.
	Tasks   []TaskState `json:"tasks,omitempty"`
	Streams []Stream    `json:"streams,omitempty"`
	// Progress has the latest of each task.
	Progress []Progress `json:"progress,omitempty"`
	// Log has the newest lines.
	Log   LogState `json:"log"`
	Calls []Call   `json:"calls,omitempty"`
	// Artifacts are the files that the run wrote.
	Artifacts []Artifact `json:"artifacts,omitempty"`
	// ArtifactTasks names the tasks that wrote the Artifacts, in the same order, while the run is not over.
	ArtifactTasks []string `json:"artifact_tasks,omitempty"`
	// Inputs are the questions to people, open or answered.
	Inputs []Input `json:"inputs,omitempty"`
	// Messages are what was said to the run while it worked, in order.
	Messages []Message    `json:"messages,omitempty"`
	Children []ChildState `json:"children,omitempty"`
	Steps    []StepState  `json:"steps,omitempty"`
	// Kept holds the newest StepKept of each step of a task.
	Kept []StepKept `json:"kept,omitempty"`
	// Notices say what the run goes without.
	Notices []Notice `json:"notices,omitempty"`
	// Purse is what the run has spent; nil if nothing.
	Purse *Purse `json:"purse,omitempty"`
	// End is the content of the terminal; nil before it.
	End *End `json:"end,omitempty"`

	// Recoveries counts the run.recovered events.
	Recoveries int `json:"recoveries,omitempty"`
	// Milestone is the number of the last milestone. No later event spans it.
	Milestone uint64 `json:"milestone"`
}

// End is the content of the run's terminal.
type End struct {
	// By is who wrote the terminal.
	By Author `json:"by"`
	// Cause is the reason for programs; "" if the run completed.
	Cause Code `json:"cause,omitempty"`
	// Task is the task that failed, if one did.
	Task string `json:"task,omitempty"`
	// Error says more of a failure.
	Error *Error `json:"error,omitempty"`
	// Result is the job's result as JSON.
	Result json.RawMessage `json:"result,omitempty"`
	// Degraded says that the result is complete, but worse than asked for.
	Degraded bool      `json:"degraded,omitempty"`
	At       time.Time `json:"at"`
}

// TaskStatus is the status of a task.
type TaskStatus string

// A task is running, waiting for another attempt, or done.
const (
	TaskRunning  TaskStatus = "running"
	TaskWaiting  TaskStatus = "waiting"
	TaskFinished TaskStatus = "completed"
	TaskGaveUp   TaskStatus = "failed"
)

// TaskState is the state of one task.
type TaskState struct {
	Name   string     `json:"task"`
	Status TaskStatus `json:"status"`
	// Attempt counts the attempts, from 1.
	Attempt int `json:"attempt"`
}

// Stream is a text or a thought.
type Stream struct {
	Name string `json:"stream"`
	// Task owns the stream; "" is the run itself.
	Task string `json:"task,omitempty"`
	// Thought says that it is a thought, and no text of the answer.
	Thought bool `json:"thought,omitempty"`
	// Closed says that nothing follows.
	Closed bool `json:"closed,omitempty"`
	// MediaType is the media type of its first delta.
	MediaType string `json:"media_type,omitempty"`
	// Index is the ordinal of the stream's next delta.
	Index uint64 `json:"index"`
	// Dropped is the number of bytes at its beginning that are no longer kept.
	Dropped int `json:"dropped,omitempty"`
	text    text
}

// Text returns the stream's text so far, without what was dropped. After the done event it is the text of that event.
func (s Stream) Text() string { return string(s.text.bytes()) }

// Len returns the length of the text in bytes, including what was dropped.
func (s Stream) Len() int { return s.Dropped + s.text.n }

// plainStream is a Stream without methods.
type plainStream Stream

// wireStream is a Stream with its text.
type wireStream struct {
	plainStream
	Text string `json:"text"`
}

// MarshalJSON writes the stream with its text.
func (s Stream) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireStream{plainStream(s), s.Text()})
}

// UnmarshalJSON reads the stream with its text, so that a State can be continued.
func (s *Stream) UnmarshalJSON(data []byte) error {
	var w wireStream
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*s = Stream(w.plainStream)
	s.text = newText(w.Text)
	return nil
}

// LogState holds the newest log lines, and the number of the next line. Lines in between were dropped.
type LogState struct {
	// Next is the number of the next line.
	Next  uint64    `json:"next"`
	Lines []LogLine `json:"lines,omitempty"`
}

// Call is a model call or a tool call.
type Call struct {
	ID   string `json:"call"`
	Task string `json:"task,omitempty"`
	// Model tells a call of a model from a call of a tool.
	Model bool `json:"model,omitempty"`
	// Name is the name of the model or of the tool.
	Name     string       `json:"name"`
	Ended    bool         `json:"ended,omitempty"`
	Progress ToolProgress `json:"progress,omitzero"`
	// Reserved is what the call may spend of the budget, until it ends.
	Reserved *Budget `json:"reserved,omitempty"`
	// Estimated says that Reserved is what the call has used until now, by an estimate.
	Estimated bool `json:"estimated,omitempty"`
}

// Input is a request to people, with its answer.
type Input struct {
	Request string `json:"request"`
	Task    string `json:"task,omitempty"`
	Prompt  string `json:"prompt" text:"any"`
	// Schema is the JSON Schema of the answer, if it has one.
	Schema    json.RawMessage `json:"schema,omitempty"`
	Kind      InputKind       `json:"kind,omitempty"`
	TimeoutMS int64           `json:"timeout_ms,omitempty"`
	// AskedAt is when it was asked, and AnsweredAt when it was answered.
	AskedAt    time.Time `json:"asked_at,omitzero"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
	// Attempt is the attempt of the task that asked. For the run itself it is the number of recoveries.
	Attempt int `json:"attempt,omitempty"`
	// ID is the id of the command that answered.
	ID string `json:"id,omitempty"`
	// Value is the answer, unless it is a secret.
	Value json.RawMessage `json:"value,omitempty"`
	// Closed says that nobody can answer any more.
	Closed bool `json:"closed,omitempty"`
}

// ChildState is the state of a sub-run; Status is Processing until it has ended.
type ChildState struct {
	Child  RunID  `json:"child"`
	Job    string `json:"job"`
	Task   string `json:"task,omitempty"`
	Name   string `json:"name,omitempty"`
	Status Status `json:"status"`
	// WaitedMS is how long the sub-run waited for people, once it has ended.
	WaitedMS int64 `json:"waited_ms,omitempty"`
	// Grant is its part of the budget, until it ends.
	Grant *Budget `json:"grant,omitempty"`
}

// StepState is the state of a plan's step, in its latest round.
type StepState struct {
	Name    string `json:"step"`
	Task    string `json:"task,omitempty"`
	Rounds  int    `json:"rounds"`
	Outcome string `json:"outcome,omitempty"`
	Running bool   `json:"running,omitempty"`
}

// Task returns the task's state, or false when it has not started.
func (s State) Task(name string) (TaskState, bool) {
	return pick(s.Tasks, slices.IndexFunc(s.Tasks, func(t TaskState) bool { return t.Name == name }))
}

// Stream returns the stream, or false when nothing was said on it.
func (s State) Stream(name string) (Stream, bool) {
	return pick(s.Streams, slices.IndexFunc(s.Streams, func(t Stream) bool { return t.Name == name }))
}
