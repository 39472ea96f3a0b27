package messages_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/messages"
)

// Merged or not, a log adds up to the same at every number that a reader can stand at.
func TestMergingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := legal(t).log
		merged := mergeSome(t, log)
		raw := states(t, log)
		for i, s := range states(t, merged)[1:] {
			e := merged[i]
			if e.From > raw[0].Seq+1 && (i == 0 || e.From > merged[i-1].Seq+1) || e.Seq <= e.From-1 {
				t.Fatalf("event %d..%d breaks the law", e.From, e.Seq)
			}
			same(t, "merged", s, raw[indexOf(log, e.Seq)+1])
		}
	})
}

// Texts that are dropped later may be missing: from the event that drops them on, nobody sees a difference.
func TestForgettingChangesNothingThatIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := legal(t).log
		raw := states(t, log)
		last := 0
		for i, e := range log {
			if b, ok := e.Body.(messages.TextClosed); ok && b.Dropped {
				last = i
			}
		}
		forms := [][]messages.Event{mergeSome(t, log), messages.DropTexts(mergeSome(t, log)), mergeSome(t, messages.DropTexts(log))}
		for _, form := range forms {
			for i, s := range states(t, form)[1:] {
				if at := indexOf(log, form[i].Seq); at >= last {
					same(t, "without what is dropped", s, raw[at+1])
				}
			}
		}
		var s messages.State
		for end := raw[len(log)]; s.Seq < end.Seq; {
			form := rapid.SampledFrom(forms).Draw(t, "form")
			rest := slices.DeleteFunc(slices.Clone(form), func(e messages.Event) bool { return e.Seq <= s.Seq })
			s = fold(t, s, rest[:rapid.IntRange(1, len(rest)).Draw(t, "stay")]...)
		}
		same(t, "a reader of all forms", s, raw[len(log)])
	})
}

func TestForgettingTakesTheText(t *testing.T) {
	drop := messages.TextClosed{Stream: "out", Bytes: 6, SHA256: messages.Digest("secret"), Dropped: true}
	log := []messages.Event{next(0, messages.RunQueued{}), next(1, messages.RunStarted{}),
		next(2, messages.Merged{Parts: []messages.Body{messages.TextDelta{Stream: "out", Text: "sec"}, messages.TextDelta{Stream: "kept", Text: "kept"}}}),
		next(3, messages.TextDelta{Stream: "out", Index: 1, Offset: 3, Text: "ret"}), next(4, drop)}
	before := asJSON(t, log)
	less := asJSON(t, messages.MergeDeltas(messages.DropTexts(log)))
	if strings.Contains(less, "sec") || strings.Contains(less, "ret") || !strings.Contains(less, "kept") || !strings.Contains(less, `"dropped":6`) {
		t.Errorf("what is left is %s", less)
	}
	if asJSON(t, log) != before {
		t.Error("the log was changed")
	}
}

func indexOf(log []messages.Event, seq uint64) int {
	return slices.IndexFunc(log, func(e messages.Event) bool { return e.Seq == seq })
}

// A State that went over the wire, as a snapshot, goes on as if it never had.
func TestSnapshotsGoOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := legal(t).log
		all := states(t, log)
		at := rapid.IntRange(0, len(log)).Draw(t, "at")
		var s messages.State
		if err := json.Unmarshal([]byte(asJSON(t, all[at])), &s); err != nil {
			t.Fatalf("%v", err)
		}
		same(t, "the snapshot", s, all[at])
		rest := slices.DeleteFunc(mergeSome(t, log), func(e messages.Event) bool { return e.Seq <= s.Seq })
		same(t, "its end", fold(t, s, rest...), all[len(log)])
	})
}

func stretches(log []messages.Event) [][]messages.Event {
	var out [][]messages.Event
	for i, e := range log {
		if !e.IsDelta() {
			continue
		}
		if i == 0 || !messages.CanMerge(log[i-1], e) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], e)
	}
	return out
}

func TestMergingIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, d := range stretches(legal(t).log) {
			whole := messages.Merge(d)
			if whole.From != d[0].From || whole.Seq != d[len(d)-1].Seq || !whole.Time.Equal(d[len(d)-1].Time) {
				t.Fatalf("%d..%d at %v", whole.From, whole.Seq, whole.Time)
			}
			for cut := 1; cut < len(d); cut++ {
				same(t, "cut in two", messages.Merge([]messages.Event{messages.Merge(d[:cut]), messages.Merge(d[cut:])}), whole)
			}
			if len(d) > 2 {
				a := rapid.IntRange(1, len(d)-1).Draw(t, "a")
				b := rapid.IntRange(a, len(d)-1).Draw(t, "b")
				parts := append(append(slices.Clone(d[:a]), messages.Merge(d[a:b+1])), d[b+1:]...)
				same(t, "the middle first", messages.Merge(parts), whole)
			}
		}
	})
}

func TestMergingKeepsMilestonesApart(t *testing.T) {
	a := next(4, messages.Progress{Done: 1})
	for name, b := range map[string]messages.Event{
		"a milestone":    next(5, messages.RunStarted{}),
		"an unknown":     next(5, messages.Unknown{Type: "moon.rose"}),
		"a gap":          next(6, messages.Progress{Done: 2}),
		"an overlap":     next(4, messages.Progress{Done: 2}),
		"of another run": {RunID: "r_other", From: 6, Seq: 6, Body: messages.Progress{}},
	} {
		if messages.CanMerge(a, b) {
			t.Errorf("%s can be merged", name)
		}
	}
	if !messages.CanMerge(a, next(5, lines(1, "x"))) || messages.CanMerge(next(3, messages.RunStarted{}), a) {
		t.Error("deltas in a row can be merged, and nothing onto a milestone")
	}
}

// A text, a task and a tool call may bear one name; the name of a text and of a thought is one stream's.
func TestMergingKeepsNamesakesApart(t *testing.T) {
	var log []messages.Event
	for i, b := range []messages.Body{
		messages.TextDelta{Stream: "same", Text: "x"}, messages.Progress{Task: "same", Done: 1}, messages.ToolProgress{Call: "same", Done: 2},
		lines(1, "same"), messages.Progress{Task: "same", Done: 3}, messages.ToolProgress{Call: "same", Done: 4},
	} {
		log = append(log, next(uint64(i+5), b))
	}
	same(t, "the parts", messages.Merge(log).Body, messages.Merged{Parts: []messages.Body{
		messages.TextDelta{Stream: "same", Text: "x"}, messages.Progress{Task: "same", Done: 3}, messages.ToolProgress{Call: "same", Done: 4}, lines(1, "same")}})
}

func drawFilter(t *rapid.T) messages.Filter {
	kinds := []messages.Kind{"text.delta", "thought.delta", "text.done", "progress", "log", "tool.progress", "run.started", "merged", "task.failed"}
	streams := []string{"text.", "mind.", "text.task1", "mind.task1", "other.task1"}
	return messages.Filter{
		MilestonesOnly: rapid.IntRange(0, 4).Draw(t, "milestones") == 0,
		Kinds:          rapid.SliceOfNDistinct(rapid.SampledFrom(kinds), 0, 4, rapid.ID[messages.Kind]).Draw(t, "kinds"),
		Streams:        rapid.SliceOfNDistinct(rapid.SampledFrom(streams), 0, 2, rapid.ID[string]).Draw(t, "streams"),
	}
}

// Filtering the parts and merging what is left is the same as filtering the merged event.
func TestFilterAndMergeCommute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFilter(t)
		for _, d := range stretches(legal(t).log) {
			var left []messages.Event
			for _, e := range d {
				if e, ok := f.Select(e); ok {
					left = append(left, e)
				}
			}
			whole, ok := f.Select(messages.Merge(d))
			if ok != (len(left) > 0) {
				t.Fatalf("the filter leaves %d of the parts and %t of the whole", len(left), ok)
			}
			if ok {
				same(t, "what is left", whole.Body, messages.Merge(left).Body)
				if whole.Seq != d[len(d)-1].Seq || whole.From != d[0].From {
					t.Fatalf("the whole stands for %d..%d", whole.From, whole.Seq)
				}
			}
		}
	})
}

// Whatever is filtered: the terminal is there, and whoever is given a stream's deltas is given its done and rewinds.
func TestFiltersKeepTheLastWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, log := drawFilter(t), legal(t).log
		for _, e := range log {
			_, passes := f.Select(e)
			switch b := e.Body.(type) {
			case messages.RunCompleted, messages.RunFailed, messages.RunCanceled:
				if !passes {
					t.Fatalf("%+v removes the terminal", f)
				}
			case messages.TextDone:
				if d := (messages.TextDelta{Stream: b.Stream}); !passes && selects(f, d) {
					t.Fatalf("%+v gives deltas of %s and not its done", f, b.Stream)
				}
			case messages.TextClosed:
				if d := (messages.TextDelta{Stream: b.Stream}); !passes && selects(f, d) {
					t.Fatalf("%+v gives deltas of %s and not its close", f, b.Stream)
				}
			case messages.ThoughtDone:
				if d := (messages.ThoughtDelta{Stream: b.Stream}); !passes && selects(f, d) {
					t.Fatalf("%+v gives deltas of %s and not its done", f, b.Stream)
				}
			case messages.TaskRestarted, messages.RunRecovered:
				for _, stream := range append(f.Streams, "x") {
					if !passes && (selects(f, messages.TextDelta{Stream: stream}) || selects(f, messages.ThoughtDelta{Stream: stream})) {
						t.Fatalf("%+v gives deltas of %s and not its rewinds", f, stream)
					}
				}
			}
			if all, ok := (messages.Filter{}).Select(e); !ok || asJSON(t, all) != asJSON(t, e) {
				t.Fatalf("the zero filter changes %s", e.Kind())
			}
			if f.MilestonesOnly && passes && e.IsDelta() {
				t.Fatalf("%s is no milestone", e.Kind())
			}
		}
	})
}

func selects(f messages.Filter, b messages.Body) bool {
	_, ok := f.Select(next(1, b))
	return ok
}

// What a reader saw live, beyond what the journal held at the crash, leaves no trace.
func TestRecoveryBringsReadersTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := legal(t)
		meaning := map[uint64]string{}
		for _, e := range history.log {
			meaning[e.Seq] = asJSON(t, e)
		}
		for _, l := range history.lost {
			if l.at >= len(history.log) || !rewinds(history.log[l.at].Body) {
				continue // a later crash took this recovery's neighbours with it
			}
			for _, e := range l.deltas {
				if e.Seq > history.log[l.at].Seq || e.Seq < history.log[l.at].From || meaning[e.Seq] != "" && e.Seq != history.log[l.at].Seq {
					t.Fatalf("number %d has two meanings", e.Seq)
				}
			}
			live := slices.Concat(history.log[:l.at], l.deltas)
			seen := rapid.IntRange(l.at, len(live)).Draw(t, "seen")
			s := fold(t, messages.State{}, mergeSome(t, live[:seen])...)
			same(t, "after the crash", fold(t, s, history.log[l.at:]...), history.state)
		}
	})
}

func TestNothingFollowsTheLastWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := legal(t).log
		s := fold(t, messages.State{}, log...)
		if s.Status.IsEnded() != log[len(log)-1].IsTerminal() || s.Status.IsEnded() != (s.End != nil) {
			t.Fatalf("the run is %s after %s", s.Status, log[len(log)-1].Kind())
		}
		if !s.Status.IsEnded() {
			return
		}
		for _, b := range append(samples(), messages.Unknown{Type: "moon.rose"}) {
			after, err := s.Apply(next(s.Seq, b))
			if ruleOf(err) != messages.RuleEnded {
				t.Fatalf("%s after the terminal: %v", messages.KindOf(b), err)
			}
			same(t, "refused", after, s)
		}
	})
}

// Apply is a function: whatever follows a State, and however often, leaves that State as it was.
func TestApplyChangesNoState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := legal(t).log
		all := states(t, log)
		before := make([]string, len(all))
		for i, s := range all {
			before[i] = asJSON(t, s)
		}
		for i, s := range all {
			stream := rapid.SampledFrom([]string{"text.", "mind.", "text.task1"}).Draw(t, "stream")
			old, _ := s.Stream(stream)
			branch := s
			for _, text := range []string{"other", " branch"} {
				d := messages.TextDelta{Stream: stream, Task: old.Task, Index: old.Index, Offset: old.Len(), Text: text}
				body := messages.Body(d)
				if strings.HasPrefix(stream, "mind") {
					body = messages.ThoughtDelta(d)
				}
				next, err := branch.Apply(next(branch.Seq, body))
				if err == nil {
					now, _ := next.Stream(stream)
					if now.Text() != old.Text()+text {
						t.Fatalf("the branch says %q, not %q", now.Text(), old.Text()+text)
					}
					branch, old = next, now
				}
			}
			for j, b := range samples() {
				next, err := s.Apply(next(s.Seq, b))
				if err != nil && (i+j)%8 == 0 && asJSON(t, next) != before[i] {
					t.Fatalf("a refused %s changed the state", messages.KindOf(b))
				}
			}
		}
		for i, s := range all {
			if asJSON(t, s) != before[i] {
				t.Fatalf("state %d was changed to\n%s\nfrom\n%s", i, asJSON(t, s), before[i])
			}
		}
		same(t, "the second time", states(t, log), all)
	})
}

// client is the least that anybody needs to show the texts of a run: text = text[:offset] + delta, and the rewinds.
type client struct{ text, task map[string]string }

func (c client) see(b messages.Body) {
	switch b := b.(type) {
	case messages.TextDelta:
		c.text[b.Stream], c.task[b.Stream] = c.text[b.Stream][:b.Offset]+b.Text, b.Task
	case messages.ThoughtDelta:
		c.see(messages.TextDelta(b))
	case messages.Merged:
		for _, p := range b.Parts {
			c.see(p)
		}
	case messages.TextDone:
		c.text[b.Stream], c.task[b.Stream] = b.Text, b.Task
	case messages.TextClosed:
		if b.Dropped {
			c.text[b.Stream] = ""
		}
	case messages.ThoughtDone:
		c.text[b.Stream], c.task[b.Stream] = b.Text, b.Task
	case messages.TaskRestarted:
		for stream, task := range c.task {
			if task == b.Task {
				c.text[stream] = ""
			}
		}
	}
}

func TestTheSimplestClientShowsTheSameTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := legal(t)
		c := client{map[string]string{}, map[string]string{}}
		cursor := uint64(0)
		for cursor < history.state.Seq {
			form := slices.DeleteFunc(mergeSome(t, history.log), func(e messages.Event) bool { return e.Seq <= cursor })
			for _, e := range form[:rapid.IntRange(1, len(form)).Draw(t, "stay")] {
				c.see(e.Body)
				cursor = e.Seq
			}
		}
		for _, s := range history.state.Streams {
			if c.text[s.Name] != s.Text() {
				t.Fatalf("stream %s is %q to the client and %q in the state", s.Name, c.text[s.Name], s.Text())
			}
		}
	})
}
