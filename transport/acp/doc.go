// Package acp lets editors start lastword as their agent: the Agent Client Protocol, version 1, over stdin and stdout.
//
// A session is a conversation, and a prompt is a run of the job chat, which is canceled if the editor leaves. What the
// run says becomes session/update, what it asks session/request_permission or elicitation/create. The answer to the
// prompt comes after the last update: end_turn where the run completed, cancelled where it was canceled, and otherwise
// an error. A connection that breaks off has no answer, so no cut looks like a success.
//
// Messages and their types are those of the module acp-go-sdk. Its connection starts a goroutine for each request; the
// [Agent] holds the next message back until a prompt has begun, so that a cancel meets the prompt before it.
package acp
