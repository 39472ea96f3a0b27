package fault

import "slices"

// Point is the name of a place where a fault can happen.
type Point string

// The fault points. [Points] describes each.
const (
	TaskError   Point = "task.error"
	TaskPanic   Point = "task.panic"
	TaskGoexit  Point = "task.goexit"
	TaskHang    Point = "task.hang"
	ModelRefuse Point = "model.refuse"
	ModelStall  Point = "model.stall"
	ModelCut    Point = "model.cut"
	ModelEnd    Point = "model.end"
	JournalSlow Point = "journal.slow"
	JournalFull Point = "journal.full"
	JournalLost Point = "journal.unknown"
	JournalLie  Point = "journal.lie"
	JournalEnd  Point = "journal.never"
	DiskFull    Point = "disk.full"
	ReaderSlow  Point = "reader.slow"
	ReaderGone  Point = "reader.vanish"
	ReaderStuck Point = "reader.stuck"
	CommandFail Point = "command.fail"
	WebhookFail Point = "webhook.fail"
	NodePause   Point = "node.pause"
	NodeKill    Point = "node.kill"
)

// Info describes a fault point: what happens there, and how a run that it hits then ends.
type Info struct {
	Point Point  `json:"point"`
	What  string `json:"what"`
	Then  string `json:"then"`
}

var table = []Info{
	{TaskError, "the task returns an error that is retryable", "the task's policy retries it, or the run fails: injected"},
	{TaskPanic, "the task panics", "the run fails: injected, unless the policy retries crashes"},
	{TaskGoexit, "the task's goroutine ends (runtime.Goexit)", "as after a panic"},
	{TaskHang, "the task heeds nothing, its context included, for the rule's time or until the rule is disarmed",
		"the run fails at its limit: injected; or it is cancelled in the cancel's time"},
	{ModelRefuse, "the server of models answers 503", "the call is sent again, or the run fails: injected"},
	{ModelStall, "the model falls silent in its answer, for the rule's time or until the rule is disarmed",
		"the run goes on after the silence, or fails at the limit --idle: injected"},
	{ModelCut, "the connection breaks in the model's answer", "the run fails: injected, after transport_closed"},
	{ModelEnd, "the model's answer ends in the middle, without its terminator", "the run fails: injected, after transport_closed"},
	{JournalSlow, "an append takes longer by the rule's time (1s)", "the run goes on"},
	{JournalFull, "the journal refuses a block as a full disk does, for the rule's time (5s)",
		"the run waits; it ends as journal_unavailable if the time is longer than its patience"},
	{JournalLost, "a block lands, and the journal does not say so", "the run finds the block and goes on"},
	{JournalLie, "the journal says that a block landed, and has lost it", "the run fails: node_lost, or its job starts again"},
	{JournalEnd, "the journal refuses a block permanently", "what the block said is dropped, and the run fails: journal_unavailable"},
	{DiskFull, "an artifact is not written, as on a full disk", "the run fails: injected"},
	{ReaderSlow, "a reader of /v1/runs/ID/events takes the rule's time (100ms) for each write", "the run goes on; the reader gets merged deltas"},
	{ReaderGone, "the connection of such a reader breaks", "the run goes on, unless it is attached to this reader alone"},
	{ReaderStuck, "such a reader takes nothing for the rule's time (30s), then its connection breaks", "as after reader.vanish"},
	{CommandFail, "a command is not started, and counts as exited with 1", "the command's retry tries again, or the run fails: injected"},
	{WebhookFail, "a webhook is not sent, as if its receiver had not answered", "the delivery tries again later"},
	{NodePause, "the node neither appends nor keeps its claims for the rule's time (15s)",
		"the run goes on, on this node or on another that has taken it"},
	{NodeKill, "the process is killed once the record is durable", "recovery ends the run: node_lost; or its job starts again"},
}

// Points returns the table of all points.
func Points() []Info { return slices.Clone(table) }
