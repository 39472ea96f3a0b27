package messages

import "encoding/json"

// Body is what an event says. The implementations are the types of this file and [Unknown]; no others exist.
type Body interface {
	Kind() Kind
	body()
}

// RunQueued opens every log, as number 1.
type RunQueued struct {
	Job string `json:"job"`
	// Input is the job's input as JSON, without secrets.
	Input     json.RawMessage `json:"input,omitempty"`
	Principal string          `json:"principal,omitempty"`
	Mode      Mode            `json:"mode"`
	// Labels are the caller's own: a Looopy contextId, a NANO stream id.
	Labels map[string]string `json:"labels,omitempty"`
	// Parent is the run that this one is a child of, or "".
	Parent RunID  `json:"parent,omitempty"`
	Limits Limits `json:"limits"`
}

// Mode says what becomes of a run when its caller leaves.
type Mode string

// Attached runs are cancelled when their caller leaves; detached ones go on.
const (
	Attached Mode = "attached"
	Detached Mode = "detached"
)

// Limits bound a run. Zero means the default of the node that accepted the run.
type Limits struct {
	// WallClockMS is the longest the run may take, in milliseconds.
	WallClockMS int64 `json:"wall_clock_ms,omitempty"`
	// StallMS is the longest the run may go without an event, in milliseconds.
	StallMS int64 `json:"stall_ms,omitempty"`
	// Bytes is the most that the run's log may hold after merging.
	Bytes int64 `json:"bytes,omitempty"`
}

// RunStarted says that the run's actor has begun, on which node.
type RunStarted struct {
	Node string `json:"node,omitempty"`
}

// RunRecovered says that the run goes on after the process that owned it died.
type RunRecovered struct {
	Node   string  `json:"node,omitempty"`
	Rewind *Rewind `json:"rewind"`
}

// RunCanceling says that a cancel is accepted: only run.canceled can end the run now.
type RunCanceling struct {
	// By is the principal who asked, or "".
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// RunCompleted is a terminal.
type RunCompleted struct {
	By        Author          `json:"by"`
	Result    json.RawMessage `json:"result,omitempty"`
	Degraded  bool            `json:"degraded,omitempty"`
	Artifacts []Artifact      `json:"artifacts"`
}

// RunFailed is a terminal. Task is the task that failed, or "".
type RunFailed struct {
	By        Author     `json:"by"`
	Cause     Cause      `json:"cause"`
	Task      string     `json:"task,omitempty"`
	Error     *Error     `json:"error"`
	Artifacts []Artifact `json:"artifacts"`
	Rewind    *Rewind    `json:"rewind,omitempty"`
}

// RunCanceled is a terminal. Its artifacts, if there are any, are partial.
type RunCanceled struct {
	By        Author     `json:"by"`
	Cause     Cause      `json:"cause"`
	Artifacts []Artifact `json:"artifacts"`
	Rewind    *Rewind    `json:"rewind,omitempty"`
}

// TaskStarted says that a task began its first attempt.
type TaskStarted struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
}

// TaskCompleted says that a task returned without an error.
type TaskCompleted struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
}

// TaskFailed says that an attempt failed.
type TaskFailed struct {
	Task      string `json:"task"`
	Attempt   int    `json:"attempt"`
	Cause     Cause  `json:"cause"`
	Error     *Error `json:"error"`
	WillRetry bool   `json:"will_retry"`
	// DelayMS is how long the next attempt waits, in milliseconds.
	DelayMS int64 `json:"delay_ms,omitempty"`
}

// TaskRestarted begins another attempt: the task's streams are open and empty again.
type TaskRestarted struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
}

// Progress says how far a task is. Total is 0 where it is not known.
type Progress struct {
	Task  string `json:"task,omitempty"`
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"`
}

// LogTail is how many of the newest log lines merging and State keep.
const LogTail = 64

// LogLineBytes is the most that the text of one log line may hold.
const LogLineBytes = 1024

// Log carries log lines with ascending numbers without a gap. Where a merged event begins past the next number that
// its reader expects, the lines between were dropped.
type Log struct {
	Lines []LogLine `json:"lines"`
}

func (b Log) size() int {
	n := 0
	for _, line := range b.Lines {
		n += 64 + len(line.Text)
	}
	return n
}

// LogLine is one line, numbered from 1 per run.
type LogLine struct {
	Number uint64   `json:"number"`
	Level  LogLevel `json:"level"`
	Task   string   `json:"task,omitempty"`
	Text   string   `json:"text"`
}

// LogLevel is debug, info, warn or error.
type LogLevel string

// The log levels.
const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

// Merged stands for a stretch of deltas of more than one stream: one part per stream, in the order of their first
// appearance. A part is a TextDelta, ThoughtDelta, Progress, ToolProgress or Log.
type Merged struct {
	Parts []Body `json:"-"`
}

// TextDelta is a piece of a text: text = text[:Offset] + Text.
type TextDelta struct {
	// Stream names the text; the name is unique in its run.
	Stream string `json:"stream"`
	// Task owns the stream; "" is the run itself.
	Task string `json:"task,omitempty"`
	// Index is the ordinal, in the stream, of the first delta that this event stands for.
	Index uint64 `json:"index"`
	// Count is how many deltas this event stands for; 0 means 1.
	Count uint64 `json:"count,omitempty"`
	// Offset is the length of the text before this piece, in bytes of UTF-8.
	Offset int    `json:"offset"`
	Text   string `json:"text"`
}

// ThoughtDelta is a piece of a thought; its fields are those of a TextDelta.
type ThoughtDelta TextDelta

// TextDone closes a text and is authoritative for it.
type TextDone struct {
	Stream string `json:"stream"`
	Task   string `json:"task,omitempty"`
	Text   string `json:"text"`
	// SHA256 is the lower-case hexadecimal digest of Text.
	SHA256 string `json:"sha256"`
}

// ThoughtDone closes a thought and is authoritative for it.
type ThoughtDone struct {
	Stream string `json:"stream"`
	Task   string `json:"task,omitempty"`
	Text   string `json:"text"`
	SHA256 string `json:"sha256"`
	// ThoughtType says what kind of thought it is, for example planning or reflection.
	ThoughtType string `json:"thought_type,omitempty"`
	// Confidence is between 0 and 1 where the source gave one.
	Confidence *float64 `json:"confidence,omitempty"`
	// Source says where the thought was seen, for example think-tag or reasoning-field.
	Source string `json:"source,omitempty"`
}

// LLMStarted says that a call to a language model began. Call is unique in its run.
type LLMStarted struct {
	Call     string `json:"call"`
	Task     string `json:"task,omitempty"`
	Model    string `json:"model"`
	Provider string `json:"provider,omitempty"`
}

// LLMCompleted says how a call to a language model ended.
type LLMCompleted struct {
	Call  string `json:"call"`
	Task  string `json:"task,omitempty"`
	Model string `json:"model"`
	Usage *Usage `json:"usage,omitempty"`
	// FirstTokenMS is the time to the first token in milliseconds, 0 where none came.
	FirstTokenMS int64  `json:"first_token_ms,omitempty"`
	FinishReason string `json:"finish_reason,omitempty"`
	// Evidence is what the verdict rests on, for example done-marker or eof+finish.
	Evidence string `json:"evidence"`
	// Verdict is completed, failed or canceled.
	Verdict string `json:"verdict"`
	Error   *Error `json:"error,omitempty"`
}

// Usage counts the tokens of a model call, as the provider reported them.
type Usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	ReasoningTokens  int64 `json:"reasoning_tokens,omitempty"`
}

// ToolStarted says that a tool call began. Call is unique in its run.
type ToolStarted struct {
	Call      string          `json:"call"`
	Task      string          `json:"task,omitempty"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// ToolProgress says how far a tool call is.
type ToolProgress struct {
	Call  string `json:"call"`
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"`
}

// ToolCompleted says how a tool call ended: with a result, or with an error.
type ToolCompleted struct {
	Call   string          `json:"call"`
	Task   string          `json:"task,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// Artifact is a file that a run made.
type Artifact struct {
	// Name is what the job calls it, for example llms.txt; unique in its run.
	Name string `json:"name"`
	// Path is where it is, slash-separated, relative to the job's output folder.
	Path string `json:"path,omitempty"`
	// Bytes is its size.
	Bytes int64 `json:"bytes"`
	// SHA256 is the lower-case hexadecimal digest of its content.
	SHA256 string `json:"sha256"`
	// Partial says that it is a first part of what it should have been.
	Partial bool `json:"partial"`
}

// ArtifactPartial says that a readable first part of an artifact exists.
type ArtifactPartial struct {
	Artifact
	Task string `json:"task,omitempty"`
}

// ArtifactWritten says that an artifact is on disk, synced, under its final name.
type ArtifactWritten struct {
	Artifact
	Task string `json:"task,omitempty"`
}

// InputRequired says that the run waits for an answer to Request, which is unique in its run.
type InputRequired struct {
	Request string `json:"request"`
	Task    string `json:"task,omitempty"`
	Prompt  string `json:"prompt"`
	// Schema is the JSON Schema of the answer, if it has one.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// InputReceived is the answer to an InputRequired.
type InputReceived struct {
	Request   string          `json:"request"`
	Task      string          `json:"task,omitempty"`
	Value     json.RawMessage `json:"value"`
	Principal string          `json:"principal,omitempty"`
}

// ChildStarted says that a sub-run began; its id is the parent's with ".c" and a number.
type ChildStarted struct {
	Child RunID  `json:"child"`
	Job   string `json:"job"`
}

// ChildEnded says that a sub-run has its terminal.
type ChildEnded struct {
	Child  RunID  `json:"child"`
	Status Status `json:"status"`
	Cause  Cause  `json:"cause,omitempty"`
}

// StepStarted says that a step of a plan began.
type StepStarted struct {
	Step string `json:"step"`
	Task string `json:"task,omitempty"`
}

// StepEnded says how a step ended and what follows.
type StepEnded struct {
	Step    string `json:"step"`
	Task    string `json:"task,omitempty"`
	Outcome string `json:"outcome"`
	Next    string `json:"next,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// FaultInjected says that a test injected a fault: what, in which task, at which point.
type FaultInjected struct {
	Fault string `json:"fault"`
	Task  string `json:"task,omitempty"`
	Point string `json:"point,omitempty"`
}

// Unknown carries an event of a kind that this version does not know, byte for byte.
type Unknown struct {
	Type    Kind
	Payload json.RawMessage
}

// Rewind takes back what a reader may have seen live but the journal does not hold. Open texts that it does not name
// vanish.
type Rewind struct {
	Streams  []StreamMark   `json:"streams,omitempty"`
	Progress []Progress     `json:"progress,omitempty"`
	Tools    []ToolProgress `json:"tools,omitempty"`
	Log      []LogLine      `json:"log,omitempty"`
}

func (r *Rewind) size() int {
	if r == nil {
		return 0
	}
	return 64*(len(r.Streams)+len(r.Progress)+len(r.Tools)) + Log{Lines: r.Log}.size()
}

// StreamMark is how much of an open text or thought the journal holds.
type StreamMark struct {
	Stream string `json:"stream"`
	// Bytes is the length of the text.
	Bytes int `json:"bytes"`
	// Index is how many deltas make it up.
	Index uint64 `json:"index"`
}

// Author says who wrote a terminal.
type Author string

// The authors of terminals: the run itself, the runs' supervisor, recovery after a restart, another node.
const (
	ByRun        Author = "run"
	BySupervisor Author = "supervisor"
	ByRecovery   Author = "recovery"
	ByNode       Author = "node"
)
