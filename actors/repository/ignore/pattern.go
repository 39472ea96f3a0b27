package ignore

import (
	"slices"
	"strings"
)

// pattern is one line. Without a slash it is about names, else about paths.
type pattern struct {
	verdict    Verdict
	folderOnly bool
	ofPath     bool
	parts      []part
}

// part matches one segment of a path, or with "**" any number of them.
type part struct {
	text string
	kind partKind
}

type partKind uint8

const (
	literal  partKind = iota
	suffix            // "*" and a literal
	glob              // all else
	anyDepth          // "**"
)

func parse(line string) (pattern, bool) {
	line = trimSpaces(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	if line == "" || line[0] == '#' || len(line) > maxPattern {
		return pattern{}, false
	}
	p := pattern{verdict: Leave}
	if line[0] == '!' {
		p.verdict, line = Keep, line[1:]
	}
	if len(line) > 1 && strings.HasSuffix(line, "/") {
		p.folderOnly, line = true, line[:len(line)-1]
	}
	p.ofPath = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return pattern{}, false
	}
	for text := range strings.SplitSeq(line, "/") {
		p.parts = append(p.parts, partOf(text, p.ofPath))
	}
	return p, true
}

// trimSpaces cuts the spaces at the end, up to one that a backslash protects.
func trimSpaces(line string) string {
	short := strings.TrimRight(line, " ")
	slashes := len(short) - len(strings.TrimRight(short, `\`))
	if len(short) < len(line) && slashes%2 == 1 {
		short += " "
	}
	return short
}

func partOf(text string, ofPath bool) part {
	if text == "**" && ofPath {
		return part{kind: anyDepth}
	}
	if rest, ok := strings.CutPrefix(text, "*"); ok && !strings.ContainsAny(rest, `*?[\`) {
		return part{text: rest, kind: suffix}
	}
	if strings.ContainsAny(text, `*?[\`) {
		return part{text: text, kind: glob}
	}
	return part{text: text, kind: literal}
}

// literal is what the pattern wants, where that is one text alone.
func (p *pattern) literal() (string, bool) {
	texts := make([]string, len(p.parts))
	for i, part := range p.parts {
		if part.kind != literal {
			return "", false
		}
		texts[i] = part.text
	}
	return strings.Join(texts, "/"), true
}

func (p *pattern) match(path, name string, isFolder bool, w *work) bool {
	switch {
	case p.folderOnly && !isFolder:
		return false
	case p.ofPath:
		return p.matchPath(path, w)
	}
	return p.parts[0].match(name, w)
}

// matchPath needs to try again only the last "**" that it has passed, so that its steps are at most the product of
// both lengths.
func (p *pattern) matchPath(path string, w *work) bool {
	at, again, from := 0, -1, ""
	for path != "" {
		w.spend(1)
		if at < len(p.parts) && p.parts[at].kind == anyDepth {
			if at == len(p.parts)-1 {
				return true
			}
			again, from = at, path
			at++
			continue
		}
		segment, rest, _ := strings.Cut(path, "/")
		if at < len(p.parts) && p.parts[at].match(segment, w) {
			at, path = at+1, rest
			continue
		}
		if again < 0 {
			return false
		}
		_, from, _ = strings.Cut(from, "/")
		at, path = again+1, from
	}
	return at == len(p.parts)
}

func (p part) match(s string, w *work) bool {
	switch p.kind {
	case literal:
		return s == p.text
	case suffix:
		return strings.HasSuffix(s, p.text)
	}
	return matchGlob(p.text, s, w)
}

// matchGlob is bytewise, as git is, and tries again only the last "*".
func matchGlob(glob, s string, w *work) bool {
	again, from, i := "", 0, 0
	starred := false
	for rest := glob; !w.spent(); {
		if strings.HasPrefix(rest, "*") {
			rest = strings.TrimLeft(rest, "*")
			again, from, starred = rest, i, true
			continue
		}
		if i == len(s) && rest == "" {
			return true
		}
		if i < len(s) {
			n, steps := matchOne(rest, s[i])
			w.spend(steps)
			if n > 0 {
				rest, i = rest[n:], i+1
				continue
			}
		}
		if !starred || from >= len(s) {
			return false
		}
		from++
		rest, i = again, from
	}
	return false
}

// matchOne gives the length of the glob's first element if that matches c, else 0, and how many steps that took.
func matchOne(glob string, c byte) (length, steps int) {
	switch {
	case glob == "":
		return 0, 1
	case glob[0] == '?':
		return 1, 1
	case glob[0] == '[':
		n, ok := matchClass(glob, c)
		if !ok {
			return 0, max(n, 1)
		}
		return n, n
	case glob[0] == '\\':
		if len(glob) > 1 && glob[1] == c {
			return 2, 1
		}
		return 0, 1
	case glob[0] == c:
		return 1, 1
	}
	return 0, 1
}

// matchClass reads "[a-z]", which may begin with "!" or "^". One that does not end matches nothing.
func matchClass(glob string, c byte) (length int, ok bool) {
	i, negated, found := 1, false, false
	if i < len(glob) && (glob[i] == '!' || glob[i] == '^') {
		i, negated = i+1, true
	}
	for first := i; ; {
		if i >= len(glob) {
			return len(glob), false
		}
		if glob[i] == ']' && i > first {
			return i + 1, found != negated
		}
		if name, n := posix(glob[i:]); n > 0 {
			found = found || inPosix(name, c)
			i += n
			continue
		}
		low, n := classByte(glob[i:])
		high := low
		i += n
		if i+1 < len(glob) && glob[i] == '-' && glob[i+1] != ']' {
			high, n = classByte(glob[i+1:])
			i += 1 + n
		}
		found = found || low <= c && c <= high
	}
}

func classByte(s string) (byte, int) {
	if s[0] == '\\' && len(s) > 1 {
		return s[1], 2
	}
	return s[0], 1
}

func posix(s string) (name string, length int) {
	if !strings.HasPrefix(s, "[:") {
		return "", 0
	}
	name, _, ok := strings.Cut(s[2:min(len(s), len("[:xdigit:]"))], ":]")
	if !ok || strings.Contains(name, "]") {
		return "", 0
	}
	return name, len(name) + 4
}

func inPosix(name string, c byte) bool {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "digit":
		return digit
	case "alnum":
		return lower || upper || digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "space":
		return slices.Contains([]byte(" \t\n\v\f\r"), c)
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	case "punct":
		return c > ' ' && c < 0x7F && !lower && !upper && !digit
	}
	return false
}
