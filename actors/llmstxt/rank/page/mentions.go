package page

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// Mentions is what a text names: files by path, identifiers in code.
type Mentions struct {
	Text    string
	Targets map[string]bool // of links to local files, cleaned
	Words   map[string]int  // identifiers within code, with how often
	Members map[string]int  // of those, what stands behind a dot or colons
	prose   map[string]bool // all words in small letters, without hyphens
}

// MentionsIn reads Markdown, reStructuredText and plain text alike.
func MentionsIn(text string) Mentions {
	m := Mentions{Text: text, Targets: make(map[string]bool), Words: make(map[string]int),
		Members: make(map[string]int), prose: make(map[string]bool)}
	for w := range strings.FieldsSeq(text) {
		m.prose[strings.ToLower(strings.ReplaceAll(strings.Trim(w, ".,:;!?()[]*`\"'"), "-", ""))] = true
	}
	for _, t := range localTargets(text) {
		m.Targets[t] = true
	}
	for _, code := range CodeOf(text) {
		for w := range strings.FieldsFuncSeq(code, func(r rune) bool { return isGap(r) && !strings.ContainsRune(".:/", r) }) {
			w = strings.Trim(w, ".:/")
			m.Words[w]++
			if i := strings.LastIndexAny(w, ".:"); i > 0 {
				m.Members[w[i+1:]]++
			}
			for part := range strings.FieldsFuncSeq(w, isGap) {
				m.Words[part]++
			}
		}
	}
	return m
}

func isGap(r rune) bool { return !prose.IsIdent(r) }

// Word tells whether code in the text uses the identifier.
func (m Mentions) Word(name string) bool { return len(name) > 2 && m.Words[name] > 0 }

// Path tells whether the text has the path as such: not a mere part of another.
func (m Mentions) Path(p string) bool {
	if len(p) < 4 || p == "." {
		return false
	}
	for rest := m.Text; ; {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		before, after := prose.ByteAt(rest, i-1), prose.ByteAt(rest, i+len(p))
		if !prose.IsIdent(rune(before)) && before != '-' && before != '.' && !prose.IsIdent(rune(after)) && after != '-' {
			return true
		}
		rest = rest[i+len(p):]
	}
}

// SpeaksOf tells whether the text has the name of a file as a word of its prose, also in the plural and with hyphens.
func (m Mentions) SpeaksOf(stem string) bool {
	return len(stem) > 4 && (m.prose[stem] || m.prose[stem+"s"])
}

// CodeOf gives fenced and indented blocks and code spans.
func CodeOf(text string) []string {
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
		for _, rest := range strings.Split(text, open)[1:] {
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
