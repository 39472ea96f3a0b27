package testkit

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

var suiteEpoch = time.Date(2026, 11, 20, 20, 0, 0, 123_456_789, time.UTC)

// numbered makes events of the bodies with numbers from the given one.
func numbered(run messages.RunID, from uint64, bodies ...messages.Body) []messages.Event {
	var events []messages.Event
	for i, b := range bodies {
		seq := from + uint64(i)
		events = append(events, messages.Event{RunID: run, Seq: seq, From: seq, Body: b,
			Time: suiteEpoch.Add(time.Duration(seq) * time.Millisecond), Message: string(b.Kind())})
	}
	return events
}

var (
	queued  = messages.RunQueued{Job: "suite", Mode: messages.Detached}
	started = messages.RunStarted{Node: "suite"}
	begun   = messages.TaskStarted{Task: Write, Attempt: 1}
	done    = messages.TaskCompleted{Task: Write, Attempt: 1}
	success = messages.RunCompleted{By: messages.ByRun, Artifacts: []messages.Artifact{}}
)

func failed(by messages.Author) messages.RunFailed {
	return messages.RunFailed{By: by, Cause: messages.CauseError, Artifacts: []messages.Artifact{},
		Error: messages.Errorf(messages.Code(messages.CauseError), "it failed")}
}

// talk returns deltas of a text, three bytes each.
func talk(n int) []messages.Body {
	var said []messages.Body
	for i := range n {
		said = append(said, messages.TextDelta{Stream: Write, Task: Write, Index: uint64(i), Offset: 3 * i,
			Text: fmt.Sprintf("%02d ", i%100)})
	}
	return said
}

// story is a whole log with a talk in it.
func story(run messages.RunID) []messages.Event {
	bodies := slices.Concat([]messages.Body{queued, started, begun}, talk(20), []messages.Body{done, success})
	return numbered(run, 1, bodies...)
}
