package surface_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/llmstxt/surface"
)

// Texts that repeat what opens something take four times as long when they are
// four times as long, not sixteen times. Go has the standard library's parser.
func TestScannersAreLinear(t *testing.T) {
	pieces := []string{
		"(", "{", "[", "\"", "'", "`", "f\"{", "f'''{", "\\", "#", "/*", "//", "<", "::", ".", "=", "$(",
		"${", "def f(\n", "def f(x\n", "class A\n", "class A:\n", "  def f\n", "x <<A\n", "x <<~A\n",
		"cat <<A\n", "# x. y\n", "# :a `b\n", "\"\"\"", "'''", "\"\"\"\n", "@doc \"\"\"\n", "@doc x\n",
		"def f(a,\n", "defmodule A do\n", "func (\n", "func F(", "type T struct {", "[]", "map[", "*",
		"f() {\n", "source a\n", "A = 1\n", "A, ", "A = [\n", "import a,", "from .a import (b,",
		"attr_reader :a, ", "private :a, ", "if x:\n", " ", "\t", "\n", "\r\n", "=begin\n", "usage:\n",
		"\u00e9", "@overload\n", "@a\ndef b(): 'c'\n", "const A = ", "// A {\n", "private def a(\n",
		"when\n", "def a,\n", "@callback a(b,\n", "defstruct a,\n", "function f\n", "A. B. ",
		"#: a ``\n", "\"\"\"a `", "x=1;", "alias a b\n",
	}
	for _, language := range []string{"Python", "Ruby", "Elixir", "Shell"} {
		for _, piece := range pieces {
			few, many := outlineTime(t, language, piece, 1<<15), outlineTime(t, language, piece, 1<<17)
			if many > 300*time.Millisecond && many > 10*few {
				t.Errorf("%s takes %v and, for four times %q, %v", language, few, piece, many)
			}
		}
	}
}

func outlineTime(t *testing.T, language, piece string, size int) time.Duration {
	t.Helper()
	text := append([]byte("package p\n"), bytes.Repeat([]byte(piece), size/len(piece))...)
	began := time.Now()
	o, _ := surface.Of(language, text)
	took := time.Since(began)
	promised(t, text, o)
	return took
}
