package lab_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
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
	model, config := newPaced(streamedTokens, false), openai.DefaultConfig("")
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

func conversationFigures() []figure {
	return []figure{
		{name: "1,000 idle conversations of 10 kB", unit: "MB", goal: 20, ours: idleConversations},
		{name: "a history of 50 messages, from its file", unit: "ms", goal: 1, ours: assembledHistory},
	}
}

func idleConversations(t *testing.T) float64 {
	before, s := heap(), conversation.NewMemory(1000)
	for i := range 1000 {
		for turn := range 5 {
			discuss(t, s, fmt.Sprint("c_", i), fmt.Sprint("r_", turn),
				model.Message{Role: model.Assistant, Content: strings.Repeat("word ", 200)})
		}
	}
	used := heap() - before
	runtime.KeepAlive(s)
	return used / 1e6
}

// discuss is a turn, whose user says 1 kB.
func discuss(t *testing.T, s *conversation.Store, id, owner string, said ...model.Message) {
	t.Helper()
	turn, err := s.Begin(id, conversation.Beginning{Owner: owner, Message: strings.Repeat("word ", 200)})
	if err == nil {
		err = turn.Say(said...)
	}
	if err == nil {
		err = turn.End("")
	}
	must(t, err)
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// assembledHistory is the median time from the begin of a turn to the messages for the model. Every fourth of the 50
// is a result of 5 kB, the others have up to 1 kB.
func assembledHistory(t *testing.T) float64 {
	s, err := conversation.Open(t.TempDir(), 0)
	must(t, err)
	for turn := range 12 {
		id := fmt.Sprint("call_", turn)
		discuss(t, s, "c_1", fmt.Sprint("r_", turn),
			model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: id, Name: "read", Arguments: `{"path":"a.go"}`}}},
			model.Message{Role: model.ToolRole, CallID: id, Content: strings.Repeat("line\n", 1000)},
			model.Message{Role: model.Assistant, Content: strings.Repeat("word ", 200)})
	}
	times := make([]float64, 21)
	for i := range times {
		begun := time.Now()
		turn, err := s.Begin("c_1", conversation.Beginning{Owner: "r_last", Message: "And now?"})
		must(t, err)
		wire := conversation.Wire(turn.History(), conversation.Profile{ShortIDs: true, Budget: 200_000})
		times[i] = float64(time.Since(begun)) / float64(time.Millisecond)
		if len(wire) != 49 {
			t.Fatalf("the model is sent %d messages", len(wire))
		}
		must(t, turn.End(""))
	}
	return median(times)
}

func planFigures() []figure {
	return []figure{
		{name: "plan: each of 1,000 steps beyond its sub-run", unit: "µs", goal: 200,
			ours: func(t *testing.T) float64 { return planStep(t, 1_000) }},
		{name: "plan: each of 4,000 steps beside each of 1,000", unit: "µs", goal: 2,
			ours:     func(t *testing.T) float64 { return planStep(t, 4_000) },
			baseline: func(t *testing.T) float64 { return planStep(t, 1_000) }},
		{name: "plan: 10,000 items with a limit of 100", unit: "MB", goal: 150, ours: planItems},
		{name: "plan: a comparison in a guard", unit: "µs", goal: 10, ours: guard},
	}
}

var planConfig = plan.Config{Jobs: []actors.Definition{actors.Func("work",
	func(context.Context, *actors.TaskContext, any) (any, error) { return nil, nil })}}

// planStep is how long each step of a plan takes, each after the one before, beyond what its sub-run takes alone.
func planStep(t *testing.T, n int) float64 {
	s, done := newSystem(t, actors.Config{})
	defer done()
	p := &plan.Plan{}
	for i := range n {
		step := plan.Step{Name: fmt.Sprint("s", i), Job: "work"}
		if i > 0 {
			before := fmt.Sprint("s", i-1)
			step.Needs, step.If = plan.Names{before}, "steps."+before+`.outcome == "completed"`
		}
		p.Steps = append(p.Steps, step)
	}
	whole := carried(t, s, func() (actors.Job, error) { return plan.Job(plan.Input{Plan: p}, planConfig) })
	subRuns := carried(t, s, func() (actors.Job, error) { return parentOf(n), nil })
	return float64((whole - subRuns).Nanoseconds()) / 1e3 / float64(n)
}

// parentOf is a job of n sub-runs, one after the other.
func parentOf(n int) actors.Job {
	start := func(ctx context.Context, t *actors.TaskContext) error {
		for range n {
			job, err := planConfig.Jobs[0].New(nil)
			if err != nil {
				return err
			}
			run, err := t.Start(ctx, job, actors.Options{})
			if err == nil {
				_, err = run.Wait(ctx)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return actors.Job{Name: "parent", Tasks: []actors.Task{{Name: "start", Run: start}}}
}

// carried is how long it takes to make the job and to run it to its end.
func carried(t *testing.T, s *actors.System, newJob func() (actors.Job, error)) time.Duration {
	t.Helper()
	begin := time.Now()
	job, err := newJob()
	must(t, err)
	run, err := s.Start(t.Context(), job, actors.Options{})
	must(t, err)
	if state, err := run.Wait(t.Context()); err != nil || state.Status != messages.Completed {
		t.Fatalf("%v: %s %+v", err, state.Status, state.End)
	}
	return time.Since(begin)
}

// planItems is the memory of a plan after 10,000 items, with their logs.
func planItems(t *testing.T) float64 {
	s, done := newSystem(t, actors.Config{})
	defer done()
	p := &plan.Plan{Limit: 100, Steps: []plan.Step{{Name: "each", Job: "work", ForEach: make([]any, 10_000)}}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	carried(t, s, func() (actors.Job, error) { return plan.Job(plan.Input{Plan: p}, planConfig) })
	runtime.ReadMemStats(&after)
	return (float64(after.HeapInuse) - float64(before.HeapInuse)) / (1 << 20)
}

// guard is how long the evaluation of a guard takes: plans of equal steps differ in how much a guard compares.
func guard(t *testing.T) float64 {
	const steps, more = 1000, 100
	s, done := newSystem(t, actors.Config{})
	defer done()
	took := func(compares int) time.Duration {
		guard := strings.Repeat(`steps.a.outcome == "completed" and `, compares-1) + `steps.a.outcome == "completed"`
		p := &plan.Plan{Steps: []plan.Step{{Name: "a", Job: "work"}}}
		for i := range steps {
			p.Steps = append(p.Steps, plan.Step{Name: fmt.Sprint("s", i), Job: "work", Needs: plan.Names{"a"}, If: guard})
		}
		job, err := plan.Job(plan.Input{Plan: p}, planConfig)
		must(t, err)
		return carried(t, s, func() (actors.Job, error) { return job, nil })
	}
	return float64((took(1+more) - took(1)).Nanoseconds()) / 1e3 / steps / more
}
