package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/kind"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// choice is the links by section.
type choice map[string][]*candidate

// choose fills the sections; titles and notes are yet to be read.
func (j *judge) choose(pages *pageJudge, sources *sourceJudge) choice {
	c := make(choice)
	pages.documents(c)
	commands, code := sources.programs()
	c[secPackages] = append(sources.members(), append(c[secPackages], sources.packages()...)...)
	c[secCommands] = append(sources.goCommands(), commands...)
	c[secSource] = code
	c[secExamples] = append(c[secExamples], j.examples()...)
	j.configuration(c)
	j.kinds(c)
	c.unique()
	c.cut(j)
	return c
}

// unique keeps a file in one section: as what stands for a package or a command if it does, else where it was put
// first.
func (c choice) unique() {
	kept := make(map[string]*candidate)
	for _, name := range append([]string{secPackages, secCommands}, sectionNames...) {
		c[name] = slices.DeleteFunc(c[name], func(x *candidate) bool {
			if kept[x.Path] == nil {
				kept[x.Path] = x
			}
			return kept[x.Path] != x
		})
	}
}

// cut keeps the best of each section, and of all: what scores least goes first, of equal scores what stands last.
func (c choice) cut(j *judge) {
	total := 0
	for _, name := range sectionNames {
		list, most := c[name], j.capOf(name)
		if name == secPackages { // each of a workspace gets a line, if there are not too many
			_, members := before(list, func(x *candidate) bool { return slices.Contains(x.Reasons, ofWorkspace) })
			most = max(most, min(3*most, members))
		}
		for i := most; i < len(list); i++ {
			j.pass(list[i].Path, list[i].Score, name+" is full: ranks below "+prose.Count(most, "other"))
		}
		c[name] = list[:min(len(list), most)]
		total += len(c[name])
	}
	for ; total > j.caps.Links; total-- {
		j.dropLeast(c)
	}
}

func (j *judge) dropLeast(c choice) {
	where, least := "", 0
	for _, name := range sectionNames {
		if n := len(c[name]); n > 0 && (where == "" || c[name][n-1].Score <= least) {
			where, least = name, c[name][n-1].Score
		}
	}
	last := len(c[where]) - 1
	j.pass(c[where][last].Path, least, "ranks below "+prose.Count(j.caps.Links, "link"))
	c[where] = c[where][:last]
}

// writeUp reads titles and notes of the links that made it.
func (j *judge) writeUp(c choice, progress func(done, total int)) {
	var list []*candidate
	for _, name := range sectionNames {
		list = append(list, c[name]...)
	}
	for i := range each(j.survey, len(list), func(v *survey, i int) bool { v.describe(list[i]); return true }) {
		if progress != nil {
			progress(i+1, len(list))
		}
	}
}

// finish gives the sections as the index has them.
func (c choice) finish(j *judge) []Section {
	c.dropCommonNotes()
	j.sidebar = j.readSidebars()
	var sections []Section
	for _, name := range sectionNames {
		j.bySidebars(c[name])
		s := Section{Name: name}
		for _, x := range c[name] {
			if x.URL == "" {
				x.URL = j.links.url(x.Path)
			}
			if x.Title == distinction(x.Path) {
				x.Title = cmp.Or(j.sidebar[x.Path].name, x.Title)
			}
			x.Note = finishNote(x.Note, x)
			if len(x.Reasons) == 0 {
				x.Reasons = []string{"code of the product, by its size and place"}
			}
			s.Links = append(s.Links, x.Link)
		}
		if name == secSource {
			s.Links = c.withoutRepeats(s.Links, j.caps.PerSection)
		}
		distinguish(s.Links)
		if len(s.Links) > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

// commonNotes are those of so many files that they are about none of them.
const commonNotes = 3

// dropCommonNotes takes away what stands at the top of many files: licences, the name of the project.
func (c choice) dropCommonNotes() {
	files := make(map[string][]string)
	for _, list := range c {
		for _, x := range list {
			if !slices.Contains(files[x.Note], x.Path) {
				files[x.Note] = append(files[x.Note], x.Path)
			}
		}
	}
	for _, list := range c {
		for _, x := range list {
			if len(files[x.Note]) >= commonNotes {
				x.Note = ""
			}
		}
	}
}

// withoutRepeats leaves out the links that those of the API repeat: with the same address, and, from the last on while
// there are too many, to the same file. A note of its own keeps a link.
func (c choice) withoutRepeats(links []Link, most int) []Link {
	notes, addresses := make(map[string]string), make(map[string]bool)
	for _, x := range c[secAPI] {
		notes[x.Path] = cmp.Or(notes[x.Path], x.Note)
		addresses[x.URL] = true
	}
	for i := len(links) - 1; i >= 0; i-- {
		l := links[i]
		note, again := notes[l.Path]
		if again && (addresses[l.URL] || len(links) > most) && (l.Note == "" || l.Note == note) {
			links = slices.Delete(links, i, i+1)
		}
	}
	return links[:min(len(links), most)]
}

// distinguish adds to titles that occur more than once in a section the least that tells them apart: the folder's
// name, else the path.
func distinguish(links []Link) {
	same := make(map[string][]int)
	for i, l := range links {
		same[l.Title] = append(same[l.Title], i)
	}
	for _, group := range same {
		if len(group) == 1 {
			continue
		}
		folders := make(map[string]bool)
		for _, i := range group {
			folders[path.Base(path.Dir(links[i].Path))] = true
		}
		for _, i := range group {
			label := path.Base(path.Dir(links[i].Path))
			if len(folders) < len(group) {
				label = distinction(links[i].Path)
			}
			if label != "." && label != links[i].Title {
				links[i].Title += " (" + label + ")"
			}
		}
	}
}

// distinction is the path, or the folder of a page whose own name says nothing.
func distinction(p string) string {
	if dir, stem := path.Dir(p), strings.Trim(stemOf(p), "_"); dir != "." && (stem == "readme" || stem == "index") {
		return dir
	}
	return p
}

// kinds puts what makes the repository of its kind, a book or an application, before what else there is, each file in
// the section that its kind has for it, and leaves out what is nothing for readers of such a repository.
func (j *judge) kinds(c choice) {
	targets := func(p, text string) (list []string) {
		for _, target := range page.FeaturesOf(p, text).Targets {
			list = append(list, path.Join(path.Dir(p), target))
		}
		return list
	}
	for _, found := range kind.Find(kind.Tree{Files: j.repo.Files, Library: j.product().Name != "", Read: j.head,
		Targets: targets}) {
		j.found = append(j.found, found.Kind)
		out := make(map[string]bool)
		for _, p := range found.Aside {
			j.pass(p, 1, found.Why)
			out[p] = true
		}
		first := make(choice)
		for i, l := range found.Links {
			x := &candidate{Link: Link{Path: l.Path, Title: l.Title, Note: l.Note}}
			x.add(max(420, 520-i), l.Reason)
			out[l.Path] = true
			first[l.Section] = append(first[l.Section], x)
		}
		for _, name := range sectionNames {
			rest := slices.DeleteFunc(c[name], func(x *candidate) bool { return out[x.Path] })
			c[name] = append(first[name], rest...)
		}
	}
}

var sidebars, pageEnds = words.Of("sidebars"), words.Of("ends of pages")

// bySidebars puts the pages of a section that a site's table of contents lists into its order, in the places that
// they have together.
func (j *judge) bySidebars(list []*candidate) {
	place := func(x *candidate) int { return j.sidebar[x.Path].place }
	var places, scores []int
	var listed []*candidate
	for i, x := range list {
		if place(x) > 0 {
			places, scores, listed = append(places, i), append(scores, x.Score), append(listed, x)
		}
	}
	slices.SortStableFunc(listed, func(x, y *candidate) int { return place(x) - place(y) })
	for i, x := range listed {
		x.Score = scores[i]
		list[places[i]] = x
	}
}

// listing is where a table of contents has a page, and what it calls the page: "" where no line is for it alone.
type listing struct {
	place int
	name  string
}

var listedPage = regexp.MustCompile(`^\s*[-*] (?:["']?([^\[\]]+?)["']?: +\S+|\[([^\]]+)\]\(\S+\))\s*$`)

// readSidebars gives the pages that the tables of contents of sites list.
func (j *judge) readSidebars() map[string]listing {
	all := make(map[string]listing)
	for _, f := range j.repo.Files {
		dir, name := path.Split(f.Path)
		dir, isConfig := strings.CutSuffix(dir, ".vitepress/")
		if !sidebars.Has(name) && !(isConfig && stemOf(name) == "config") {
			continue
		}
		text := j.head(f.Path, readmeBytes)
		if i := strings.Index(text, "sidebar:"); i > 0 {
			text = text[i:] // what is above it is the bar at the top
		}
		for line := range strings.Lines(text) {
			name := ""
			if parts := listedPage.FindStringSubmatch(line); parts != nil {
				name = parts[1] + parts[2]
			}
			for w := range strings.FieldsFuncSeq(line, isBesideTarget) {
				for _, p := range j.pagesOf(dir, w) {
					if all[p].place == 0 {
						all[p] = listing{len(all) + 1, name}
					}
				}
			}
		}
	}
	return all
}

func isBesideTarget(r rune) bool { return strings.ContainsRune(" \t\n\"'`()[]{},", r) }

// pagesOf gives the pages that a table of contents in the folder means by the target.
func (v *survey) pagesOf(dir, target string) (list []string) {
	for _, end := range pageEnds {
		for _, below := range []string{"", "docs", "src/content/docs"} {
			if p := path.Join(dir, below, target) + end; v.byPath[p] != nil && page.Is(p) {
				list = append(list, p)
			}
		}
	}
	return list
}
