package journal_test

import (
	"context"
	"fmt"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// log makes a journal with the log of one run, as a node would have written it.
func log() *journal.Memory {
	store := journal.NewMemory()
	block := journal.Block{Run: "r_1", Writer: "node", ID: journal.BlockID{1}}
	for i, body := range []messages.Body{
		messages.RunQueued{Job: "greet", Mode: messages.Detached}, messages.RunStarted{Node: "node"},
		messages.RunCompleted{By: messages.ByRun, Artifacts: []messages.Artifact{}},
	} {
		n := uint64(i + 1)
		block.Events = append(block.Events, messages.Event{RunID: "r_1", From: n, Seq: n, Body: body,
			Time: time.Date(2026, 11, 20, 20, 0, i, 0, time.UTC)})
	}
	store.Append(block, func(err error) { fmt.Println("appended:", err) })
	return store
}

// An Archive reads a journal without a runtime: beside the nodes that write it, or after them.
func ExampleArchive() {
	archive := journal.NewArchive(log())
	for event, err := range archive.Events(context.Background(), "r_1", 1) { // after the first
		fmt.Println(event.Seq, event.Kind(), err)
	}
	runs, err := archive.List(context.Background(), messages.Query{})
	fmt.Println(runs[0].RunID, runs[0].Status, err)
	// Output:
	// appended: <nil>
	// 2 run.started <nil>
	// 3 run.completed <nil>
	// r_1 completed <nil>
}

// An Audit checks a log block by block, and finds a byte that was changed.
func ExampleAudit() {
	for block, err := range log().Blocks(context.Background(), "r_1") {
		if err != nil {
			panic(err)
		}
		audit := journal.Audit{Run: "r_1"}
		_, err = audit.Add(block)
		fmt.Println(audit.Log().Status, err)
		block.Lines[1] = []byte(`{"run_id":"r_1","seq":2,"ts":"2026-11-20T20:00:01Z","type":"run.started","payload":{"node":"other"}}`)
		_, err = (&journal.Audit{Run: "r_1"}).Add(block)
		fmt.Println(err)
	}
	// Output:
	// appended: <nil>
	// completed <nil>
	// event 1: the block's digest is another one [block]
}
