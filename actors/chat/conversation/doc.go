// Package conversation keeps conversations over the turns of which they are made.
//
// A [Store] has each conversation under an id, the context of a chat's turn, in memory or in a folder. A conversation
// is a log of JSON lines that only grows: what was said, who speaks, summaries. So whatever happens to a turn, all
// that was said before it can be read, and a line that cannot be read costs that line alone.
//
// One turn at a time speaks. It has the conversation until it ends, until its process is gone, or until its time has
// passed. Then another turn may take over; each has a number, and what a turn says after another has begun does not
// count. A turn that does not complete leaves a note of that in the conversation.
//
//	turn, err := store.Begin("c_1", conversation.Beginning{Owner: "r_1", Message: "What is this?"})
//	answer := ask(turn.History())
//	err = turn.Say(model.Message{Role: model.Assistant, Content: answer})
//	err = turn.End("")
package conversation
