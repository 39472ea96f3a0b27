package lab_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/llm"
)

// streamedTokens is how many tokens an answer of the bench has.
const streamedTokens = 2000

func chatFigures() []figure {
	plain, structured := chat.Input{Message: "Go."}, chat.Input{Message: "Go.", Stages: true, Output: "structured"}
	turn := look[float64]{take: func(t *testing.T) float64 { return tokenThroughTurn(t, plain) }}
	return []figure{
		{name: "a turn's token, CPU, to go-openai into a slice", unit: "us", goal: 4, ours: turn.tell(itself), baseline: tokenIntoSlice},
		{name: "the same, from the socket to a turn's reader", unit: "us", goal: 20, ours: turn.tell(itself)},
		{name: "the same, in the response of JSON", unit: "us", goal: 20,
			ours: func(t *testing.T) float64 { return tokenThroughTurn(t, structured) }},
		{name: "stages delay the first token", unit: "ms", goal: 1, ours: func(t *testing.T) float64 {
			return firstToken(t, structured) - firstToken(t, plain)
		}},
	}
}

// paced is a model's answer: the body gives a token when the one before has been read.
type paced struct {
	next chan struct{}
	left [][]byte
}

func newPaced(tokens int, structured bool) *paced {
	frame := func(text string) []byte {
		return []byte(`data: {"id":"chatcmpl-9aXq3vT1mVwqQkYzN0Jp4sUe7bRtH","object":"chat.completion.chunk","created":1700000000,` +
			`"model":"qwen2.5-7b-instruct","choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}` + "\n\n")
	}
	p := &paced{next: make(chan struct{}, 1), left: slices.Repeat([][]byte{frame("token ")}, tokens)}
	end := []byte(`data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	if structured {
		p.left[0] = frame(`{\"response\": \"token `)
		end = append(frame(`\", \"citations\": [], \"confidence\": \"high\"}`), end...)
	}
	p.left = append(p.left, end)
	p.next <- struct{}{}
	return p
}

func (p *paced) Read(into []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	<-p.next
	n := copy(into, p.left[0])
	p.left = p.left[1:]
	return n, nil
}

func (p *paced) Close() error { return nil }

func (p *paced) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Body: p, ContentLength: -1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, TransferEncoding: []string{"chunked"}}, nil
}

// tokenThroughTurn is the CPU time of a token in microseconds: through the client, the job and its log to a reader.
func tokenThroughTurn(t *testing.T, in chat.Input) float64 {
	begin := time.Duration(0)
	readTurn(t, in, streamedTokens, func(n int) {
		if n == 1 {
			begin = cpuTime()
		}
	})
	return float64(cpuTime()-begin) / float64(time.Microsecond) / (streamedTokens - 1)
}

// readTurn reads a turn, and reports each token.
func readTurn(t *testing.T, in chat.Input, tokens int, read func(n int)) {
	t.Helper()
	s, done := newSystem(t, actors.Config{})
	defer done()
	model := newPaced(tokens, in.Output == "structured")
	client, err := llm.New(llm.Config{BaseURL: "http://model.test/v1", Transport: model})
	must(t, err)
	job, err := chat.Job(in, chat.Config{Stream: client.Stream})
	must(t, err)
	run, err := s.Start(t.Context(), job, actors.Options{})
	must(t, err)
	n := 0
	for e, err := range run.Events(t.Context(), 0) {
		must(t, err)
		if _, ok := e.Body.(messages.TextDelta); ok {
			n++
			read(n)
			model.next <- struct{}{}
		}
	}
	if n != tokens {
		t.Fatalf("%d tokens of %d came", n, tokens)
	}
}

// tokenIntoSlice is the CPU time of a token of the same stream, which go-openai alone reads into a slice.
func tokenIntoSlice(t *testing.T) float64 {
	model := newPaced(streamedTokens, false)
	config := openai.DefaultConfig("")
	config.BaseURL, config.HTTPClient = "http://model.test/v1", &http.Client{Transport: model}
	begin := cpuTime()
	s, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{Model: "m"})
	must(t, err)
	defer s.Close()
	var all []string
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if text := chunk.Choices[0].Delta.Content; text != "" {
			all = append(all, text)
			model.next <- struct{}{}
		}
	}
	if len(all) != streamedTokens {
		t.Fatalf("%d tokens came", len(all))
	}
	return float64(cpuTime()-begin) / float64(time.Microsecond) / streamedTokens
}

// firstToken is the median time from the start of a run to its first token, in milliseconds.
func firstToken(t *testing.T, in chat.Input) float64 {
	times := make([]float64, 101)
	for i := range times {
		begin := time.Now()
		readTurn(t, in, 1, func(int) { times[i] = float64(time.Since(begin)) / float64(time.Millisecond) })
	}
	return median(times)
}
