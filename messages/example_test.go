package messages_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// A reader folds event lines into a State. It drops what it has seen; a line that breaks the law is refused, and says
// which rule it breaks.
func Example_fold() {
	const log = `{"run_id":"r_1","seq":1,"ts":"2026-11-20T20:00:00Z","type":"run.queued","payload":{"job":"prompt","mode":"detached","limits":{}}}
{"run_id":"r_1","seq":2,"ts":"2026-11-20T20:00:00Z","type":"run.started"}
{"run_id":"r_1","seq":3,"ts":"2026-11-20T20:00:01Z","type":"text.delta","payload":{"stream":"answer","index":0,"offset":0,"text":"Hel"}}
{"run_id":"r_1","seq":5,"from":3,"ts":"2026-11-20T20:00:02Z","type":"text.delta","payload":{"stream":"answer","index":0,"count":3,"offset":0,"text":"Hello"}}
{"run_id":"r_1","seq":6,"ts":"2026-11-20T20:00:02Z","type":"run.canceled","payload":{"by":"run","cause":"canceled_by_user","artifacts":[]}}
{"run_id":"r_1","seq":6,"ts":"2026-11-20T20:00:03Z","type":"run.completed","payload":{"by":"run","artifacts":[]}}`

	var state messages.State
	lines := bufio.NewScanner(strings.NewReader(log))
	for lines.Scan() {
		var e messages.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Println(err)
			return
		}
		if e.Seq <= state.Seq {
			continue
		}
		next, err := state.Apply(e)
		if err != nil {
			fmt.Println(err)
		}
		state = next
	}
	answer, _ := state.Stream("answer")
	fmt.Printf("%s at %d: %q of %d deltas\n", state.Status, state.Seq, answer.Text(), answer.Index)
	// Output:
	// event 6 (run.canceled) refused: no cancel has been accepted [cancel]
	// completed at 6: "Hello" of 3 deltas
}

// A filter picks the parts of merged events too. Its reader's cursor moves on with what was passed over.
func ExampleFilter() {
	at := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	log := []messages.Event{
		{RunID: "r_1", From: 3, Seq: 9, Time: at, Body: messages.Merged{Parts: []messages.Body{
			messages.TextDelta{Stream: "answer", Count: 4, Text: "Hello"},
			messages.Progress{Done: 3, Unit: "files"},
		}}},
		{RunID: "r_1", From: 10, Seq: 10, Time: at, Body: messages.FaultInjected{Fault: "panic"}},
		{RunID: "r_1", From: 11, Seq: 11, Time: at, Body: messages.RunCompleted{By: messages.ByRun}},
	}
	progress := messages.Filter{Kinds: []messages.Kind{messages.KindProgress}}
	for _, e := range log {
		if left, ok := progress.Select(e); ok {
			fmt.Println(left.From, left.Seq, left.Kind())
		} else {
			fmt.Println("cursor", e.Seq)
		}
	}
	// Output:
	// 3 9 progress
	// cursor 10
	// 11 11 run.completed
}

// Apply judges one event and returns the next State. A State is a value: the earlier one stays as it was.
func ExampleState_Apply() {
	at := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	queued, err := messages.State{}.Apply(messages.Event{RunID: "r_1", From: 1, Seq: 1, Time: at,
		Body: messages.RunQueued{Job: "greet", Mode: messages.Detached}})
	if err != nil {
		panic(err)
	}
	started, err := queued.Apply(messages.Event{RunID: "r_1", From: 2, Seq: 2, Time: at, Body: messages.RunStarted{Node: "a"}})
	fmt.Println(queued.Status, started.Status, err)
	_, err = started.Apply(messages.Event{RunID: "r_1", From: 2, Seq: 2, Time: at, Body: messages.RunStarted{Node: "b"}})
	fmt.Println(err)
	// Output:
	// pending processing <nil>
	// event 2 (run.started) refused: 2..2 does not continue 2 [order]
}

// Merge makes one delta of many: what a slow reader gets. The State at their end is the same.
func ExampleMerge() {
	at := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	var pieces []messages.Event
	for i, word := range []string{"one ", "two ", "three"} {
		n := uint64(i)
		pieces = append(pieces, messages.Event{RunID: "r_1", From: 4 + n, Seq: 4 + n, Time: at,
			Body: messages.TextDelta{Stream: "answer", Index: n, Offset: 4 * i, Text: word}})
	}
	line, err := messages.Merge(pieces).JSON()
	fmt.Println(string(line), err)
	// Output:
	// {"run_id":"r_1","seq":6,"from":4,"ts":"2026-11-20T20:00:00Z","type":"text.delta","payload":{"stream":"answer","index":0,"count":3,"offset":0,"text":"one two three"}} <nil>
}
