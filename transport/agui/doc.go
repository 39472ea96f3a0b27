// Package agui answers clients of AG-UI, at /agui.
//
// A thread is the label context of runs. A run of AG-UI is a segment of a run, see package transcript: it ends with an
// interrupt where the run asks something, and the request that resumes begins the next. The same request again gets
// the same events, so that a client whose connection was cut asks once more. POST /agui/{thread}/cancel cancels the
// newest run of a thread.
//
// What is taken back goes by a MESSAGES_SNAPSHOT. Clients before 1.0, which send no protocolVersion, get a RUN_ERROR
// for a canceled run, and activities for sub-runs: they reject what they do not know.
package agui
