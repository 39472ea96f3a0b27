package rank

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/golang"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
)

const (
	symbolBytes = 640 << 10 // of all files that are parsed
	perPackage  = 224 << 10 // of one package
	perFile     = 96 << 10  // of a file of another language than Go
	mostSymbols = 60        // kept per file or package
)

// addSymbols parses the listed files, the best first, while the budget of bytes lasts. It parses all before it weighs
// any, because the number of files that declare a name decides what a use means.
func (r *ranking) addSymbols(chosen []*item) {
	list := stable.Sorted(slices.Values(chosen), byPoints)
	room := int64(symbolBytes)
	var parsed []*item
	var parse []func(ctx context.Context) surface.Outline
	for _, x := range list {
		f := x.file
		if f.Kind != scan.Source || room <= 0 || x.class == classExample {
			continue
		}
		parsed = append(parsed, x)
		if p := r.golang.of(x.Path); p != nil && x.members != "" {
			files := r.goSources(p, x.Path, &room)
			parse = append(parse, func(ctx context.Context) surface.Outline { return golang.Package(ctx, files) })
			continue
		}
		text := bytes.Clone(r.readStart(x.Path, perFile))
		room -= int64(len(text))
		parse = append(parse, func(ctx context.Context) surface.Outline {
			outline, _ := source.Outline(ctx, f.Language, text)
			return outline
		})
	}
	for i, outline := range each(r.survey, len(parse), func(v *survey, i int) surface.Outline { return parse[i](v.ctx) }) {
		parsed[i].outline = outline
		r.addOutline(parsed[i])
	}
}

// of returns the package of a file, or nil.
func (t goTree) of(file string) *goPackage {
	dir := path.Dir(file)
	i := slices.IndexFunc(t, func(p *goPackage) bool { return p.dir == dir })
	if i < 0 {
		return nil
	}
	return t[i]
}

// goSources reads the package's files: the linked file first, then the largest, as far as there is room.
func (r *ranking) goSources(p *goPackage, linked string, room *int64) (sources []golang.Source) {
	files := slices.Clone(p.files)
	stable.Sort(files, compareBy(func(f string) int {
		if f == linked {
			return math.MinInt
		}
		return -int(r.byPath[f].Size)
	}))
	left := min(int64(perPackage), *room)
	for _, f := range files {
		if size := r.byPath[f].Size; size <= left {
			left -= size
			*room -= size
			sources = append(sources, golang.Source{Path: f, Text: bytes.Clone(r.readStart(f, size+1))})
		}
	}
	return sources
}

// addOutline keeps the most important symbols, by line. If the file had no note, it takes one from the file's own
// doc, or from the type with the file's name.
func (r *ranking) addOutline(x *item) {
	methods := make(map[string]int)
	for _, s := range x.outline.Symbols {
		owner := strings.TrimSuffix(s.Name, lastName(s.Name))
		methods[strings.TrimRight(owner, ".:#")]++
	}
	for _, s := range x.outline.Symbols {
		x.Symbols = append(x.Symbols, Symbol{Symbol: s, weight: r.weight(s) + min(12, methods[s.Name])})
	}
	stable.Sort(x.Symbols, func(p, q Symbol) int { return cmp.Compare(q.weight, p.weight) })
	x.Symbols = x.Symbols[:min(len(x.Symbols), mostSymbols)]
	for i, s := range x.Symbols {
		x.Symbols[i].URL = r.links.line(cmp.Or(s.File, x.Path), s.Line)
	}
	x.Note = withNames(finishNote(cmp.Or(x.Note, outlineNote(x)), x), x)
	x.Contents = cmp.Or(x.Contents, listed(lastNames(x.Symbols), mostNamed))
	stable.Sort(x.Symbols, func(p, q Symbol) int {
		return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line))
	})
}

// outlineNote returns the first sentence of the file's own doc, or else of its main symbol's.
func outlineNote(x *item) string {
	for doc := range strings.SplitSeq(x.outline.Doc, "\n\n") {
		if note := prose.Informative(doc); note != "" && !language.IsLicence(doc) && prose.Is(note) {
			return note
		}
	}
	return prose.Informative(mainDoc(x.Path, x.outline.Symbols))
}

// mainDoc returns the doc of the symbol with the file's name, or else of the only documented type.
func mainDoc(file string, symbols []surface.Symbol) string {
	stem, only, types := strings.TrimSuffix(path.Base(file), path.Ext(file)), "", 0
	if stem == "index" {
		stem = path.Base(path.Dir(file))
	}
	for _, s := range symbols {
		switch doc := page.WithoutLead(s.Doc); {
		case !strings.Contains(doc, " ") || prose.IsBoilerplate(doc) || prose.IsBanner(doc):
		case s.Kind != surface.Method && prose.SameWords(lastName(s.Name), stem):
			return doc
		case s.Kind == surface.Type && !isPrivateName(s.Name):
			only = doc
			types++
		}
	}
	if types == 1 && len(symbols) < 40 {
		return only
	}
	return ""
}

// mostNamed bounds the names in a note.
const mostNamed = 4

// withNames adds the main declarations of the file to its note: types, and functions that others call.
func withNames(note string, x *item) string {
	var names []string
	more := false
	for _, s := range x.Symbols {
		isMain := s.Kind == surface.Type || s.Kind == surface.Function || s.Kind == surface.Macro
		if !isMain || isPrivateName(s.Name) || s.Name == "default" || s.Name == "main" || slices.Contains(names, s.Name) ||
			strings.Contains(note, s.Name) || prose.SameWords(lastName(s.Name), stemOf(x.Path)) {
			continue
		}
		if more = len(names) == mostNamed; more {
			break
		}
		names = append(names, s.Name)
	}
	switch list := listed(names, mostNamed); {
	case list == "":
		return note
	case note == "":
		return list + map[bool]string{true: ", …"}[more]
	default:
		return strings.TrimRight(note, ".") + "; " + list + map[bool]string{true: ", …"}[more]
	}
}

// lastNames returns the names that others may use, methods and the file's own among them.
func lastNames(symbols []Symbol) (names []string) {
	for _, s := range symbols {
		if name := lastName(s.Name); !isPrivateName(s.Name) && name != "default" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// listed formats the first names as code; "" if there are none.
func listed(names []string, most int) string {
	if len(names) == 0 {
		return ""
	}
	list := "`" + strings.Join(names[:min(len(names), most)], "`, `") + "`"
	if len(names) > most {
		list += ", …"
	}
	return list
}

var kindWeights = map[surface.Kind]int{
	surface.Type: 36, surface.Module: 36, surface.Function: 20, surface.Command: 20, surface.Macro: 14,
	surface.Method: 4, surface.Variable: 2, surface.Constant: 2,
}

// weight rates a symbol: names in the README's code first, then types and their constructors, then functions.
// Documented symbols come before others.
func (r *ranking) weight(s surface.Symbol) int {
	w, last := kindWeights[s.Kind], lastName(s.Name)
	if s.Kind == surface.Function && constructor.MatchString(s.Name) {
		w += 8
	}
	if n := r.named.Words[last]; n > 0 && len(last) > 3 && (isDistinctive(last) || r.named.Members[last] > 0) {
		w += 10 + min(n, 10)
		if s.Kind != surface.Method {
			w += 30
		}
	}
	if s.Doc != "" {
		w += 12
	}
	if isPrivateName(s.Name) || strings.Contains(s.Doc, "eprecated") {
		w -= 60
	}
	return w
}

var constructor = lazyregexp.New(`^(?i:new|make|open|create|parse|load|connect)(_|\p{Lu}|$)`)

// isPrivateName reports whether the name itself says that it is private: "_x", "$x".
func isPrivateName(name string) bool {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune(".:#/\\", r) }) {
		if part[0] == '_' && !strings.HasPrefix(part, "__init__") || part[0] == '$' {
			return true
		}
	}
	return false
}

// lastName returns the name within its type or module.
func lastName(name string) string { return name[strings.LastIndexAny(name, ".:#")+1:] }
