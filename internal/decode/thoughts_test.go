package decode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages/model"
)

// said is an answer taken apart: its text, with ⟦n⟧ where the n-th thought ended, and its thoughts.
type said struct {
	text     string
	thoughts []string // type|confidence|text, then ! where repeated
	open     bool
}

func (s said) String() string {
	return fmt.Sprintf("%q %q open=%t", s.text, s.thoughts, s.open)
}

// listener keeps the rules that every sequence of parts must keep.
type listener struct {
	t       testing.TB
	text    strings.Builder
	thought strings.Builder
	number  int
	done    []string
}

func (l *listener) hear(p model.Part) {
	switch p := p.(type) {
	case model.Text:
		if p.Text == "" || l.thought.Len() > 0 {
			l.t.Errorf("text %q inside thought %q", p.Text, l.thought.String())
		}
		l.text.WriteString(p.Text)
	case model.Thought:
		if p.Text == "" || p.Number != l.number {
			l.t.Errorf("piece %+v of thought %d", p, l.number)
		}
		l.thought.WriteString(p.Text)
	case model.ThoughtDone:
		if p.Text != l.thought.String() || p.Number != l.number {
			l.t.Errorf("thought %d is %q; its end says %+v", l.number, l.thought.String(), p)
		}
		l.ended(p)
	default:
		l.t.Errorf("part %#v", p)
	}
}

func (l *listener) ended(p model.ThoughtDone) {
	confidence := ""
	if p.Confidence != nil {
		confidence = fmt.Sprint(*p.Confidence)
	}
	words := strings.Trim(strings.Join([]string{p.Type, confidence, p.Text}, "|"), "|")
	if p.Repeated {
		words += "!"
	}
	fmt.Fprintf(&l.text, "⟦%d⟧", l.number)
	l.done = append(l.done, words)
	l.thought.Reset()
	l.number++
}

func split(t testing.TB, d decode.Dialect, pieces ...string) said {
	l := &listener{t: t}
	thoughts := decode.NewThoughts(d)
	for _, piece := range pieces {
		thoughts.Push(piece, l.hear)
	}
	open := thoughts.Close(l.hear)
	if l.thought.Len() > 0 {
		t.Errorf("thought %q has no end", l.thought.String())
	}
	return said{l.text.String(), l.done, open}
}

// bytes1 are the bytes of a text.
func bytes1(s string) []string {
	pieces := make([]string, len(s))
	for i := range pieces {
		pieces[i] = s[i : i+1]
	}
	return pieces
}

// form is an answer and what it is taken apart into.
type form struct {
	dialect  decode.Dialect
	in, text string
	thought  string // joined by /
}

func forms(t testing.TB) (all []form) {
	for _, group := range fatal.Table[map[string][][4]string](t, "testdata/thoughts.json") {
		for _, f := range group {
			all = append(all, form{decode.Dialect(f[0]), f[1], f[2], f[3]})
		}
	}
	return all
}

// Contract, section 7: thoughts "not inside code fences; streamed as they come", "equal under any chunking".
func TestForms(t *testing.T) {
	for _, f := range forms(t) {
		want := said{text: f.text}
		if f.thought != "" {
			want.thoughts = strings.Split(f.thought, "/")
			if strings.Contains(f.thought, "</") {
				want.thoughts = []string{f.thought}
			}
		}
		if got := split(t, f.dialect, f.in); got.String() != want.String() {
			t.Errorf("%s %q:\n got %v\nwant %v", f.dialect, f.in, got, want)
		}
		if got := split(t, f.dialect, bytes1(f.in)...); got.String() != want.String() {
			t.Errorf("%s %q, byte by byte:\n got %v\nwant %v", f.dialect, f.in, got, want)
		}
		for i := range f.in {
			if got := split(t, f.dialect, f.in[:i], f.in[i:]); got.String() != want.String() {
				t.Errorf("%s %q, split at %d:\n got %v\nwant %v", f.dialect, f.in, i, got, want)
			}
		}
	}
}

// An answer that ends inside a thought says so, and loses nothing; what began a mark is what it looks like.
func TestOpen(t *testing.T) {
	for _, row := range []struct {
		in, text, thought string
		open              bool
	}{
		{"<think>a", "⟦0⟧", "a", true},
		{"<think>a</thi", "⟦0⟧", "a</thi", true},
		{"<think>a</think", "⟦0⟧", "a</think", true},
		{"<think>", "", "", true},
		{"b<thinking>a", "b⟦0⟧", "a", true},
		{"<|channel|>analysis<|message|>a<|start|>assist", "⟦0⟧", "analysis||a<|start|>assist", true},
		{"<think>a</think>", "⟦0⟧", "a", false},
		{"<thin", "<thin", "", false},
	} {
		for _, pieces := range [][]string{{row.in}, bytes1(row.in)} {
			got := split(t, decode.Auto, pieces...)
			if got.text != row.text || strings.Join(got.thoughts, "/") != row.thought || got.open != row.open {
				t.Errorf("%q: %v", pieces, got)
			}
		}
	}
}

// Thoughts and text come with the piece that brings them, but for what the next piece may still change.
func TestThoughtsAsTheyCome(t *testing.T) {
	thoughts := decode.NewThoughts(decode.Auto)
	for _, step := range [][2]string{
		{"<thi", ""}, {"nk>\n", ""}, {"a", "T:a"}, {" ", ""}, {"b<", "T: b"}, {"c", "T:<T:c"}, {"</think", ""}, {">", "D:a b<c"},
		{"\n", ""}, {"\n", ""}, {"if a ", "if a "}, {"<", ""}, {" b", "< b"}, {" List<", " List"}, {"String>", "<String>"},
	} {
		var got []string
		thoughts.Push(step[0], func(p model.Part) {
			switch p := p.(type) {
			case model.Text:
				got = append(got, p.Text)
			case model.Thought:
				got = append(got, "T:"+p.Text)
			case model.ThoughtDone:
				got = append(got, "D:"+p.Text)
			}
		})
		if strings.Join(got, "") != step[1] {
			t.Errorf("%q gives %q, want %q", step[0], got, step[1])
		}
	}
}

// A field of the server's own needs no tags, and the text beside it is left alone. Its thoughts are never repeats.
func TestThoughtsField(t *testing.T) {
	l := &listener{t: t}
	thoughts := decode.NewThoughts(decode.Auto)
	for _, step := range []string{"F:\na", "F: b ", "F:", "", "  <think>c</think>", "F:a b", "d", "F:\n", "e", "F:f"} {
		if piece, field := strings.CutPrefix(step, "F:"); field {
			thoughts.Field(piece, l.hear)
		} else {
			thoughts.Push(step, l.hear)
		}
	}
	open := thoughts.Close(l.hear)
	if want := "⟦0⟧  <think>c</think>⟦1⟧de⟦2⟧"; l.text.String() != want || open {
		t.Errorf("%q, open %t; want %q", l.text.String(), open, want)
	}
	if got := strings.Join(l.done, "/"); got != "a b/a b/f" {
		t.Errorf("thoughts %q", got)
	}
}

func TestThoughtsSource(t *testing.T) {
	var got []string
	hear := func(p model.Part) {
		if p, done := p.(model.ThoughtDone); done {
			got = append(got, fmt.Sprint(p.Number, p.Source, p.Text, p.Repeated))
		}
	}
	thoughts := decode.NewThoughts(decode.Auto)
	thoughts.Push("<think>a</think><think>a</think>b <thinking>c", hear)
	thoughts.Field("a", hear)
	thoughts.Close(hear)
	if want := "[0tagafalse 1tagatrue 2tagcfalse 3fieldafalse]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestStray(t *testing.T) {
	for in, want := range map[string]bool{"a</think>b": true, "<think>a</think>b": false, "`</think>`": false, "a": false} {
		thoughts := decode.NewThoughts(decode.Auto)
		thoughts.Push(in, func(model.Part) {})
		if thoughts.Stray() != want {
			t.Errorf("%q: %t", in, thoughts.Stray())
		}
	}
}

// No mark, however long, and no blanks hold back more than Held bytes.
func TestHeld(t *testing.T) {
	for name, start := range map[string]string{"attributes": `<thinking a="`, "blanks": "", "thought": "<think>a"} {
		fill := " "
		if name == "attributes" {
			fill = "x"
		}
		given := 0
		thoughts := decode.NewThoughts(decode.Auto)
		hear := func(p model.Part) {
			switch p := p.(type) {
			case model.Text:
				given += len(p.Text)
			case model.Thought:
				given += len(p.Text)
			}
		}
		thoughts.Push(start, hear)
		for n := range 3 * decode.Held {
			thoughts.Push(fill, hear)
			if back := n + 1 - given; back > decode.Held {
				t.Fatalf("%s: %d bytes are held back", name, back)
			}
		}
		in := start + strings.Repeat(fill, 3*decode.Held)
		if whole, bytewise := split(t, "", in), split(t, "", bytes1(in)...); whole.String() != bytewise.String() {
			t.Errorf("%s: byte by byte it differs", name)
		}
	}
}
