package rank

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

const (
	readmeBytes = 64 << 10 // of a README, for title, summary and what it names
	pageBytes   = 16 << 10 // of any other document
	sourceBytes = 12 << 10 // of a source file, for what it says at its top
)

// Build ranks the files of repo and reads what it needs of them through files: the heads of the likeliest documents
// and sources first, the public surface only of what is listed in the end. progress, which may be nil, hears how many
// of how many links are written up. The only error is ctx's cause: a file that can no longer be read is passed over.
func Build(ctx context.Context, files fs.FS, repo *scan.Repository, options Options, progress func(done,
	total int)) (*Index, error) {
	b := newBuilder(ctx, files, repo, options)
	defer b.reader.Close()
	b.survey()
	index := &Index{Origin: repo.Origin, Title: b.title(), Facts: b.facts(), Survey: b.surveyed()}
	sections := b.choose()
	purpose := b.purpose()
	index.Summary, index.SummaryFrom, index.SummaryReason = purpose.text, purpose.from, purpose.reason
	if err := b.writeUp(sections, progress); err != nil {
		return nil, err
	}
	b.addSymbols(sections)
	sections.api(b)
	index.Sections, index.Passed = sections.finish(b), b.passed.best()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return index, nil
}

type builder struct {
	ctx      context.Context
	reader   *scan.Reader
	buf      []byte // of what was read last
	repo     *scan.Repository
	options  Options
	caps     Caps
	links    linker
	byPath   map[string]*scan.File
	readme   page.Page
	spoken   string         // the language of the README's prose
	named    page.Mentions  // by the README
	bases    map[string]int // files of the product by name
	units    []*unit        // the root first
	golang   goTree
	mix      languageMix
	crowds   map[string]int // pages by folder
	passed   passedOver
	declared declarers       // by what is listed
	headers  map[string]bool // those of C that others include; nil until asked for
}

func newBuilder(ctx context.Context, files fs.FS, repo *scan.Repository, options Options) *builder {
	b := &builder{ctx: ctx, reader: scan.NewReader(files), repo: repo, options: options,
		caps: options.Caps.withDefaults()}
	b.repo = b.withHeaders()
	b.byPath = make(map[string]*scan.File, len(repo.Files))
	for i := range b.repo.Files {
		b.byPath[b.repo.Files[i].Path] = &b.repo.Files[i]
	}
	return b
}

// survey reads what says most about the whole: the README and the manifests.
func (b *builder) survey() {
	b.mix = mixOf(b.repo.Files)
	b.units = b.findUnits()
	if p := b.findReadme(); p != "" {
		text := b.head(p, readmeBytes)
		b.readme = page.Read(p, text)
		b.spoken = page.FeaturesOf(p, text).NaturalLanguage
		b.named = page.MentionsIn(text)
		b.bases = b.productNames()
	}
	b.links = b.newLinker()
	b.golang = b.findGo()
}

// productNames counts the files of the product by the last part of the path.
func (b *builder) productNames() map[string]int {
	bases := make(map[string]int)
	for i := range b.repo.Files {
		if f := &b.repo.Files[i]; f.Place == scan.Product {
			bases[path.Base(f.Path)]++
		}
	}
	return bases
}

// head gives the start of a file, whole lines of valid UTF-8 with "\n" at their ends; nothing of one that cannot be
// read.
func (b *builder) head(path string, limit int64) string {
	data := b.start(path, limit)
	return strings.ReplaceAll(strings.TrimPrefix(strings.ToValidUTF8(string(data), "\uFFFD"), "\uFEFF"), "\r\n", "\n")
}

// start is the head as it is in the file, valid until the next is read.
func (b *builder) start(path string, limit int64) []byte {
	if b.ctx.Err() != nil {
		return nil
	}
	data, whole, err := b.reader.Read(b.ctx, path, limit, b.buf)
	if err != nil {
		return nil
	}
	if cap(data) > cap(b.buf) {
		b.buf = data[:0]
	}
	if !whole {
		data = data[:1+bytes.LastIndexByte(data, '\n')]
	}
	return data
}

// findReadme takes the one at the root, else the only one there is at the shallowest depth.
func (b *builder) findReadme() string {
	best := ""
	for i := range b.repo.Files {
		f := &b.repo.Files[i]
		if !page.IsReadme(f.Path) || f.Size == 0 || f.Place == scan.Test || f.Place == scan.Generated {
			continue
		}
		if best == "" || compareBy(page.ReadmeRank)(f.Path, best) < 0 && depth(f.Path) <= depth(best) ||
			depth(f.Path) < depth(best) {
			best = f.Path
		}
	}
	if best == "" || depth(best) == 0 {
		return best
	}
	if len(b.units) > 2 && b.unitOf(best).dir != "." {
		return "" // that of one package among several
	}
	for i := range b.repo.Files {
		if f := &b.repo.Files[i]; f.Path != best && page.IsReadme(f.Path) && depth(f.Path) == depth(best) &&
			path.Dir(f.Path) != path.Dir(best) {
			return ""
		}
	}
	return best
}

func depth(p string) int { return strings.Count(p, "/") }

// stemOf is the file's name up to its first dot, in lower case.
func stemOf(p string) string {
	stem, _, _ := strings.Cut(strings.ToLower(path.Base(p)), ".")
	return stem
}
