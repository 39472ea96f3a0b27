package cursor_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
)

func TestCursorsAsText(t *testing.T) {
	at := func(n uint64) cursor.Cursor { return cursor.Cursor{Seq: n} }
	for text, want := range map[string]cursor.Cursors{
		"":            {"r_a": at(0)},
		"7":           {"r_a": at(7)},
		"7,b:3":       {"r_a": at(7), "r_a.b": at(3)},
		"0,b.c:9,b:1": {"r_a": at(0), "r_a.b": at(1), "r_a.b.c": at(9)},
		"x":           nil, "-1": nil, "b:3": nil, "7,3": nil, "7,b:": nil, "7,,b:3": nil, "7,b:3,": nil, " 7": nil,
		"1000000000000000000000": nil, "7~a": nil, "7~a~1~x": nil, "7~a~1~-1": nil, "7~.?~1~1": nil, "7~a~1~!": nil,
		"7~a~1~5.!": nil,
	} {
		got, err := cursor.Parse("r_a", text)
		if (err == nil) != (want != nil) || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
		if err != nil {
			if messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if again, err := cursor.Parse("r_a", got.Text("r_a")); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%q became %q, which is %v, %v", text, got.Text("r_a"), again, err)
		}
	}
}

// "A reader who appends holds the text exactly, on every door, live, replayed, merged and after a restart."
func TestAppendingReader(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 1))
		log, want := chatterOf(random)
		got, lines, at := map[string]string{}, 0, cursor.Cursors{"r": {}}
		for !at.Plain() || at["r"].Seq < log[len(log)-1].Seq {
			for _, e := range pageAfter(random, log, at["r"].Seq) {
				before := at["r"].Seq
				if part, ok := partOf(random, at["r"], e); ok {
					lines += appendTo(t, got, part)
					c := at["r"]
					c.Part(part)
					at["r"] = c
					break // the reader goes on within the event
				}
				e, some := at.Take(e)
				if !some {
					continue
				}
				if e.From > before+1 {
					t.Fatalf("seed %d: event %d begins at %d after %d", seed, e.Seq, e.From, before)
				}
				lines += appendTo(t, got, e.Body)
			}
			text := at.Text("r")
			if strings.ContainsFunc(text, func(r rune) bool { return strings.ContainsRune(" %&?#+/\"", r) || r > 126 }) {
				t.Fatalf("seed %d: the cursor %q needs escapes", seed, text)
			}
			again, err := cursor.Parse("r", text) // whoever reads on has the cursor alone
			if err != nil || !reflect.DeepEqual(again, at) {
				t.Fatalf("seed %d: %q is %v, %v, want %v", seed, text, again, err, at)
			}
			at = again
		}
		if !reflect.DeepEqual(got, want) || lines != 5 {
			t.Fatalf("seed %d: the reader holds %q and %d lines, want %q", seed, got, lines, want)
		}
	}
}

// What is cut of an event is cut of its JSON, also where others have that already.
func TestTakeOfASharedEvent(t *testing.T) {
	e := messages.Event{RunID: "r", From: 1, Seq: 3, Body: messages.TextDelta{Stream: "a", Count: 3, Text: "abcdef"}}.Sharing(new(messages.Wire))
	_, err := e.JSON()
	must(t, err)
	var at cursor.Cursor
	at.Part(messages.TextDelta{Stream: "a", Text: "abc"})
	left, _ := at.Take(e)
	if text, err := left.JSON(); err != nil || !strings.Contains(string(text), `"text":"def"`) {
		t.Errorf("left is %s, %v", text, err)
	}
}

// partOf is, now and then, the beginning of what is new of the event to the reader, up to a byte of its first text.
func partOf(random *rand.Rand, at cursor.Cursor, e messages.Event) (messages.Body, bool) {
	copied, _ := cursor.Parse("r", string(at.Append(nil)))
	at = copied["r"]
	e, some := at.Take(e)
	if !some || random.IntN(3) > 0 {
		return nil, false
	}
	body := e.Body
	if m, ok := body.(messages.Merged); ok {
		body = m.Parts[0]
	}
	b, ok := body.(messages.TextDelta)
	if !ok || len(b.Text) < 2 {
		return nil, false
	}
	b.Text = b.Text[:1+random.IntN(len(b.Text)-1)]
	return b, true
}

// "Where a fold is: a number." A reader with a Fold may go on from the number alone, in the middle of deltas, and may
// be cut off after any event.
func TestFoldingReader(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 2))
		log, _ := chatterOf(random)
		log = slices.Concat([]messages.Event{{RunID: "r", Body: messages.RunQueued{Job: "chat"}},
			{RunID: "r", Body: messages.RunStarted{}},
			{RunID: "r", Body: messages.TaskStarted{Task: "a", Attempt: 1}}}, log[:len(log)-1])
		var want, got messages.Fold
		for i := range log {
			log[i].From, log[i].Seq = uint64(i+1), uint64(i+1)
			must(t, want.Apply(log[i]))
		}
		for at := (cursor.Cursor{}); at.Seq < want.Peek().Seq; {
			if random.IntN(2) == 0 {
				at = cursor.Cursor{Seq: at.Seq}
			}
			for _, e := range pageAfter(random, log, at.Seq) {
				if e, some := at.Take(e); some {
					if err := got.Apply(e); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
			}
		}
		if !reflect.DeepEqual(textsIn(got.State()), textsIn(want.State())) {
			t.Fatalf("seed %d: the reader holds %v, want %v", seed, textsIn(got.State()), textsIn(want.State()))
		}
	}
}

// textsIn are the State's texts by their streams.
func textsIn(s messages.State) map[string]string {
	texts := map[string]string{}
	for _, t := range s.Streams {
		texts[t.Name] = t.Text()
	}
	return texts
}

// chatterOf is a log of texts, thoughts, progress and five log lines, with milestones between, and what it says.
func chatterOf(random *rand.Rand) (log []messages.Event, want map[string]string) {
	want = map[string]string{}
	index, line := map[string]uint64{}, uint64(0)
	say := func(body messages.Body) {
		n := uint64(len(log) + 1)
		log = append(log, messages.Event{RunID: "r", From: n, Seq: n, Body: body})
	}
	for i := range 60 {
		name := []string{"answer", "a thought/1", "häh"}[random.IntN(3)]
		piece := messages.TextDelta{Stream: name, Index: index[name], Offset: len(want[name]), Text: fmt.Sprint(i, "ü ")}
		switch {
		case i%12 == 0:
			line++
			say(messages.Log{Lines: []messages.LogLine{{Number: line, Text: "line"}}})
		case random.IntN(12) == 0:
			say(messages.TaskStarted{Task: fmt.Sprint(i), Attempt: 1})
		case random.IntN(6) == 0:
			say(messages.Progress{Task: "a", Done: int64(i)})
		case name == "a thought/1":
			want[name] += piece.Text
			index[name]++
			say(messages.ThoughtDelta(piece))
		default:
			want[name] += piece.Text
			index[name]++
			say(piece)
		}
	}
	say(messages.RunCompleted{By: messages.ByRun})
	return log, want
}

// pageAfter is what a journal gives past the number: some events, merged in other stretches each time.
func pageAfter(random *rand.Rand, log []messages.Event, after uint64) (page []messages.Event) {
	for i := 0; i < len(log); {
		n := 1 + random.IntN(messages.Stretch(log[i:]))
		if e := messages.Merge(log[i : i+n]); e.Seq > after {
			page = append(page, e)
		}
		i += n
	}
	return page[:1+random.IntN(min(len(page), 5))]
}

// appendTo adds what the body says as a page does that knows of no offsets, and counts its log lines.
func appendTo(t *testing.T, got map[string]string, body messages.Body) (lines int) {
	switch b := body.(type) {
	case messages.TextDelta:
		if b.Offset != len(got[b.Stream]) || b.Count == 1 {
			t.Fatalf("%+v comes after %d bytes", b, len(got[b.Stream]))
		}
		got[b.Stream] += b.Text
	case messages.ThoughtDelta:
		return appendTo(t, got, messages.TextDelta(b))
	case messages.Log:
		return len(b.Lines)
	case messages.Merged:
		for _, part := range b.Parts {
			lines += appendTo(t, got, part)
		}
	}
	return lines
}

// Copies of an event share its wire form. What a reader lacks of it has its own form, and the others keep theirs.
func TestPartsShareNoWireForm(t *testing.T) {
	whole := messages.Event{RunID: "r_a", Seq: 9, From: 2, Body: messages.TextDelta{Stream: "a", Count: 8, Text: "0123"}}.Sharing(&messages.Wire{})
	before, err := whole.JSON()
	must(t, err)
	at, err := cursor.Parse("r_a", "5~a~4~3")
	must(t, err)
	left, some := at.Take(whole)
	line, err := left.JSON()
	if err != nil || !some || !strings.Contains(string(line), `"offset":3,"text":"3"`) {
		t.Errorf("the reader gets %s, %v", line, err)
	}
	if after, err := whole.JSON(); err != nil || string(after) != string(before) {
		t.Errorf("others get %s, %v", after, err)
	}
}

// What an older version kept as one long delta comes in pieces, at cursors that cut: whoever appends holds the text, and
// whoever folds may go on from the number alone.
func TestLongDeltasComeInPieces(t *testing.T) {
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 3))
		text := strings.Repeat("the <long> text ü\n", 20_000)
		e := messages.Event{RunID: "r", From: 4, Seq: 8003, Body: messages.Merged{Parts: []messages.Body{
			messages.TextDelta{Stream: "answer", Task: "a", Count: 7000, Text: text},
			messages.ThoughtDelta{Stream: "mind", Task: "a", Count: 1000, Text: text[:57_000]}}}}
		got, at := map[string]string{}, cursor.Cursors{"r": {}}
		var folded messages.Fold
		for i, body := range []messages.Body{messages.RunQueued{Job: "chat"}, messages.RunStarted{}, messages.TaskStarted{Task: "a", Attempt: 1}} {
			must(t, folded.Apply(messages.Event{RunID: "r", From: uint64(i + 1), Seq: uint64(i + 1), Body: body}))
			at["r"] = cursor.Cursor{Seq: uint64(i + 1)}
		}
		for at["r"].Seq < e.Seq {
			feed := cursor.Feed{At: at, Digest: seed%2 == 0}
			for piece := range feed.Events(e) {
				line, err := piece.JSON()
				if err != nil || len(line) > messages.WireBytes {
					t.Fatalf("an event has %d bytes, %v", len(line), err)
				}
				appendTo(t, got, piece.Body)
				must(t, folded.Apply(piece))
				if random.IntN(5) == 0 {
					break
				}
			}
			again, err := cursor.Parse("r", feed.At.Text("r"))
			must(t, err)
			at = again
		}
		if got["answer"] != text || got["mind"] != text[:57_000] || textsIn(folded.State())["answer"] != text {
			t.Fatalf("seed %d: the reader holds %d and %d bytes", seed, len(got["answer"]), len(got["mind"]))
		}
	}
}

var must = fatal.IfError
