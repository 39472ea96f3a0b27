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

	"github.com/seed889630bf/lastword/actors/llmstxt/inorder"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/actors/repository/source"
	"github.com/seed889630bf/lastword/actors/repository/source/golang"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// What is read of the sources: all of them as far as the bytes last, then the heads for what they import. Go's are
// known from the scan.
const (
	symbolBytes = 16 << 20
	partBytes   = 512 << 10 // of one package
	leastBytes  = 16 << 10  // of a package's face, so that each can say what it is
	headBytes   = 8 << 10
	mostHeads   = 20_000
	symbolsKept = 150 // of one package
	fileSpecs   = 400 // imports of one file
)

// plan says how much of each file is read, the shallow packages first. It returns how many packages lack symbols of
// files, and how many files are not read at all although they may import something.
func plan(list []*part) (partly, unread int) {
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b *part) int {
		return cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/"))
	})
	left, heads := int64(symbolBytes), mostHeads
	for _, p := range order {
		room := min(partBytes, left)
		for i, f := range p.byFace() {
			switch {
			case f.Kind != scan.Source:
				continue
			case f.Size <= room:
				f.take, f.whole = f.Size+1, true
				room, left = room-f.Size, left-f.Size
				continue
			case i == 0:
				f.take = leastBytes
			case p.goPath != "":
			case heads > 0:
				f.take = headBytes
				heads--
			default:
				unread++
			}
			p.partly = true
		}
		if p.partly {
			partly++
		}
	}
	return partly, unread
}

// byFace gives the sources in the order in which one would look for what the package is.
func (p *part) byFace() []*file {
	list := slices.Clone(p.files)
	slices.SortStableFunc(list, func(a, b *file) int { return cmp.Compare(p.face(a), p.face(b)) })
	return list
}

// face is less than 2 for a file that speaks for the whole package.
func (p *part) face(f *file) int {
	own := path.Base(p.path)
	switch name := strings.ToLower(path.Base(stem(f.Path))); {
	case f.Kind != scan.Source:
		return 4
	case f.Place == scan.Generated:
		return 3
	case path.Base(f.Path) == "doc.go", name == "__init__", name == "index", name == "mod", name == "lib",
		name == "package-info":
		return 0
	case name == strings.ToLower(own), name == "main", f.Path == p.path:
		return 1
	}
	return 2
}

// readAll reads the packages, a few at a time where there is a way to.
func readAll(ctx context.Context, files fs.FS, list []*part, o Options) error {
	done := 0
	for _, err := range inorder.Each(ctx, o.Go, min(runtime.GOMAXPROCS(0), 4), len(list),
		func(ctx context.Context) inorder.Worker[*part] {
			return &reading{ctx: ctx, reader: scan.NewReader(files), list: list}
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
	list   []*part
}

func (r *reading) Close() { r.reader.Close() }

// Make reads a package.
func (r *reading) Make(i int) (*part, error) {
	p := r.list[i]
	if p.goPath != "" {
		r.golang(p)
	} else {
		r.others(p)
	}
	p.count = len(p.symbols)
	p.symbols = chosen(p.symbols)
	p.summary = cmp.Or(p.summary, p.described())
	return p, nil
}

func (p *part) described() string {
	if p.unit == nil {
		return ""
	}
	return prose.Sentence(p.unit.About.Description)
}

// golang reads what the plan takes of a package of Go, and of what lies beside it.
func (r *reading) golang(p *part) {
	var sources []golang.Source
	for _, f := range p.byFace() {
		if f.Language != "Go" {
			r.other(p, f)
		} else if f.take > 0 && f.Package != "" {
			sources = append(sources, golang.Source{Path: f.Path, Text: bytes.Clone(r.text(f))})
		}
	}
	slices.SortStableFunc(sources, func(a, b golang.Source) int { return strings.Compare(a.Path, b.Path) })
	outline := golang.Package(r.ctx, sources)
	p.symbols = append(p.symbols, outline.Symbols...)
	p.summary = prose.Sentence(firstLine(outline.Doc))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func (r *reading) others(p *part) {
	for _, f := range p.byFace() {
		r.other(p, f)
	}
	slices.SortStableFunc(p.symbols, func(a, b surface.Symbol) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

func (r *reading) other(p *part, f *file) {
	if f.take == 0 || f.Kind != scan.Source {
		return
	}
	data := r.text(f)
	text := string(data)
	f.specs = slices.Clip(source.Imports(f.Language, source.Code(f.Language, text)))
	f.specs = f.specs[:min(len(f.specs), fileSpecs)]
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

// text is valid until the next is read; a file that is gone is empty.
func (r *reading) text(f *file) []byte {
	data, _, _ := r.reader.Read(r.ctx, f.Path, f.take)
	return data
}

// chosen keeps what matters most, in the order that it had: what one names first, before what belongs to it.
func chosen(list []surface.Symbol) []surface.Symbol {
	if len(list) <= symbolsKept {
		return list
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(weight(list[i]), weight(list[j])) })
	order = order[:symbolsKept]
	slices.Sort(order)
	kept := make([]surface.Symbol, len(order))
	for i, at := range order {
		kept[i] = list[at]
	}
	return kept
}

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
