// Package looopy is a door for clients of Looopy: a conversation's turns as server-sent events.
//
// POST /api/sse/message with {message, contextId} begins a turn and streams it; with inputs or credentials it answers
// what the turn asked, and the stream goes on. GET streams the turns of the contextId, after the event of
// Last-Event-ID or lastEventId; taskId limits it to one turn. A turn is a run, and its taskId the run's id.
//
// A stream begins with task-created. It ends with task-complete, or with a task-status that says failed, canceled,
// waiting-input or waiting-auth. The texts come as content-delta, whose delta and content are the same piece, and at
// last whole as content-complete. If text is taken back, a line ("---") stands before what replaces it, and
// content-complete has what counts. A thought comes once, whole. Files up to 1 MB come as file-write, larger ones as
// artifact-binary with a URL. The events of sub-runs have the sub-run's taskId and a path. Events internal:* are
// never sent.
//
// The whole event is in data, without a name, as Looopy's own clients read it. With framing=named the name is kind,
// and data leaves kind and contextId out.
//
// An event's id is contextId-N. N grows within the context, is the same for every reader, and skips. It is made of
// the time of the turn, the number of the event in the run's log, and the length of the text so far: so nothing is
// kept for a client, and a reader may come back at any time. Events of sub-runs have no id; they come again
// to a reader that comes back while the sub-run is under way.
package looopy
