package rank

import (
	"fmt"
	"maps"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
)

const (
	mostSources = 700     // heads that are read to count imports
	importBytes = 8 << 10 // of each
	stubBytes   = 512     // fewer, in a minor language, only lead another package manager to the product

	fewUnits      = 6   // packages, whose entrances are all worth a link
	leastSource   = 250 // points of a source that is worth a link
	enoughSources = 4   // of them make others not
)

var (
	programs, programFolders = words.Of("programs"), words.Of("folders of programs")
	programStarts            = words.Of("starts of programs")
	filesOfPackages          = words.Of("files about one package")
)

// sourceFile is a file of code that was looked at.
type sourceFile struct {
	candidate
	file      *scan.File
	entry     string // the manifest that names it
	order     int    // among the entry points of that
	importers int
	users     int    // tests and examples that name it
	pages     int    // pages whose code names it
	byEntry   bool   // an entry point imports it
	declares  int    // lines that declare something, in its head
	comments  int    // lines of comment there
	shown     int    // 1 for what the first entry point exports whole, 2 for what that does
	copied    bool   // from elsewhere, as it says
	hidden    bool   // no type in it is public
	aside     string // why it is not for readers
	specs     []string
	exports   []string // of them, what is exported whole
	head      string   // until the imports are counted
}

// sourceJudge ranks code and what it declares.
type sourceJudge struct {
	*judge
	// declared gives for the last part of each name the files that declare it, of those that are listed.
	declared map[string]map[string]bool
	includes bool // a folder holds the headers for others
	best     map[*unit]*sourceFile
	leads    bool // the main package does
	// application holds where a class is there to be run: others need not be public.
	application bool
}

// programs ranks the sources of languages other than Go, and of small Go modules: the programs that manifests
// install, and the rest.
func (j *sourceJudge) programs() (commands, code []*candidate) {
	var sources []*candidate
	list := j.readSources()
	names := j.newNames(list)
	countImports(names, list)
	j.countUsers(names)
	follow(names, list)
	bins := j.binaries()
	for _, s := range list {
		if s.aside != "" {
			j.pass(s.Path, 30-depth(s.Path), s.aside)
			continue
		}
		j.judgeSource(s)
		if name := bins[s.Path]; name != "" && !isAround(s.Path) {
			s.Title = name
			s.Score += 20
			commands = append(commands, &s.candidate)
			continue
		}
		sources = append(sources, &s.candidate)
		u := j.unitOf(s.Path)
		if best := j.best[u]; best == nil || standsFor(u, s) > standsFor(u, best) {
			j.best[u] = s
		}
	}
	slices.SortFunc(commands, byScore)
	slices.SortFunc(sources, byScore)
	code = j.shareOut(j.worthListing(sources))
	return commands, eachFolder(eachFolder(code, j.capOf(secSource)), j.caps.PerSection)
}

// standsFor says how well a source stands for its package: its points, and more where it has the package's name, as
// Router has that of Routing.
func standsFor(u *unit, s *sourceFile) int {
	name, stem := strings.ToLower(path.Base(u.dir)), strings.ToLower(s.name())
	n := 0
	for n < min(len(name), len(stem)) && name[n] == stem[n] {
		n++
	}
	switch {
	case prose.EndsWithAny(stem, "exception", "error", "serviceprovider", "interface"):
		return s.Score - 20
	case name == stem || n >= 4 && 2*n >= max(len(name), len(stem)):
		return s.Score + 40
	}
	return s.Score
}

// worthListing leaves out what is only around the product where there is enough of that.
func (j *sourceJudge) worthListing(sources []*candidate) []*candidate {
	n := min(len(sources), enoughSources)
	for ; n < len(sources) && sources[n].Score >= leastSource; n++ {
	}
	for _, s := range sources[n:] {
		j.pass(s.Path, s.Score, "stands around the product")
	}
	return sources[:n]
}

// binaries gives the name of the command that each entry point is of.
func (j *sourceJudge) binaries() map[string]string {
	bins := make(map[string]string)
	for _, u := range j.units {
		for _, name := range u.about.Commands {
			for p := range u.entries {
				dir := path.Base(path.Dir(p))
				if (programs.Has(stemOf(p)) || programFolders.Has(dir) || dir == name) && bins[p] == "" &&
					(len(u.about.Commands) == 1 || stemOf(p) == strings.ToLower(name)) && u.about.Ecosystem != "go" {
					bins[p] = name
				}
			}
		}
	}
	return bins
}

// readSources reads the heads of the likeliest files.
func (j *sourceJudge) readSources() []*sourceFile {
	entries := make(map[string]entry)
	for _, u := range j.units {
		maps.Copy(entries, u.entries)
	}
	var list []*sourceFile
	small := j.golang.isSmall()
	for f := range j.files(scan.Source) {
		e, minor := entries[f.Path], j.mix.isMinor(f.Language)
		if f.Language == "Go" && !small || j.isIllustration(f) || minor && f.Size < stubBytes ||
			e.from == "" && (minor || j.isForeign(f)) {
			continue
		}
		s := &sourceFile{file: f, entry: e.from, order: e.order}
		if isHelper(stemOf(f.Path)) {
			s.entry = "" // that is loaded beside the product
		}
		s.Path, s.size = f.Path, f.Size
		list = append(list, s)
	}
	likely := compareBy(func(p string) int {
		if entries[p].from != "" {
			return -100
		}
		return depth(p) - bits.Len64(uint64(j.byPath[p].Size))/2
	})
	slices.SortFunc(list, func(x, y *sourceFile) int { return likely(x.Path, y.Path) })
	if len(list) > mostSources {
		j.pass(list[mostSources].Path, 1,
			fmt.Sprintf("not read: %d sources are larger or nearer to the root", mostSources))
		list = list[:mostSources]
	}
	j.parseSources(list)
	setVariantsAside(list)
	return list
}

// isForeign holds for a language that is neither that of the manifests above the file nor a large part of the code:
// scripts around the product.
func (v *survey) isForeign(f *scan.File) bool {
	if 5*v.mix.bytes[f.Language] > 2*v.mix.sum {
		return false
	}
	var known []string
	for _, m := range slices.Concat(v.units[0].manifests, v.unitOf(f.Path).manifests) {
		known = append(known, source.In(m.Ecosystem)...)
	}
	return len(known) > 0 && !slices.Contains(known, f.Language)
}

func (j *sourceJudge) parseSources(list []*sourceFile) {
	seen := make(map[string]string)
	for _, s := range list {
		text := j.head(s.Path, importBytes)
		if s.file.Language != "Go" {
			s.specs = source.Imports(s.file.Language, text)
			s.exports = source.Reexports(s.file.Language, text)
		}
		s.declares, s.comments, s.copied = source.Declarations(text), source.CommentLines(text), source.IsCopy(text)
		j.application = j.application || programStarts.In(text)
		s.hidden = source.Of(s.file.Language).IsPrivate(text, s.size <= importBytes)
		s.head = text
		s.aside = j.asideOf(s, text)
		key := fmt.Sprint(s.size, "\n", text)
		switch other := seen[key]; {
		case s.aside != "":
		case other != "":
			s.aside = "the same text as " + other
		default:
			seen[key] = s.Path
		}
	}
}

func (j *sourceJudge) judgeSource(s *sourceFile) {
	s.Score = 300
	if s.file.Package != "" {
		s.Reasons = append(s.Reasons, "source of package "+s.file.Package)
	}
	if s.entry != "" {
		points := max(20, 64-4*s.order)
		if len(j.units) > fewUnits && j.unitOf(s.Path) != j.main() {
			points = 24 // of one package among many
		}
		s.add(points, "entry point in "+s.entry)
	}
	s.grow(s.importers, 10, 40, "used by "+prose.Count(s.importers, "file"))
	switch {
	case s.shown > 0:
		s.exposed = true
		s.add(36-6*s.shown, "re-exported by the entry point")
	case s.byEntry:
		s.add(14, "imported by an entry point")
	}
	s.grow(s.users, 6, 30, "tests and examples use it")
	s.grow(s.pages, 8, 24, "named by "+prose.Count(s.pages, "page"))
	if s.comments > 15 {
		s.add(min(12, s.comments/5), "explains itself")
	}
	if j.named.SpeaksOf(stemOf(s.Path)) {
		s.add(8, "mentioned in the README")
	}
	j.credit(&s.candidate)
	s.add(min(16, 2*max(0, bits.Len64(uint64(s.size))-9)), "")
	for _, w := range sourceWeights {
		if w.holds(j, s) {
			s.add(w.points, w.reason)
		}
	}
	s.Score -= 3 * depth(s.Path)
}

// folderGrace is how much less the best file of a folder may score than those which it takes a place from.
const folderGrace = 24

// eachFolder puts the best file of each folder before the last of those that have a place: each folder has its own
// subject.
func eachFolder(sources []*candidate, most int) []*candidate {
	if len(sources) <= most {
		return sources
	}
	least := sources[most-1].Score - folderGrace
	seen := make(map[string]bool)
	first, n := before(sources, func(s *candidate) bool {
		dir := path.Dir(s.Path)
		again := seen[dir]
		seen[dir] = true
		return !again && s.Score >= least && !isInternal(s.Path)
	})
	if n > most {
		return sources
	}
	slices.SortFunc(first[:most], byScore)
	return first
}

// before puts the n that the test takes before the others.
func before(list []*candidate, takes func(*candidate) bool) (sorted []*candidate, n int) {
	var others []*candidate
	for _, x := range list {
		if takes(x) {
			sorted = append(sorted, x)
		} else {
			others = append(others, x)
		}
	}
	return append(sorted, others...), len(sorted)
}

// shareOut keeps one package of a workspace from filling the section: beyond its share a package's files come after
// those of the others.
func (j *sourceJudge) shareOut(sources []*candidate) []*candidate {
	if len(j.units) < 3 {
		return sources
	}
	share := max(3, j.caps.PerSection/len(j.units))
	used := make(map[*unit]int)
	sources, _ = before(sources, func(s *candidate) bool {
		u := j.unitOf(s.Path)
		used[u]++
		return used[u] <= share || u == j.main() && j.leads
	})
	return sources
}

// asideOf says why a source is nothing for readers of the product.
func (j *sourceJudge) asideOf(s *sourceFile, text string) string {
	stem := stemOf(s.Path)
	switch {
	case source.Of(s.file.Language).IsTest(text):
		return "a test, by its imports"
	case s.entry == "" && j.isBuilt(s.Path):
		return "built from a source file next to it"
	case s.entry == "" && isBuildScript(s.Path):
		return "builds the product, but is not part of it"
	case filesOfPackages.Has(stem):
		return "describes one package only"
	}
	return ""
}
