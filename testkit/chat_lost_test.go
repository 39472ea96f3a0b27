package testkit_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// A turn whose node is lost after any of its events goes on from its last step: no answer that the log has is asked
// for again, and no result. Of a payment that had begun nobody knows the end, and nobody pays again.
func TestChatLost(t *testing.T) {
	for name, open := range map[string]func(*testing.T) actors.Journal{
		"memory": func(*testing.T) actors.Journal { return journal.NewMemory() },
		"sqlite": func(t *testing.T) actors.Journal {
			j, err := sqlite.Open(t.TempDir())
			must(t, err)
			t.Cleanup(func() { _ = j.Close() })
			return j
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log []messages.Event
			var whole messages.State
			synctest.Test(t, func(t *testing.T) { log, whole = (&shop{}).visit(t, open(t), nil) })
			if whole.Status != messages.Completed || len(whole.Calls) != 6 {
				t.Fatalf("%+v", whole.End)
			}
			var again []messages.Event
			step := 1
			if testing.Short() {
				step = 3
			}
			for i := 0; i < len(log)-1; i += step {
				synctest.Test(t, func(t *testing.T) {
					if events := lostTurn(t, open(t), log[:i+1], whole); again == nil && i >= len(log)/2 {
						again = events
					}
				})
			}
			for i := len(log) / 2; i < len(again)-1; i += step {
				synctest.Test(t, func(t *testing.T) { lostTurn(t, open(t), again[:i+1], whole) })
			}
		})
	}
}

func lostTurn(t *testing.T, journal actors.Journal, before []messages.Event, whole messages.State) []messages.Event {
	what := fmt.Sprintf("after %d, %s", len(before), before[len(before)-1].Kind())
	asked, paid, paying := 0, 0, ""
	for _, e := range before {
		switch b := e.Body.(type) {
		case messages.LLMCompleted:
			if b.Error == nil {
				asked++
			}
		case messages.ToolStarted:
			if b.Tool == "pay" {
				paid, paying = 1, b.Call
			}
		case messages.ToolCompleted:
			if b.Call == paying {
				paying = ""
			}
		}
	}
	var s shop
	events, state := s.visit(t, journal, before)
	if paying != "" {
		if state.End.Cause != messages.CauseNodeLost || !strings.Contains(state.End.Error.Message, paying+" of pay") {
			t.Errorf("%s: %+v", what, state.End)
		}
		return events
	}
	var got, want chat.Result
	_, _ = json.Unmarshal(whole.End.Result, &want), json.Unmarshal(state.End.Result, &got)
	if state.Status != messages.Completed || got.Text != want.Text || !reflect.DeepEqual(got.Usage, want.Usage) {
		t.Errorf("%s: %+v", what, state.End)
	}
	if len(s.requests) != 3-asked || s.paid+paid != 1 {
		t.Errorf("%s: %d of 3 answers were there, %d were asked for; %d of 1 payments were, %d more", what, asked,
			len(s.requests), paid, s.paid)
	}
	for _, stream := range whole.Streams {
		if again, _ := state.Stream(stream.Name); again.Text() != stream.Text() || !again.Closed {
			t.Errorf("%s: %s says %q", what, stream.Name, again.Text())
		}
	}
	for _, c := range state.Calls {
		if !c.Ended {
			t.Errorf("%s: nobody knows how %s ended", what, c.ID)
		}
	}
	if len(s.requests) > 0 {
		said := s.requests[len(s.requests)-1].Messages
		if n := slices.IndexFunc(said, func(m model.Message) bool { return m.Content == "paid" }); n != 2 || len(said) != 6 {
			t.Errorf("%s: the model was sent %+v", what, said)
		}
	}
	return events
}

// A turn in stages goes on likewise, wherever its node is lost, and pays once.
func TestStagesLost(t *testing.T) {
	for _, form := range []string{"", `,"tokens":"off"`, `,"tokens":"debug"`, `,"output":"structured"`} {
		input := `{"message":"Buy.","tools":["pay","look"],"stages":true` + form + `}`
		var log []messages.Event
		synctest.Test(t, func(t *testing.T) { log, _ = (&shop{input: input}).visit(t, journal.NewMemory(), nil) })
		for i := range len(log) - 1 {
			synctest.Test(t, func(t *testing.T) { lostInStages(t, input, log[:i+1]) })
		}
	}
}

func lostInStages(t *testing.T, input string, before []messages.Event) {
	s, paying := shop{input: input}, ""
	for _, e := range before {
		switch b := e.Body.(type) {
		case messages.ToolStarted:
			if b.Tool == "pay" {
				s.paid, paying = 1, b.Call
			}
		case messages.ToolCompleted:
			if b.Call == paying {
				paying = ""
			}
		}
	}
	what := fmt.Sprintf("%s after %d, %s", input, len(before), before[len(before)-1].Kind())
	_, state := s.visit(t, journal.NewMemory(), before)
	for _, c := range state.Calls {
		if !c.Ended {
			t.Errorf("%s: nobody knows how %s ended", what, c.ID)
		}
	}
	if paying != "" {
		if state.End.Cause != messages.CauseNodeLost {
			t.Errorf("%s: %+v", what, state.End)
		}
		return
	}
	text, _ := state.Stream("answer.1")
	if state.Status != messages.Completed || state.End.Degraded || s.paid != 1 || text.Text() != "It is yours." {
		t.Errorf("%s: %+v, %d payments, %q", what, state.End, s.paid, text.Text())
	}
}

// shop is a model and its tools: it looks and pays, looks again, and answers.
type shop struct {
	input    string
	requests []model.Request
	paid     int
}

// visit runs the turn, or continues the run that the node "gone" has left with the events.
func (s *shop) visit(t *testing.T, store actors.Journal, before []messages.Event) (events []messages.Event, state messages.State) {
	type what struct {
		Number int `json:"number"`
	}
	set, err := tool.NewSet(nil,
		tool.Func(tool.Tool{Name: "pay", Access: tool.Write}, func(context.Context, struct{}) (string, error) {
			s.paid++
			return "paid", nil
		}),
		tool.Func(tool.Tool{Name: "look", Access: tool.Read, Idempotent: true}, func(_ context.Context, in what) (string, error) {
			return fmt.Sprint("seen ", in.Number), nil
		}))
	must(t, err)
	job := chat.Define(func(chat.Input) (chat.Config, error) { return chat.Config{Stream: s.answer, Tools: set}, nil })
	if len(before) > 0 {
		b := journal.Block{Run: before[0].RunID, ID: journal.BlockID{1}, Writer: "gone", Events: before}
		for _, e := range before {
			switch e.Kind() {
			case messages.KindRunStarted, messages.KindRunRecovered:
				b.Epoch++
			}
		}
		landed := make(chan error, 1)
		store.Append(b, func(err error) { landed <- err })
		must(t, <-landed)
	}
	node := faultplan.Open(t, actors.Config{Journal: store, Jobs: []actors.Definition{job}})
	var id messages.RunID
	if len(before) > 0 {
		id = before[0].RunID
	} else if id, err = node.Submit(t.Context(), messages.Request{Job: chat.Name,
		Input: json.RawMessage(cmp.Or(s.input, `{"message":"Buy.","tools":["pay","look"]}`))}); err != nil {
		t.Fatal(err)
	}
	for e, err := range node.Events(t.Context(), id, 0) {
		must(t, err)
		events = append(events, e)
	}
	must(t, testkit.CheckLog(0, events))
	state, err = node.State(t.Context(), id)
	must(t, err)
	return events, state
}

// answer is the model. What it says depends on the conversation alone.
func (s *shop) answer(_ context.Context, r model.Request) iter.Seq2[model.Part, error] {
	s.requests = append(s.requests, r)
	return func(yield func(model.Part, error) bool) {
		e := model.Evidence{Done: true, Output: true, Finish: "tool_calls"}
		end := model.End{Evidence: e, Model: "m", Usage: &messages.Usage{PromptTokens: new(int64(10)), CompletionTokens: new(int64(1))}}
		say := func(p model.Part) { yield(p, nil); time.Sleep(time.Millisecond) }
		last := r.Messages[len(r.Messages)-1].Content
		switch {
		case strings.Contains(last, "The tools:"):
			say(model.Text{Text: `{"intent":"task","needs_search":true,"search_query":""}`})
		case strings.Contains(last, "The intent:") || last == "Buy.":
			say(model.Thought{Text: "I pay. "})
			say(model.ThoughtDone{Text: "I pay. ", Source: model.Field})
			end.Calls = []model.ToolCall{{ID: "a", Name: "pay", Arguments: "{}"}, {ID: "b", Name: "look", Arguments: `{"number":1}`}}
		case strings.Contains(last, "The response is"):
			say(model.Text{Text: `{"response":"It is yours.","citations":[],"confidence":"high"}`})
		case last == "seen 2" && s.input != "":
			say(model.Text{Text: `{"findings":"It is there.","complete":true}`})
		case last == "seen 1":
			say(model.Text{Text: "Let me "})
			say(model.Text{Text: "look."})
			end.Calls = []model.ToolCall{{ID: "a", Name: "look", Arguments: `{"number":2}`}}
		default:
			say(model.Text{Text: "It is "})
			say(model.Text{Text: "yours."})
			end.Evidence.Finish = "stop"
		}
		end.Verdict = model.Judge(model.Strict, end.Evidence)
		yield(end, nil)
	}
}

// severed is the journal of a node that is lost after some appends: nothing of it gets through from then on.
type severed struct {
	actors.Journal
	appends atomic.Int64 // that are left
	lost    context.Context
	lose    func()
}

var errSevered = errors.New("the node is lost")

func (s *severed) Append(b journal.Block, done func(error)) {
	if s.appends.Add(-1) < 0 {
		s.lose()
		return
	}
	s.Journal.Append(b, done)
}

func (s *severed) Claim(ctx context.Context, node string) (c journal.Claim, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(s.lost, cancel)()
	if c, err = s.Journal.Claim(ctx, node); s.lost.Err() != nil {
		err = errSevered
	}
	return c, err
}

func (s *severed) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	if s.lost.Err() != nil {
		return errSevered
	}
	return s.Journal.Keep(ctx, c, k)
}

func (s *severed) Send(ctx context.Context, c journal.Command) error {
	if s.lost.Err() != nil {
		return errSevered
	}
	return s.Journal.Send(ctx, c)
}

// "Five messages to each of 100 runs at random instants, each posted twice, and the node that works is lost: each is
// delivered at most once, ended exactly once, and in order."
func TestMessagesOfALostNode(t *testing.T) {
	const each = 5
	runs := 100
	if testing.Short() {
		runs = 20
	}
	hear := func(ctx context.Context, task *actors.TaskContext) error {
		heard := []string{}
		for e, err := range task.Earlier(ctx) {
			if err != nil {
				return err
			}
			if b, ok := e.Body.(messages.MessageDelivered); ok {
				heard = append(heard, b.Message)
			}
		}
		for i := 0; len(heard) < each; i++ {
			said, err := task.Messages(ctx, fmt.Sprintf("call.%d.%d", task.Attempt(), i))
			if err != nil {
				return err
			}
			for _, one := range said {
				heard = append(heard, one.Message)
			}
			if supervision.Sleep(ctx, 100*time.Millisecond); ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		return task.Result(heard, false)
	}
	jobs := []actors.Definition{{Name: "hear", JobSpec: messages.JobSpec{Messages: true}, Restart: true, New: func(json.RawMessage) (actors.Job, error) {
		return actors.Job{Name: "hear", Tasks: []actors.Task{{Name: "hear", Run: hear}}}, nil
	}}}
	for seed := range uint64(2) {
		synctest.Test(t, func(t *testing.T) {
			store, err := sqlite.Open(t.TempDir())
			must(t, err)
			s := &severed{Journal: store}
			s.lost, s.lose = context.WithCancel(t.Context())
			dice := rand.New(rand.NewPCG(seed, 1))
			s.appends.Store(int64(runs*4 + dice.IntN(runs*each)))
			first, err := actors.New(t.Context(), actors.Config{Journal: s, Jobs: jobs})
			must(t, err)
			second, err := actors.New(t.Context(), actors.Config{Journal: store, Jobs: jobs})
			must(t, err)
			var posts sync.WaitGroup
			var ids []messages.RunID
			for range runs {
				id, err := first.Submit(t.Context(), messages.Request{Job: "hear"})
				must(t, err)
				ids = append(ids, id)
				for n := range 2 * each {
					at := time.Duration(dice.IntN(5000)) * time.Millisecond
					posts.Go(func() { post(t, at, id, fmt.Sprint("m", n%each), first, second) })
				}
			}
			posts.Wait()
			if s.lose(); s.appends.Load() >= 0 {
				t.Error("the node was not lost in time")
			}
			for _, id := range ids {
				for _, err := range second.Events(t.Context(), id, 0) { // the fold of the log judges each event
					must(t, err)
				}
				state, err := second.State(t.Context(), id)
				must(t, err)
				var heard, delivered []string
				for _, m := range state.Messages {
					delivered = append(delivered, m.Message)
				}
				if state.Status != messages.Completed || json.Unmarshal(state.End.Result, &heard) != nil || len(heard) != each || !slices.Equal(heard, delivered) {
					t.Errorf("seed %d: run %s is %s and has heard %v, its log has %v", seed, id, state.Status, heard, delivered)
				}
			}
			closed, cancel := context.WithCancel(t.Context())
			cancel()
			_ = first.Close(closed) // it is lost
			must(t, cmp.Or(second.Close(t.Context()), store.Close()))
		})
	}
}

// post says something at the time, and repeats it at one node or the other until it is answered.
func post(t *testing.T, at time.Duration, id messages.RunID, name string, nodes ...*actors.System) {
	time.Sleep(at)
	for i := 0; ; i++ {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := nodes[i%len(nodes)].Send(ctx, id, messages.Said{Message: name, Content: "say " + name})
		if cancel(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
		if i > 100 {
			t.Errorf("%s of %s: %v", name, id, err)
			return
		}
	}
}
