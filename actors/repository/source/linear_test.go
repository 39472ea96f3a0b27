package source_test

import (
	"bytes"
	"testing"

	"github.com/seed889630bf/lastword/actors/repository/source"
)

// hostile repeats what opens something and never closes it.
func hostile(piece string, size int) []byte {
	return append([]byte("package p\n"), bytes.Repeat([]byte(piece), size/len(piece))...)
}

func openings() []string {
	return []string{
		"(", "{", "[", "\"", "'", "`", "f\"{", "f'''{", "\\", "#", "/*", "//", "<", "::", ".", "=", "$(",
		"${", "def f(\n", "def f(x\n", "class A\n", "class A:\n", "  def f\n", "x <<A\n", "x <<~A\n",
		"cat <<A\n", "# x. y\n", "# :a `b\n", "\"\"\"", "'''", "\"\"\"\n", "@doc \"\"\"\n", "@doc x\n",
		"def f(a,\n", "defmodule A do\n", "func (\n", "func F(", "type T struct {", "[]", "map[", "*", "f() {\n",
		"source a\n", "A = 1\n", "A, ", "A = [\n", "import a,", "from .a import (b,", "attr_reader :a, ",
		"private :a, ", "if x:\n", " ", "\t", "\n", "\r\n", "=begin\n", "usage:\n", "\u00e9", "@overload\n",
		"@a\ndef b(): 'c'\n", "const A = ", "// A {\n", "private def a(\n", "when\n", "def a,\n", "@callback a(b,\n",
		"defstruct a,\n", "function f\n", "A. B. ", "#: a ``\n", "\"\"\"a `", "x=1;", "alias a b\n",
	}
}

var lined = []string{"Python", "Ruby", "Elixir", "Shell"} // Go has the standard library's parser

// Hostile text keeps every promise, and takes no longer than other text of its size: see BenchmarkHostile.
func TestHostileText(t *testing.T) {
	for _, language := range lined {
		for _, piece := range openings() {
			text := hostile(piece, 1<<13)
			o, _ := source.Outline(t.Context(), language, text)
			promised(t, text, o)
		}
	}
}

// The time for each byte does not grow with the text.
func BenchmarkHostile(b *testing.B) {
	for _, language := range lined {
		for name, size := range map[string]int{"32k": 1 << 15, "512k": 1 << 19} {
			b.Run(language+"/"+name, func(b *testing.B) {
				var bytes int64
				for b.Loop() {
					for _, piece := range openings() {
						text := hostile(piece, size)
						source.Outline(b.Context(), language, text)
						bytes += int64(len(text))
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(bytes), "ns/byte")
			})
		}
	}
}
