package llmstxt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/internal/stable"
)

// ownReason is the reason of links and a summary that the maintainers wrote.
const ownReason = "in the repository's own llms.txt"

// ownFile is the repository's own llms.txt.
type ownFile struct {
	Path string
	doc  *Txt
	resolver
	before *memory // what an earlier run wrote in it; nil if unknown
}

// kept returns what an earlier run has offered and people have deleted since, if they may delete.
func (f ownFile) kept(mayDelete bool) kept {
	own := kept{before: f.before}
	if f.before == nil || !mayDelete {
		return own
	}
	absent := map[string]bool{}
	for p := range f.files {
		absent[digestOfLink(p, "")] = true
	}
	for p := range f.folders {
		absent[digestOfLink(p+"/", "")] = true
	}
	for _, l := range f.doc.Links() {
		p, _ := f.path(l.URL)
		delete(absent, f.digest(l, p))
	}
	own.gone = slices.DeleteFunc(slices.Clone(f.before.order), func(link string) bool { return !absent[link] })
	return own
}

// digest returns the digest of a link of the file, which points to the path.
func (f ownFile) digest(l TxtLink, p string) string {
	return digestOfLink(cmp.Or(f.ranked[l.URL].Path, p), l.URL)
}

// mergeOwn returns the index merged with the file; the original index does not change. Links to missing files are left
// out, and so are links of the index beyond most in total.
func mergeOwn(index *rank.Index, f ownFile, most int) *rank.Index {
	out := *index
	out.Title = f.doc.Title
	if prose.Instructs(f.doc.Summary) {
		f.doc.Summary = ""
	}
	if f.before == nil && f.doc.Summary != "" || f.before != nil && f.before.summary != digest(summarySize, f.doc.Summary) {
		out.Summary, out.SummaryFrom, out.SummaryReason, out.SummaryPoor = f.doc.Summary, f.Path, ownReason, false
	}
	out.Facts = append(slices.Clone(index.Facts), remarks(f.doc.Details)...)
	out.Sections = nil
	taken := make(map[string]bool)
	for _, s := range f.doc.Sections {
		section := rank.Section{Name: s.Name}
		for _, l := range s.Links {
			if link, ok := f.link(l); ok && !taken[link.URL] {
				taken[link.URL], taken[link.Path] = true, true
				section.Links = append(section.Links, link)
			}
		}
		if len(section.Links) > 0 {
			out.Sections = append(out.Sections, section)
		}
	}
	fill(&out, index.Sections, taken, most)
	return &out
}

// fill adds the links that the file lacks while there is room, to the section of the same name, or else after all
// others. Several symbols of one file are kept if each link leads to its own line.
func fill(out *rank.Index, sections []rank.Section, taken map[string]bool, room int) {
	for _, s := range out.Sections {
		room -= len(s.Links)
	}
	// Optional takes its room before the others, because it says how to work on the project
	for _, s := range stable.Sorted(slices.Values(sections), func(a, b rank.Section) int { return last(b) - last(a) }) {
		s.Links = stable.DeleteFunc(slices.Clone(s.Links), func(l rank.Link) bool {
			return taken[l.URL] || taken[l.Path] && !strings.Contains(l.URL, "#")
		})
		s.Links = s.Links[:max(0, min(len(s.Links), max(room, last(s)*rank.LastingOptional)))]
		room -= len(s.Links)
		index := slices.IndexFunc(out.Sections, func(o rank.Section) bool { return strings.EqualFold(o.Name, s.Name) })
		switch {
		case len(s.Links) == 0:
		case index >= 0:
			out.Sections[index].Links = append(out.Sections[index].Links, s.Links...)
		default:
			out.Sections = append(out.Sections, s)
		}
	}
	stable.Sort(out.Sections, func(a, b rank.Section) int { return cmp.Compare(last(a), last(b)) })
}

func last(s rank.Section) int {
	if strings.EqualFold(s.Name, rank.Optional) {
		return 1
	}
	return 0
}

// remarks returns the lines between the summary and the first section, without facts, which are determined again.
func remarks(details string) []rank.Fact {
	var list []rank.Fact
	fenced := false
	for block := range strings.SplitSeq(strings.ReplaceAll(details, "\n- ", "\n\n- "), "\n\n") {
		marks := strings.Count(block, "```")
		text := strings.Join(strings.Fields(strings.TrimLeft(strings.TrimSpace(block), "-* ")), " ")
		name, value, named := strings.Cut(text, ": ")
		switch {
		case fenced || marks > 0 || text == "" || prose.Instructs(text) || named && slices.Contains(readAnew, name):
		case strings.HasPrefix(text, "Links lead to "):
		case named && (name == remark || name == "Remember"):
			list = append(list, rank.Fact{Name: name, Value: value})
		default:
			list = append(list, rank.Fact{Name: remark, Value: text})
		}
		fenced = fenced != (marks%2 == 1)
	}
	return list
}

const remark = "Note"

// readAnew are the names of facts, and of lines that a model once wrote below them.
var readAnew = []string{
	"Package", "Module", "Version", "Requires", "Install", "Commands", "Scripts", "Languages", "Licence", "Repository",
	"Folder", "Commit", "Links", "Concept", "Section",
}
