package kind

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

const (
	partBytes = 16 << 10
	mostParts = 500 // that are read
	mostShown = 12  // of a section
)

// application lists the parts of a program that is run and not imported: what its framework calls, what it keeps,
// and what joins the parts. Of many of a sort come first those that the others name most.
func application(t Tree) Found {
	for _, f := range frameworks() {
		if (f.named || !t.Library) && len(t.matching(f.mark.MatchString)) > 0 {
			if found := t.parts(f.parts); len(found.Links) >= fewChapters {
				return found
			}
		}
	}
	return Found{}
}

// method is what languages of frameworks declare for others to call.
var method = regexp.MustCompile(`(?m)^\s+(?:(?:async )?(?:def|fun) |public function |public (?:[\w<>?,.\[\]@]+ )+)` +
	`([a-z]\w*)[?!]?\s*(?:[({]|$)`)

type file struct {
	Link
	text  string
	part  int // the place of its part in the list
	named int // how often others do
}

func (t Tree) parts(parts []part) Found {
	var files []*file
	for _, f := range t.Files {
		if f.Place != scan.Product || f.Size == 0 || len(files) == mostParts ||
			hasSegment(f.Path, "migrations", "plugins") {
			continue
		}
		text := ""
		for n, part := range parts {
			if !part.path.MatchString(f.Path) {
				continue
			}
			if text == "" {
				text = t.Read(f.Path, partBytes)
			}
			if part.text == nil || part.text.MatchString(text) {
				files = append(files, &file{Link: Link{Path: f.Path, Section: part.section,
					Reason: "a part of the application that its framework calls"}, text: text, part: n})
				break
			}
		}
	}
	count(files)
	for _, f := range files {
		open, _, _ := strings.Cut(f.text, "\n  private\n") // what follows in Ruby is called by the file alone
		f.Note = names(method, open)
	}
	slices.SortStableFunc(files, func(a, b *file) int {
		return cmp.Or(cmp.Compare(b.named, a.named), cmp.Compare(a.part, b.part),
			cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")))
	})
	var found Found
	shown := map[string]int{}
	for _, f := range files {
		if shown[f.Section]++; shown[f.Section] <= mostShown {
			found.Links = append(found.Links, f.Link)
		}
	}
	return found
}

// count counts for each file how many others name what it declares: its own name as the language writes names.
func count(files []*file) {
	byName := map[string][]*file{}
	for _, f := range files {
		name := camel(nameOf(f.Path))
		byName[name] = append(byName[name], f)
		if what, ok := strings.CutSuffix(name, "Controller"); ok { // which stands for the thing that it handles
			byName[strings.TrimSuffix(what, "s")] = append(byName[strings.TrimSuffix(what, "s")], f)
		}
	}
	for _, from := range files {
		seen := map[*file]bool{from: true}
		for word := range strings.FieldsFuncSeq(from.text, isGap) {
			for _, to := range byName[word] {
				if !seen[to] {
					seen[to] = true
					to.named++
				}
			}
		}
	}
}

func isGap(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// camel writes "issue_query" as "IssueQuery".
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.ReplaceAll(name, "-", "_"), "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}
