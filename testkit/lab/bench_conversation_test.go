package lab_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/messages/model"
)

func conversationFigures() []figure {
	return []figure{
		{name: "1,000 idle conversations of 10 kB", unit: "MB", goal: 20, ours: idleConversations},
		{name: "a history of 50 messages, from its file", unit: "ms", goal: 1, ours: assembledHistory},
	}
}

func idleConversations(t *testing.T) float64 {
	before := heap()
	s := conversation.NewMemory(1000)
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
