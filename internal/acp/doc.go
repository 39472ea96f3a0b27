// Package acp lets editors use lastword as their agent, over the Agent Client Protocol, version 1, on standard input
// and output.
//
// A session is a conversation. A prompt is a run of the job chat, which is canceled if the editor leaves. What the run
// says becomes session/update; what it asks becomes session/request_permission or elicitation/create. The response to
// the prompt comes after the last update: end_turn if the run completed, cancelled if it was canceled, or else an
// error. If the connection breaks, there is no response, so an incomplete answer never looks like a success.
//
// The messages and their types come from the module acp-go-sdk. Its connection starts a goroutine for each request. The
// agent holds back the next message until a prompt has begun, so that a cancel finds the prompt before it.
package acp
