package rank

import (
	"path"
	"strings"
)

// mentions is what a text names: files by path, identifiers in code.
type mentions struct {
	text    string
	targets map[string]bool // of links to local files, cleaned
	words   map[string]int  // identifiers within code, with how often
	members map[string]int  // of those, what stands behind a dot or colons
	pairs   map[string]int  // of those, each with what stands before it
	owners  map[string]bool // what stands before another
	bases   map[string]int  // how many files of the product bear each name
	prose   map[string]bool // all words in small letters, without hyphens
}

func mentionsIn(text string) mentions {
	m := mentions{text: text, targets: make(map[string]bool), words: make(map[string]int),
		members: make(map[string]int), pairs: make(map[string]int), owners: make(map[string]bool),
		prose: make(map[string]bool)}
	for w := range strings.FieldsSeq(text) {
		m.prose[strings.ToLower(strings.ReplaceAll(strings.Trim(w, ".,:;!?()[]*`\"'"), "-", ""))] = true
	}
	for _, t := range localTargets(text) {
		m.targets[t] = true
	}
	for _, code := range codeOf(text) {
		m.imported(code)
		for w := range strings.FieldsFuncSeq(code, func(r rune) bool {
			return !isIdent(r) && r != '.' && r != ':' &&
				r != '/'
		}) {
			w = strings.Trim(w, ".:/")
			m.words[w]++
			if i := strings.LastIndexAny(w, ".:"); i > 0 {
				m.members[w[i+1:]]++
			}
			m.parts(w)
		}
	}
	return m
}

// imported takes in what a line "from a.b import c, d" names.
func (m mentions) imported(code string) {
	rest, ok := strings.CutPrefix(code, "from ")
	module, names, found := strings.Cut(rest, " import ")
	if !ok || !found {
		return
	}
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return !isIdent(r) }) {
		m.pairs[pair(lastName(module), name)]++
	}
}

// parts takes in the identifiers of a dotted name.
func (m mentions) parts(w string) {
	owner := ""
	for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return !isIdent(r) }) {
		m.words[part]++
		if owner != "" {
			m.owners[owner] = true
			m.pairs[pair(owner, part)]++
		}
		owner = part
	}
}

func isIdent(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// word tells whether code in the text uses the identifier.
func (m mentions) word(name string) bool { return len(name) > 2 && m.words[name] > 0 }

// path tells whether the text has the path as such: not a mere part of another.
func (m mentions) path(p string) bool {
	if len(p) < 4 || p == "." {
		return false
	}
	for rest := m.text; ; {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		before, after := byteAt(rest, i-1), byteAt(rest, i+len(p))
		if !isIdent(rune(before)) && before != '-' && before != '.' && !isIdent(rune(after)) && after != '-' {
			return true
		}
		rest = rest[i+len(p):]
	}
}

func byteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}

// speaksOf tells whether the text has the name of a file as a word of its prose, also in the plural and with hyphens.
func (m mentions) speaksOf(stem string) bool {
	if len(stem) < 5 {
		return false
	}
	if m.prose == nil {
		return false
	}
	return m.prose[stem] || m.prose[stem+"s"]
}

// credit says what the text has to do with the file. A stem alone does not tell
// which of several files by that name is meant.
func (m mentions) credit(c *candidate) {
	base := path.Base(c.Path)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch {
	case m.targets[c.Path]:
		c.add(30, "linked from the README")
	case strings.Contains(base, ".") && stemOf(c.Path) != "readme" && stemOf(c.Path) != "index" && m.path(base):
		c.add(20, "named in the README")
	case isTelling(stem) && m.word(stem) && m.bases[base] < 2, m.word(dotted(c.Path)):
		c.add(16, "used by the README's code")
	}
}

// isTelling holds for stems that are hardly a word of some sentence.
func isTelling(stem string) bool {
	return len(stem) > 2 && stem != strings.ToLower(stem) && stem != strings.ToUpper(stem)
}

// dotted is the last two parts of a path as a module: "rich.console".
func dotted(p string) string {
	dir := path.Base(path.Dir(p))
	if dir == "." {
		return ""
	}
	base := path.Base(p)
	return dir + "." + strings.TrimSuffix(base, path.Ext(base))
}

// codeOf gives fenced and indented blocks and code spans.
func codeOf(text string) []string {
	var code []string
	fence := ""
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		switch {
		case fence != "" && strings.HasPrefix(t, fence):
			fence = ""
		case fence == "" && (strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~")):
			fence = t[:3]
		case fence != "" || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"):
			code = append(code, t)
		default:
			parts := strings.Split(t, "`")
			for i := 1; i < len(parts)-1; i += 2 {
				code = append(code, parts[i])
			}
		}
	}
	return code
}

// localTargets gives what the links of Markdown, reStructuredText and HTML point to, if it is a path.
func localTargets(text string) []string {
	var list []string
	for _, open := range []string{"](", "href=\"", "include:: ", ":doc:`", "<a href='"} {
		for rest := text; ; {
			i := strings.Index(rest, open)
			if i < 0 {
				break
			}
			rest = rest[i+len(open):]
			end := strings.IndexAny(rest, ")\"'` \n>#?")
			if end <= 0 {
				continue
			}
			if target, ok := localPath(rest[:end]); ok {
				list = append(list, target)
			}
		}
	}
	return list
}

// localPath also understands a page of a host that shows a file of a branch.
func localPath(target string) (string, bool) {
	for _, mark := range []string{"/blob/", "/tree/"} {
		if _, rest, ok := strings.Cut(target, mark); ok && strings.Contains(target, "://") {
			_, target, _ = strings.Cut(rest, "/")
		}
	}
	target = strings.TrimPrefix(path.Clean("/"+target), "/")
	return target, target != "" && !strings.Contains(target, ":")
}
