package php

import (
	"bytes"
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is PHP.
var Language = language.Language{Name: "PHP", Outline: outline, Imports: language.Dotted,
	Code: language.WithoutComments, Note: language.ClassNote, Ecosystems: []string{"composer"},
	Tests: []string{"use PHPUnit\\"}, Classes: true}

func outline(ctx context.Context, text []byte) surface.Outline {
	d := brace.Dialect{Hash: true, ClosesTag: true, Literal: phpLiteral, Docs: brace.DocStyle{Text: brace.Javadoc},
		Attrs: phpAttribute}
	p := &phpFile{File: d.Read(ctx, text, tagged(text, 0))}
	p.items(0, len(p.Tokens), 0)
	return surface.Outline{Symbols: p.Symbols}
}

func phpLiteral(l *brace.Lexer) int {
	switch c := l.Text[l.Pos]; c {
	case '\'':
		return l.LiteralEnd(1, brace.Quoted{Quote: "'", Lines: true, Escapes: true})
	case '"', '`':
		return l.LiteralEnd(1, brace.Quoted{Quote: string(rune(c)), Hole: "{$", Until: '}', Lines: true,
			Escapes: true})
	case '?':
		if l.At(1) == '>' {
			return tagged(l.Text, l.Pos)
		}
	case '<':
		if l.At(1) == '<' && l.At(2) == '<' {
			return heredoc(l)
		}
	}
	return 0
}

// tagged is the byte after the next <?php or <?=.
func tagged(text []byte, from int) int {
	next := bytes.Index(text[from:], []byte("<?"))
	if next < 0 {
		return len(text)
	}
	code := bytes.TrimPrefix(bytes.TrimPrefix(text[from+next+len("<?"):], []byte("php")), []byte("="))
	return len(text) - len(code)
}

// heredoc reads <<<NAME ... NAME and its quoted forms.
func heredoc(l *brace.Lexer) int {
	rest := l.Text[l.Pos+3 : min(len(l.Text), l.Pos+surface.LongestSpan)]
	first := bytes.IndexByte(rest, '\n')
	if first < 0 {
		return 0
	}
	label := strings.Trim(string(rest[:first]), " \t'\"")
	if label == "" || !brace.IsWordByte(label[0]) || strings.ContainsAny(label, " ;(),") {
		return 0
	}
	for i := l.Pos + 3 + first + 1; i < len(l.Text); {
		end := i + bytes.IndexByte(l.Text[i:], '\n')
		if end < i {
			end = len(l.Text)
		}
		line := bytes.TrimLeft(l.Text[i:end], " \t")
		if brace.HasPrefix(line, label) && (len(line) == len(label) || !brace.IsWordByte(line[len(label)])) {
			return end - len(line) + len(label)
		}
		i = end + 1
	}
	return len(l.Text)
}

type phpFile struct{ *brace.File }

// phpAttribute passes over #[...].
func phpAttribute(s *brace.File, i int) int {
	if !s.Is(i, "#") || !s.Is(i+1, "[") {
		return i
	}
	return s.Skip(i + 1)
}

// items reads what is declared outside of classes; conditions around functions
// are looked into, for many files declare only what is missing.
func (p *phpFile) items(from, to, depth int) {
	if depth > brace.DeepestScope {
		return
	}
	p.EachStatement(from, to, p.begins, func(i int) int { return p.item(i, to, depth) })
}

func (p *phpFile) begins(i int) bool {
	return p.IsOneOf(i-1, ";", "}", "{", ")", ":") || p.At(i-1).Kind == brace.LiteralToken
}

func (p *phpFile) item(start, to, depth int) int {
	i := p.Attributes(start)
	for p.IsOneOf(i, "abstract", "final", "readonly") {
		i++
	}
	switch strings.ToLower(p.Str(i)) {
	case "class", "interface", "trait", "enum":
		if p.IsWord(i + 1) {
			return p.class(start, i, to)
		}
	case "function":
		name, end := p.function(i, to)
		if name != "" && !p.IsInternal(start) {
			p.Declare(name, surface.Function, start, end)
		}
		return p.Skip(end)
	case "const":
		return p.constant(start, i+1, to, "")
	case "namespace", "if", "else", "elseif":
		return p.block(i, to, depth)
	}
	return start
}

// function gives the name of the function whose keyword is at i, "" for one without, and the token after its head.
func (p *phpFile) function(i, to int) (name string, end int) {
	if at := p.Until(i, to, "(") - 1; at > i {
		name = p.Str(at)
	}
	return name, p.Until(i, to, "{", ";")
}

func (p *phpFile) block(i, to, depth int) int {
	end := p.Until(i, to, "{", ";", ":")
	if p.Is(end, "{") {
		from, last := p.Inside(end)
		p.items(from, last, depth+1)
	}
	return p.Skip(end)
}

func (p *phpFile) constant(start, i, to int, owner string) int {
	equals := p.Until(i, to, "=", ";")
	end := p.Until(equals, to, ";")
	if name := equals - 1; p.IsWord(name) && !p.IsInternal(start) {
		shown := end
		if end > equals+4 {
			shown = equals
		}
		p.Declare(surface.Qualify(owner, "::", p.Str(name)), surface.Constant, start, shown)
	}
	return end + 1
}

func (p *phpFile) class(start, i, to int) int {
	name := p.Str(i + 1)
	body := p.Until(i, to, "{", ";")
	if p.IsInternal(start) {
		return p.Skip(body)
	}
	p.Declare(name, surface.Type, start, body)
	if p.Is(body, "{") {
		from, last := p.Inside(body)
		p.Each(from, last, func(i int) int { return p.member(i, last, name) })
	}
	return p.Skip(body)
}

func (p *phpFile) member(start, to int, class string) int {
	i := p.Attributes(start)
	public := true
	for ; p.IsOneOf(i, "public", "protected", "private", "static", "abstract", "final", "readonly", "var"); i++ {
		public = public && !p.IsOneOf(i, "protected", "private")
	}
	switch strings.ToLower(p.Str(i)) {
	case "const":
		if public {
			return p.constant(start, i+1, to, class)
		}
	case "function":
		name, end := p.function(i, to)
		if public && !p.IsInternal(start) && !isPHPMagic(name) {
			p.Declare(class+"::"+name, surface.Method, start, end)
		}
		return p.Skip(end)
	}
	end := p.Until(i, to, ";", "{")
	return p.Skip(end)
}

// isPHPMagic tells the methods that the language calls, constructors aside.
func isPHPMagic(name string) bool {
	return strings.HasPrefix(name, "__") && name != "__construct" && name != "__invoke"
}
