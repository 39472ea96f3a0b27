// Package a2a serves runs to other agents over the A2A protocol 1.0, by JSON-RPC at /a2a. The agent's card lists the
// jobs as skills.
//
// A task is a run and has its id. A contextId is the label "context" of runs. A message whose metadata names no skill
// is a turn of the job chat. If a client repeats a message, it gets the same task; another message with the same messageId begins another task. A question makes the task
// input-required; a message with the taskId answers it.
//
// Texts, files and a structured result are artifacts; a file is given as a URL. Tools, steps and sub-runs are status
// updates with a sentence. Thoughts, progress and logs are not sent. All streams of a task carry the same events:
// pieces of text end at word boundaries, however the deltas were merged, and a text that begins while another may still
// grow waits for it. If text is taken back, an artifact with append: false replaces it. A stream ends with a terminal
// or interrupted status, or it breaks after an error.
package a2a
