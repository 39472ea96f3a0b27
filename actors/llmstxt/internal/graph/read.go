package graph

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/parallel"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/golang"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/stable"
)

// Limits of what is read of the sources.
const (
	symbolBytes = 16 << 20  // of all files that are read completely
	partBytes   = 512 << 10 // of those in one package
	headBytes   = 16 << 10  // of any other file
	symbolsKept = 150       // symbols of one package
	fileSpecs   = 400       // imports of one file
)

// plan decides how much of each source is read, shallow packages first: complete files while the budget lasts, and
// then heads. It returns how many packages lack the symbols of some files.
func plan(list []*part) (partly int) {
	order := slices.Clone(list)
	stable.Sort(order, func(a, b *part) int {
		return cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/"))
	})
	left := int64(symbolBytes)
	for _, p := range order {
		room := min(partBytes, left)
		for _, f := range p.byFace() {
			if f.whole = f.Kind == scan.Source && f.Size <= room; f.whole {
				room, left = room-f.Size, left-f.Size
			}
			p.partly = p.partly || f.Kind == scan.Source && !f.whole
		}
		if p.partly {
			partly++
		}
	}
	return partly
}

// byFace returns the sources in the order in which people would look for what the package is.
func (p *part) byFace() []*file {
	list := slices.Clone(p.files)
	stable.Sort(list, func(a, b *file) int { return cmp.Compare(p.face(a), p.face(b)) })
	return list
}

// face rates a file as a description of the package; less than 2 means that it describes the whole package.
func (p *part) face(f *file) int {
	name, _, _ := strings.Cut(strings.ToLower(path.Base(f.Path)), ".")
	switch {
	case f.Kind != scan.Source:
		return 4
	case f.Place == scan.Generated:
		return 3
	case path.Base(f.Path) == "doc.go", name == "__init__", name == "index", name == "mod", name == "lib",
		name == "package-info":
		return 0
	case name == strings.ToLower(path.Base(p.path)), name == "main", f.Path == p.path:
		return 1
	}
	return 2
}

// readAll reads the packages, a few at a time.
func readAll(ctx context.Context, files fs.FS, list []*part, uses rank.Uses, o Options) error {
	done := 0
	for _, err := range parallel.Each(ctx, o.Go, min(runtime.GOMAXPROCS(0), 4), len(list),
		func(ctx context.Context) (func(i int) (*part, error), func()) {
			r := &reading{ctx: ctx, reader: scan.NewReader(files), uses: uses}
			return func(i int) (*part, error) { return r.read(list[i]), nil }, r.reader.Close
		}) {
		if err != nil {
			return err
		}
		if done++; o.Progress != nil {
			o.Progress(done, len(list))
		}
	}
	return nil
}

// reading reads parts. It is for one goroutine at a time.
type reading struct {
	ctx    context.Context
	reader *scan.Reader
	uses   rank.Uses // of the files that the ranking has read
}

// read fills in what the files of a package say.
func (r *reading) read(p *part) *part {
	if p.goPath != "" {
		r.golang(p)
	} else {
		for _, f := range p.byFace() {
			r.other(p, f)
		}
		stable.Sort(p.symbols, func(a, b surface.Symbol) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
	}
	p.count = len(p.symbols)
	p.symbols = mostImportant(p.symbols)
	if p.summary == "" && p.unit != nil {
		p.summary = prose.Sentence(p.unit.About.Description)
	}
	return p
}

// golang reads the planned part of a Go package, and of the other files beside it.
func (r *reading) golang(p *part) {
	var sources []golang.Source
	for i, f := range p.byFace() {
		if f.Language != "Go" {
			r.other(p, f)
		} else if f.Package != "" && (f.whole || i == 0) { // the scan has its imports; the first has the doc
			sources = append(sources, golang.Source{Path: f.Path, Text: bytes.Clone(r.text(f))})
		}
	}
	stable.Sort(sources, func(a, b golang.Source) int { return strings.Compare(a.Path, b.Path) })
	outline := golang.Package(r.ctx, sources)
	p.symbols = append(p.symbols, outline.Symbols...)
	p.summary = prose.Sentence(firstLine(outline.Doc))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// other reads a source that is not Go: its imports and, if it is planned as whole, its exported symbols. A file that
// describes the package gives the summary.
func (r *reading) other(p *part, f *file) {
	if f.Kind != scan.Source {
		return
	}
	data := r.text(f)
	text := string(data)
	specs, known := r.uses[f.Path]
	if !known {
		specs = source.Imports(f.Language, text)
	}
	f.specs = slices.Clip(specs[:min(len(specs), fileSpecs)])
	var outline surface.Outline
	if f.whole {
		outline, _ = source.Outline(r.ctx, f.Language, data)
	}
	for _, s := range outline.Symbols {
		if !strings.HasPrefix(s.Name, "_") && !strings.Contains(s.Name, "._") {
			s.File = f.Path
			p.symbols = append(p.symbols, s)
		}
	}
	if p.summary == "" && p.goPath == "" && (p.face(f) < 2 || len(p.files) == 1) {
		p.summary = cmp.Or(source.Note(f.Language, text), prose.Informative(firstLine(outline.Doc)))
	}
}

// text reads a file as planned. The result is valid until the next read; it is empty if the file no longer exists.
func (r *reading) text(f *file) []byte {
	limit := int64(headBytes)
	if f.whole {
		limit = f.Size + 1
	}
	data, _, _ := r.reader.Read(r.ctx, f.Path, limit)
	return data
}

// mostImportant keeps the most important symbols, in their order.
func mostImportant(list []surface.Symbol) []surface.Symbol {
	var room [mostWeight + 1]int // for symbols of each weight
	for _, s := range list {
		room[weight(s)]++
	}
	left := symbolsKept
	for w := range room {
		room[w] = min(room[w], left)
		left -= room[w]
	}
	return stable.DeleteFunc(list, func(s surface.Symbol) bool {
		room[weight(s)]--
		return room[weight(s)] < 0
	})
}

const mostWeight = 5

// weight rates a symbol; smaller is more important. Types and functions come before members, and documented symbols
// before others.
func weight(s surface.Symbol) int {
	w := 2
	switch s.Kind {
	case surface.Type, surface.Function, surface.Module, surface.Command:
		w = 0
	case surface.Method, surface.Macro:
		w = 1
	}
	if s.Doc == "" {
		w += 3
	}
	return w
}
