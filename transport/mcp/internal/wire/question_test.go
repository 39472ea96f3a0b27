package wire_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

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
	f := newFixture(t, wire.Config{})
	left := make(chan error, 1)
	f.mcp.AddTool(mcp.NewTool("leave"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x := wire.From(ctx)
		go func() {
			left <- x.Ask(context.WithoutCancel(ctx), mcp.MethodElicitationCreate, nil, new(any))
		}()
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
