package main

import (
	"context"
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/chat"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// A chat that waits for its user goes on with the answer after kill -9 of its server, which asks the model for nothing
// again.
func TestChatWaitsOverKill(t *testing.T) {
	m, dir := testkit.NewModel(t), t.TempDir()
	m.Answer(testkit.Text("One moment. "), testkit.Call(0, "c1", "ask_user", `{"question":"Which city?"}`),
		testkit.Finish("tool_calls"), testkit.Done())
	m.Answer(testkit.Text("It rains."), testkit.Finish("stop"), testkit.Done())
	start := func() *served {
		return serving(t, binary(t, dir, "serve", "--unix", dir+"/s", "--state", dir+"/kept", "--base-url", m.URL()))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server := start()
	client, err := api.New("unix:"+dir+"/s", "")
	must(t, err)
	input := json.RawMessage(`{"message":"How is it?","model":"scripted","context":"c_1","tools":["ask_user"]}`)
	id, err := client.Submit(ctx, messages.Request{Job: chat.Name, Input: input})
	must(t, err)
	request := firstQuestion(ctx, t, client, id)
	server.ends(syscall.SIGKILL)
	start()
	must(t, client.Answer(ctx, id, request, json.RawMessage(`"Oslo"`)))
	state := ended(ctx, t, client, id)
	if state.Status != messages.Completed || state.Recoveries != 1 || !strings.Contains(string(state.End.Result), "It rains.") {
		t.Errorf("the chat ends as %+v", state.End)
	}
	if text, _ := state.Stream("answer.1"); text.Text() != "One moment. " {
		t.Errorf("the first answer is %q", text.Text())
	}
	requests := m.Requests()
	if last := string(requests[len(requests)-1].Body); !strings.Contains(last, `"content":"Oslo"`) {
		t.Errorf("the model is not told the answer: %s", last)
	}
	asked := 0
	for _, r := range requests {
		if strings.HasSuffix(r.Path, "/chat/completions") {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("the model was asked %d times", asked)
	}
}
