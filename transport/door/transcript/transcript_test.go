package transcript_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestStories holds which operations each story becomes.
func TestStories(t *testing.T) {
	for _, story := range stories.All() {
		t.Run(story.Name, func(t *testing.T) {
			var got strings.Builder
			var run transcript.Transcript
			for _, e := range story.Events {
				n := 0
				run.Apply(e, func(op *transcript.Op) { fmt.Fprintf(&got, "%d.%d %s\n", op.Seq(), n, line(op)); n++ })
			}
			story.Golden(t, *update, got.String())
		})
	}
}

// line is an operation in words.
func line(op *transcript.Op) string {
	body := ""
	if op.Event.Body != nil {
		body = string(op.Event.Kind())
	}
	out := fmt.Sprintf("segment %d: %v %v %s", op.Run.Segment, op.Do, op.Item.Kind, op.Item.ID)
	if op.Do == transcript.Append || op.Do == transcript.Retract {
		out += fmt.Sprintf(" %q at %d", op.Text, op.Offset)
	}
	if op.Cut {
		out += " (cut)"
	}
	if op.Gone {
		out += " (gone)"
	}
	return out + " by " + body
}

// What is true of the items at the end is what the State says.
func TestItemsAreTheState(t *testing.T) {
	for _, story := range stories.All() {
		var run transcript.Transcript
		for _, e := range story.Events {
			run.Apply(e, func(*transcript.Op) {})
		}
		want, texts := story.State(), map[string]string{}
		for _, item := range run.Items() {
			if !item.Closed {
				t.Errorf("%s: the run ends with %v %s open", story.Name, item.Kind, item.ID)
			}
			if item.Kind == transcript.Text || item.Kind == transcript.Thought {
				texts[item.ID] = item.Text()
			}
		}
		if !maps.Equal(texts, textsOf(want)) {
			t.Errorf("%s: the texts are %q, want %q", story.Name, texts, textsOf(want))
		}
		for _, file := range want.Artifacts {
			if item := run.Find(transcript.Artifact, file.Name); item == nil || transcript.FileOf(item) != file {
				t.Errorf("%s: the file %s is %+v", story.Name, file.Name, item)
			}
		}
		for _, p := range want.Progress {
			if item := run.Find(transcript.Progress, p.Task); item == nil || item.Latest != p {
				t.Errorf("%s: the progress of %s is %+v, want %+v", story.Name, p.Task, item, p)
			}
		}
	}
}

// textsOf are the texts and thoughts that hold something.
func textsOf(s messages.State) map[string]string {
	texts := map[string]string{}
	for _, stream := range s.Streams {
		if stream.Text() != "" {
			texts[stream.Name] = stream.Text()
		}
	}
	return texts
}

// reader is a client: what it holds by ID, and by ID what it has to forget.
type reader struct {
	texts map[string]string
	done  map[string]bool
	said  []string
}

func (r *reader) open(op *transcript.Op) {
	r.said = append(r.said, "open "+op.ID)
	r.texts[op.ID] += ""
}
func (r *reader) append(op *transcript.Op) {
	r.said = append(r.said, op.ID+"+"+op.Text)
	r.texts[op.ID] += op.Text
}
func (r *reader) finish(op *transcript.Op) { r.done[op.ID] = !op.Cut }

// policies are the four ways to take text back, each as a client can.
var policies = map[string]transcript.Dialect[*reader]{
	"replace": {Policy: transcript.Replace, Rewind: func(r *reader, op *transcript.Op) {
		r.texts[op.ID] = op.Item.Text()
		if op.Gone {
			delete(r.texts, op.ID)
		}
	}},
	"replay": {Policy: transcript.Replay, Rewind: func(r *reader, op *transcript.Op) {
		for _, item := range op.Run.Items() {
			if item.Segment == op.Run.Segment {
				delete(r.texts, item.ID)
			}
		}
		delete(r.texts, op.ID)
	}},
	"supersede": {Policy: transcript.Supersede, Rewind: func(r *reader, op *transcript.Op) { delete(r.texts, op.ID) }},
	"mark":      {Policy: transcript.Mark, Rewind: func(r *reader, op *transcript.Op) { r.texts[op.ID] = "" }},
}

func play(d transcript.Dialect[*reader], events []messages.Event) *reader {
	texts := [3]func(*reader, *transcript.Op){transcript.Open: (*reader).open, transcript.Append: (*reader).append,
		transcript.Done: (*reader).finish}
	for do, f := range texts {
		d.Table[transcript.Text][do], d.Table[transcript.Thought][do] = f, f
	}
	r := &reader{texts: map[string]string{}, done: map[string]bool{}}
	p := d.Player(r)
	for _, e := range events {
		p.Play(e)
	}
	return r
}

// Under every policy a client ends with the texts of the State, however the log was merged.
func TestPolicies(t *testing.T) {
	for name, dialect := range policies {
		for _, story := range stories.All() {
			forms := map[string][]messages.Event{"live": story.Events, "merged": messages.MergeDeltas(story.Events)}
			for form, events := range forms {
				got, want := play(dialect, events), textsOf(story.State())
				if name == "supersede" {
					got.texts = current(got.texts)
				}
				maps.DeleteFunc(got.texts, func(_, text string) bool { return text == "" })
				if !maps.Equal(got.texts, want) {
					t.Errorf("%s, %s, %s: the client has %q, want %q", name, story.Name, form, got.texts, want)
				}
			}
		}
	}
}

// current drops what the policy adds to the IDs.
func current(texts map[string]string) map[string]string {
	out := map[string]string{}
	for id, text := range texts {
		name, _, _ := strings.Cut(id, "#")
		out[name] += text
	}
	return out
}

// story is a run of one task with these bodies.
func story(bodies ...string) []messages.Event {
	var events []messages.Event
	for i, body := range bodies {
		kind, payload, _ := strings.Cut(body, " ")
		var e messages.Event
		const form = `{"run_id":"r","seq":%d,"ts":"2026-11-20T20:00:00Z","type":%q,"payload":%s}`
		if err := json.Unmarshal(fmt.Appendf(nil, form, i+1, kind, payload), &e); err != nil {
			panic(err)
		}
		events = append(events, e)
	}
	return events
}

// A client that can only append gets nothing twice: an attempt that repeats itself is not seen.
func TestMarkHoldsBackWhatTheReaderHas(t *testing.T) {
	for _, c := range []struct{ second, want string }{
		{"one, two", "open a|a+one|a+, two"},
		{"one, two, three", "open a|a+one|a+, two|a+, three"},
		{"one, too", "open a|a+one|a+, two|MARK|a+one, too"},
		{"one", "open a|a+one|a+, two|MARK|a+one"},
		{"uno", "open a|a+one|a+, two|MARK|a+un|a+o"},
	} {
		mark := func(r *reader, _ *transcript.Op) { r.said = append(r.said, "MARK") }
		d := transcript.Dialect[*reader]{Policy: transcript.Mark, Rewind: mark}
		first := story(`run.queued {"job":"j"}`, `task.started {"task":"t","attempt":1}`,
			`text.delta {"stream":"a","task":"t","text":"one"}`,
			`text.delta {"stream":"a","task":"t","index":1,"offset":3,"text":", two"}`,
			`task.restarted {"task":"t","attempt":2}`,
			fmt.Sprintf(`text.delta {"stream":"a","task":"t","text":%q}`, c.second[:2]),
			fmt.Sprintf(`text.done {"stream":"a","task":"t","text":%q}`, c.second))
		if got := strings.Join(play(d, first).said, "|"); got != c.want {
			t.Errorf("a second attempt of %q: %s, want %s", c.second, got, c.want)
		}
	}
}

// A text is never cut inside a character, and one that a dead process said is gone until it is said again.
func TestRewinds(t *testing.T) {
	done := story(`run.queued {"job":"j"}`, `text.delta {"stream":"a","text":"wö"}`, `text.done {"stream":"a","text":"wä"}`)
	got := play(policies["replace"], done)
	if got.texts["a"] != "wä" || got.said[len(got.said)-1] != "a+ä" {
		t.Errorf("the client has %q", got.said)
	}
	lost := story(`run.queued {"job":"j"}`, `text.delta {"stream":"a","text":"lost"}`, `run.recovered {"rewind":{}}`,
		`text.delta {"stream":"a","text":"said"}`)
	if got := play(policies["supersede"], lost); !maps.Equal(got.texts, map[string]string{"a#2": "said"}) {
		t.Errorf("the client has %q", got.texts)
	}
}

func TestIsAnswer(t *testing.T) {
	for name, want := range map[string]bool{"answer": true, "answer.1": true, "answer.12": true, "answer.": false,
		"answer.1.1": false, "answer.thought": false, "answers": false, "think.1": false, "": false} {
		if messages.IsAnswer(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}

// A log that dropped a text has its deltas without their bytes, and what other events parted stays apart. A lean reader
// lets the text go when the log does.
func TestTextThatTheLogDropped(t *testing.T) {
	said := func(offset, dropped int, text string) messages.TextDelta {
		return messages.TextDelta{Stream: "stdout", Offset: offset, Dropped: dropped, Text: text}
	}
	for name, test := range map[string]struct {
		lean   bool
		bodies []messages.Body
		texts  string
		length int
	}{
		"read late":  {false, []messages.Body{said(0, 5, ""), messages.RunStarted{}, said(5, 3, ""), said(8, 0, "end")}, "end", 11},
		"read early": {false, []messages.Body{said(0, 0, "start"), messages.TextClosed{Stream: "stdout", Bytes: 5, Dropped: true}}, "start", 5},
		"lean":       {true, []messages.Body{said(0, 0, "start"), messages.TextClosed{Stream: "stdout", Bytes: 5, Dropped: true}}, "", 5},
	} {
		run := transcript.Transcript{Lean: test.lean}
		for i, body := range test.bodies {
			run.Apply(messages.Event{Seq: uint64(i + 1), Body: body}, func(*transcript.Op) {})
		}
		if item := run.Find(transcript.Text, "stdout"); item.Text() != test.texts || item.Len() != test.length {
			t.Errorf("%s: the text is %q and %d bytes long", name, item.Text(), item.Len())
		}
	}
}
