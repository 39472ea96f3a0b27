package shell

import (
	"context"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/language"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// Language is that of shells.
var Language = language.Language{Name: "Shell", Outline: outline, Imports: language.Dotted,
	Note: language.LineNote("#")}

func outline(ctx context.Context, text []byte) surface.Outline {
	s := shellFile{Lines: surface.NewLines(ctx, text), at: map[string]bool{}, inside: -1}
	s.read()
	if len(s.open) > 0 {
		s.Next, s.open, s.distrust = s.opened, nil, true
		s.read()
	}
	s.remarks.End()
	return surface.Outline{Doc: surface.DocText(s.remarks.Head), Symbols: s.symbols}
}

type shellFile struct {
	surface.Lines
	open     []byte // quotes and brackets that go on over the line's end
	opened   int    // index of the line after the one that opened the outermost
	distrust bool   // an earlier quote was never closed: let none pass a line's end
	ends     []shellEnd
	inside   int // column of the function that the line is in, else -1
	used     bool
	remarks  surface.Remarks
	at       map[string]bool // kinds with names that are kept
	symbols  []surface.Symbol
}

// shellEnd is the line that ends a here-document, and what may indent it.
type shellEnd struct{ tag, indentation string }

func (s *shellFile) read() {
	for s.More() {
		line := s.Take()
		s.usage(line)
		if len(s.open) == 0 {
			s.line(line)
		}
		outside := len(s.open) == 0
		s.quotes(line)
		if s.distrust {
			s.open = s.open[:0]
		}
		if outside {
			s.opened = s.Next
		}
		s.documents()
	}
}

func (s *shellFile) line(line string) {
	column, text := surface.Indentation(line)
	switch {
	case text == "":
		return
	case text[0] == '#':
		if s.Next > 1 || !strings.HasPrefix(text, "#!") {
			s.remarks.Add(s.Next, strings.TrimLeft(text, "#"))
		}
		return
	}
	doc := s.remarks.Above(s.Next)
	if s.inside >= 0 {
		if column <= s.inside && (text[0] == '}' || text[0] == ')') {
			s.inside = -1
			return
		}
		if column > s.inside {
			return
		}
	}
	if name, rest := shellFunction(text); name != "" {
		s.function(column, name, rest, doc)
		return
	}
	s.sourced(text)
}

func (s *shellFile) function(column int, name, rest, doc string) {
	if s.inside = column; strings.HasSuffix(rest, "}") || strings.HasSuffix(rest, ")") {
		s.inside = -1
	}
	if name[0] != '_' {
		s.add(surface.Symbol{Name: name, Kind: surface.Function, Signature: name + "()", Doc: surface.Summary(doc),
			Line: s.Next})
	}
}

func (s *shellFile) add(symbol surface.Symbol) {
	if key := string(symbol.Kind) + " " + symbol.Name; !s.at[key] {
		s.at[key] = true
		s.symbols = append(s.symbols, symbol)
	}
}

// shellFunction is the name that a line defines and what follows on the line.
func shellFunction(text string) (name, rest string) {
	after, keyword := surface.AfterKeyword(text, "function")
	if !keyword {
		after = text
	}
	i := 0
	for i < len(after) && (surface.IsWord(after[i]) || strings.IndexByte("-.:@+", after[i]) >= 0 && i > 0) {
		i++
	}
	name, rest = after[:i], strings.TrimLeft(after[i:], " \t")
	if surface.Identifier(name) == "" {
		return "", ""
	}
	brackets, ok := strings.CutPrefix(rest, "(")
	if ok {
		brackets, ok = strings.CutPrefix(strings.TrimLeft(brackets, " "), ")")
		rest = strings.TrimSpace(brackets)
	}
	if !ok && !keyword || rest != "" && strings.IndexByte("{(#[", rest[0]) < 0 {
		return "", ""
	}
	return name, strings.TrimSpace(rest)
}

// sourced keeps the files that a script takes in from its own tree.
func (s *shellFile) sourced(text string) {
	rest, ok := strings.CutPrefix(text, ". ")
	if !ok {
		rest, ok = strings.CutPrefix(text, "source ")
	}
	if !ok {
		return
	}
	target := rest
	for _, end := range []string{" #", ";", " ||", " &&", " 2>"} {
		target, _, _ = strings.Cut(target, end)
	}
	if target = strings.Trim(target, " \"'"); target == "" || target[0] == '/' || target[0] == '~' {
		return
	}
	var fixed []string
	for segment := range strings.SplitSeq(target, "/") {
		segment = strings.Trim(segment, " \"'")
		if !strings.ContainsAny(segment, "$()`{} \"") && segment != "." && segment != "" {
			fixed = append(fixed, segment)
		}
	}
	if len(fixed) > 0 {
		s.add(surface.Symbol{Name: strings.Join(fixed, "/"), Kind: surface.Module, Signature: text, Line: s.Next})
	}
}

// usage keeps the first line that says how the script is called; a comment further down is about a function.
func (s *shellFile) usage(line string) {
	isComment := strings.HasPrefix(strings.TrimLeft(line, " \t"), "#")
	if s.used || len(line) > 4*surface.SignatureRunes || isComment && s.remarks.Begun {
		return
	}
	i := strings.Index(strings.ToLower(line), "usage:")
	if i < 0 || i+len("usage:") > len(line) {
		return
	}
	text := line[i+len("usage:"):]
	if strings.Trim(text, " \t\"'") == "" && s.Next < len(s.All) {
		text = s.All[s.Next]
	}
	text = strings.TrimSpace(strings.Trim(strings.TrimSpace(text), "#\"'\\;"))
	text, _, _ = strings.Cut(strings.TrimSuffix(text, `\n`), `" `)
	text, _, _ = strings.Cut(text, `' `)
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return
	}
	s.used = true
	name := fields[0][strings.LastIndexByte(fields[0], '/')+1:]
	isOther := slices.Contains([]string{"", ".", "echo", "eval", "source", "sh", "bash"}, name)
	if isOther || strings.ContainsAny(name, "$()`{}%<\"'[") {
		name = "usage"
	}
	s.add(surface.Symbol{Name: name, Kind: surface.Command, Signature: text, Line: s.Next})
}
