package source

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/golang"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/lines"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/packed"
)

// languagesText has the languages, and explains its own form.
//
//go:embed languages.txt.gz
var languagesText string

// These are the functions that languages.txt names.
var (
	imports = map[string]func(line string) []string{"python": language.PythonImports, "ruby": language.RubyImports,
		"elixir": language.ElixirImports, "script": language.ScriptImports, "rust": language.RustImports,
		"includes": language.Includes, "dotted": language.Dotted}
	notes = map[string]func(text string) string{"go": golang.Note, "python": language.PythonNote, "haskell": haddock,
		"block": language.BlockNote, "class": language.ClassNote}
	codes = map[string]func(text string) string{"docstrings": language.WithoutDocstrings,
		"comments": language.WithoutComments}
	folders = map[string]func(file, unit string) []string{"python": language.PythonFolders,
		"script": language.ScriptFolders, "rust": language.RustFolders, "c": language.CFolders}
)

// languages are the known languages.
var languages = sync.OnceValue(func() (all []language.Language) {
	_, blocks, _ := strings.Cut(string(packed.Text(languagesText)), "\n= ")
	for block := range strings.SplitSeq(blocks, "\n= ") {
		names, text, _ := strings.Cut(block, "\n")
		l := parse(names, text)
		for l.Name = range strings.SplitSeq(names, ", ") { // they share one grammar
			all = append(all, l)
		}
	}
	return all
})

// parse reads the block of the languages with these names.
func parse(names, text string) (l language.Language) {
	grammar, note, marks := "", "", ""
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		list := strings.Split(strings.TrimSuffix(strings.ReplaceAll(value, `\n`, "\n"), "|"), "|")
		switch {
		case !ok || line[0] == '#':
		case key == "family":
			l.Family = value
		case key == "ecosystems":
			l.Ecosystems = strings.Fields(value)
		case key == "imports":
			l.Imports = imports[value]
		case key == "code":
			l.Code = codes[value]
		case key == "folders":
			if l.Folders = folders[value]; l.Folders == nil {
				l.Folders = language.Below(value)
			}
		case key == "note":
			note = value
		case key == "marks":
			marks = value
		case key == "tests":
			l.Tests = append(l.Tests, list...)
		default:
			grammar += line
		}
	}
	l.Note, l.Outline = noteOf(note, marks), outlineOf(names, grammar)
	return l
}

// noteOf returns the function for the value of note in languages.txt.
func noteOf(how, marks string) func(text string) string {
	if mark, ok := strings.CutPrefix(how, "lines "); ok {
		return language.LineNote(mark)
	}
	if read := notes[how]; read != nil {
		return read
	}
	return language.PatternNote(how, marks)
}

// outlineOf returns a function that reads a language by a grammar of its lines. The grammar is compiled when it is first
// needed.
func outlineOf(names, grammar string) func(ctx context.Context, text []byte) surface.Outline {
	switch {
	case names == "Go":
		return golang.Outline
	case grammar == "":
		return nil
	}
	made := sync.OnceValue(func() *lines.Grammar { return lines.Parse(grammar) })
	return func(ctx context.Context, text []byte) surface.Outline { return made().Outline(ctx, text) }
}

// haddock finds the note above the word module.
func haddock(text string) string {
	head, _, _ := strings.Cut("\n"+text, "\nmodule ")
	if _, doc, ok := strings.Cut(head, "\n{- |"); ok {
		doc, _, _ = strings.Cut(doc, "-}")
		return language.Note(language.Paragraphs(doc))
	}
	_, doc, _ := strings.Cut(head, "\n-- |")
	return language.Note(language.LineBlocks("-- "+doc, "--"))
}

// Of returns the language with the name. For an unknown language it returns what most languages have in common.
func Of(name string) language.Language {
	for _, l := range languages() {
		if l.Name == name {
			return l
		}
	}
	return language.Language{Name: name, Imports: language.Dotted, Note: language.BlockNote}
}

// In returns the languages of an ecosystem's packages.
func In(ecosystem string) []string {
	var names []string
	for _, l := range languages() {
		if slices.Contains(l.Ecosystems, ecosystem) {
			names = append(names, l.Name)
		}
	}
	return names
}

// Outline returns the public surface of a file. ok reports whether its language is supported. After ctx is done it
// soon returns what it has found.
func Outline(ctx context.Context, name string, text []byte) (outline surface.Outline, ok bool) {
	read := Of(name).Outline
	if read == nil {
		return surface.Outline{}, false
	}
	return finish(read(ctx, surface.Normal(text))), true
}

// Family returns the name that the language shares with the languages whose files it may import.
func Family(name string) string { return cmp.Or(Of(name).Family, name) }

// Imports returns what the lines of a file import, by the rules of its language. It only looks at lines that begin
// like imports.
func Imports(name, text string) []string {
	l := Of(name)
	if l.Code != nil {
		text = l.Code(text)
	}
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if l.Imports != nil && len(line) >= 6 && len(line) <= 400 {
			list = append(list, l.Imports(line)...)
		}
	}
	return list
}

// Note returns the first sentence of the comment or docstring at the beginning of a file. Licences, shebangs and
// directives do not count.
func Note(name, text string) string {
	note := Of(name).Note
	if name == "" || note == nil {
		return ""
	}
	return note(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\uFEFF"))
}
