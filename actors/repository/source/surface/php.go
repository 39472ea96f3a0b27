package surface

import (
	"bytes"
	"context"
	"strings"
)

func php(ctx context.Context, text []byte) Outline {
	from := bytes.Index(text, []byte("<?"))
	if from < 0 {
		from = len(text)
	}
	for from < len(text) && (text[from] == '<' || text[from] == '?' || isWordByte(text[from])) {
		from++
	}
	d := dialect{hash: true, closesTag: true, literal: phpLiteral, docs: docStyle{text: javadoc}, attrs: phpAttribute}
	p := &phpFile{source: d.source(ctx, text, from)}
	p.items(0, len(p.tokens), 0)
	return Outline{Doc: p.fileDoc(p.isPreamble), Symbols: p.symbols}
}

func phpLiteral(l *lexer) int {
	switch c := l.text[l.pos]; c {
	case '\'':
		return l.literalEnd(1, quoted{quote: "'", lines: true, escapes: true})
	case '"', '`':
		return l.literalEnd(1, quoted{quote: string(rune(c)), hole: "{$", until: '}', lines: true, escapes: true})
	case '?':
		if l.at(1) == '>' {
			return untagged(l)
		}
	case '<':
		if l.at(1) == '?' {
			return openTag(l)
		}
		if l.at(1) == '<' && l.at(2) == '<' {
			return heredoc(l)
		}
	}
	return 0
}

// untagged passes over what stands between ?> and the next <?php or <?=.
func untagged(l *lexer) int {
	next := bytes.Index(l.text[l.pos:], []byte("<?"))
	if next < 0 {
		return len(l.text)
	}
	return l.pos + next
}

// openTag is a token of its own, so that a comment after it is the file's.
func openTag(l *lexer) int {
	end := l.pos + 2
	for end < len(l.text) && (isWordByte(l.text[end]) || l.text[end] == '=') && end < l.pos+6 {
		end++
	}
	return end
}

// heredoc reads <<<NAME ... NAME and its quoted forms.
func heredoc(l *lexer) int {
	rest := l.text[l.pos+3 : min(len(l.text), l.pos+longestSpan)]
	first := bytes.IndexByte(rest, '\n')
	if first < 0 {
		return 0
	}
	label := strings.Trim(string(rest[:first]), " \t'\"")
	if label == "" || !isWordByte(label[0]) || strings.ContainsAny(label, " ;(),") {
		return 0
	}
	for i := l.pos + 3 + first + 1; i < len(l.text); {
		end := i + bytes.IndexByte(l.text[i:], '\n')
		if end < i {
			end = len(l.text)
		}
		line := bytes.TrimLeft(l.text[i:end], " \t")
		if hasPrefix(line, label) && (len(line) == len(label) || !isWordByte(line[len(label)])) {
			return end - len(line) + len(label)
		}
		i = end + 1
	}
	return len(l.text)
}

type phpFile struct{ *source }

// phpAttribute passes over #[...].
func phpAttribute(s *source, i int) int {
	if !s.is(i, "#") || !s.is(i+1, "[") {
		return i
	}
	return s.skip(i + 1)
}

func (p *phpFile) isPreamble(i int) bool {
	return p.isOneOf(i, "namespace", "use", "declare", "require", "require_once", "include", "include_once", "if")
}

// items reads what is declared outside of classes; conditions around functions
// are looked into, for many files declare only what is missing.
func (p *phpFile) items(from, to, depth int) {
	if depth > deepestScope {
		return
	}
	for i := from; i < to && !p.full(); {
		next := i
		if p.begins(i, from) {
			next = p.item(i, to, depth)
		}
		i = max(next, p.skip(i))
	}
}

func (p *phpFile) begins(i, from int) bool {
	return i == from || p.isOneOf(i-1, ";", "}", "{", ")", ":") || p.at(i-1).kind == literalToken
}

func (p *phpFile) item(start, to, depth int) int {
	i := p.attributes(start)
	for p.isOneOf(i, "abstract", "final", "readonly") {
		i++
	}
	switch strings.ToLower(p.str(i)) {
	case "class", "interface", "trait", "enum":
		if p.isWord(i + 1) {
			return p.class(start, i, to)
		}
	case "function":
		name := p.nameAt(i + 1)
		end := p.until(i, to, "{", ";")
		if p.isWord(name) && p.is(name+1, "(") && !p.isInternal(start) {
			p.declare(p.str(name), Function, start, end)
		}
		return p.skip(end)
	case "const":
		return p.constant(start, i+1, to, "")
	case "define":
		return p.define(start, i, to)
	case "namespace", "if", "else", "elseif":
		return p.block(i, to, depth)
	}
	return start
}

// nameAt passes over the & of a function that returns a reference.
func (p *phpFile) nameAt(i int) int {
	if p.is(i, "&") {
		return i + 1
	}
	return i
}

func (p *phpFile) block(i, to, depth int) int {
	end := p.until(i, to, "{", ";", ":")
	if p.is(end, "{") {
		from, last := p.inside(end)
		p.items(from, last, depth+1)
	}
	return p.skip(end)
}

func (p *phpFile) constant(start, i, to int, owner string) int {
	equals := p.until(i, to, "=", ";")
	end := p.until(equals, to, ";")
	if name := equals - 1; p.isWord(name) && !p.isInternal(start) {
		if end > equals+4 {
			p.declare(qualify(owner, "::", p.str(name)), Constant, start, equals)
		} else {
			p.declare(qualify(owner, "::", p.str(name)), Constant, start, end)
		}
	}
	return end + 1
}

// define reads define('NAME', value).
func (p *phpFile) define(start, i, to int) int {
	end := p.until(i, to, ";")
	if p.is(i+1, "(") && p.at(i+2).kind == literalToken && p.is(i+3, ",") && !p.isInternal(start) {
		p.declare(strings.Trim(p.str(i+2), `"'`), Constant, start, min(end, i+12))
	}
	return end + 1
}

func (p *phpFile) class(start, i, to int) int {
	name := p.str(i + 1)
	body := p.until(i, to, "{", ";")
	if p.isInternal(start) {
		return p.skip(body)
	}
	p.declare(name, Type, start, body)
	if p.is(body, "{") {
		from, last := p.inside(body)
		for k := from; k < last && !p.full(); {
			k = max(p.member(k, last, name), k+1)
		}
	}
	return p.skip(body)
}

func (p *phpFile) member(start, to int, class string) int {
	i := p.attributes(start)
	public := true
	for ; p.isOneOf(i, "public", "protected", "private", "static", "abstract", "final", "readonly", "var"); i++ {
		public = public && !p.isOneOf(i, "protected", "private")
	}
	switch strings.ToLower(p.str(i)) {
	case "const":
		if public {
			return p.constant(start, i+1, to, class)
		}
	case "function":
		end := p.until(i, to, "{", ";")
		name := p.str(p.nameAt(i + 1))
		if public && !p.isInternal(start) && !isPHPMagic(name) {
			p.declare(class+"::"+name, Method, start, end)
		}
		return p.skip(end)
	}
	end := p.until(i, to, ";", "{")
	return p.skip(end)
}

// isPHPMagic tells the methods that the language calls, constructors aside.
func isPHPMagic(name string) bool {
	return strings.HasPrefix(name, "__") && name != "__construct" && name != "__invoke"
}
