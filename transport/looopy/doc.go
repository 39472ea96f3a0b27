// Package looopy serves runs to clients of Looopy, as server-sent events of a conversation's turns.
//
// POST /api/sse/message with {message, contextId} begins a turn and streams it. With inputs or credentials it answers
// the turn's questions and continues the stream. GET streams the turns of the contextId after the event in
// Last-Event-ID or lastEventId; taskId limits the stream to one turn or sub-run. A task is a run and has its id.
//
// A stream begins with task-created. It ends with task-complete, or with a task-status that says failed, canceled,
// waiting-input or waiting-auth. Texts are sent as content-delta, whose members delta and content are the same piece,
// and finally as a whole in content-complete. If text is taken back, a line ("---") precedes what replaces it, and
// content-complete has the valid text. A thought is sent once, as a whole. Files up to 1 MB are file-write, larger ones
// artifact-binary with a URL. All events of a sub-run come directly after its subtask-created, with a path and their
// own taskId. A credential may be encrypted with the key in its auth-required. The data of an event is the complete
// event, as Looopy's own clients expect. With framing=named the name of the event is its kind, and data omits kind and
// contextId.
//
// The id of an event is contextId-N. N grows within the context and is the same for every reader, but skips numbers. It
// is composed of the time of the turn, the event's position in the logs, and the length of the text so far.
package looopy
