package decode_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/decode"
	"pgregory.net/rapid"
)

// naive takes an answer apart with all of it in hand, by looking at each place for each mark. It holds for answers
// shorter than what a decoder may hold back.
type naive struct {
	dialect decode.Dialect
	in      string

	source   string // of the text up to here, thoughts left out
	text     string
	gap      string
	blank    bool
	wrote    bool
	trim     bool
	harmony  bool
	thoughts []string
	seen     map[string]bool
}

// naiveMark is a mark at the beginning of a text, or the length of what has been one up to where it failed.
type naiveMark struct {
	length     int
	kind, role string
	tag        string
	ok         bool
}

var (
	tagNames = []string{"think", "thinking", "thought", "reasoning", "reasoning_scratchpad", "mm:think"}
	opening  = regexp.MustCompile(`(?is)^<(think|thinking|thought|reasoning|reasoning_scratchpad|mm:think)` +
		`(?:>|[ \t\r\n/](?:=[ \t\r\n]*(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|[^<>"'])*>)`)
	failing = longest(`(?is)^<(think|thinking|thought|reasoning|reasoning_scratchpad|mm:think)` +
		`[ \t\r\n/](?:=[ \t\r\n]*(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|[^<>"'])*(?:=[ \t\r\n]*(?:"(?:\\.|[^"\\])*\\?|'(?:\\.|[^'\\])*\\?)$)?`)
	closing   = regexp.MustCompile(`(?i)^</(think|thinking|thought|reasoning|reasoning_scratchpad|mm:think)[ \t\r\n]*>`)
	attribute = regexp.MustCompile(`(?s)^[ \t\r\n]*([^ \t\r\n"'=]+)[ \t\r\n]*=[ \t\r\n]*("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^ \t\r\n]*)`)
	runs      = regexp.MustCompile("`+")
	fence     = regexp.MustCompile("^[ \t\r]*(`+|~+)(.*)$")
)

func longest(pattern string) *regexp.Regexp {
	re := regexp.MustCompile(pattern)
	re.Longest()
	return re
}

const space = " \t\r\n"

func (n *naive) mark(s string, open, close []string, literals map[string]string) naiveMark {
	if m := opening.FindString(s); m != "" {
		kind := strings.ToLower(opening.FindStringSubmatch(s)[1])
		if slices.Contains(open, kind) {
			_, ok := attributes(m)
			return naiveMark{len(m), kind, "open", m, ok}
		}
	} else if m := failing.FindStringSubmatch(s); m != nil && slices.Contains(open, strings.ToLower(m[1])) {
		return naiveMark{length: len(m[0])}
	}
	if m := closing.FindStringSubmatch(s); m != nil && slices.Contains(close, strings.ToLower(m[1])) {
		return naiveMark{len(m[0]), strings.ToLower(m[1]), "close", m[0], true}
	}
	for text, what := range literals {
		if !strings.HasPrefix(s, text) {
			continue
		}
		kind, role, _ := strings.Cut(what, " ")
		if role != "head" {
			return naiveMark{len(text), kind, role, text, true}
		}
		line, _, _ := strings.Cut(s, "\n")
		line = line[:min(len(line), 256)]
		if head, _, ok := strings.Cut(line, "<|message|>"); ok {
			return naiveMark{len(head) + 11, kind, role, head, true}
		}
		return naiveMark{length: len(line)}
	}
	return naiveMark{length: 1}
}

// attributes are those of an opening tag: text, type and confidence.
func attributes(tag string) (values [3]string, ok bool) {
	tag = strings.TrimSuffix(strings.TrimSuffix(tag, ">"), "/")
	rest := tag[min(len(tag), 1):]
	if i := strings.IndexAny(rest, space); i >= 0 {
		rest = rest[i:]
	} else {
		rest = ""
	}
	for strings.Trim(rest, space) != "" {
		m := attribute.FindStringSubmatch(rest)
		if m == nil {
			return values, false
		}
		rest = rest[len(m[0]):]
		value := m[2]
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			value = regexp.MustCompile(`\\(["'\\])`).ReplaceAllString(value[1:len(value)-1], "$1")
		}
		for _, entity := range []string{"&lt;<", "&gt;>", `&quot;"`, "&apos;'", "&amp;&"} {
			value = strings.ReplaceAll(value, entity[:len(entity)-1], entity[len(entity)-1:])
		}
		switch strings.ToLower(m[1]) {
		case "thought", "content", "text":
			values[0] = value
		case "thought_type", "thoughttype", "type":
			values[1] = value
		case "confidence":
			if c, err := strconv.ParseFloat(value, 64); err == nil && c >= 0 && c <= 1 {
				values[2] = fmt.Sprint(c)
			}
		}
	}
	return values, true
}

// inCode says whether the text ends in code.
func inCode(source string) bool {
	open := ""
	lines := strings.Split(source, "\n")
	for i, line := range lines {
		m := fence.FindStringSubmatch(line)
		last := i == len(lines)-1
		switch {
		case open != "":
			if last {
				return true
			}
			if m != nil && m[1][0] == open[0] && len(m[1]) >= len(open) && strings.Trim(m[2], space) == "" {
				open = ""
			}
		case m != nil && len(m[1]) >= 3 && (m[1][0] == '~' || !strings.Contains(m[2], "`")):
			if open = m[1]; last {
				return true
			}
		case last:
			inline := 0
			for _, run := range runs.FindAllString(line, -1) {
				if inline == 0 {
					inline = len(run)
				} else if inline == len(run) {
					inline = 0
				}
			}
			return inline > 0
		}
	}
	return false
}

// before are the marks that may come in text.
func (n *naive) before() (open, close []string, literals map[string]string) {
	literals = map[string]string{}
	line := n.source[strings.LastIndex(n.source, "\n")+1:]
	fresh := n.blank || strings.Trim(line, space) == ""
	close = tagNames
	for _, name := range tagNames {
		if fresh || name != "think" && name != "mm:think" {
			open = append(open, name)
		}
	}
	literals["[/THINK]"], literals["<channel|>"], literals["<|/think|>"] = "mistral close", "gemma close", "litert close"
	literals["<|channel>thought"] = "gemma open"
	if fresh {
		literals["[THINK]"], literals["<|think|>"] = "mistral open", "litert open"
	}
	literals["<|start|>"], literals["<|channel|>"] = "harmony head", "harmony head"
	if n.harmony {
		literals["<|end|>"], literals["<|return|>"], literals["<|call|>"] = "harmony close", "harmony close", "harmony close"
	}
	return open, close, literals
}

// within are the marks that may end a thought.
func (n *naive) within(kind string) (close []string, literals map[string]string) {
	switch kind {
	case "mistral":
		return nil, map[string]string{"[/THINK]": "mistral close"}
	case "gemma":
		return nil, map[string]string{"<channel|>": "gemma close"}
	case "litert":
		return []string{"think"}, map[string]string{"<|/think|>": "litert close"}
	case "harmony":
		return nil, map[string]string{"<|end|>": "harmony close", "<|return|>": "harmony close", "<|call|>": "harmony close",
			"<|start|>": "harmony head", "<|channel|>": "harmony head"}
	}
	return []string{kind}, nil
}

func (n *naive) write(s string) {
	n.source += s
	n.text += n.gap + s
	n.gap, n.blank, n.trim, n.wrote = "", false, false, true
}

func (n *naive) end(values [3]string, body string) {
	n.blank, n.trim, n.gap = true, true, ""
	whole := strings.TrimRight(body, space)
	if head := strings.Trim(values[0], space); head != "" && whole != "" {
		whole = head + "\n" + whole
	} else if head != "" {
		whole = head
	}
	if whole = strings.Trim(whole, space); whole == "" {
		return
	}
	words := strings.Trim(values[1]+"|"+values[2]+"|"+whole, "|")
	if n.seen[whole] {
		words += "!"
	}
	n.seen[whole] = true
	n.text += fmt.Sprintf("⟦%d⟧", len(n.thoughts))
	n.thoughts = append(n.thoughts, words)
}

// thought reads one from i on; it gives where it ended, and the head of a message where one ended it.
func (n *naive) thought(i int, kind string, values [3]string, implicit bool) (next int, head string, open bool) {
	body := ""
	for i < len(n.in) {
		close, literals := n.within(kind)
		var start []string
		if implicit && strings.Trim(body, space) == "" {
			start = []string{"think"}
		}
		m := n.mark(n.in[i:], start, close, literals)
		switch quoted := m.ok && m.role == "close" && inQuotes(body, n.in[i+m.length:]); {
		case !m.ok || quoted:
			body += n.in[i : i+m.length]
			i += m.length
		case m.role == "open":
			i += m.length
		default:
			n.end(values, body)
			if m.role == "head" {
				head = m.tag
			}
			return i + m.length, head, false
		}
	}
	n.end(values, body)
	return i, "", true
}

func inQuotes(before, after string) bool {
	k := len(before)
	if k == 0 || after == "" || !strings.ContainsRune("\"'`", rune(before[k-1])) || after[0] != before[k-1] {
		return false
	}
	return k == 1 || before[k-2] == 0 || strings.ContainsRune(space+"(", rune(before[k-2]))
}

func (n *naive) message(i int, head string) (next int, open bool) {
	for {
		n.harmony, n.source, n.blank, n.trim = true, "", true, true
		_, channel, _ := strings.Cut(head, "<|channel|>")
		name := regexp.MustCompile(`^[^ \t\r\n<]*`).FindString(strings.TrimSpace(channel))
		if name != "analysis" && !strings.Contains(head, "to=") {
			return i, false
		}
		if i, head, open = n.thought(i, "harmony", [3]string{"", name, ""}, false); head == "" {
			return i, open
		}
	}
}

func (n *naive) run() said {
	n.blank, n.seen = true, map[string]bool{}
	i, open := 0, false
	if n.dialect == decode.Implicit {
		i, _, open = n.thought(0, "think", [3]string{}, true)
	}
	for i < len(n.in) {
		b := n.in[i : i+1]
		switch {
		case n.trim && (b == "\n" || b == "\r"):
			n.source += b
			i++
			continue
		case n.blank && strings.Contains(space, b):
			n.source, n.gap, n.trim = n.source+b, n.gap+b, false
			i++
			continue
		case b != "<" && b != "[" || inCode(n.source):
			n.write(b)
			i++
			continue
		}
		n.trim = false
		// A mark ends a run of backticks even if it is dropped.
		if strings.HasSuffix(n.source, "`") || strings.HasSuffix(n.source, "~") {
			n.source += "\r"
		}
		starts, ends, literals := n.before()
		m := n.mark(n.in[i:], starts, ends, literals)
		from := i
		i += m.length
		switch {
		case !m.ok:
			n.write(n.in[from:i])
		case m.role == "close" && n.wrote && m.kind != "harmony":
			n.write(n.in[from:i])
		case m.role == "close":
		case m.role == "head":
			i, open = n.message(i, m.tag)
		case strings.HasSuffix(m.tag, "/>"):
			values, _ := attributes(m.tag)
			n.end(values, "")
		default:
			var values [3]string
			if slices.Contains(tagNames, m.kind) {
				values, _ = attributes(m.tag)
			}
			i, _, open = n.thought(i, m.kind, values, false)
		}
	}
	if !n.blank || len(n.thoughts) == 0 {
		n.text += n.gap
	}
	return said{n.text, n.thoughts, open}
}

var dialects = []decode.Dialect{decode.Auto, decode.Implicit, decode.None}

func agree(t testing.TB, d decode.Dialect, in string, lengths []byte) {
	want := said{text: in}
	if d != decode.None {
		want = (&naive{dialect: d, in: in}).run()
	}
	for _, pieces := range [][]string{{in}, bytes1(in), cuts(in, lengths)} {
		if got := split(t, d, pieces...); got.String() != want.String() {
			t.Fatalf("%q %q:\n  got %v\nnaive %v", d, pieces, got, want)
		}
	}
}

// Contract, section 7: thoughts in every form, "equal under any chunking".
func TestThoughtsAgree(t *testing.T) {
	atoms := []string{
		"<think>", "</think>", "<thinking>", "</thinking>", "<Thought >", "</thought >", "<thi", "</", "<", ">", "[", "a", "b c", " ", "\n",
		"\n\n", "`", "``", "```", "~~~", "~", "\"", "'", "(\"", "<thinking thought=\"x > y\" confidence=0.5>", "<thinking thought='x'/>", "<think/>",
		"[THINK]", "[/THINK]", "<|channel>thought\n", "<channel|>", "<|think|>", "<|/think|>", "<|channel|>analysis<|message|>", "<|end|>",
		"<|start|>assistant", "<|channel|>final<|message|>", "<|return|>", "<|mess", "<thinking a=\"<think>", "=", "\\", "é", "<thinking b>",
	}
	rapid.Check(t, func(rt *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(atoms), 0, 16).Draw(rt, "in"), "")
		d := rapid.SampledFrom(dialects).Draw(rt, "dialect")
		agree(rapidTB{t, rt}, d, in, rapid.SliceOf(rapid.Byte()).Draw(rt, "lengths"))
	})
}

// rapidTB lets rapid shrink what fails.
type rapidTB struct {
	testing.TB
	rt *rapid.T
}

func (r rapidTB) Errorf(format string, args ...any) { r.rt.Fatalf(format, args...) }
func (r rapidTB) Fatalf(format string, args ...any) { r.rt.Fatalf(format, args...) }

func FuzzThoughts(f *testing.F) {
	for _, form := range forms {
		f.Add(form.in, uint8(slices.Index(dialects, form.dialect)), []byte{2})
	}
	f.Fuzz(func(t *testing.T, in string, d uint8, lengths []byte) {
		if len(in) < decode.Held {
			agree(t, dialects[int(d)%len(dialects)], in, lengths)
		}
	})
}
