// Package a2a answers clients of A2A 1.0, other agents, by JSON-RPC at /a2a. The agent's card lists the jobs as skills.
//
// A task is a run, and its id the run's; a contextId is the label context of runs. A message that names no skill, in its
// metadata, is a turn of chat. The same messageId gets the same task. A question makes a task input-required: a message
// with the taskId answers it.
//
// Texts, files and a structured result are artifacts; a file is a URL. Tools, steps and sub-runs are updates of the
// status, with a sentence. Thoughts, progress and logs have no form here. All streams of a task give the same events:
// the pieces of a text end with its words, however its deltas were merged, and a text that begins while another may grow
// waits for it. If text is taken back, append: false gives what remains. A stream ends with a terminal or interrupted
// status, or it breaks after an error.
package a2a
