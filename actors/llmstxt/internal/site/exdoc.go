package site

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

var exdocReader = reader{config: lazyregexp.New(`(^|/)mix\.exs$`), mark: "extras", read: readExDoc}

// exGroup is a group of pages of ExDoc and what matches their paths.
type exGroup struct {
	name     string
	patterns []*regexp.Regexp
	nodes    []*Node
}

func readExDoc(r *Repository, config string) *Site {
	b, dir := newBuilder(r, "ExDoc", config), folderOf(config)
	text := exWords.ReplaceAllStringFunc(exComment.ReplaceAllString(r.Text(config), ""), func(words string) string {
		return `["` + strings.Join(strings.Fields(words[3:len(words)-1]), `", "`) + `"]`
	})
	if m := exApp.FindStringSubmatch(text); m != nil {
		b.Base = "https://hexdocs.pm/" + m[1]
	}
	groups := exGroups(exList(text, "groups_for_extras"))
	for _, page := range exPages(exList(text, "extras"), b.below(dir)) {
		n := b.node(within(dir, page.file), page.label, strings.ToLower(cmp.Or(page.name, stem(page.file)))+".html")
		i := slices.IndexFunc(groups, func(g *exGroup) bool {
			return slices.ContainsFunc(g.patterns, func(re *regexp.Regexp) bool { return re.MatchString(page.file) })
		})
		if i < 0 {
			b.Root.Children = join(b.Root.Children, n)
		} else {
			groups[i].nodes = join(groups[i].nodes, n)
		}
	}
	for _, g := range groups {
		b.Root.Children = join(b.Root.Children, group(g.name, g.nodes))
	}
	return b.Site
}

var (
	exComment = lazyregexp.New(`(?m)^\s*#.*$`)
	exWords   = lazyregexp.New(`~w\([^)]*\)|~w\[[^\]]*\]|~w\{[^}]*\}`)
	exApp     = lazyregexp.New(`(?:\bapp:|@app)\s+:(\w+)`)
	exPage    = lazyregexp.New(`Path\.wildcard\("([^"]+)"|"([^"]+\.(?:md|livemd|cheatmd|txt))"`)
	exOption  = lazyregexp.New(`\b(title|filename):\s*"([^"]*)"`)
	exKey     = lazyregexp.New(`(?:"([^"\n]+)"|\b([A-Za-z]\w*))(?::|\s*=>)\s`)
	exRegex   = lazyregexp.New(`~r(?:\{([^}]*)\}|/((?:\\.|[^/\\])*)/|\|([^|]*)\||"([^"]*)"|\(([^)]*)\))`)
)

// exList returns the text of the lists that an option of mix.exs joins, either in place or in a function.
func exList(text, option string) string {
	match := regexp.MustCompile(`\bdefp?\s+` + option + `\b(?:\(\))?,?\s*do:?`).FindStringIndex(text)
	if match == nil {
		match = regexp.MustCompile(`\b` + option + `:`).FindStringIndex(text)
	}
	if match == nil {
		return ""
	}
	rest := text[match[1]:]
	for more := true; more; {
		rest = strings.TrimLeft(rest, " \n")
		if start := exStart.FindString(rest); start != "" {
			rest = exSkip(rest[len(start):])
		} else {
			break
		}
		rest, more = strings.CutPrefix(strings.TrimLeft(rest, ")] \n"), "++")
	}
	return text[match[1] : len(text)-len(rest)]
}

var (
	exStart = lazyregexp.New(`^(Path\.wildcard\(|\[)`)
	exMark  = lazyregexp.New(`"(?:\\.|[^"\\])*"|[\[\](){}]`)
)

// exSkip returns what follows the list or the arguments that a text begins with.
func exSkip(text string) string {
	open := 1
	for _, match := range exMark.FindAllStringIndex(text, -1) {
		if c := text[match[0]]; strings.IndexByte("([{", c) >= 0 {
			open++
		} else if c != '"' {
			open--
		}
		if open == 0 {
			return text[match[0]:]
		}
	}
	return ""
}

// extra is a page of ExDoc: its file, and the options that it has.
type extra struct{ file, label, name string }

// exPages returns the pages that the text of a list names.
func exPages(list string, files []string) (pages []extra) {
	found := exPage.FindAllStringSubmatchIndex(list, -1)
	for i, match := range found {
		if match[2] >= 0 {
			for _, file := range matching(files, list[match[2]:match[3]]) {
				pages = append(pages, extra{file: file})
			}
			continue
		}
		page, end := extra{file: list[match[4]:match[5]]}, len(list)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		for _, option := range exOption.FindAllStringSubmatch(list[match[1]:end], -1) {
			if option[1] == "title" {
				page.label = option[2]
			} else {
				page.name = option[2]
			}
		}
		pages = append(pages, page)
	}
	return pages
}

// exGroups returns the groups that the text of a list names. A group that only a program can match has no patterns.
func exGroups(list string) (groups []*exGroup) {
	found := exKey.FindAllStringSubmatchIndex(list, -1)
	for i, match := range found {
		g, end := &exGroup{}, len(list)
		if g.name = list[match[0]:match[1]]; match[2] >= 0 {
			g.name = list[match[2]:match[3]]
		} else {
			g.name = list[match[4]:match[5]]
		}
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		g.patterns = exPatterns(list[match[1]:end])
		groups = append(groups, g)
	}
	return groups
}

func exPatterns(text string) (patterns []*regexp.Regexp) {
	for _, m := range exRegex.FindAllStringSubmatch(text, -1) {
		if re, err := regexp.Compile(strings.ReplaceAll(strings.Join(m[1:], ""), `\/`, "/")); err == nil {
			patterns = append(patterns, re)
		}
	}
	for _, page := range exPage.FindAllStringSubmatch(exRegex.ReplaceAllString(text, ""), -1) {
		patterns = append(patterns, glob(path.Clean(cmp.Or(page[1], page[2]))))
	}
	return patterns
}
