package source_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
)

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
