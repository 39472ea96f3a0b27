package messages

import (
	"encoding/json"
	"slices"
	"time"
)

// Status is where a run stands.
type Status string

// A run is pending until it has started, processing until its terminal, and then what the terminal says for ever.
const (
	Pending    Status = "pending"
	Processing Status = "processing"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Canceled   Status = "canceled"
)

// IsEnded reports whether the status is that of a terminal.
func (s Status) IsEnded() bool { return s == Completed || s == Failed || s == Canceled }

// State is what a log adds up to at the number Seq. The zero State is that of a run not yet begun. A State is a value:
// Apply never changes the State it is called on, and its slices must be left alone.
type State struct {
	RunID     RunID     `json:"run_id"`
	Seq       uint64    `json:"seq"`
	Status    Status    `json:"status"`
	Canceling bool      `json:"canceling,omitempty"`
	QueuedAt  time.Time `json:"queued_at"`
	// UpdatedAt is the time of the last event.
	UpdatedAt time.Time `json:"updated_at"`

	// Queued is the run's first event: its job, input, mode, labels and limits.
	Queued    *RunQueued   `json:"queued,omitempty"`
	Tasks     []TaskState  `json:"tasks,omitempty"`
	Streams   []Stream     `json:"streams,omitempty"`
	Progress  []Progress   `json:"progress,omitempty"`
	Log       LogState     `json:"log"`
	Calls     []Call       `json:"calls,omitempty"`
	Artifacts []Artifact   `json:"artifacts,omitempty"`
	Inputs    []Input      `json:"inputs,omitempty"`
	Children  []ChildState `json:"children,omitempty"`
	Steps     []StepState  `json:"steps,omitempty"`
	// End is the terminal, once there is one.
	End *End `json:"end,omitempty"`

	// Milestone is the number of the last milestone: no later event reaches back over it.
	Milestone uint64 `json:"milestone"`
}

// End is what a run's terminal said.
type End struct {
	By       Author          `json:"by"`
	Cause    Cause           `json:"cause,omitempty"`
	Task     string          `json:"task,omitempty"`
	Error    *Error          `json:"error,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Degraded bool            `json:"degraded,omitempty"`
	At       time.Time       `json:"at"`
}

// TaskStatus is where a task stands.
type TaskStatus string

// A task is running, waiting for another attempt, or done.
const (
	TaskRunning  TaskStatus = "running"
	TaskWaiting  TaskStatus = "waiting"
	TaskFinished TaskStatus = "completed"
	TaskGone     TaskStatus = "failed"
)

// TaskState is what is known of one task.
type TaskState struct {
	Name    string     `json:"task"`
	Status  TaskStatus `json:"status"`
	Attempt int        `json:"attempt"`
}

// Stream is a text or a thought.
type Stream struct {
	Name    string `json:"stream"`
	Task    string `json:"task,omitempty"`
	Thought bool   `json:"thought,omitempty"`
	Closed  bool   `json:"closed,omitempty"`
	// Index is the ordinal of the stream's next delta.
	Index uint64 `json:"index"`
	text  text
}

// Text returns what the stream holds so far; after its done event, the authoritative text.
func (s Stream) Text() string { return s.text.String() }

// Len returns the length of Text in bytes.
func (s Stream) Len() int { return s.text.len() }

// MarshalJSON writes the stream with its text.
func (s Stream) MarshalJSON() ([]byte, error) {
	type plain Stream
	return json.Marshal(struct {
		plain
		Text string `json:"text"`
	}{plain(s), s.Text()})
}

// UnmarshalJSON reads the stream with its text, so that a State read from JSON goes on where it stood.
func (s *Stream) UnmarshalJSON(data []byte) error {
	type plain Stream
	var w struct {
		plain
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*s = Stream(w.plain)
	s.text = newText(w.Text)
	return nil
}

// LogState holds the newest log lines and the number of the next.
type LogState struct {
	Next  uint64    `json:"next"`
	Lines []LogLine `json:"lines,omitempty"`
}

// Dropped returns how many lines were logged but are no longer held.
func (l LogState) Dropped() uint64 {
	if l.Next == 0 {
		return 0
	}
	return l.Next - 1 - uint64(len(l.Lines))
}

// Call is a model call or a tool call.
type Call struct {
	ID       string       `json:"call"`
	Task     string       `json:"task,omitempty"`
	Model    bool         `json:"model,omitempty"`
	Name     string       `json:"name"`
	Ended    bool         `json:"ended,omitempty"`
	Progress ToolProgress `json:"progress,omitzero"`
}

// Input is a request for an answer from people.
type Input struct {
	Request string `json:"request"`
	Task    string `json:"task,omitempty"`
	Prompt  string `json:"prompt"`
	// Schema is the JSON Schema of the answer, if it has one.
	Schema json.RawMessage `json:"schema,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Closed bool            `json:"closed,omitempty"`
}

// ChildState is what is known of a sub-run; Status is Processing until it ended.
type ChildState struct {
	Child  RunID  `json:"child"`
	Job    string `json:"job"`
	Status Status `json:"status"`
}

// StepState is what is known of a plan's step; a step that runs again is its latest round.
type StepState struct {
	Name    string `json:"step"`
	Task    string `json:"task,omitempty"`
	Rounds  int    `json:"rounds"`
	Outcome string `json:"outcome,omitempty"`
	Running bool   `json:"running,omitempty"`
}

// Task returns the task's state, or false when it has not started.
func (s State) Task(name string) (TaskState, bool) {
	i := slices.IndexFunc(s.Tasks, func(t TaskState) bool { return t.Name == name })
	if i < 0 {
		return TaskState{}, false
	}
	return s.Tasks[i], true
}

// Stream returns the stream, or false when nothing was said on it.
func (s State) Stream(name string) (Stream, bool) {
	i := s.stream(name)
	if i < 0 {
		return Stream{}, false
	}
	return s.Streams[i], true
}

func (s State) stream(name string) int {
	return slices.IndexFunc(s.Streams, func(t Stream) bool { return t.Name == name })
}

// with returns a copy of list in which element i is v; i == len(list) appends. It never writes to list.
func with[T any](list []T, i int, v T) []T {
	out := make([]T, max(len(list), i+1))
	copy(out, list)
	out[i] = v
	return out
}

// put is with at the first element that match accepts, or at the end.
func put[T any](list []T, v T, match func(T) bool) []T {
	i := slices.IndexFunc(list, match)
	if i < 0 {
		i = len(list)
	}
	return with(list, i, v)
}

// Recovery returns the numbers of the one event that recovery writes after this State, which is that of the last
// durable event, and the rewind that it carries.
func (s State) Recovery() (from, seq uint64, rewind *Rewind) {
	rewind = &Rewind{Progress: s.Progress, Log: s.Log.Lines}
	for _, t := range s.Streams {
		if !t.Closed {
			rewind.Streams = append(rewind.Streams, StreamMark{Stream: t.Name, Bytes: t.Len(), Index: t.Index})
		}
	}
	for _, c := range s.Calls {
		if !c.Model && !c.Ended && c.Progress != (ToolProgress{}) {
			rewind.Tools = append(rewind.Tools, c.Progress)
		}
	}
	return s.Seq + 1, s.Seq + 1 + Reserve, rewind
}

// Reserve is how far past the last durable event a delta's number may be when it is shown. Recovery skips as many
// numbers, so that none ever has two meanings. It is part of the journal's format.
const Reserve = 1_000_000

// LastWord returns the terminal that ends a run in this State when somebody wants it to be word: once a cancel is
// accepted every other end becomes run.canceled, whoever asks. Artifacts become those that the State knows.
func (s State) LastWord(word Body) Body {
	if s.Canceling {
		author, rewind := authorOf(word)
		return RunCanceled{By: author, Cause: CauseCanceledByUser, Artifacts: partial(s.Artifacts), Rewind: rewind}
	}
	switch w := word.(type) {
	case RunCompleted:
		w.Artifacts = listed(s.Artifacts)
		return w
	case RunFailed:
		w.Artifacts = listed(s.Artifacts)
		return w
	}
	return word
}

func authorOf(word Body) (Author, *Rewind) {
	switch w := word.(type) {
	case RunCompleted:
		return w.By, nil
	case RunFailed:
		return w.By, w.Rewind
	case RunCanceled:
		return w.By, w.Rewind
	}
	return "", nil
}

// listed makes an empty list of a missing one: a terminal's artifacts are said even when there are none.
func listed(list []Artifact) []Artifact { return append([]Artifact{}, list...) }

func partial(list []Artifact) []Artifact {
	out := listed(list)
	for i := range out {
		out[i].Partial = true
	}
	return out
}
