package looopy_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/looopy"
)

// family is a runtime of one turn with sub-runs. A reader gets the logs as the runtime promises: each in its order,
// a child's after its child.started and before its child.ended. Draw says which comes next, and what is merged.
type family struct {
	stories.Teller
	logs map[messages.RunID][]messages.Event
	draw *rapid.T
}

const root messages.RunID = "r_root"

// tell writes a run's log: deltas of its answer, of a tool and of a log, with sub-runs between them.
func (f *family) tell(id, parent messages.RunID, depth int) {
	var log []messages.Event
	add := func(body messages.Body) {
		n := uint64(len(log) + 1)
		log = append(log, messages.Event{RunID: id, From: n, Seq: n, Time: time.UnixMilli(int64(n)), Body: body})
	}
	add(messages.RunQueued{Job: "chat", Parent: parent})
	add(messages.RunStarted{})
	add(messages.TaskStarted{Task: "respond", Attempt: 1})
	add(messages.ToolStarted{Call: "t", Task: "respond", Tool: "look"})
	text, children := "", 0
	for i := range rapid.IntRange(0, 12).Draw(f.draw, "events") {
		switch rapid.IntRange(0, 4+depth).Draw(f.draw, "event") {
		case 0, 1:
			piece := fmt.Sprintf("%s.%d ", id, i)
			add(messages.TextDelta{Stream: "answer", Task: "respond", Index: uint64(i), Offset: len(text), Text: piece})
			text += piece
		case 2:
			add(messages.ToolProgress{Call: "t", Done: int64(i + 1), Total: 20})
		case 3:
			add(messages.Log{Lines: []messages.LogLine{{Text: "read"}}})
		case 4:
			add(messages.LLMStarted{Call: fmt.Sprint(i), Task: "respond"})
		default:
			children++
			child := messages.RunID(fmt.Sprintf("%s.c%d", id, children))
			f.tell(child, id, depth-1)
			add(messages.ChildStarted{Child: child, Job: "chat", Task: "respond", Name: string(child)})
			if rapid.Bool().Draw(f.draw, "parallel") {
				add(messages.TextDelta{Stream: "answer", Task: "respond", Offset: len(text), Text: "meanwhile "})
				text += "meanwhile "
			}
			add(messages.ChildEnded{Child: child, Status: messages.Completed})
		}
	}
	add(messages.TextDone{Stream: "answer", Task: "respond", Text: text})
	add(messages.RunCompleted{})
	f.logs[id] = log
}

func (f *family) List(context.Context, messages.Query) ([]messages.Summary, error) {
	return []messages.Summary{{RunID: root, QueuedAt: time.UnixMilli(1), Status: messages.Processing}}, nil
}

func (f *family) State(_ context.Context, id messages.RunID) (messages.State, error) {
	return messages.State{RunID: id, Queued: &messages.RunQueued{Principal: "ada"}, QueuedAt: time.UnixMilli(1)}, nil
}

func (f *family) Submit(context.Context, messages.Request) (messages.RunID, error) { return root, nil }

func (f *family) Follow(context.Context, messages.RunID, messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	left, open, ended := map[messages.RunID][]messages.Event{}, []messages.RunID{root}, map[messages.RunID]bool{}
	for id, log := range f.logs {
		left[id] = log
		if rapid.Bool().Draw(f.draw, "merged") {
			left[id] = messages.MergeDeltas(log)
		}
	}
	return func(yield func([]messages.Event, error) bool) {
		for !ended[root] {
			id := rapid.SampledFrom(open).Draw(f.draw, "next")
			if len(left[id]) == 0 {
				continue
			}
			e := left[id][0]
			switch b := e.Body.(type) {
			case messages.ChildStarted:
				open = append(open, b.Child)
			case messages.ChildEnded:
				if !ended[b.Child] {
					continue
				}
			}
			left[id], ended[id] = left[id][1:], e.IsTerminal()
			if !yield([]messages.Event{e}, nil) {
				return
			}
		}
	}
}

// L3, L5: every event has an id, and ids grow. Anyone who comes back after any of them, while the sub-runs tell in another
// order and the log is merged otherwise, gets the rest, with the same ids: nothing twice, nothing lost.
func TestL3EveryEventHasAnID(t *testing.T) {
	rapid.Check(t, func(draw *rapid.T) {
		f := &family{logs: map[messages.RunID][]messages.Event{}, draw: draw}
		f.tell(root, "", 2)
		door := open(f)
		_, all := ask(t, door, http.MethodPost, looopy.Path, `{"message":"go","contextId":"c-1"}`)
		for i, e := range all {
			if !strings.HasPrefix(e.id, "c-1-") || i > 0 && e.id <= all[i-1].id {
				draw.Fatalf("the id %q follows %q", e.id, all[max(i-1, 0)].id)
			}
		}
		after := rapid.IntRange(0, len(all)-2).Draw(draw, "after")
		_, rest := ask(t, door, http.MethodGet, looopy.Path, "", "Last-Event-ID", all[after].id)
		if got, want := story(rest), story(all[after+1:]); got != want {
			draw.Fatalf("after %s the client gets\n%s, want\n%s", all[after].id, got, want)
		}
	})
}

// story is what events say, whatever was merged: the deltas of each answer, and all else with its id but progress.
func story(events []event) string {
	var all strings.Builder
	var task any
	for _, e := range events {
		switch {
		case e.kind() == "tool-progress":
		case e.kind() == "content-delta" && task == e.data["taskId"]:
			fmt.Fprint(&all, e.data["delta"])
		case e.kind() == "content-delta":
			task = e.data["taskId"]
			fmt.Fprintf(&all, "\n%v says %v", task, e.data["delta"])
		default:
			task = nil
			fmt.Fprintf(&all, "\n%s %s %v", e.id, e.kind(), e.data["taskId"])
		}
	}
	return all.String()
}
