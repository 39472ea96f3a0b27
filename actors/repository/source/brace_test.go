package source_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/repository/source"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// languages with braces, a line that declares a public name, and what its file needs around such lines.
var braced = map[string][3]string{
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
}

func TestBracesAreBounded(t *testing.T) {
	for language, parts := range braced {
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
		"TypeScript": {"let a = <any>'{'", "let b: Array<Map<string, number>>= []",
			"type A<T> = T extends '{' ? 1 : 2"},
		"Rust": {"const A: char = '{';", "const B: &str = r#\"{\"\"#;", "fn f<'a>() { let b = b'{'; }",
			"/* /* */ { */",
			"const C: &[u8] = b\"{\\\"\";", "fn g() { 'l: loop { break 'l } }", "const D: char = '\\'';"},
		"Kotlin": {"val a = \"${\"{\"}{\"", "val b = \"\"\"{\"\"\"\"", "val c = '{'", "/* /* */ { */",
			"val d = \"\\\"{\""},
		"Swift": {"let a = \"\\(\"{\"){\"", "let b = #\"\"{\"#", "let c = \"\"\"\n{ \"\n\"\"\"", "/* /* */ { */",
			"#if os(Linux)\nfunc a() {\n#else\nfunc b() {\n#endif\n}"},
		"C": {"char a = '{';", "char *b = \"\\\"{\";", "#define A {", "#define B \\\n {", "#if 0\n{\n#endif",
			"#if A\nvoid f() {\n" +
				"#else\nvoid g() {\n#endif\n}", "// {", "#error don't {", "#if A\n#elif B\n{\n#else\n{\n#endif"},
		"C++": {"auto a = R\"x({)\" )x\";", "int b = 1'000;", "auto c = u8R\"({)\";"},
		"C#":  {"#region {", "#if A\nclass X {\n#else\nclass Y {\n#endif\n}"},
		"PHP": {"$a = '{';", "$a = \"{$b[\"{\"]}{\";", "$a = <<<X\n{\nX;", "$a = <<<'X'\n { X1\n  X;", "# {",
			"// { ?> { <?php",
			"?> it's { <?php", "#[A('{')]\nfunction a() {}"},
	} {
		parts := braced[language]
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

func braceOpenings() []string {
	return []string{
		"(", "{", "[", "<", "<a>", "<a b={", "`${", "`", "\"${", "\"\\(", "$\"{", "{(",
		"(}", "a<", "a<b>", "a::", "a.b=", "'", "\"", "\"\"\"", "R\"(", "/", "/*", "//\n", "/**/", "/** x\n",
		"#if A\n", "#else\n", "#define A(\\\n", "#endif\n", "@a", "@a(", "#[a", "[a]", "[[a]]", "export ",
		"export {a,", "export const {a,", "export default ", "const a = b = ", "class A{", "class A<", "class A(",
		"namespace A{", "namespace A;", "pub mod a{", "pub use a::{", "impl A{", "impl<", "fn f(", "fun f<", "fun A.",
		"val a", "val a.", "func f", "public ", "public class A{", "public int a,", "typedef ", "typedef (*",
		"struct {", "template<", "operator", "a(b) ", "A(b)\n", "AB ", "AB\n", "?>", "<?php ", "<<<A\n",
		"function f(", "type A = ", "a ? ", "a => ", "extends ", "| ", "async ", "get ", "module.exports = ",
		"exports.a = ", "a.b = function(){}\n", "i\u0301", "\n", ": a(", "=", "a extends b ? ", "#", "##", "r#", "$",
		"/**\n*/a\n", "int f(int a) {}\n", "export function f(a) {}\n",
	}
}

// Hostile text keeps every promise, and takes no longer than other text of its size: see BenchmarkHostileBraces.
func TestHostileBraces(t *testing.T) {
	for language, parts := range braced {
		for _, piece := range braceOpenings() {
			text := []byte(parts[0] + strings.Repeat(piece, 1<<13/len(piece)))
			o, _ := source.Outline(t.Context(), language, text)
			promised(t, text, o)
		}
	}
}

// The time for each byte does not grow with the text.
func BenchmarkHostileBraces(b *testing.B) {
	for language, parts := range braced {
		for name, size := range map[string]int{"32k": 1 << 15, "512k": 1 << 19} {
			b.Run(language+"/"+name, func(b *testing.B) {
				total := 0
				for b.Loop() {
					for _, piece := range braceOpenings() {
						text := []byte(parts[0] + strings.Repeat(piece, size/len(piece)))
						source.Outline(b.Context(), language, text)
						total += len(text)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/byte")
			})
		}
	}
}

// Half of a file gives the symbols of that half, but for the one that is cut.
func TestHalfAFile(t *testing.T) {
	for language, parts := range braced {
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
