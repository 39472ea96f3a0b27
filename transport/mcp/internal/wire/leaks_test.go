package wire_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// Reference section 4: "three leaks [M]: (1) stateless legacy mode + pending RequestElicitation registers the session
// under "" -> another client's progress went to the waiting client (21 of 40 events)". A client that has no session
// gets none of somebody's, and while one is asked the progress of others stays theirs.
func TestLeakOfSessionsWithoutName(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	stranger := modernClient(t, url)
	if status, _ := stranger.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); status != http.StatusBadRequest {
		t.Errorf("without a session: %d", status)
	}
	addAsk(f)
	asked := sessionClientAs(t, url, "", `{"elicitation":{}}`)
	waits := asked.send(t.Context(), http.MethodPost, toolCall("1", "ask", `{}`, ""))
	events := newStream(t, waits.Body)
	question, _ := events.next()
	var others sync.WaitGroup
	for i := range 8 {
		others.Go(func() {
			_, got := sessionClient(t, url).call("1", "count", fmt.Sprintf(`{"tag":"%d"}`, i))
			whole(t, got, 5, "1", fmt.Sprint(i))
		})
	}
	others.Wait()
	asked.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, question.ID))
	if m, _ := events.next(); m.text() != "decline" {
		t.Errorf("%+v", m)
	}
}

// "(2) modern HTTP: inflight key is ":"+id, so any client's POST notifications/cancelled{requestId} cancels another's
// call". Nothing but the closing of its own stream cancels one.
func TestLeakOfModernCancellation(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	victim, other := modernClient(t, url), modernClient(t, url)
	came, x := victim.start(t.Context(), toolCall("1", "hold", `{}`, modernMeta)), <-f.entered
	for _, meta := range []string{"", modernMeta} {
		other.headers["Mcp-Protocol-Version"] = "2026-07-28"
		other.headers["Mcp-Method"] = "notifications/cancelled"
		if status := other.notify("notifications/cancelled", `{"requestId":1,"_meta":{`+meta+`}}`); status != 202 {
			t.Error(status)
		}
	}
	twin := modernClient(t, url).start(t.Context(), toolCall("1", "hold", `{}`, modernMeta))
	if y := <-f.entered; y == x || y.Session() != nil {
		t.Error("two clients share a request")
	}
	close(f.release)
	whole(t, drain(t, soon(t, came)), 0, "1", "held")
	whole(t, drain(t, soon(t, twin)), 0, "1", "held")
}

// "(3) tasks/status broadcast". What is for all reaches only streams that are open for it: one in a session,
// and none of a request's; what is for one session reaches that one.
func TestLeakOfBroadcasts(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	c, bystander := sessionClient(t, url), sessionClient(t, url)
	mine := newStream(t, c.send(t.Context(), http.MethodGet, "").Body)
	theirs := newStream(t, bystander.send(t.Context(), http.MethodGet, "").Body)
	call := bystander.start(t.Context(), toolCall("1", "wait", `{"begin":true}`, ""))
	session := soon(t, f.entered).Session()

	must(t, session.Notify("notifications/theirs", nil))
	f.wire.Broadcast("notifications/all")
	for s, want := range map[*stream]string{mine: "notifications/all", theirs: "notifications/theirs notifications/all"} {
		var got []string
		for range strings.FieldsSeq(want) {
			m, _ := s.next()
			got = append(got, m.Method)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	bystander.notify("notifications/cancelled", cancel1)
	if got := drain(t, soon(t, call)); len(got) != 1 || got[0].Params.Progress != 1 {
		t.Errorf("on the request's stream: %+v", got)
	}
}

// "session ids unguessable, not auth: default manager accepts ANY well-formed id, never terminates", and the bearer of
// another principal's gets what everybody gets for one that never was.
func TestSessionsAreTheirPrincipals(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	alice := sessionClientAs(t, url, "alice", `{}`)
	if len(alice.session) < 22 {
		t.Errorf("%q is too short for 128 bits", alice.session)
	}
	came := alice.start(t.Context(), toolCall("1", "wait", `{}`, ""))
	<-f.entered
	mallory := modernClient(t, url)
	mallory.headers["Caller"] = "mallory"
	for _, session := range []string{alice.session, strings.Repeat("A", 26)} {
		mallory.session = session
		mallory.isLost()
	}
	none(t, f.causes, "it was cancelled")
	alice.notify("notifications/cancelled", cancel1)
	soon(t, came)
}

// "a session is bound to its principal": and to its scopes. What a writer is asked is not for a reader of the same name
// to answer, cancel or end, whatever that one knows of the session; who may do the same goes on in it.
func TestSessionsAreOfTheirScopes(t *testing.T) {
	f := newFixture(t, wire.Config{})
	addAsk(f)
	url := f.serveHTTP(t)
	as := func(scopes string) *client {
		c := modernClient(t, url)
		c.headers["Caller"], c.headers["Scopes"] = "mia", scopes
		return c
	}
	writer := as("run:read run:write")
	writer.session = writer.send(t.Context(), http.MethodPost, initialize(able)).Header.Get("Mcp-Session-Id")
	events := newStream(t, writer.send(t.Context(), http.MethodPost, toolCall("1", "ask", `{}`, "")).Body)
	question, _ := events.next()
	for _, scopes := range []string{"run:read", "run:write", "admin", ""} {
		other := as(scopes)
		other.session = writer.session
		yes := answer(question.ID, `"result":{"action":"accept","content":{}}`)
		if response := other.send(t.Context(), http.MethodPost, yes); response.StatusCode != http.StatusNotFound {
			t.Fatalf("an answer of %q: %s", scopes, response.Status)
		}
		other.isLost()
	}
	same := as("run:write run:read")
	same.session = writer.session
	if status, _ := same.ask(answer(question.ID, `"result":{"action":"decline"}`)); status != http.StatusAccepted {
		t.Errorf("the same scopes: %d", status)
	}
	if m, _ := events.next(); m.text() != "decline" {
		t.Errorf("%+v", m)
	}
}

// The session of a process's stdio is nobody's over HTTP.
func TestStdioIsNotFoundOverHTTP(t *testing.T) {
	f := newFixture(t, wire.Config{})
	f.serveStdio(t).begin(`{}`)
	c := modernClient(t, f.serveHTTP(t))
	c.session = "stdio"
	c.isLost()
}

// addAsk adds a tool that asks the client's user, and one that asks for a sample.
func addAsk(f *fixture) {
	f.mcp.AddTool(mcp.NewTool("ask"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r, err := f.mcp.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{Message: "sure?",
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}})
		if err != nil {
			return mcp.NewToolResultText("error: " + err.Error()), nil
		}
		return mcp.NewToolResultText(string(r.Action)), nil
	})
	f.mcp.AddTool(mcp.NewTool("more"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 what is deprecated still works
		sample, err := f.mcp.RequestSampling(ctx, mcp.CreateMessageRequest{})
		if err != nil {
			return mcp.NewToolResultText("error: " + err.Error()), nil
		}
		return mcp.NewToolResultText(sample.Content.(mcp.TextContent).Text), nil
	})
}

const able = `{"elicitation":{},"sampling":{},"roots":{}}`

func answer(id []byte, rest string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, rest)
}

func TestQuestions(t *testing.T) {
	f := newFixture(t, wire.Config{})
	addAsk(f)
	c := sessionClientAs(t, f.serveHTTP(t), "", able)
	other := sessionClientAs(t, c.url, "", able)
	for rest, want := range map[string]string{
		`"result":{"action":"accept","content":{}}`:     "accept",
		`"error":{"code":-32603,"message":"no screen"}`: "error: the client refused elicitation/create: no screen (-32603)",
	} {
		events := newStream(t, c.send(t.Context(), http.MethodPost, toolCall("1", "ask", `{}`, "")).Body)
		question, _ := events.next()
		if question.Method != "elicitation/create" {
			t.Fatalf("%+v", question)
		}
		// An answer of another session, or to what was not asked, is taken and dropped.
		if status, _ := other.ask(answer(question.ID, `"result":{"action":"cancel"}`)); status != http.StatusAccepted {
			t.Error(status)
		}
		if status, _ := c.ask(answer([]byte(`"ask-1"`), rest)); status != http.StatusAccepted {
			t.Error(status)
		}
		if status, _ := c.ask(answer(question.ID, rest)); status != http.StatusAccepted {
			t.Error(status)
		}
		if m, _ := events.next(); m.text() != want {
			t.Errorf("%q, not %q", m.text(), want)
		}
	}
}

// Who cancels the request is told that its question is void; who cannot be asked is not.
func TestQuestionsThatAreNotAnswered(t *testing.T) {
	f := newFixture(t, wire.Config{})
	addAsk(f)
	c := sessionClientAs(t, f.serveHTTP(t), "", able)
	events := newStream(t, c.send(t.Context(), http.MethodPost, toolCall("1", "ask", `{}`, "")).Body)
	question, _ := events.next()
	c.notify("notifications/cancelled", cancel1)
	m, _ := events.next()
	if m.Method != "notifications/cancelled" || string(m.Params.RequestID) != string(question.ID) {
		t.Errorf("%+v", m)
	}
	if m, ok := events.next(); ok {
		t.Errorf("%+v", m)
	}

	unable := sessionClient(t, c.url)
	for _, tool := range []string{"ask", "more"} {
		if _, got := unable.call("1", tool, `{}`); len(got) != 1 || got[0].text()[:6] != "error:" {
			t.Errorf("%+v", got)
		}
	}
	c.headers["Accept"] = "application/json"
	if _, got := c.call("2", "ask", `{}`); len(got) != 1 || got[0].text()[:6] != "error:" {
		t.Errorf("%+v", got)
	}
	if _, got := modernClient(t, c.url).call("1", "ask", `{}`); len(got) != 1 || got[0].text()[:6] != "error:" {
		t.Errorf("%+v", got)
	}
}

// A handler that leaves a question behind takes it back with its result.
func TestQuestionLeftBehind(t *testing.T) {
	f, left := newFixture(t, wire.Config{}), make(chan error, 1)
	f.mcp.AddTool(mcp.NewTool("leave"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x := wire.From(ctx)
		go func() { left <- x.Ask(context.WithoutCancel(ctx), mcp.MethodElicitationCreate, nil, new(any)) }()
		f.entered <- x
		<-f.release
		return mcp.NewToolResultText("gone"), nil
	})
	c := sessionClientAs(t, f.serveHTTP(t), "", able)
	events := newStream(t, c.send(t.Context(), http.MethodPost, toolCall("1", "leave", `{}`, "")).Body)
	if m, _ := events.next(); m.Method != "elicitation/create" {
		t.Fatalf("%+v", m)
	}
	close(f.release)
	if m, _ := events.next(); m.Method != "notifications/cancelled" {
		t.Errorf("%+v", m)
	}
	if m, _ := events.next(); m.text() != "gone" {
		t.Errorf("%+v", m)
	}
	if soon(t, left) == nil {
		t.Error("it was answered")
	}
}
