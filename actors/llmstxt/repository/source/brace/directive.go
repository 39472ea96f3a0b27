package brace

import (
	"bytes"
	"slices"
	"strings"
)

// branch is one side of a condition. The first side is always kept; others only if they close what they open, so that
// a condition that chooses between two heads of one body does not unbalance the file.
type branch struct {
	tokens, notes, floor int
	optional             bool
	never                bool // #if 0
	dropped              bool // it is another head of a statement that the side before began
}

func (l *Lexer) directive(c byte) bool {
	if c != '#' || len(l.Directives) == 0 || !l.startsLine() {
		return false
	}
	name, rest := DirectiveWords(l.Text[l.Pos:l.lineEnd(l.Pos)])
	if l.Directives[0] != "*" && !slices.Contains(l.Directives, name) {
		return false
	}
	end := l.directiveEnd()
	switch name {
	case "if", "ifdef", "ifndef":
		l.Pos = end
		rest = strings.TrimSpace(rest)
		l.push(branch{never: name == "if" && (rest == "0" || rest == "false")})
	case "else", "elif", "elifdef", "elifndef", "elseif":
		l.Pos = end
		was := l.pop()
		l.push(branch{optional: !was.never, dropped: was.dropped || !was.never && l.Terminated && l.inStatement(was)})
	case "endif":
		l.Pos = end
		l.pop()
	default:
		l.note(Directive, end)
	}
	return true
}

// inStatement tells whether the side of a condition that ends here leaves a statement unfinished: the other side then
// is another head of the same body.
func (l *Lexer) inStatement(was branch) bool {
	n := len(l.Tokens)
	if n <= was.tokens {
		return false
	}
	last := l.Tokens[n-1]
	switch l.Text[last.Start] {
	case ';', '{', '}', ',', ':':
		return false
	}
	return last.Kind != LiteralToken
}

func (l *Lexer) push(b branch) {
	b.tokens, b.notes, b.floor = len(l.Tokens), len(l.notes), l.floor
	if b.optional || b.never || b.dropped {
		l.floor = len(l.open)
	}
	l.branches = append(l.branches, b)
}

func (l *Lexer) pop() branch {
	if len(l.branches) == 0 {
		return branch{}
	}
	b := l.branches[len(l.branches)-1]
	l.branches = l.branches[:len(l.branches)-1]
	if b.never || b.dropped || b.optional && len(l.open) > l.floor {
		l.Tokens = l.Tokens[:min(len(l.Tokens), b.tokens)]
		l.notes = l.notes[:min(len(l.notes), b.notes)]
		l.open = l.open[:min(len(l.open), l.floor)]
	}
	l.floor = b.floor
	return b
}

// startsLine tells whether nothing but blanks precedes on the line.
func (l *Lexer) startsLine() bool {
	before := bytes.TrimRight(l.Text[:l.Pos], " \t")
	return len(before) == 0 || before[len(before)-1] == '\n'
}

// directiveEnd passes over continued lines and the comments that begin in it.
func (l *Lexer) directiveEnd() int {
	for i := l.Pos; i < len(l.Text); i++ {
		switch l.Text[i] {
		case '\n':
			return i
		case '\\':
			i++
		case '"':
			i = l.LiteralEnd(i-l.Pos+1, Quoted{Quote: `"`, Escapes: true}) - 1
		case '/':
			if bytes.HasPrefix(l.Text[i:], []byte("//")) {
				return l.lineEnd(i)
			}
			if bytes.HasPrefix(l.Text[i:], []byte("/*")) {
				end := bytes.Index(l.Text[i+2:], []byte("*/"))
				if end < 0 {
					return len(l.Text)
				}
				i += 2 + end + 1
			}
		}
	}
	return len(l.Text)
}

// DirectiveWords splits "# define NAME value".
func DirectiveWords(text []byte) (name, rest string) {
	line := strings.TrimLeft(strings.TrimPrefix(string(text[:min(len(text), 400)]), "#"), " \t")
	name = line[:WordLength(line)]
	return name, strings.TrimLeft(line[len(name):], " \t")
}
