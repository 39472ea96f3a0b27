package page_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
)

// purpose is the summary that a README alone gives.
func purpose(path, text string) (title, summary string) {
	p := page.Read(path, text)
	switch {
	case p.Lead != "":
		return p.Title, prose.Opening(p.Lead)
	case len(p.Prose) > 0:
		return p.Title, prose.Opening(p.Prose[0].Text)
	case len(p.Taglines) > 0:
		return p.Title, prose.Opening(p.Taglines[0])
	}
	return p.Title, ""
}

func TestPurposeIsTheFirstRealProse(t *testing.T) {
	const want = "Frobs widgets over the network."
	tests := map[string]string{
		"plain":         "# Name\n\n" + want + "\n",
		"badges":        "# Name\n\n[![ci](https://x/b.svg)](https://x) ![b](b.svg)\n\n" + want + "\n",
		"html":          "# Name\n\n<div align=\"center\">\n<img src=\"logo.png\">\n</div>\n\n" + want + "\n",
		"comment":       "<!-- a comment that is long enough to be want -->\n# Name\n\n" + want + "\n",
		"badge in line": "# Name\n\n[![AgentRank](b.svg)](https://x)\n<strong>" + want + "</strong>\n",
		"nav row":       "# Name\n\n[Documentation](d) | [Discord community](e) | [Website of it](f)\n\n" + want + "\n",
		"contents":      "# Name\n\n- [One thing](#one)\n- [Another](#two)\n\n" + want + "\n",
		"install first": "# Name\n\n## Installation\n\nRun the installer that fits your system.\n\n## About\n\n" + want +
			"\n",
		"quoted":     "# Name\n\n> " + want + "\n",
		"alert":      "# Name\n\n> [!WARNING]\n> This is not yet ready to be used.\n\n" + want + "\n",
		"code":       "# Name\n\n```\nsome code that is long enough to count\n```\n\n" + want + "\n",
		"table":      "# Name\n\n| a long heading of a table | b |\n|---|---|\n| c | d |\n\n" + want + "\n",
		"lead-in":    "# Name\n\nHere is what you need to do first:\n\n" + want + "\n",
		"short":      "# Name\n\nThat's it!\n\n" + want + "\n",
		"only html":  "<h1 align=\"center\">Name</h1>\n<p align=\"center\">" + want + "</p>\n",
		"soft break": "# Name\n\nFrobs widgets\nover the network.\n",
		"emphasis":   "# Name\n\n**Frobs** [widgets](w) over the *network*.\n",
		"liquid":     "# Name\n\nFrobs [widgets]({% link w.md %}) over [the]({{ '/n/' | relative_url }}) network.\n",
		"setext":     "Name\n====\n\n" + want + "\n",
		"carriage":   "# Name\r\n\r\n" + want + "\r\n",
		"front matter": "---\ntitle: Name\ndescription: \"" + want +
			"\"\n---\n\n# Other\n\nSomething that is quite different.\n",
		"byte order":     "\uFEFF# Name\n\n" + want + "\n",
		"heading id":     "# Name {#name}\n\n" + want + "\n",
		"second heading": "## Name\n\n" + want + "\n",
	}
	for name, text := range tests {
		if title, got := purpose("README.md", text); got != want || title != "Name" {
			t.Errorf("%s: %q, %q", name, title, got)
		}
	}
}

func TestPurposeOfOtherFormats(t *testing.T) {
	const want = "Frobs widgets over the network."
	for path, text := range map[string]string{
		"README.rst":  "====\nName\n====\n\n.. image:: x.svg\n   :alt: something\n\n" + want + "\n",
		"README.adoc": "ifdef::env-github[:a: b]\nimage::https://ci.example/a.svg[\"Build\", link=\"https://ci.example\"]\n\n[[name]]\n= Name\n\nlink:{home}[Frobs] xref:the/widgets.adoc[] over https://frob.example[the network^].\n",
		"README":      "Name\n----\n\n" + want + "\n",
		"a.md":        "% Name\n% Jane Doe\n\n" + want + "\n",
		"README.mdx":  "import Foo from 'foo-package-name'\n\n# Name\n\n<Foo.Bar>\n\n" + want + "\n",
	} {
		if title, got := purpose(path, text); got != want || title != "Name" {
			t.Errorf("%s: %q, %q", path, title, got)
		}
	}
}

func TestLicence(t *testing.T) {
	for text, want := range map[string]string{
		"Permission is hereby granted, free of charge,\nto any person obtaining a copy":                                            "MIT",
		"Apache License\n   Version 2.0, January 2004":                                                                             "Apache-2.0",
		"GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007":                                                                     "GPL-3.0",
		"GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3":                                                                            "AGPL-3.0",
		"Mozilla Public License Version 2.0\n1.12. \"Secondary License\" means the GNU Affero General Public License, Version 3.0": "MPL-2.0",
		"All mine.": "",
	} {
		if got := page.LicenceOf(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
