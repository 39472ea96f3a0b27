package rank

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/stable"
)

// mostPages is how many documents are read to be judged: those in the navigation first, then shallow and large ones.
const mostPages = 500

// limitOf returns how much of a page is read. Notebooks have pictures between their words.
func limitOf(p string) int64 {
	if page.IsNotebook(p) {
		return 16 * pageBytes
	}
	return pageBytes
}

// readPages collects what pages say.
func (r *ranking) readPages() {
	pages := r.likely(classPage, mostPages, func(p string) int {
		if r.at[p].listed > 0 || p == r.readme.Path {
			return -20
		}
		return depth(p) - bits.Len64(uint64(r.byPath[p].Size))/3
	}, "documents are listed, larger, or nearer to the root")
	type reading struct {
		page.Features
		sum uint64 // hash of the text; 0 for a page that cannot be read
	}
	seed := maphash.MakeSeed()
	first := make(map[uint64]string)
	for i, read := range each(r.survey, len(pages), func(v *survey, i int) (read reading) {
		if text := v.head(pages[i].Path, limitOf(pages[i].Path)); text != "" {
			read = reading{page.FeaturesOf(pages[i].Path, text), maphash.String(seed, text)}
		}
		return read
	}) {
		x := pages[i]
		if read.sum == 0 {
			r.drop(x, "cannot be read")
			continue
		}
		if reason := r.excludePageReason(x, read.Features, first[read.sum]); reason != "" && x.Path != r.readme.Path {
			r.drop(x, reason)
			continue
		}
		first[read.sum] = x.Path
		x.add(0.8*logShare(read.ProseLines+2*read.Fences, 120), "")
	}
}

// likely returns the files of a class to read, those of the lowest rank first, and drops the others.
func (r *ranking) likely(c class, most int, rank func(p string) int, why string) []*item {
	list := slices.DeleteFunc(slices.Clone(r.items), func(x *item) bool { return x.class != c })
	byRank := compareBy(rank)
	stable.Sort(list, func(x, y *item) int { return byRank(x.Path, y.Path) })
	for _, x := range list[min(len(list), most):] {
		r.drop(x, fmt.Sprintf("not read: %d %s", most, why))
	}
	return list[:min(len(list), most)]
}

// drop removes an item from the choice.
func (r *ranking) drop(x *item, reason string) {
	r.pass(x.Path, reason)
	x.class = classNone
	delete(r.at, x.Path)
}

// excludePageReason returns why a page must not be linked, or "".
func (r *ranking) excludePageReason(x *item, f page.Features, other string) string {
	switch {
	case other != "":
		return "the same text as " + other
	case f.Stub, f.Includes != "" && isOptional(path.Join(path.Dir(x.Path), f.Includes)):
		return "its text is elsewhere"
	case f.Script != r.script && f.Script != "" && r.readmeText != "":
		return fmt.Sprintf("in %s script, not in the README's", f.Script)
	}
	return ""
}

// scoreReadmeLinks adds points for files that the README links to, in order, or names.
func (r *ranking) scoreReadmeLinks() {
	targets := r.linkedBy(r.readme.Path, r.readmeText)
	for i, x := range targets {
		x.add(1.5-0.6*float64(i)/float64(len(targets)), "linked from the README")
	}
	for _, x := range r.items {
		base := path.Base(x.Path)
		stem := strings.TrimSuffix(base, path.Ext(base))
		switch {
		case r.named.Targets[x.Path]:
		case x.class == classSource && isDistinctive(stem) && r.named.Word(stem) && r.bases[base] < 2:
			x.addRole(0.5, "used by the README's code")
		}
	}
}

// linkedBy returns the files that a page links to, each once. A folder counts as the file that represents it.
func (r *ranking) linkedBy(from, text string) (list []*item) {
	seen := make(map[*item]bool)
	for _, target := range page.FeaturesOf(from, text).Targets {
		p := path.Join(path.Dir(from), target)
		if r.at[p] == nil && r.at[target] != nil {
			p = target
		}
		x := r.at[p]
		if x == nil {
			if to := r.pageAt(path.Dir(from), target); to != "" {
				x = r.at[to]
			} else if r.folders[p] {
				x = r.linkOf(p)
			}
		}
		if x != nil && !seen[x] && x.Path != r.readme.Path {
			seen[x] = true
			list = append(list, x)
		}
	}
	return list
}

// linkOf returns what a link to a folder refers to: the file that represents the folder, or else the folder itself.
func (r *ranking) linkOf(dir string) *item {
	if x := r.faceOf(dir); x != nil && (x.members != "" || faceRank(x, dir) < arbitrary) {
		if x.class == classSetting {
			return nil
		}
		return x
	}
	name := dir + "/"
	if r.at[name] == nil {
		x := &item{Link: Link{Path: name}, file: &scan.File{Path: name, Kind: scan.Other}, class: classSource}
		pages, all := 0, 0
		for _, y := range r.items {
			if strings.HasPrefix(y.Path, name) {
				all++
				pages += boolToInt(y.class == classPage)
			}
		}
		switch {
		case all == 0:
			return nil // it contains nothing for readers
		case exampleFolder.MatchString(path.Base(dir)):
			x.class = classExample
		case 2*pages > all:
			x.class = classPage
		}
		r.items, r.at[name], r.named.Targets[name] = append(r.items, x), x, true
	}
	return r.at[name]
}

// faceOf returns the file that represents a folder: its README, the file with its package comment, an entry point, or
// else any file.
func (r *ranking) faceOf(dir string) (best *item) {
	if !r.folders[dir] {
		return nil
	}
	if x := r.faces[dir]; x != nil {
		return x
	}
	for _, x := range r.items {
		if path.Dir(x.Path) == dir && (best == nil || faceRank(x, dir) < faceRank(best, dir)) {
			best = x
		}
	}
	r.faces[dir] = best
	return best
}

// arbitrary is the rank of a file that does not represent its folder.
const arbitrary = 3

// faceRank ranks a file as the representative of the folder; smaller is better.
func faceRank(x *item, dir string) int {
	switch stem := stemOf(x.Path); {
	case page.IsReadme(x.Path):
		return 0
	case stem == "index" || stem == "doc" || stem == "main" || stem == "mod" || stem == "lib" || stem == "__init__" || stem == "init":
		return 1
	case stem == strings.ToLower(path.Base(dir)):
		return 2
	}
	return arbitrary
}

// isDistinctive reports whether a stem is unlikely to be an ordinary word of a sentence.
func isDistinctive(stem string) bool {
	return len(stem) > 2 && stem != strings.ToLower(stem) && stem != strings.ToUpper(stem)
}

// stemName returns the file's name up to its first dot.
func stemName(file string) string {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	return stem
}

// foldersOf returns all folders of the files.
func foldersOf(files []scan.File) map[string]bool {
	dirs := make(map[string]bool)
	for i := range files {
		for dir := path.Dir(files[i].Path); dir != "." && !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	return dirs
}
