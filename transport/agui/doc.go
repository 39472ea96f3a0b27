// Package agui serves runs to clients of the AG-UI protocol, at /agui.
//
// A thread is the label "context" of runs. A run of AG-UI is a segment of a run, see package transcript: it ends with
// an interrupt if the run asks something, and the request that resumes begins the next segment. A client whose
// connection was lost repeats its request: the same request gets the same events. POST /agui/{thread}/cancel cancels
// the newest run of a thread.
//
// If text is taken back, a MESSAGES_SNAPSHOT replaces it. Clients older than 1.0, which send no protocolVersion, get a
// RUN_ERROR for a canceled run, and activities for sub-runs, because they reject unknown events.
package agui
