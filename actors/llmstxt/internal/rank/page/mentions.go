package page

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
)

// Mentions are the names in a text: files by path, and identifiers in code.
type Mentions struct {
	Text    string
	Targets map[string]bool // cleaned targets of links to local files
	Words   map[string]int  // identifiers in code, with their number
	Members map[string]int  // Names that follow a dot or colons
}

// MentionsIn reads Markdown, reStructuredText and plain text.
func MentionsIn(text string) Mentions {
	m := Mentions{Text: text, Targets: make(map[string]bool), Words: make(map[string]int),
		Members: make(map[string]int)}
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

// Word reports whether code in the text uses the identifier.
func (m Mentions) Word(name string) bool { return len(name) > 2 && m.Words[name] > 0 }

// Path reports whether the text contains the path, not merely as a part of another.
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

// CodeOf returns fenced and indented blocks, and code spans.
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

// localTargets returns the link targets of Markdown, reStructuredText and HTML that are paths.
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

// localPath returns the path of a target. It also understands a host's page for a file of a branch.
func localPath(target string) (string, bool) {
	for _, mark := range []string{"/blob/", "/tree/"} {
		if _, rest, ok := strings.Cut(target, mark); ok && strings.Contains(target, "://") {
			_, target, _ = strings.Cut(rest, "/")
		}
	}
	target = strings.TrimPrefix(path.Clean("/"+target), "/")
	return target, target != "" && !strings.Contains(target, ":")
}
