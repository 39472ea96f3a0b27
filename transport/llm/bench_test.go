package llm_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/llm"
)

// frame is of the size that servers send.
const frame = `data: {"id":"chatcmpl-9aXq3vT1mVwqQkYzN0Jp4sUe7bRtH","object":"chat.completion.chunk","created":1700000000,` +
	`"model":"qwen2.5-7b-instruct","system_fingerprint":"qwen2.5-7b-instruct","choices":[{"index":0,"delta":{"content":" token"},` +
	`"logprobs":null,"finish_reason":null}]}` + "\n\n"

// answering is the transport of an answer of n tokens, one frame for each Read.
func answering(n int) *played {
	body := strings.Repeat(frame, n) + doneFrame
	return &played{fixtureResponse{Status: 200, ContentType: "text/event-stream", Framing: standin.Chunked, End: "clean", Body: body},
		append(slices.Repeat([]int{len(frame)}, n), len(doneFrame))}
}

// ours and theirs take an answer of n tokens and return the time of one.
func ours(b testing.TB, n int) time.Duration {
	c, tokens, began := client(b, llm.Config{Transport: answering(n)}), 0, time.Now()
	for part, err := range c.Stream(b.Context(), hello()) {
		must(b, err)
		if _, ok := part.(model.Text); ok {
			tokens++
		}
	}
	if tokens != n {
		b.Fatalf("%d tokens of %d", tokens, n)
	}
	return time.Since(began) / time.Duration(n)
}

func theirs(b testing.TB, n int) time.Duration {
	config := openai.DefaultConfig("")
	config.BaseURL, config.HTTPClient = "http://model.test/v1", &http.Client{Transport: answering(n)}
	tokens, began := 0, time.Now()
	s, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(b.Context(), openai.ChatCompletionRequest{Model: "m"})
	must(b, err)
	defer s.Close()
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		must(b, err)
		if chunk.Choices[0].Delta.Content != "" {
			tokens++
		}
	}
	if tokens != n {
		b.Fatalf("%d tokens of %d", tokens, n)
	}
	return time.Since(began) / time.Duration(n)
}

// BenchmarkDecode takes answers of a thousand tokens by turns, ours and through go-openai alone, and reports the time
// of a token and the ratio of the medians. The contract allows 1.0, and 1.1 on its noisiest run.
func BenchmarkDecode(b *testing.B) {
	const n = 1000
	var mine, other []time.Duration
	for b.Loop() {
		mine, other = append(mine, ours(b, n)), append(other, theirs(b, n))
	}
	slices.Sort(mine)
	slices.Sort(other)
	m, o := mine[len(mine)/2], other[len(other)/2]
	b.ReportMetric(float64(m), "ns/token")
	b.ReportMetric(float64(o), "ns/token-go-openai")
	b.ReportMetric(float64(m)/float64(o), "ratio")
	b.ReportMetric(0, "ns/op")
}
