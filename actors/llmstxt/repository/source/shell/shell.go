package shell

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is that of shells.
var Language = language.Language{Name: "Shell", Outline: outline, Imports: language.Dotted,
	Note: language.LineNote("#")}

func outline(ctx context.Context, text []byte) surface.Outline {
	s := shellFile{Lines: surface.NewLines(ctx, text), at: map[string]bool{}, inside: -1}
	for s.More() {
		line := s.Take()
		s.usage(line)
		s.line(line)
		s.document(line)
	}
	return surface.Outline{Symbols: s.symbols}
}

type shellFile struct {
	surface.Lines
	inside  int // column of the function that the line is in, else -1
	used    bool
	remarks surface.Remarks
	at      map[string]bool // kinds with names that are kept
	symbols []surface.Symbol
}

// hereDocument finds the word that ends the text which begins below.
var hereDocument = regexp.MustCompile(`(?:^|[^<])<<-?[ \t]*["'\\]?([A-Za-z_][-.!:\w]*)`)

// document skips the text that begins below the line, but for a usage line in it.
func (s *shellFile) document(line string) {
	if tag := hereDocument.FindStringSubmatch(line); tag != nil {
		for end := s.EndOf(tag[1], "\t"); s.Next < end; {
			s.usage(s.Take())
		}
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
	m := definition.FindStringSubmatch(text)
	if m == nil || m[3] == "" && (m[1] == "" || strings.HasPrefix(m[4], "(")) {
		s.sourced(text)
		return
	}
	name, body := m[2], m[4]
	if s.inside = column; strings.HasSuffix(body, "}") || strings.HasSuffix(body, ")") {
		s.inside = -1
	}
	if name[0] != '_' {
		s.add(surface.Symbol{Name: name, Kind: surface.Function, Signature: name + "()", Doc: surface.Summary(doc),
			Line: s.Next})
	}
}

// definition finds the parts of a function's head: the keyword, the name, the brackets and what is there of the body.
var definition = regexp.MustCompile(`^(function\s+)?([A-Za-z_][-.:@+\w]*)\s*(\(\s*\))?\s*(|[{(#\[].*)$`)

func (s *shellFile) add(symbol surface.Symbol) {
	if key := string(symbol.Kind) + " " + symbol.Name; !s.at[key] {
		s.at[key] = true
		s.symbols = append(s.symbols, symbol)
	}
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
