package rank

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"iter"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/ignore"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/parallel"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/resolve"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/stable"
)

const (
	readmeBytes = 64 << 10 // of a README, for the title, the summary and names
	pageBytes   = 16 << 10 // of any other document
	sourceBytes = 12 << 10 // of a source file, for the text at its top
)

// Survey is what Build knows about the packages of a repository before it chooses among them.
type Survey struct {
	Units   []*Unit           // the root first, which is always there, even without a manifest
	Go      map[string]string // import paths of Go packages, by folder
	Imports *resolve.Resolver
	Uses    Uses // imports of the sources that were read
}

// survey is the common knowledge about the repository: the README, the manifests and the languages. It reads files,
// and ranks none. A worker gets a copy with its own reader, because a reader is not safe for concurrent use.
type survey struct {
	ctx        context.Context
	folder     fs.FS
	reader     *scan.Reader
	repo       *scan.Repository
	options    Options
	links      linker
	byPath     map[string]*scan.File
	readme     page.Page
	readmeText string
	script     string         // script in which the README is written; "" for Latin
	named      page.Mentions  // names that the README mentions
	bases      map[string]int // number of the product's files with the name
	units      []*Unit        // the root first
	lead       *Unit          // the unit that the repository is about; nil if nothing says so
	golang     goTree
	imports    *resolve.Resolver
	mix        languageMix
}

// newSurvey reads what says most about the repository: the README and the manifests.
func newSurvey(ctx context.Context, files fs.FS, repo *scan.Repository, options Options) *survey {
	v := &survey{ctx: ctx, folder: files, reader: scan.NewReader(files), repo: repo, options: options}
	v.byPath = make(map[string]*scan.File, len(repo.Files))
	for i := range v.repo.Files {
		v.byPath[v.repo.Files[i].Path] = &v.repo.Files[i]
	}
	v.mix = mixOf(v.repo.Files)
	v.units = v.findUnits()
	if p := v.findReadme(); p != "" {
		text := v.head(p, readmeBytes)
		v.readme = page.Read(p, text)
		v.readmeText, v.script = text, page.FeaturesOf(p, text).Script
		v.named = page.MentionsIn(text)
		v.bases = make(map[string]int)
		for f := range v.files() {
			v.bases[path.Base(f.Path)]++
		}
	}
	v.lead = v.findLead()
	v.links = v.newLinker()
	v.golang = v.findGo()
	v.imports = v.newResolver()
	return v
}

func (v *survey) newResolver() *resolve.Resolver {
	manifests, golang := map[string][]manifest.Manifest{}, map[string]string{}
	for _, u := range v.units {
		manifests[u.Dir] = u.Manifests
	}
	for _, p := range v.golang {
		golang[p.importer] = p.dir
	}
	return resolve.New(v.repo.Files, manifests, golang)
}

func (r *ranking) result() Survey {
	s := Survey{Units: r.units, Go: make(map[string]string), Imports: r.imports, Uses: r.specs}
	for _, p := range r.golang {
		s.Go[p.dir] = p.importer
	}
	return s
}

// files returns the files of the product that are not empty and of one of the kinds. Without kinds it returns all.
func (v *survey) files(kinds ...scan.Kind) iter.Seq[*scan.File] {
	return func(yield func(*scan.File) bool) {
		for i := range v.repo.Files {
			f := &v.repo.Files[i]
			if (len(kinds) == 0 || slices.Contains(kinds, f.Kind)) && f.Place == scan.Product && f.Size > 0 && !yield(f) {
				return
			}
		}
	}
}

// each makes n things with concurrent workers, each with its own survey and reader, and yields them in order.
// It yields fewer than n if the context ends.
func each[T any](v *survey, n int, makeThing func(v *survey, i int) T) iter.Seq2[int, T] {
	worker := func(ctx context.Context) (func(i int) (T, error), func()) {
		own := *v
		own.ctx, own.reader = ctx, scan.NewReader(v.folder)
		return func(i int) (T, error) { return makeThing(&own, i), nil }, own.reader.Close
	}
	return func(yield func(int, T) bool) {
		i := 0
		for thing, err := range parallel.Each(v.ctx, v.options.Go, runtime.GOMAXPROCS(0), n, worker) {
			if err != nil || !yield(i, thing) {
				return
			}
			i++
		}
	}
}

// head returns the beginning of a file: whole lines of valid UTF-8 that end with "\n". It returns "" for a file that
// cannot be read.
func (v *survey) head(path string, limit int64) string {
	data := v.readStart(path, limit)
	return strings.ReplaceAll(strings.TrimPrefix(strings.ToValidUTF8(string(data), "\uFFFD"), "\uFEFF"), "\r\n", "\n")
}

// readStart returns the raw beginning of a file. It is valid until the next read.
func (v *survey) readStart(path string, limit int64) []byte {
	if v.ctx.Err() != nil {
		return nil
	}
	data, whole, err := v.reader.Read(v.ctx, path, limit)
	if err != nil {
		return nil
	}
	if !whole {
		data = data[:1+bytes.LastIndexByte(data, '\n')]
	}
	return data
}

// linkedReadme returns the file that a link in the place of the README points to.
func (v *survey) linkedReadme() string {
	for _, name := range []string{"README.md", "README.rst", "README", "Readme.md", "readme.md", ".github/README.md"} {
		if target, err := fs.ReadLink(v.folder, name); err == nil && v.byPath[path.Join(path.Dir(name), target)] != nil {
			return path.Join(path.Dir(name), target)
		}
	}
	return ""
}

// findReadme returns the README that GitHub shows in place of the root's, or else the root's, or else that of the unit with
// the repository's name, or else the only one at the shallowest depth.
func (v *survey) findReadme() string {
	var list []string
	for _, f := range v.repo.Files {
		if page.IsReadme(f.Path) && f.Size > 0 && f.Place != scan.Test && f.Place != scan.Generated {
			list = append(list, f.Path)
		}
	}
	stable.Sort(list, func(x, y string) int {
		return cmp.Or(boolToInt(path.Dir(y) == ".github")-boolToInt(path.Dir(x) == ".github"), depth(x)-depth(y), compareBy(page.ReadmeRank)(x, y))
	})
	if len(list) > 0 && (depth(list[0]) == 0 || path.Dir(list[0]) == ".github") {
		return list[0]
	}
	if linked := v.linkedReadme(); linked != "" || len(list) == 0 {
		return linked
	}
	lead := v.findLead()
	if i := slices.IndexFunc(list, func(p string) bool { return lead != nil && path.Dir(p) == lead.Dir }); i >= 0 {
		return list[i]
	}
	best := list[0]
	if len(v.units) > 2 && v.unitOf(best).Dir != "." || slices.ContainsFunc(list, func(p string) bool {
		return depth(p) == depth(best) && path.Dir(p) != path.Dir(best)
	}) {
		return "" // it belongs to one package or folder of several
	}
	return best
}

// depth returns how many folders are above the file.
func depth(p string) int { return strings.Count(p, "/") }

// stemOf returns the file's name up to its first dot, in lower case.
func stemOf(p string) string { return strings.ToLower(stemName(p)) }

// Index is the content of an llms.txt, as plain text without escaping.
type Index struct {
	Title       string
	Readme      string // path of the README; "" if there is none
	Summary     string // one or two sentences; "" if the repository does not describe itself
	SummaryFrom string // path of the file with the summary
	// SummaryReason says why that file was chosen.
	SummaryReason string
	// SummaryPoor: it is doubtful whether the summary says what the project is.
	SummaryPoor bool
	Facts       []Fact
	Sections    []Section // none is empty; Optional is last
	Origin      scan.Origin
	Passed      []Passed // files that were not chosen, at most 300
	Survey      Survey
	Site        Home
}

// Passed is a file that was not chosen, with the reason.
type Passed struct {
	Path, Reason string
}

// Fact is one line about the repository, such as its module, languages or licence.
type Fact struct {
	Name, Value string
}

// Section is a list of links under a name that is unique in the Index.
type Section struct {
	Name  string
	Links []Link
}

// Optional is the name of the section that a reader with little room may skip.
const Optional = "Optional"

// Link points to one file.
type Link struct {
	Title string
	URL   string // pinned to the commit, or relative to the root if that is unknown
	Note  string // first sentence of the file; may be ""
	// Contents are the page's first headings, for want of a note; may be "".
	Contents string
	Path     string // path of the file, relative to the root
	// Score orders links by importance. It is only comparable within one Index.
	Score   int
	Reasons []string // short reasons for the score
	Symbols []Symbol // exported names of the file or its package, by line
}

// Symbol is an exported name, with its place.
type Symbol struct {
	surface.Symbol
	URL    string // with the line, in the form of the host
	weight int
}

// Options configure Build. The zero value is ready for use.
type Options struct {
	// Links bounds the number of links; 0 means 100.
	Links int
	// LinkStyle is "blob" for the host's pages, "raw" for the plain files, StyleSite or StyleAuto; "" means "blob".
	LinkStyle string
	// Ref says what links point to; "" means RefBranch.
	Ref string
	// BaseURL is the prefix of links if nothing in the repository says where it is published, or if the form of links
	// at its host is unknown.
	BaseURL string
	// Include, unless nil, matches the only files to list, whatever they are; Exclude matches files not to list.
	Include, Exclude *ignore.Rules
	// Go runs f concurrently, so that several files are parsed at a time. It may be nil.
	Go func(f func(ctx context.Context) error)
}

const mostLinks = 100
