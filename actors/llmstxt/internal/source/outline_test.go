package source_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/golang"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/fatal"
)

var update = flag.Bool("update", false, "accept what the listings have become")

// listing shows an outline as a text that is easily reviewed.
func listing(o surface.Outline) string {
	var b strings.Builder
	fmt.Fprintf(&b, "doc: %q\n", o.Doc)
	for _, s := range o.Symbols {
		at := fmt.Sprint(s.Line)
		if s.File != "" {
			at = s.File + ":" + at
		}
		fmt.Fprintf(&b, "%s %s %s\n    %s\n", at, s.Kind, s.Name, s.Signature)
		if s.Doc != "" {
			fmt.Fprintf(&b, "    # %s\n", s.Doc)
		}
	}
	return b.String()
}

// golden compares every file of an archive with the listing that follows it.
func golden(t *testing.T, path string, list func(files []txtar.File) string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	fatal.IfError(t, err)
	var sources, kept []txtar.File
	for _, f := range archive.Files {
		if !strings.HasPrefix(f.Name, "want") {
			sources = append(sources, f)
			kept = append(kept, f)
			continue
		}
		got := list(sources)
		if string(f.Data) != got && !*update {
			t.Errorf("%s: %s is\n%s\nwant\n%s", path, f.Name, got, f.Data)
		}
		kept = append(kept, txtar.File{Name: f.Name, Data: []byte(got)})
		sources = nil
	}
	if *update {
		archive.Files = kept
		fatal.IfError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
	}
}

func TestListings(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		if filepath.Base(path) == "go.txtar" {
			continue
		}
		golden(t, path, func(files []txtar.File) string {
			var all strings.Builder
			for _, f := range files {
				o, ok := source.Outline(t.Context(), scan.Language(f.Name), f.Data)
				if !ok {
					t.Fatalf("%s: no scanner for %s", path, f.Name)
				}
				all.WriteString(listing(o))
			}
			return all.String()
		})
	}
}

// Every language that is said to have a scanner has one, and a file of another is refused.
func TestLanguages(t *testing.T) {
	for _, name := range source.Languages() {
		if _, ok := source.Outline(t.Context(), name, nil); !ok {
			t.Errorf("%s has no scanner", name)
		}
	}
	if _, ok := source.Outline(t.Context(), "COBOL", []byte("IDENTIFICATION DIVISION.")); ok {
		t.Error("COBOL has a scanner")
	}
}

// The end of lines and a byte order mark change nothing.
func TestLineEndsDoNotMatter(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		fatal.IfError(t, err)
		for _, f := range archive.Files {
			o, ok := source.Outline(t.Context(), scan.Language(f.Name), f.Data)
			if !ok {
				continue
			}
			other := append([]byte("\uFEFF"), bytes.ReplaceAll(f.Data, []byte("\n"), []byte("\r\n"))...)
			again, _ := source.Outline(t.Context(), scan.Language(f.Name), other)
			if listing(o) != listing(again) {
				t.Errorf("%s: %s differs with CRLF:\n%s\nwant\n%s", path, f.Name, listing(again), listing(o))
			}
		}
	}
}

// promised fails for an outline that is not what its type promises.
func promised(t *testing.T, text []byte, o surface.Outline) {
	t.Helper()
	lines, last := bytes.Count(text, []byte("\n"))+1, 1
	for _, s := range o.Symbols {
		switch {
		case s.Name == "" || s.Kind == "":
			t.Fatalf("no name or kind: %+v", s)
		case s.Line < last || s.Line > lines:
			t.Fatalf("line %d after line %d in a file of %d: %+v", s.Line, last, lines, s)
		case strings.ContainsAny(s.Name+s.Signature+s.Doc, "\n"):
			t.Fatalf("not on one line: %+v", s)
		case utf8.RuneCountInString(s.Signature) > 200 || utf8.RuneCountInString(s.Doc) > 200:
			t.Fatalf("too long: %+v", s)
		}
		last = s.Line
	}
	if len(o.Symbols) > surface.MaxSymbols {
		t.Fatalf("%d symbols", len(o.Symbols))
	}
}

// fuzz seeds a fuzz test with the sources of an archive, and pieces of them.
func fuzz(f *testing.F, name string) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		fatal.IfError(f, err)
		for _, file := range archive.Files {
			if scan.Language(file.Name) == name {
				f.Add(file.Data)
				f.Add(file.Data[:len(file.Data)/2])
				f.Add(file.Data[len(file.Data)/3:])
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o, ok := source.Outline(t.Context(), name, text)
		if !ok {
			t.Fatal("no scanner")
		}
		promised(t, text, o)
		lf := bytes.ReplaceAll(text, []byte("\r"), nil)
		if len(lf) > surface.MaxBytes/2 {
			return
		}
		one, _ := source.Outline(t.Context(), name, lf)
		two, _ := source.Outline(t.Context(), name, bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n")))
		if listing(one) != listing(two) {
			t.Fatalf("CRLF gives\n%s\nwant\n%s", listing(two), listing(one))
		}
	})
}

func FuzzGo(f *testing.F)     { fuzz(f, "Go") }
func FuzzPython(f *testing.F) { fuzz(f, "Python") }
func FuzzRuby(f *testing.F)   { fuzz(f, "Ruby") }
func FuzzElixir(f *testing.F) { fuzz(f, "Elixir") }
func FuzzShell(f *testing.F)  { fuzz(f, "Shell") }

func TestGoPackages(t *testing.T) {
	golden(t, "testdata/go.txtar", func(files []txtar.File) string {
		var sources []golang.Source
		for _, f := range files {
			sources = append(sources, golang.Source{Path: f.Name, Text: f.Data})
		}
		return listing(golang.Package(t.Context(), sources))
	})
}

func TestGoOfNothing(t *testing.T) {
	for _, files := range [][]golang.Source{nil, {{Path: "a.go"}}, {{Path: "a.go", Text: []byte("not Go\n")}}} {
		if o := golang.Package(t.Context(), files); o.Doc != "" || len(o.Symbols) > 0 {
			t.Errorf("%v gives %+v", files, o)
		}
	}
}

// openings are what opens something in one of the languages, or goes on with it.
var openings = []string{
	"(", "{", "[", "<", "<a>", "<a b={", "`${", "`", "\"${", "\"\\(", "$\"{", "{(", "(}", "a<", "a<b>", "a::",
	"a.b=", "'", "\"", "\"\"\"", "R\"(", "/", "/*", "//\n", "/**/", "/** x\n", "#if A\n", "#else\n",
	"#define A(\\\n", "#endif\n", "@a", "@a(", "#[a", "[a]", "[[a]]", "export ", "export {a,", "export const {a,",
	"export default ", "const a = b = ", "class A{", "class A<", "class A(", "namespace A{", "namespace A;",
	"pub mod a{", "pub use a::{", "impl A{", "impl<", "fn f(", "fun f<", "fun A.", "val a", "val a.", "func f",
	"public ", "public class A{", "public int a,", "typedef ", "typedef (*", "struct {", "template<", "operator",
	"a(b) ", "A(b)\n", "AB ", "AB\n", "?>", "<?php ", "<<<A\n", "function f(", "type A = ", "a ? ", "a => ",
	"extends ", "| ", "async ", "get ", "module.exports = ", "exports.a = ", "a.b = function(){}\n", "i\u0301",
	"\n", ": a(", "=", "a extends b ? ", "#", "##", "r#", "$", "/**\n*/a\n", "int f(int a) {}\n",
	"export function f(a) {}\n", "f\"{", "f'''{", "\\", "//", "::", ".", "$(", "${", "def f(\n", "def f(x\n",
	"class A\n", "class A:\n", "  def f\n", "x <<A\n", "x <<~A\n", "cat <<A\n", "# x. y\n", "# :a `b\n", "'''",
	"\"\"\"\n", "@doc \"\"\"\n", "@doc x\n", "def f(a,\n", "defmodule A do\n", "func (\n", "func F(",
	"type T struct {", "[]", "map[", "*", "f() {\n", "source a\n", "A = 1\n", "A, ", "A = [\n", "import a,",
	"from .a import (b,", "attr_reader :a, ", "private :a, ", "if x:\n", " ", "\t", "\r\n", "=begin\n", "usage:\n",
	"\u00e9", "@overload\n", "@a\ndef b(): 'c'\n", "const A = ", "// A {\n", "private def a(\n", "when\n",
	"def a,\n", "@callback a(b,\n", "defstruct a,\n", "function f\n", "A. B. ", "#: a ``\n", "\"\"\"a `", "x=1;",
	"alias a b\n",
}

// Hostile text keeps every promise. See TestScannersAreLinear for the time that it takes.
func TestHostileText(t *testing.T) {
	for language, parts := range declaring {
		for _, piece := range openings {
			text := []byte(parts[0] + strings.Repeat(piece, 1<<11/len(piece)))
			o, _ := source.Outline(t.Context(), language, text)
			promised(t, text, o)
		}
	}
}
