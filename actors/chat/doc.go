// Package chat is the chat job: a turn of an assistant that may call tools, as a run with the one task turn.
//
// The task asks the model, runs the tools that the answer calls, and asks again with their results, until an answer
// calls none: its text is the result. The text of each answer is a stream of its own, answer.1 and so on, and arrives
// as the model writes it; so do its thoughts. llm.completed with the calls is durable before the first tool begins,
// and so is each tool.started before its tool, and the results before the next request. A call that fails is a result
// for the model. [Bounds] end a turn that does not end by itself. With a context the turn goes on with a conversation,
// see package conversation.
//
// A turn whose node is lost goes on at another node, or at the next start of this one, from its last step in the log:
// it asks for no answer again that is complete, and makes no call again that has ended. A call that was under way is
// made again if its tool is idempotent; otherwise the run fails with node_lost.
//
// Tools ask people with [tool.Call.Ask], and the model does with [tool.AskUser]. A call of a tool that writes needs the
// user's word first: once, for the conversation, or always; without it the turn ends there, degraded. While a turn
// waits for people its timeouts stand still, and another message in its conversation cancels it.
//
// With [Input.Stages] the run has three tasks instead: understand finds out whether tools are needed, think calls
// them, and respond answers. JSON that is still invalid after two more requests is gone on without, and so is what a
// bound ends before respond: the result says so in Degraded.
//
//	tools, err := tool.NewSet(nil, tool.Repository(root.FS())...)
//	job, err := chat.Job(chat.Input{Message: "What is this?"}, chat.Config{Stream: client.Stream, Tools: tools})
//	run, err := system.Start(ctx, job, actors.Options{})
package chat
