package testkit_test

import (
	"errors"
	"io"
	"testing"

	"github.com/sashabaranov/go-openai"

	"github.com/seed889630bf/lastword/testkit"
)

func client(t *testing.T, m *testkit.Model, key string) *openai.Client {
	config := openai.DefaultConfig(key)
	config.BaseURL, config.HTTPClient = m.URL(), caller(t)
	return openai.NewClientWithConfig(config)
}

func asked(stream bool) openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{Model: "m", Stream: stream,
		Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: "one <two> three"}}}
	if stream {
		r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	return r
}

// gathered is what a stream gave.
type gathered struct {
	text, thought, finish string
	calls                 []openai.ToolCall
	usage                 openai.Usage
}

// gather reads a stream to its end.
func gather(t *testing.T, c *openai.Client) (g gathered, err error) {
	t.Helper()
	stream, err := c.CreateChatCompletionStream(t.Context(), asked(true))
	if err != nil {
		return g, err
	}
	defer func() { _ = stream.Close() }()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return g, nil
		}
		if err != nil {
			return g, err
		}
		if chunk.Usage != nil {
			g.usage = *chunk.Usage
		}
		for _, choice := range chunk.Choices {
			g.text += choice.Delta.Content
			g.thought += choice.Delta.ReasoningContent
			g.finish += string(choice.FinishReason)
			g.calls = append(g.calls, choice.Delta.ToolCalls...)
		}
	}
}

func TestModelWithClient(t *testing.T) {
	m := testkit.NewModelWith(t, testkit.ModelOptions{Key: "k"})
	c := client(t, m, "k")
	g, err := gather(t, c)
	if err != nil || g.text != "one <two> three" || g.finish != "stop" || g.usage.CompletionTokens != 3 {
		t.Errorf("the echo is %+v, %v", g, err)
	}
	m.Answer(testkit.Text("a"), testkit.ErrorFrame("boom"))
	if _, err := gather(t, c); err == nil || err.Error() != "error, boom" {
		t.Errorf("the error frame is %v", err)
	}
	_, err = client(t, m, "other").ListModels(t.Context())
	if api, ok := errors.AsType[*openai.APIError](err); !ok || api.HTTPStatusCode != 401 {
		t.Errorf("with another key: %v", err)
	}
	if list, err := c.ListModels(t.Context()); err != nil || len(list.Models) != 1 || list.Models[0].ID != "scripted" {
		t.Errorf("the models are %+v, %v", list, err)
	}
}

// The same script answers a client that streams and one that does not.
func TestModelCalls(t *testing.T) {
	m := testkit.NewModel(t)
	c := client(t, m, "any")
	script := []testkit.Piece{testkit.Role(), testkit.Thought("hm"), testkit.Text("see "),
		testkit.Call(0, "c1", "read", `{"pa`), testkit.Call(0, "", "", `th":"a"}`), testkit.Call(1, "c2", "list", `{}`),
		testkit.Finish("tool_calls"), testkit.Usage(7, 5), testkit.Done()}
	m.Answer(script...)
	g, err := gather(t, c)
	if err != nil || g.text != "see " || g.thought != "hm" || g.finish != "tool_calls" || g.usage.TotalTokens != 12 {
		t.Errorf("the stream is %+v, %v", g, err)
	}
	if len(g.calls) != 3 || g.calls[0].Function.Arguments+g.calls[1].Function.Arguments != `{"path":"a"}` ||
		*g.calls[1].Index != 0 || *g.calls[2].Index != 1 || g.calls[2].ID != "c2" || g.calls[2].Function.Name != "list" {
		t.Errorf("the calls are %+v", g.calls)
	}
	m.Answer(script...)
	whole, err := c.CreateChatCompletion(t.Context(), asked(false))
	if err != nil || len(whole.Choices) != 1 {
		t.Fatal(whole, err)
	}
	choice := whole.Choices[0]
	if choice.Message.Content != "see " || choice.Message.ReasoningContent != "hm" || whole.Usage.TotalTokens != 12 ||
		choice.FinishReason != "tool_calls" || len(choice.Message.ToolCalls) != 2 ||
		choice.Message.ToolCalls[0].Function.Arguments != `{"path":"a"}` {
		t.Errorf("the completion is %+v", whole)
	}
}
