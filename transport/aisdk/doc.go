// Package aisdk serves runs to the chat of the AI SDK (useChat), at /api/chat, /api/chat/{id}/stream and
// /api/chat/{id}/stop.
//
// A message of the assistant is a run and has its id. The client sends the whole conversation, whose id is the label
// "context" of the runs. A question of the run is a call of the tool "ask", which the client answers, or an approval if
// the answer is yes or no. A client that reconnects gets its newest run from the beginning, because the protocol has no
// cursor.
//
// All messages have the formats of versions 5 and 6; version 5 lacks approvals. A client of version 7 sends the header
// X-AI-SDK: 7, and gets a reset-step if text is taken back. Other clients get a part data-retracted after the text, and
// then the new text.
package aisdk
