package rank

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
)

// ranking collects evidence for the files of a repository, as points, and chooses among them. One goroutine writes
// it; each lends the survey to workers.
type ranking struct {
	*survey
	items    []*item
	at       map[string]*item // items by path
	passed   []Passed         // files that were not chosen
	folders  map[string]bool
	faces    map[string]*item // the file that represents a folder, by folder, as far as known
	settings bool             // the repository consists of settings
	specs    Uses
	site     *site.Site      // the documentation site; nil if there is none
	home     Home            // where it is published
	onSite   map[string]bool // its pages, if a framework makes it
	marks    map[string]bool // folders whose paths contain words that speak against their files
}

// rank collects the evidence for all files of the survey.
func (v *survey) rank(ctx context.Context) *ranking {
	r := &ranking{survey: v, at: make(map[string]*item), folders: foldersOf(v.repo.Files),
		faces: make(map[string]*item), specs: make(Uses), marks: make(map[string]bool), onSite: make(map[string]bool)}
	r.findSite()
	r.readItems()
	r.followSite()
	r.findHome()
	r.findEntries()
	r.findPackages()
	r.readPages()
	if ctx.Err() == nil {
		r.readSources()
	}
	r.findMembers()
	r.scoreReadmeLinks()
	r.weighPaths()
	return r
}

// weighPaths adds the weakest evidence: depth, size, and words of the path, unless the product uses the file anyway.
func (r *ranking) weighPaths() {
	for _, x := range r.items {
		if r.options.Include != nil {
			x.add(2, "included by the settings")
		}
		if x.Path == r.readme.Path {
			x.add(4, "the README")
		}
		switch x.class {
		case classPage:
			x.add(0.4-0.14*float64(min(depth(x.Path), 6)), "")
		case classSource:
			x.add(0.4-0.05*float64(min(depth(x.Path), 8)), "")
			x.add(0.14*logShare(int(x.file.Size/1024), 100), "")
		case classSetting:
			r.weighSetting(x)
		case classOptional:
			x.add(1-float64(slices.IndexFunc(lasting, func(is func(base string) bool) bool { return is(path.Base(x.Path)) })), "")
		}
		if r.named.Targets[x.Path] || x.entry != "" || x.class == classOptional || depth(x.Path) > 0 && r.named.Path(x.Path) {
			continue
		}
		if inner.MatchString(x.Path) && r.publishes() {
			x.add(-1.5, "")
		}
		if x.marked = r.isMarked(x); x.marked && !(x.class == classPage && x.listed > 0) {
			x.add(-0.9+0.8*math.Min(1, float64(x.imported)/4), "")
		}
	}
}

// lasting matches the files of Optional in the order in which every cap keeps them. The last entry matches all
// others.
var lasting = []func(base string) bool{isForAgents, isContributing, page.IsLicence, func(string) bool { return true }}

var (
	isForAgents    = lazyregexp.New(`(?i)^(agents|claude|gemini|copilot)`).MatchString
	isContributing = lazyregexp.New(`(?i)^contributing`).MatchString
)

// weighSetting weighs a settings file.
func (r *ranking) weighSetting(x *item) {
	if x.Path == r.units[0].About.Path || x.Path == r.root().About.Path {
		x.add(0.9, "manifest of the product")
	}
	low := strings.ToLower(path.Base(x.Path))
	if prose.ContainsAny(low, "example", "sample", "default") && depth(x.Path) < 3 && low[0] != '.' {
		x.add(0.5, "an example of settings")
	}
	if conventional.MatchString("/" + x.Path) {
		x.add(0.4, "")
	}
	x.add(-0.12*float64(min(depth(x.Path), 5)), "")
}

// publishes reports whether a package of the repository is published.
func (v *survey) publishes() bool {
	return slices.ContainsFunc(v.units, func(u *Unit) bool { return u.About.Name != "" && !u.About.Private })
}

const (
	leastPoints  = 0.12
	mostOptional = 6
	// LastingOptional is how many links of Optional every cap keeps: instructions for agents, how to contribute, and
	// the licence.
	LastingOptional = 3
)

// From these numbers of links on a maintainer would add few: pages of a site's navigation, other pages, and sources, which
// only say what the pages do not.
const (
	mostSitePages  = 40
	mostOtherPages = 8
	mostSiteSource = 8
	mostListed     = 60 // sources fill up no further
	fewLinks       = 30 // up to here sources fill up what pages leave
	mostSilent     = 20 // sources of which only the path tells
)

// maxLinks returns how many pages and sources a repository gets, and how many of them are pages. Without a site they
// share the room in proportion to their numbers.
func (r *ranking) maxLinks() (links, pages int) {
	n := map[class]int{}
	placed := 0
	for _, x := range r.items {
		n[x.class]++
		placed += boolToInt(x.place > 0 && x.class == classPage)
	}
	if placed >= leastSite {
		pages = min(placed, mostSitePages) + min(n[classPage]-placed, mostOtherPages)
		return pages + min(n[classSource], max(mostSiteSource, fewLinks-pages)), pages
	}
	all := max(1, n[classPage]+n[classSource])
	links = 14 + int(2.4*math.Sqrt(float64(all)))
	portion := min(0.85, max(0.3, 0.80+0.65*(float64(n[classPage])/float64(all)-0.5)))
	return links, int(float64(links) * portion)
}

// choose keeps the best files of each class. Pages and sources share the room in proportion to their numbers.
func (r *ranking) choose() (chosen []*item) {
	byClass := make(map[class][]*item)
	for _, x := range r.items {
		byClass[x.class] = append(byClass[x.class], x)
	}
	for _, list := range byClass {
		stable.Sort(list, byPoints)
	}
	decaySimilar(byClass[classSource], 0.975, path.Dir)
	decaySimilar(byClass[classPage], 0.9, stemOf)
	others := make(map[*item]int) // pages that the site does not have, which stand before those of it that only fill up
	for _, x := range byClass[classPage] {
		if r.site != nil && x.listed == 0 && len(others) < mostOtherPages && x.points >= leastPoints &&
			(depth(x.Path) == 0 || x.members != "" || r.named.Targets[x.Path]) {
			others[x] = mostSitePages
		}
	}
	stable.Sort(byClass[classPage], r.readmeFirst(func(x *item) int { return cmp.Or(x.place, others[x]) }))
	licences := 0
	byClass[classOptional] = slices.DeleteFunc(byClass[classOptional], func(x *item) bool {
		if page.IsLicence(path.Base(x.Path)) {
			licences++
		}
		return licences > 1 && page.IsLicence(path.Base(x.Path))
	})
	most := cmp.Or(max(r.options.Links, 0), mostLinks)
	take := func(c class, most int, least float64) int {
		n := 0
		for _, x := range byClass[c] {
			switch {
			case n < most && (x.place > 0 || x.points >= least && (!x.marked || x.points >= leastPoints)):
				n++
				chosen = append(chosen, x)
			case x.points >= least:
				r.pass(x.Path, fmt.Sprintf("ranks below %s of its sort", words.Count(most, "link")))
			default:
				r.pass(x.Path, "little speaks for it")
			}
		}
		return n
	}
	links, pages := r.maxLinks()
	room := min(links, most-take(classOptional, min(mostOptional, max(most*3/5, min(LastingOptional, most-1))), -9))
	examples := take(classExample, min(6, (room+5)/6, room-1), leastPoints)
	settings := take(classSetting, max(3, room/10), 0.3)
	if left := room - settings - examples; r.site == nil || links > most {
		room = max(0, left)
		pages = pages * room / links
	}
	least := leastPoints
	if len(byClass[classPage])+len(byClass[classSource]) <= room {
		least = -0.25 // a small repository is listed completely
	}
	pages = max(pages, room-len(byClass[classSource]))
	n := take(classPage, pages, least)
	take(classSource, min(room-n, max(0, most*mostListed/mostLinks-len(chosen))), least)
	return chosen
}

// dropSilent leaves out sources that tell no more than their path, but for the best few.
func (r *ranking) dropSilent(chosen []*item) []*item {
	silent := 0
	return slices.DeleteFunc(chosen, func(x *item) bool {
		if x.class != classSource || x.Note+x.Contents != "" {
			return false
		}
		if silent++; silent <= mostSilent {
			return false
		}
		r.pass(x.Path, "nothing says what it is")
		return true
	})
}

// decaySimilar lowers the points of each further file of the same kind a little, because one of many similar files shows
// what they are.
func decaySimilar(list []*item, decay float64, kin func(p string) string) {
	seen := make(map[string]int)
	for _, x := range list {
		if x.points > 0 {
			x.points *= math.Pow(decay, float64(min(seen[kin(x.Path)], 20)))
		}
		seen[kin(x.Path)]++
	}
	stable.Sort(list, byPoints)
}

// Build ranks the files of repo, and reads what it needs through files: first the heads of the most promising
// documents and sources, then the public surface of what is finally listed. progress, unless nil, is called with the
// number of links that are written up, and their total. The only error is the cause of ctx: a file that can no longer
// be read is skipped.
func Build(ctx context.Context, files fs.FS, repo *scan.Repository, options Options, progress func(done,
	total int)) (*Index, error) {
	v := newSurvey(ctx, files, repo, options)
	defer v.reader.Close()
	r := v.rank(ctx)
	index := &Index{Origin: repo.Origin, Title: v.title(), Facts: v.facts(), Readme: v.readme.Path}
	purpose := v.purpose()
	index.Summary, index.SummaryFrom, index.SummaryReason = purpose.text, purpose.from, purpose.reason
	index.SummaryPoor = purpose.points < clearPoints
	chosen := r.choose()
	for i := range each(v, len(chosen), func(v *survey, i int) bool { v.describe(chosen[i]); return true }) {
		if progress != nil {
			progress(i+1, len(chosen))
		}
	}
	r.addSymbols(chosen)
	r.dropCommonNotes(chosen)
	chosen = r.dropSilent(chosen)
	index.Sections, index.Passed = r.arrangeSections(chosen), r.passed
	index.Survey = r.result()
	if index.Site = r.home; !slices.ContainsFunc(chosen, func(x *item) bool { return x.online != "" }) {
		index.Site.Witness = ""
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return index, nil
}

// commonNotes is how many files may have the same note; with more, it is about none of them.
const commonNotes = 3

// Sections that do not come from the navigation.
const (
	secDocs          = "Docs"
	secMore          = "More docs" // pages that stand behind the groups of the navigation, or in none
	secPackages      = "Packages"
	secCommands      = "Commands"
	secSource        = "Source"
	secConfiguration = "Configuration"
	secExamples      = "Examples"

	mostGroups   = 10
	leastInGroup = 2
)

// fixedSections are in their order. The groups of the navigation stand behind the first.
var fixedSections = []string{secDocs, secMore, secPackages, secCommands, secSource, secConfiguration, secExamples, Optional}

var fixedNames = lazyregexp.New("(?i)^(" + strings.Join(fixedSections, "|") + ")$")

// forAgents matches groups of pages for agents. The first takes the repository's instructions for agents, too.
var forAgents = lazyregexp.New(`(?i)\b(ai|agents?|llms?|mcp|skills?)\b`)

// arrangeSections arranges the links in sections: first those of the maintainers' navigation, in its order, then those
// that the code suggests.
func (r *ranking) arrangeSections(chosen []*item) []Section {
	groups := r.groups(chosen)
	lists := make(map[string][]*item)
	agents := slices.IndexFunc(groups, forAgents.MatchString)
	first := 0 // where the first group begins
	for _, x := range chosen {
		if slices.Contains(groups, x.group) && (first == 0 || x.listed < first) {
			first = x.listed
		}
	}
	for _, x := range chosen {
		name := r.sectionOf(x)
		if name == secDocs && x.Path != r.readme.Path && first > 0 && (x.listed == 0 || x.listed > first) {
			name = secMore
		}
		if agents >= 0 && x.class == classOptional && (isForAgents(path.Base(x.Path)) || isSkill(x.Path)) {
			name = groups[agents]
		}
		if x.class == classPage && slices.Contains(groups, x.group) && x.Path != r.readme.Path {
			name = x.group
		}
		lists[name] = append(lists[name], x)
	}
	names := slices.Concat(fixedSections[:1], groups, fixedSections[1:])
	var sections []Section
	for _, name := range names {
		list := lists[name]
		if len(list) == 0 {
			continue
		}
		stable.Sort(list, r.readmeFirst(func(x *item) int { return x.listed }))
		s := Section{Name: name}
		for _, x := range list {
			x.Score = 300 + int(100*x.points)
			if x.URL == "" {
				x.URL = cmp.Or(r.onlineAt(x), r.links.url(x.Path))
			}
			s.Links = append(s.Links, x.Link)
		}
		distinguish(s.Links)
		sections = append(sections, s)
	}
	return sections
}

// readmeFirst orders items: the README first, then those with a place in their order, then the others by points.
func (r *ranking) readmeFirst(place func(x *item) int) func(x, y *item) int {
	return func(x, y *item) int {
		if x.Path == r.readme.Path || y.Path == r.readme.Path {
			return boolToInt(y.Path == r.readme.Path) - boolToInt(x.Path == r.readme.Path)
		}
		if place(x) > 0 && place(y) > 0 {
			return place(x) - place(y)
		}
		return cmp.Or(boolToInt(place(y) > 0)-boolToInt(place(x) > 0), byPoints(x, y))
	}
}

// sectionOf returns the section of a file that the navigation does not name.
func (r *ranking) sectionOf(x *item) string {
	switch {
	case x.Path == r.readme.Path:
		return secDocs
	case x.class == classOptional:
		return Optional
	case x.class == classExample:
		return secExamples
	case x.members != "" && x.command:
		return secCommands
	case x.members != "":
		return secPackages
	case x.class == classPage:
		return secDocs
	case x.class == classSource:
		return secSource
	}
	return secConfiguration
}

// groups returns the groups of the navigation that deserve a section, in order.
func (r *ranking) groups(chosen []*item) (names []string) {
	shown := make(map[string]int)
	for _, x := range stable.Sorted(slices.Values(chosen), func(x, y *item) int { return x.listed - y.listed }) {
		if x.class != classPage || x.listed == 0 || x.group == "" || x.Path == r.readme.Path {
			continue
		}
		if shown[x.group]++; shown[x.group] == 1 {
			names = append(names, x.group)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return shown[name] < leastInGroup || fixedNames.MatchString(name) })
	if len(names) < 2 {
		return nil
	}
	return names[:min(len(names), mostGroups)]
}

// distinctions are what may tell pages of one title apart, the best first.
var distinctions = []func(path string) string{
	func(p string) string { return path.Base(path.Dir(p)) },
	func(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) },
	distinction,
}

// distinguish adds to titles that repeat within a section the first distinction that differs for all of them.
func distinguish(links []Link) {
	same := make(map[string][]int)
	for i, l := range links {
		same[l.Title] = append(same[l.Title], i)
	}
	for _, group := range same {
		if len(group) == 1 {
			continue
		}
		for _, label := range distinctions {
			labels := make(map[string]bool)
			for _, i := range group {
				labels[label(links[i].Path)] = true
			}
			if len(labels) < len(group) {
				continue
			}
			for _, i := range group {
				if own := label(links[i].Path); own != "." && own != links[i].Title {
					links[i].Title += " (" + own + ")"
				}
			}
			break
		}
	}
}

// distinction returns the path, or the folder of a page whose own name says nothing.
func distinction(p string) string {
	if dir, stem := path.Dir(p), strings.Trim(stemOf(p), "_"); dir != "." && (stem == "readme" || stem == "index") {
		return dir
	}
	return p
}
