// Package looopy is a door for clients of Looopy: a conversation's turns as server-sent events.
//
// POST /api/sse/message with {message, contextId} begins a turn and streams it; with inputs or credentials it
// answers what the turn asked, and the stream goes on. GET streams the turns of the contextId, after the event of
// Last-Event-ID or lastEventId; taskId limits it to a turn or sub-run. A task is a run, and its taskId the run's id.
//
// A stream begins with task-created and ends with task-complete, or a task-status that says failed, canceled,
// waiting-input or waiting-auth. Texts come as content-delta, whose delta and content are the same piece, and at last
// whole as content-complete. If text is taken back, a line ("---") stands before what replaces it, and
// content-complete has what counts. A thought comes once, whole. Files up to 1 MB come as file-write, larger ones as
// artifact-binary with a URL. A sub-run's events come whole after its subtask-created, with a path and their own
// taskId. A credential may be encrypted to the key of its auth-required. Data is the whole event, as Looopy's own
// clients read it; with framing=named the name is kind, and data leaves kind and contextId out.
//
// An event's id is contextId-N. N grows within the context, is the same for every reader, and skips: it is made of
// the time of the turn, the event's place in the logs, and the length of the text so far.
package looopy
