package decode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/decode"
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

var forms = []struct {
	dialect decode.Dialect
	in      string
	text    string
	thought string // joined by /
}{
	{"", "plain", "plain", ""},
	{"", "", "", ""},
	{"", "  \n", "  \n", ""},
	{"", "<think>a</think>b", "⟦0⟧b", "a"},
	{"", "\n <think>\na b\n</think>\n\nc", "⟦0⟧c", "a b"},
	{"", "<THINK>a</Think >b", "⟦0⟧b", "a"},
	{"", "<think\n>a</think\t>b", "⟦0⟧b", "a"},
	{"", "<think></think>b", "b", ""},
	{"", "<think>\n\n</think>\n\nb", "b", ""},
	{"", "<think>a</think>\n\n\n  b", "⟦0⟧  b", "a"},
	{"", "<think>a</think> <think>b</think> c", "⟦0⟧⟦1⟧ c", "a/b"},
	{"", "<think>a</think><think>a</think>c", "⟦0⟧⟦1⟧c", "a/a!"},
	{"", "<thinking>a</thinking>", "⟦0⟧", "a"},
	{"", "<thought>a</thought>b", "⟦0⟧b", "a"},
	{"", "<reasoning>a</reasoning>b", "⟦0⟧b", "a"},
	{"", "<REASONING_SCRATCHPAD>a</REASONING_SCRATCHPAD>b", "⟦0⟧b", "a"},
	{"", "<mm:think>a</mm:think>b", "⟦0⟧b", "a"},
	{"", "[THINK]a[/THINK]b", "⟦0⟧b", "a"},
	{"", "<|channel>thought\na\n<channel|>b", "⟦0⟧b", "a"},
	{"", "<|channel>thought\n<channel|>b", "b", ""},
	{"", "<|think|>a<|/think|>b", "⟦0⟧b", "a"},
	{"", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "⟦0⟧b", "analysis||a"},
	{"", "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>", "⟦0⟧", "commentary||{}"},
	{"", "<|channel|>commentary<|message|>a plan<|end|>", "a plan", ""},
	{"", "<|channel|>analysis<|message|>a<|channel|>final<|message|>b", "⟦0⟧b", "analysis||a"},

	{"", `<thinking thought="x" thought_type="planning" confidence="0.8"/>a`, "⟦0⟧a", "planning|0.8|x"},
	{"", `<thinking thought='say "hi" > all' />a`, "⟦0⟧a", `say "hi" > all`},
	{"", `<thinking thought="say \"hi\" > \d">` + "</thinking>a", "⟦0⟧a", `say "hi" > \d`},
	{"", `<thinking thought="&lt;b&gt; &amp; &quot;c&quot;"></thinking>a`, "⟦0⟧a", `<b> & "c"`},
	{"", `<thinking confidence=0.5 type=plan>x</thinking>a`, "⟦0⟧a", "plan|0.5|x"},
	{"", `<thinking confidence="high">x</thinking>a`, "⟦0⟧a", "x"},
	{"", `<thinking confidence="NaN">x</thinking>a`, "⟦0⟧a", "x"},
	{"", `<thinking confidence="7">x</thinking>a`, "⟦0⟧a", "x"},
	{"", `<thinking thought="head"> body </thinking>a`, "⟦0⟧a", "head\n body"},
	{"", "<think/>a", "a", ""},
	{"", "<thinking aloud>a</thinking>", "<thinking aloud>a</thinking>", ""},

	// Text that only looks like a mark.
	{"", "if x < 5 and y > 3 then", "if x < 5 and y > 3 then", ""},
	{"", "a < b", "a < b", ""},
	{"", "List<String> and <div>Hello</div>", "List<String> and <div>Hello</div>", ""},
	{"", "<thinker>a</thinker>", "<thinker>a</thinker>", ""},
	{"", "<<think>", "<<think>", ""},
	{"", "\n<<thinking>a</thinking>", "\n<⟦0⟧", "a"},
	{"", "the <think> tag", "the <think> tag", ""},
	{"", "the [THINK] mark", "the [THINK] mark", ""},
	{"", "so:\n<think>a</think>b", "so:\n⟦0⟧b", "a"},
	{"", "[THINKER] [", "[THINKER] [", ""},
	{"", "a <|start|> b <|end|>", "a <|start|> b <|end|>", ""},
	{"", "<|start|>|message|>", "<|start|>|message|>", ""},
	{"", "if a <", "if a <", ""},
	{"", "x <thi", "x <thi", ""},
	{"", "x <thinking a=", "x <thinking a=", ""},
	{"", "word1 <thinking>t</thinking> word2", "word1 ⟦0⟧ word2", "t"},
	{"", "</think>b", "b", ""},
	{"", " </think>\n</thinking> b", " \n b", ""},
	{"", "Close it with </think> and go on.", "Close it with </think> and go on.", ""},
	{"", "a[/THINK]b<channel|>c<|/think|>d", "a[/THINK]b<channel|>c<|/think|>d", ""},

	// In code.
	{"", "```\n<think>a</think>\n```\n<think>b</think>c", "```\n<think>a</think>\n```\n⟦0⟧c", "b"},
	{"", "~~~~x\n<think>\n~~~\n<think>\n~~~~\n<think>b</think>c", "~~~~x\n<think>\n~~~\n<think>\n~~~~\n⟦0⟧c", "b"},
	{"", "````md\n```\n<think>\n```\n````\nc", "````md\n```\n<think>\n```\n````\nc", ""},
	{"", "```md\n```js\n<think>\n```\n<think>b</think>", "```md\n```js\n<think>\n```\n⟦0⟧", "b"},
	{"", "use `<thinking>` and ``<thinking>`` <thinking>b</thinking>", "use `<thinking>` and ``<thinking>`` ⟦0⟧", "b"},
	{"", "```<thinking>``` <thinking>b</thinking>", "```<thinking>``` ⟦0⟧", "b"},
	{"", "a ` tick\n<think>b</think>c", "a ` tick\n⟦0⟧c", "b"},
	{"", "<think>```\n</think>b", "⟦0⟧b", "```"},

	// Inside a thought.
	{"", "<think>a<think>b</think>c</think>d", "⟦0⟧c</think>d", "a<think>b"},
	{"", "<think>a</think></think>c", "⟦0⟧c", "a"},
	{"", "<think>a</thinking>b</think>c", "⟦0⟧c", "a</thinking>b"},
	{"", `<think>the tag "</think>" ends it</think>c`, "⟦0⟧c", `the tag "</think>" ends it`},
	{"", `<think>say "yes"</think>"Yes"`, `⟦0⟧"Yes"`, `say "yes"`},
	{"", `<think>say "</think>yes`, `⟦0⟧yes`, `say "`},
	{"", `<think>say "</think>`, `⟦0⟧`, `say "`},
	{"", "[THINK][[/THINK]b", "⟦0⟧b", "["},

	{"implicit", "a\n</think>\n\nb", "⟦0⟧b", "a"},
	{"implicit", "<think>\na</think>b", "⟦0⟧b", "a"},
	{"implicit", "</think>b <thinking>c</thinking>", "b ⟦0⟧", "c"},
	{"none", "<think>a</think>b", "<think>a</think>b", ""},
}

// Contract, section 7: thoughts "not inside code fences; streamed as they come", "equal under any chunking".
func TestForms(t *testing.T) {
	for _, f := range forms {
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
