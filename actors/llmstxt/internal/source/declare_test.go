package source_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
)

// languages, a line that declares a public name, and what its file needs around such lines.
var declaring = map[string][3]string{
	"JavaScript": {"", "export function f%d(a = '}') {}\n", ""},
	"TypeScript": {"", "export const f%d = <T,>(a: T): T => a\n", ""},
	"Rust":       {"", "pub fn f%d<'a>(x: &'a u8) {}\n", ""},
	"Java":       {"class A { public class B {} }\npublic class C {\n", "  public void f%d(List<String> a) {}\n", "}\n"},
	"Kotlin":     {"", "fun f%d(a: Int = 1) = a\n", ""},
	"Swift":      {"", "public func f%d(_ a: Int) -> Int { a }\n", ""},
	"C#":         {"namespace N;\npublic class C {\n", "  public void F%d(int a = 1) { }\n", "}\n"},
	"PHP":        {"<?php\n", "function f%d($a = '}') { }\n", ""},
	"C":          {"#pragma once\n", "int f%d(int a);\n", ""},
	"C++":        {"#pragma once\nnamespace n {\n", "int f%d(std::vector<int> a);\n", "}\n"},
	"Go":         {"package p\n", "func F%d() {}\n", ""},
	"Python":     {"", "def f%d(): pass\n", ""},
	"Ruby":       {"", "def f%d; end\n", ""},
	"Elixir":     {"defmodule A do\n", "  def f%d(a), do: a\n", "end\n"},
	"Shell":      {"", "f%d() { :; }\n", ""},
}

func TestSymbolsAreBounded(t *testing.T) {
	for language, parts := range declaring {
		var b strings.Builder
		b.WriteString(parts[0])
		for i := range surface.MaxSymbols + 10 {
			fmt.Fprintf(&b, parts[1], i)
		}
		b.WriteString(parts[2])
		o, _ := source.Outline(t.Context(), language, []byte(b.String()))
		if len(o.Symbols) != surface.MaxSymbols {
			t.Errorf("%s gives %d symbols", language, len(o.Symbols))
		}
		promised(t, []byte(b.String()), o)
	}
}

// Braces in literals, comments and conditions do not hide what follows them.
func TestNothingHidesWhatFollows(t *testing.T) {
	for language, obstacles := range map[string][]string{
		"JavaScript": {"'{'", "\"{\"", "`{${`{`}`", "/[/{]{/g", "a = b / c; d = '{' / 2", "// {", "/* { */",
			"if (a) /{/.test(b)",
			"<a>it's {'{'} <b/></a>", "x = <T title=\"{\">{`{`}</T>", "return /'/", "a++ / 2; '{'"},
		"TypeScript": {"let a = <any>'{'", "let b: Array<Map<string, number>>= []", "type A<T> = T extends '{' ? 1 : 2"},
		"Rust": {"const A: char = '{';", "const B: &str = r#\"{\"\"#;", "fn f<'a>() { let b = b'{'; }",
			"/* /* */ { */",
			"const C: &[u8] = b\"{\\\"\";", "fn g() { 'l: loop { break 'l } }", "const D: char = '\\'';"},
		"Kotlin": {"val a = \"${\"{\"}{\"", "val b = \"\"\"{\"\"\"\"", "val c = '{'", "/* /* */ {*/", "val d = \"\\\"{\""},
		"Swift": {"let a = \"\\(\"{\"){\"", "let b = #\"\"{\"#", "let c = \"\"\"\n{ \"\n\"\"\"", "/* /* */ { */",
			"#if os(Linux)\nfunc a() {\n#else\nfunc b() {\n#endif\n}"},
		"C": {"char a = '{';", "char *b = \"\\\"{\";", "#define A {", "#define B \\\n {", "#if 0\n{\n#endif",
			"#if A\nvoid f() {\n" +
				"#else\nvoid g() {\n#endif\n}", "// {", "#error don't {", "#if A\n#elif B\n{\n#else\n{\n#endif"},
		"C++": {"auto a = R\"x({)\" )x\";", "int b = 1'000;", "auto c = u8R\"({)\";"},
		"C#":  {"#region {"},
		"PHP": {"$a = '{';", "$a = \"{$b[\"{\"]}{\";", "$a = <<<X\n{\nX;", "$a = <<<'X'\n { X1\n  X;", "# {",
			"// { ?> { <?php",
			"?> it's { <?php", "#[A('{')]\nfunction a() {}"},
	} {
		parts := declaring[language]
		for _, obstacle := range obstacles {
			text := parts[0] + obstacle + "\n" + fmt.Sprintf(parts[1], 777) + parts[2]
			o, _ := source.Outline(t.Context(), language, []byte(text))
			last := surface.Symbol{}
			if n := len(o.Symbols); n > 0 {
				last = o.Symbols[n-1]
			}
			if !strings.HasSuffix(last.Name, "777") {
				t.Errorf("%s: %q hides what follows: %v", language, obstacle, o.Symbols)
			}
		}
	}
}

// A scan that nobody waits for any more ends.
func TestScannersHeedTheirContext(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for language, parts := range declaring {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, parts[1], i)
		}
		o, _ := source.Outline(gone, language, []byte(parts[0]+b.String()+parts[2]))
		if len(o.Symbols) > 500 && language != "Go" { // whose parser reads all at once
			t.Errorf("%s: %d symbols of a scan that was given up", language, len(o.Symbols))
		}
	}
}

// Half of a file gives the symbols of that half, but for the one that is cut.
func TestHalfAFile(t *testing.T) {
	for language, parts := range declaring {
		var b bytes.Buffer
		b.WriteString(parts[0])
		for i := range 100 {
			fmt.Fprintf(&b, parts[1], i)
		}
		whole, _ := source.Outline(t.Context(), language, append(b.Bytes(), parts[2]...))
		half, _ := source.Outline(t.Context(), language, b.Bytes()[:b.Len()/2])
		if len(half.Symbols) < len(whole.Symbols)/2-2 {
			t.Errorf("%s: half a file gives %d of %d symbols", language, len(half.Symbols), len(whole.Symbols))
		}
	}
}

func FuzzJavaScript(f *testing.F) { fuzz(f, "JavaScript") }
func FuzzTypeScript(f *testing.F) { fuzz(f, "TypeScript") }
func FuzzRust(f *testing.F)       { fuzz(f, "Rust") }
func FuzzJava(f *testing.F)       { fuzz(f, "Java") }
func FuzzKotlin(f *testing.F)     { fuzz(f, "Kotlin") }
func FuzzSwift(f *testing.F)      { fuzz(f, "Swift") }
func FuzzCSharp(f *testing.F)     { fuzz(f, "C#") }
func FuzzPHP(f *testing.F)        { fuzz(f, "PHP") }
func FuzzC(f *testing.F)          { fuzz(f, "C") }
func FuzzCPlusPlus(f *testing.F)  { fuzz(f, "C++") }
