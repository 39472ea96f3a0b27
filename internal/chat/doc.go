// Package chat is the job of a chat turn: an assistant that may call tools, as a run with the single task turn.
//
// The task asks the model, runs the tools that the answer calls, and asks again with their results, until an answer
// calls no tool: its text is the result. The text of each answer is its own stream, answer.1 and so on, and
// arrives as the model writes it; so do its thoughts. The log durably has llm.completed with the calls before the
// first tool begins, each tool.started before its tool begins, and the results before the next request. A failed call
// is a result for the model. [Bounds] end a turn that does not end by itself. With a context the turn continues a
// conversation; see package internal/conversation.
//
// A turn whose node is lost continues at another node, or at the next start of this one, after its last step in the
// log. It repeats no request with a complete answer, and no tool call that has ended. A call that was under way is
// repeated if its tool is idempotent; otherwise the run fails with node_lost.
//
// Tools ask people with [tool.Call.Ask], and the model asks with [tool.AskUser]. A call of a tool that writes first
// needs the user's approval: once, for the conversation, or always. Without it the turn ends there, degraded. While a
// turn waits for people its timeouts stand still, and another message in its conversation cancels it.
//
// With [Input.Stages] the run has three tasks instead: understand finds out whether tools are needed, think calls
// them, and respond answers. If JSON is still invalid after two more requests, or a bound ends a stage before
// respond, the run continues without it, and Degraded in the result says so.
//
//	tools, err := tool.NewSet(nil, tool.Repository(root.FS())...)
//	job, err := chat.Job(chat.Input{Message: "What is this?"}, chat.Config{Stream: client.Stream, Tools: tools})
//	run, err := system.Start(ctx, job, actors.Options{})
package chat
