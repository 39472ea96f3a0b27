package ignore

import (
	"context"
	"path"
	"strings"
)

// Limits of one file. Patterns beyond them are ignored.
const (
	maxPatterns = 8 << 10
	maxPattern  = 1 << 10 // bytes
	// maxParts bounds the segments of patterns with wildcards: a few bytes make a segment that takes many bytes of
	// memory.
	maxParts = 16 << 10
)

// Verdict is the decision of rules about a path.
type Verdict uint8

const (
	Silent Verdict = iota // no pattern matches
	Leave                 // the path is excluded
	Keep                  // a pattern with "!" matches
)

// Rules are the ignore files from the top down to some folder. They never change. nil means no rules.
type Rules struct {
	outer    *Rules
	folder   string // "" for the top; otherwise it ends with a slash
	patterns []pattern
	exact    map[exact]int // index of the last pattern that matches exactly this name or path
	loose    []int         // indexes of all other patterns
	work     *work
}

// exact is a pattern without wildcards.
type exact struct {
	text               string
	ofPath, folderOnly bool
}

// work is the remaining number of matching steps. nil means no limit.
type work struct {
	ctx  context.Context
	left int
}

// spend uses up steps. Now and then it checks the context; when that is done, no steps are left.
func (w *work) spend(steps int) {
	if w == nil {
		return
	}
	const often = 1 << 20
	if (w.left-steps)/often != w.left/often && w.ctx.Err() != nil {
		w.left = 0
	}
	w.left -= steps
}

func (w *work) spent() bool { return w != nil && w.left <= 0 }

// Bounded returns rules without patterns. All rules derived from them share a number of steps: about one for each
// pattern with a wildcard that is compared with a path, and more if the wildcard is retried. They are usable only
// until ctx is done.
func Bounded(ctx context.Context, steps int) *Rules { return &Rules{work: &work{ctx, steps}} }

// Spent reports whether the steps are used up. Paths that are matched after that are excluded.
func (r *Rules) Spent() bool { return r != nil && r.work.spent() }

// With adds the ignore file of a folder; "" is the top. All paths that are matched with the result must be below the
// folder. Only the first 8,192 patterns count; among them patterns of at most 1,024 bytes, and with wildcards up to
// 16,384 segments.
func (r *Rules) With(folder, text string) *Rules {
	var list []pattern
	var loose []int
	literals, parts := map[exact]int{}, 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		p, ok := parse(line)
		if !ok || len(list) == maxPatterns || parts >= maxParts {
			continue
		}
		if text, ok := p.literal(); ok {
			literals[exact{text, p.ofPath, p.folderOnly}] = len(list)
			p.parts = nil
		} else {
			loose = append(loose, len(list))
			parts += len(p.parts)
		}
		list = append(list, p)
	}
	if r != nil {
		r.work.spend(len(list))
	}
	if len(list) == 0 {
		return r
	}
	if folder != "" {
		folder += "/"
	}
	inner := &Rules{outer: r, folder: folder, patterns: list, exact: literals, loose: loose}
	if r != nil {
		inner.work = r.work
	}
	return inner
}

// Match decides about a slash-separated path from the top.
func (r *Rules) Match(path string, isFolder bool) Verdict {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for ; r != nil; r = r.outer {
		i := r.last(path[len(r.folder):], name, isFolder)
		switch {
		case r.work.spent():
			return Leave
		case i >= 0:
			return r.patterns[i].verdict
		}
	}
	return Silent
}

// Name reports whether a pattern excludes the file, or a folder above it.
func (r *Rules) Name(file string) bool {
	for i, c := range file {
		if c == '/' && r.Match(file[:i], true) == Leave {
			return true
		}
	}
	return r.Match(file, false) == Leave
}

// last returns the index of the last pattern of the file that matches, or -1.
func (r *Rules) last(path, name string, isFolder bool) int {
	found := -1
	for _, e := range []exact{{name, false, false}, {path, true, false}, {name, false, true}, {path, true, true}} {
		if i, ok := r.exact[e]; ok && (isFolder || !e.folderOnly) {
			found = max(found, i)
		}
	}
	for k := len(r.loose) - 1; k >= 0 && r.loose[k] > found && !r.work.spent(); k-- {
		r.work.spend(1)
		if p := &r.patterns[r.loose[k]]; p.match(path, name, isFolder, r.work) {
			return r.loose[k]
		}
	}
	return found
}

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

// parse reads a line of an ignore file. It returns false for comments, and for patterns that are empty or too long.
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

// partOf reads a segment of a pattern. As in git, "**" is special only beside a slash.
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

// match reports whether the pattern matches the path or, without a slash, the name.
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
	pos, again, from := 0, -1, ""
	for path != "" {
		w.spend(1)
		if pos < len(p.parts) && p.parts[pos].kind == anyDepth {
			if pos == len(p.parts)-1 {
				return true
			}
			again, from = pos, path
			pos++
			continue
		}
		segment, rest, _ := strings.Cut(path, "/")
		if pos < len(p.parts) && p.parts[pos].match(segment, w) {
			pos, path = pos+1, rest
			continue
		}
		if again < 0 {
			return false
		}
		_, from, _ = strings.Cut(from, "/")
		pos, path = again+1, from
	}
	return pos == len(p.parts)
}

// match reports whether the part matches a segment. matchPath handles "**" itself.
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
