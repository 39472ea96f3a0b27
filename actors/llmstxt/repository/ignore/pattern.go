package ignore

import (
	"path"
	"strings"
)

// pattern is one line of an ignore file. Without a slash it matches names, and otherwise paths.
type pattern struct {
	verdict    Verdict
	folderOnly bool
	ofPath     bool
	parts      []part
}

// part matches one segment of a path; "**" matches any number of segments.
type part struct {
	text string
	kind partKind
}

type partKind uint8

const (
	literal  partKind = iota
	suffix            // "*" and then a literal
	glob              // everything else
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

// trimSpaces removes trailing spaces, up to one that a backslash protects.
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
		return part{text: forMatch.Replace(text), kind: glob}
	}
	return part{text: text, kind: literal}
}

// literal returns the only text that the pattern matches, if there is only one.
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

// matchPath only needs to retry the last "**" that it passed, so its steps are at most the product of both lengths.
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
	w.spend(len(p.text) * len(s) / 16) // path.Match takes time up to the product
	ok, _ := path.Match(p.text, s)
	return ok
}

// forMatch translates a glob of git for [path.Match], which knows neither "!" nor class names, and requires "]" and
// "-" to be escaped there. A class or an escape without an end is an error to it, and so matches nothing.
var forMatch = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`,
	"[!]", `[^\]`, "[^]", `[^\]`, "[]", `[\]`, "[!-", `[^\-`, "[^-", `[^\-`, "[!", "[^", "[-", `[\-`, "-]", `\-]`,
	"[:alpha:]", "A-Za-z", "[:digit:]", "0-9", "[:alnum:]", "A-Za-z0-9", "[:lower:]", "a-z", "[:upper:]", "A-Z",
	"[:space:]", " \t\n\v\f\r", "[:xdigit:]", "0-9A-Fa-f",
	"[:punct:]", "!-/:-@[-`{-~")
