package actors

import "github.com/seed889630bf/lastword/messages"

// Conclude says how a call to a model or a tool ended, which the run is told even where the attempt was cancelled in the
// meantime and may say nothing else: a cancelled run then knows what became of its calls. After the cancel an attempt
// concludes at most 8 calls.
func (t *TaskContext) Conclude(body messages.Body, message string) error {
	switch body.(type) {
	case messages.LLMCompleted, messages.ToolCompleted:
		return t.work.Conclude(&emission{attempt: t.attempt, body: body, message: message})
	}
	return invalid("a task concludes a call of a model or a tool: say anything else with Emit")
}
