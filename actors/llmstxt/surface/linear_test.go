package surface_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/llmstxt/surface"
)

// Texts that repeat what opens something take no longer than the rest of their
// size explains: a scanner that goes over them again and again takes minutes.
func TestScannersAreLinear(t *testing.T) {
	pieces := []string{"(", "{", "[", "\"", "'", "`", "f\"{", "f'''{", "\\", "#", "/*", "//", "<", "::", ".", "=", "$(", "${",
		"def f(\n", "def f(x\n", "class A\n", "class A:\n", "  def f\n", "x <<A\n", "x <<~A\n", "cat <<A\n", "# x. y\n",
		"# :a `b\n", "\"\"\"", "'''", "\"\"\"\n", "@doc \"\"\"\n", "@doc x\n", "def f(a,\n", "defmodule A do\n", "func (\n",
		"func F(", "type T struct {", "[]", "map[", "*", "f() {\n", "source a\n", "A = 1\n", "A, ", "A = [\n", "import a,",
		"from .a import (b,", "attr_reader :a, ", "private :a, ", "if x:\n", " ", "\t", "\n", "\r\n", "=begin\n", "usage:\n",
		"\u00e9", "@overload\n", "@a\ndef b(): 'c'\n", "const A = ", "// A {\n", "private def a(\n", "when\n", "def a,\n",
		"@callback a(b,\n", "defstruct a,\n", "function f\n", "A. B. ", "#: a ``\n", "\"\"\"a `", "x=1;", "alias a b\n"}
	for _, language := range []string{"Go", "Python", "Ruby", "Elixir", "Shell"} {
		for _, piece := range pieces {
			text := append([]byte("package p\n"), bytes.Repeat([]byte(piece), surface.MaxBytes/4/len(piece))...)
			began := time.Now()
			o, _ := surface.Of(language, text)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s takes %v for %q", language, took, piece)
			}
			promised(t, text, o)
		}
	}
}
