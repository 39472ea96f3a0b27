package rank_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/internal/fatal"
)

// FuzzReading holds every reader of text to one tidy line, whatever the file.
func FuzzReading(f *testing.F) {
	f.Add("README.md", "# Name\n\n<p>x</p>\n\n[![b](c)](d) Prose that says something.\n")
	f.Add("README.mdx", "---\ntitle: x\n---\nimport a\n\n> quoted text of some length\n")
	f.Add("README.rst", "===\nabc\n===\n\n.. note::\n\nA :ref:`role <x>` and ``code`` of some length, and `more")
	f.Add("README.org", "#+TITLE: x\n* Heading\n#+begin_src\n")
	f.Add("LICENSE", "MIT")
	f.Add("a.1", ".TH A 1\n.SH NAME\na \\- says what it is for\n.nf\ncode\n.fi\n.Nm\n")
	f.Add("a.pod", "=head1 NAME\n\nA - says what B<it> is L<for|x>\n\n=item C<<x>>\n")
	f.Add("a.c", "#ifndef A\n#define A\n/* A comment of some length */\n\n#include <x>\n// more\nint x;")
	f.Add("a.rb", "# A comment of some length\nrequire 'x'\nautoload :X, 'y'")
	f.Add("a.rs", "use crate::{a, b};\npub mod x;\n")
	f.Add("a.py", "from . import a, b\nfrom ..c.d import (\n")
	f.Add("a.ts", "export * from './x.js'\nimport('y')\n")
	f.Fuzz(func(t *testing.T, path, text string) {
		text = strings.ToValidUTF8(text, "")
		for _, s := range rank.Read(path, text) {
			if strings.ContainsAny(s, "\n") || strings.TrimSpace(s) != s {
				t.Errorf("not one tidy line: %q", s)
			}
		}
		if n := utf8.RuneCountInString(prose.Opening(text)); n > 320 {
			t.Errorf("a summary of %d characters", n)
		}
	})
}

// hold compares the notes of links, by path; "-" is for a file that must not be linked.
func hold(t *testing.T, index *rank.Index, want map[string]string) {
	t.Helper()
	for file, note := range want {
		switch l := find(index, file); {
		case note == "-" && l.Path != "":
			t.Errorf("%s is listed: %q", file, l.Note)
		case note != "-" && (l.Path == "" || l.Note != note):
			t.Errorf("the note of %s is %q (listed: %v), want %q", file, l.Note, l.Path != "", note)
		}
	}
}

func facts(index *rank.Index) map[string]string {
	list := make(map[string]string)
	for _, f := range index.Facts {
		list[f.Name] = f.Value
	}
	return list
}

var must = fatal.IfError
