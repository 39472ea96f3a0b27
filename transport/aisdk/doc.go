// Package aisdk answers the chat of the AI SDK, useChat: /api/chat, /api/chat/{id}/stream and /api/chat/{id}/stop.
//
// A message of the assistant is a run, and has its id. The client sends the whole conversation; its id is the label
// context of the runs. What the run asks is a call of the tool ask that the client answers, or an approval where the
// answer is yes or no. A client that comes back gets its newest run from the beginning: the protocol has no cursor.
//
// All forms are those of the versions 5 and 6, apart from approvals, which 5 lacks. A client of version 7 says so in
// a header, X-AI-SDK: 7: then a text that is taken back goes away by reset-step. Elsewhere a part data-retracted
// follows it, and the text comes again.
package aisdk
