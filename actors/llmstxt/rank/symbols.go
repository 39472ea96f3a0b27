package rank

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/golang"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/python"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

const (
	symbolBytes = 640 << 10 // of all files that are parsed
	perPackage  = 224 << 10 // of one package
	perFile     = 96 << 10  // of a file of another language than Go
	mostSymbols = 60        // kept of one file or package
)

var constructors = words.Of("constructors")

// addSymbols parses what is listed, the best first, while the bytes last. All is parsed before any is weighed: how
// many declare a name tells what a use means.
func (j *sourceJudge) addSymbols(c choice) {
	list := slices.Concat(c[secPackages], c[secSource], c[secCommands])
	slices.SortStableFunc(list, byScore)
	room := int64(symbolBytes)
	var parsed []*candidate
	var parse []func(ctx context.Context) surface.Outline
	for _, x := range list {
		f := j.byPath[x.Path]
		if f == nil || f.Kind != scan.Source || room <= 0 {
			continue
		}
		parsed = append(parsed, x)
		if p := j.golang.of(x.Path); p != nil && !slices.Contains(c[secSource], x) {
			files := j.goSources(p, x.Path, &room)
			parse = append(parse, func(ctx context.Context) surface.Outline { return golang.Package(ctx, files) })
			continue
		}
		text := bytes.Clone(j.start(x.Path, perFile))
		room -= int64(len(text))
		parse = append(parse, func(ctx context.Context) surface.Outline {
			outline, _ := source.Outline(ctx, f.Language, text)
			return outline
		})
	}
	for i, outline := range each(j.survey, len(parse), func(v *survey, i int) surface.Outline { return parse[i](v.ctx) }) {
		x := parsed[i]
		x.outline = outline
		for _, s := range outline.Symbols {
			last := lastName(s.Name)
			if j.declared[last] == nil {
				j.declared[last] = make(map[string]bool)
			}
			j.declared[last][cmp.Or(s.File, x.Path)] = true
		}
	}
	for _, x := range parsed {
		j.takeOutline(x)
	}
}

func (t goTree) of(file string) *goPackage {
	dir := path.Dir(file)
	i := slices.IndexFunc(t, func(p *goPackage) bool { return p.dir == dir })
	if i < 0 {
		return nil
	}
	return t[i]
}

// goSources reads the package's files, the one that is linked first, then the large ones, as far as there is room.
func (j *sourceJudge) goSources(p *goPackage, linked string, room *int64) (sources []golang.Source) {
	files := slices.Clone(p.files)
	slices.SortFunc(files, compareBy(func(f string) int {
		if f == linked {
			return math.MinInt
		}
		return -int(j.byPath[f].Size)
	}))
	left := min(int64(perPackage), *room)
	for _, f := range files {
		if size := j.byPath[f].Size; size <= left {
			left -= size
			*room -= size
			sources = append(sources, golang.Source{Path: f, Text: bytes.Clone(j.start(f, size+1))})
		}
	}
	return sources
}

// takeOutline keeps the symbols that matter most, by line, and a note where the file had none: what it says of
// itself, or of the type that bears its name.
func (j *sourceJudge) takeOutline(x *candidate) {
	methods := make(map[string]int)
	for _, s := range x.outline.Symbols {
		methods[ownerOf(s.Name)]++
	}
	for _, s := range x.outline.Symbols {
		x.Symbols = append(x.Symbols, Symbol{Symbol: s, weight: j.weight(x, s) + min(12, methods[s.Name])})
	}
	slices.SortStableFunc(x.Symbols, func(p, q Symbol) int { return cmp.Compare(q.weight, p.weight) })
	x.Symbols = x.Symbols[:min(len(x.Symbols), mostSymbols)]
	for i, s := range x.Symbols {
		x.Symbols[i].URL = j.links.line(cmp.Or(s.File, x.Path), s.Line)
	}
	x.Note = finishNote(j.outlineNote(x), x)
}

// outlineNote is what the link says already, else what the file says of itself, else what its main symbol says, else
// what it declares.
func (j *sourceJudge) outlineNote(x *candidate) string {
	main := mainDoc(x.Path, x.outline.Symbols)
	if x.Note != "" || main != "" && namesFiles(j.byPath[x.Path].Language) {
		return cmp.Or(x.Note, main) // the first of several modules does not speak for the file
	}
	for doc := range strings.SplitSeq(x.outline.Doc, "\n\n") {
		if note := prose.Informative(doc); note != "" && !language.IsLicence(doc) && prose.Is(note) {
			return note
		}
	}
	return cmp.Or(main, declared(x))
}

// mainDoc is the doc of the symbol that bears the file's name, else of the only type that has one.
func mainDoc(file string, symbols []surface.Symbol) string {
	stem, only, types, functions := strings.TrimSuffix(path.Base(file), path.Ext(file)), "", 0, 0
	if stem == "index" {
		stem = path.Base(path.Dir(file))
	}
	for _, s := range symbols {
		if s.Kind == surface.Function {
			functions++
		}
	}
	for _, s := range symbols {
		switch doc := page.WithoutLead(s.Doc); {
		case !strings.Contains(doc, " ") || prose.IsBoilerplate(doc) || isCodeLine(doc):
		case (isType(s.Kind) || s.Kind == surface.Function && functions < 3) &&
			prose.SameWords(lastName(s.Name), stem):
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

// mostDeclared names are enough to tell what a file is about.
const mostDeclared = 5

// declared names the most important of what the file offers: its types and functions, or the methods of its only type.
func declared(x *candidate) string {
	names := offered(x, func(s Symbol) bool {
		return s.Kind == surface.Type || s.Kind == surface.Function || s.Kind == surface.Macro
	})
	stem := strings.TrimSuffix(path.Base(x.Path), path.Ext(x.Path))
	if len(names) == 0 || len(names) == 1 && prose.SameWords(lastName(names[0]), stem) {
		return methodsOf(x, "")
	}
	return listed(names, mostDeclared)
}

// methodsOf names the methods of a type, or of all where it is "".
func methodsOf(x *candidate, owner string) string {
	names := offered(x, func(s Symbol) bool {
		return s.Kind == surface.Method && (owner == "" || ownerOf(s.Name) == owner) && !isAccessor(s) && !isOwnConstructor(s.Name)
	})
	for i, name := range names {
		names[i] = lastName(name)
	}
	if len(names) < 2 {
		return ""
	}
	return listed(names, mostDeclared)
}

// offered are the names of what others can use of the file, one more than are listed at most.
func offered(x *candidate, holds func(Symbol) bool) (names []string) {
	for _, s := range x.Symbols {
		if !holds(s) || isPrivateName(s.Name) || s.Name == "default" || s.File != "" && s.File != x.Path ||
			slices.Contains(names, s.Name) {
			continue
		}
		if names = append(names, s.Name); len(names) > mostDeclared {
			break
		}
	}
	return names
}

// listed names as many in code; "" for none.
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

// weight orders symbols: what the README's code uses, then types and what makes them, then functions; what is
// documented before what is not.
func (j *sourceJudge) weight(x *candidate, s surface.Symbol) int {
	w := kindWeights[s.Kind]
	if s.Kind == surface.Function && isConstructor(s) {
		w += 8
	}
	last := lastName(s.Name)
	n := j.uses(x, s)
	if n > 0 && s.Kind == surface.Function && j.named.Members[last] > 0 && (!isTelling(last) || isConstructor(s)) {
		w += 20
	}
	if n > 0 && len(last) > 3 && (s.Kind != surface.Method || isTelling(last)) {
		w += 40 + min(n, 10)
		if s.Kind == surface.Method {
			w -= 30
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

func isConstructor(s surface.Symbol) bool {
	return slices.ContainsFunc(constructors, func(start string) bool {
		rest, ok := strings.CutPrefix(s.Name, start)
		return ok && (rest == "" || rest[0] == '_' || unicode.IsUpper(rune(rest[0])))
	})
}

// lastName is the name within its type or module.
func lastName(name string) string { return name[strings.LastIndexAny(name, ".:#")+1:] }

// ownerOf is that type or module, "" for none.
func ownerOf(name string) string {
	return strings.TrimRight(strings.TrimSuffix(name, lastName(name)), ".:#")
}

func isType(kind surface.Kind) bool { return kind == surface.Type || kind == surface.Module }

// qualified is the name by which others use the symbol, as far as the language has names for packages that the files
// tell.
func (j *sourceJudge) qualified(x *candidate, s Symbol) string {
	file := cmp.Or(s.File, x.Path)
	f := j.byPath[file]
	switch {
	case f == nil:
	case f.Language == "Go":
		if p := j.golang.of(file); p != nil && !p.isCommand() {
			return p.name + "." + s.Name
		}
	case f.Language == "Python":
		isPackage := func(folder string) bool { return j.byPath[folder+"/__init__.py"] != nil }
		return strings.ReplaceAll(python.Module(file, isPackage), "/", ".") + "." + s.Name
	}
	return s.Name
}
