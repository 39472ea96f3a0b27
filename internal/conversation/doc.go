// Package conversation stores conversations, which consist of turns.
//
// A [Store] holds each conversation under an id, the context of a chat turn, in memory or in a folder. A conversation
// is an append-only log of JSON lines: messages, turns, summaries. So whatever happens to a turn, everything before
// it can be read, and a damaged line costs only itself.
//
// One turn at a time has the conversation: until it ends, or its process has ended, or its time has passed. Then another
// turn may take over. Turns are numbered, and what a turn writes after a later turn has begun does not count. A turn
// that does not complete leaves a note in the conversation.
//
//	turn, err := store.Begin("c_1", conversation.Beginning{Owner: "r_1", Message: "What is this?"})
//	answer := ask(turn.History())
//	err = turn.Say(model.Message{Role: model.Assistant, Content: answer})
//	err = turn.End("")
//
// A conversation may end anywhere, because a turn can be canceled. [Wire] returns the messages that a server of language
// models accepts.
package conversation
