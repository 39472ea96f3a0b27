package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
)

// toctreeMark is the title of a page that a toctree lists without a title.
const toctreeMark = "\x00"

// table returns the pages that a file lists, or none if it is not a table of contents.
func (x pageIndex) table(p, text string) []listing {
	dir := path.Dir(p)
	if base := path.Base(dir); base == ".vitepress" || base == ".vuepress" {
		dir = path.Dir(dir)
	}
	switch {
	case strings.Contains(text, "toctree"):
		var list []listing
		for _, t := range page.Toctrees(text) {
			if to := x.find(dir, t.Target, true); to != "" {
				list = append(list, listing{to, toctreeMark, t.Caption, 0})
			}
		}
		return list
	case prose.EndsWithAny(p, ".yml", ".yaml", ".toml"):
		return x.indented(dir, text)
	case isTable(p):
		return x.bracketed(dir, text)
	case prose.EndsWithAny(p, ".rst", ".adoc"):
		return nil
	}
	return x.linked(p, dir, text)
}

var listItem = regexp.MustCompile(`^(\s*)(?:[-*+]|\d+\.)\s+(?:\[[ x]\] )?\**(?:\[([^\]]+)\]\(([^)\s]+)[^)]*\)|([^\[\]]+))`)

// linked reads a page in which more than half of the lines are links to others.
func (x pageIndex) linked(p, dir, text string) (list []listing) {
	links, other, heading := 0, 0, ""
	seen := make(map[string]bool)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n ")
		if h, ok := strings.CutPrefix(line, "#"); ok {
			heading = strings.TrimSpace(strings.TrimLeft(h, "#"))
			if strings.HasPrefix(line, "# ") {
				if links == 0 {
					heading = ""
				}
			}
			continue
		}
		m := listItem.FindStringSubmatch(line)
		switch {
		case m != nil && m[3] != "" || strings.HasPrefix(line, "[") && strings.HasSuffix(line, ")"):
			title, target, level := "", "", 0
			if m != nil {
				title, target, level = m[2], m[3], len(m[1])
			} else {
				title, target, _ = strings.Cut(strings.Trim(line, "[)"), "](")
			}
			links++
			if to := x.find(dir, target, false); to != "" && to != p && !seen[to] {
				seen[to] = true
				list = append(list, listing{to, plainTitle(title), heading, level})
			}
		case strings.TrimSpace(line) != "":
			other++
		}
	}
	if other > links && !strings.HasPrefix(path.Base(p), "SUMMARY") {
		return nil
	}
	return list
}

func plainTitle(s string) string {
	return strings.Trim(prose.Tidy(strings.NewReplacer("*", "", "`", "").Replace(s)), `"' `)
}

var labelKey = regexp.MustCompile(`(?i)^["']?(text|label|title|name|group|header|section|category|tab|dropdown|caption|part)["']?$`)

// frame is an open bracket, or the lines below a key.
type frame struct {
	label  string
	indent int
	beside bool // the label is one of the keys that it labels
}

// bracketed reads JSON and literals of scripts. A text that refers to a page is a listing, with the label beside it,
// in the group of the labels around it.
func (x pageIndex) bracketed(dir, text string) (list []listing) {
	if i := strings.Index(text, "sidebar:"); i > 0 {
		text = text[i:] // what is above it is the bar at the top of the site
	}
	stack, texts := []frame{{}}, 0
	key, pending := "", ""
	seen := make(map[string]bool)
	for i := 0; i < len(text); i++ {
		top := &stack[len(stack)-1]
		switch c := text[i]; c {
		case '{', '[':
			stack = append(stack, frame{label: pending})
			key, pending = "", ""
		case '}', ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			key, pending = "", ""
		case ',', '\n':
			pending = ""
		case '/':
			if strings.HasPrefix(text[i:], "//") && (i == 0 || text[i-1] != ':') {
				if end := strings.IndexByte(text[i:], '\n'); end > 0 {
					i += end
				}
			}
		case '"', '\'', '`':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 || end > 400 {
				continue
			}
			s := text[i+1 : i+1+end]
			i += end + 1
			rest := strings.TrimLeft(text[min(i+1, len(text)):min(i+80, len(text))], " \t\n")
			if strings.HasPrefix(rest, ":") {
				key, pending = s, s
				continue
			}
			texts++
			if to := x.find(dir, s, true); to != "" {
				if !seen[to] {
					seen[to] = true
					list = append(list, listing{to, top.label, groupOf(stack[:max(1, len(stack)-1)]), len(stack)})
				}
			} else if labelKey.MatchString(key) && !strings.ContainsAny(s, "/\\<{") {
				top.label = s
			}
		default:
			if isWordByte(c) {
				end := i
				for end < len(text) && isWordByte(text[end]) {
					end++
				}
				if word := text[i:end]; strings.HasPrefix(strings.TrimLeft(text[end:min(end+4, len(text))], " "), ":") {
					key, pending = word, word
				}
				i = end - 1
			}
		}
	}
	if 8*len(list) < texts { // hardly any of the texts names a page
		return nil
	}
	return list
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// groupOf returns the outermost label that is not a word of the format.
func groupOf(stack []frame) string {
	for _, f := range stack {
		if f.label != "" && !formatWord.MatchString(f.label) && !strings.ContainsAny(f.label, "/") {
			return f.label
		}
	}
	return ""
}

var formatWord = regexp.MustCompile(`(?i)^(nav|navigation|toc|items|pages|chapters|sections|parts|children|contents|content|docs|` +
	`sidebars?|\w*sidebar|book|themeconfig|groups|tabs|anchors|links|files|href|file|path|link|url|languages|versions|en|dropdowns|root|entries|export|default)$`)

var yamlLine = regexp.MustCompile(`^(\s*)((?:- +)*)(?:(["']?[^"'#:\[{][^:#]*?["']?):(?:\s+(.*))?|(.+))$`)

// indented reads YAML line by line: keys above pages or lists of pages.
func (x pageIndex) indented(dir, text string) (list []listing) {
	var stack []frame
	seen, texts := make(map[string]bool), 0
	for line := range strings.Lines(text) {
		m := yamlLine.FindStringSubmatch(strings.TrimRight(line, "\r\n "))
		if m == nil || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		indent := len(m[1]) + len(m[2])
		for n := len(stack); n > 0 && (stack[n-1].indent > len(m[1]) ||
			stack[n-1].indent == len(m[1]) && m[2] == "" && !stack[n-1].beside); n = len(stack) {
			stack = stack[:n-1]
		}
		key, value := strings.Trim(m[3], `"'`), strings.Trim(cmp.Or(m[4], m[5]), `"' `)
		switch to := x.find(dir, value, true); {
		case value == "" && key != "":
			stack = append(stack, frame{label: key, indent: indent})
		case to != "":
			texts++
			if !seen[to] {
				seen[to] = true
				title := key
				if key == "" || formatWord.MatchString(key) || labelKey.MatchString(key) {
					title = ""
				}
				list = append(list, listing{to, title, groupOf(stack), indent})
			}
		case labelKey.MatchString(key):
			texts++
			stack = append(stack, frame{label: value, indent: indent, beside: true})
		default:
			texts++
		}
	}
	if 8*len(list) < texts { // hardly any of the texts names a page
		return nil
	}
	return list
}

// unfold joins the tables of Sphinx into one. Each table stands below the page that contains it.
func unfold(tables map[string][]listing) (all []listing) {
	inner := make(map[string]bool)
	for _, list := range tables {
		for _, l := range list {
			inner[l.path] = true
		}
	}
	var roots []string
	for p, list := range tables {
		if !inner[p] && len(list) > 0 {
			roots = append(roots, p)
		}
	}
	slices.SortFunc(roots, compareBy(func(p string) int { return -len(tables[p]) / 3 }))
	seen := make(map[string]bool)
	var walk func(p, group string, level int)
	walk = func(p, group string, level int) {
		for _, l := range tables[p] {
			if seen[l.path] {
				continue
			}
			seen[l.path] = true
			group := cmp.Or(group, l.group)
			all = append(all, listing{l.path, "", group, level})
			if level < 6 {
				walk(l.path, group, level+1)
			}
		}
	}
	for _, p := range roots {
		walk(p, "", 0)
	}
	return all
}
