package generate_test

import (
	"encoding/binary"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/messages"
)

// material writes the files, whatever their names, into a folder "garden".
func material(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "garden")
	must(t, os.Mkdir(dir, 0o755))
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Skipf("this file system does not take %q: %v", name, err)
		}
	}
	return dir
}

// everything asks for all files with all that they can hold.
func everything(repository, out string) generate.Input {
	return generate.Input{Repository: repository, Out: out, Options: llmstxt.Options{Full: llmstxt.FullAll, Ctx: true}}
}

// generated runs the job on the folder and gives llms.txt, which it checks: the format, that every link leads to a
// file of the folder, and that none of the artifacts has what can deceive a terminal or a reader.
func generated(t *testing.T, dir string) string {
	t.Helper()
	out := t.TempDir()
	completed(t, newJob(t, everything(dir, out), nowhere))
	files := tree(t, filepath.Join(out, "local", "garden"))
	if len(files) != 4 {
		t.Errorf("the artifacts are %q", names(files))
	}
	for name, text := range files {
		if !utf8.ValidString(text) {
			t.Errorf("%s is not UTF-8", name)
		}
		if i := strings.IndexFunc(text, deceives); i >= 0 {
			t.Errorf("%s has %q in it", name, text[max(0, i-10):min(len(text), i+10)])
		}
	}
	text := files["llms.txt"]
	document, problems := llmstxt.Parse(text)
	if len(problems) > 0 {
		t.Errorf("%v in\n%s", problems, text)
	}
	for _, section := range document.Sections {
		for _, link := range section.Links {
			path, err := url.PathUnescape(link.URL)
			if _, missing := os.Stat(filepath.Join(dir, filepath.FromSlash(path))); err != nil || missing != nil {
				t.Errorf("the link to %s leads nowhere: %v, %v", link.URL, err, missing)
			}
		}
	}
	return text
}

func deceives(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
}

func inUTF16(text string) string {
	data := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(text)) {
		data = binary.LittleEndian.AppendUint16(data, unit)
	}
	return string(data)
}

// TestHardReadmes wants the title, where one can be seen, and the purpose of whatever there is to read.
func TestHardReadmes(t *testing.T) {
	const says = "Garden grows things with patience"
	for name, c := range map[string]struct{ file, text, title, purpose string }{
		"rst": {"README.rst", "======\nGarden\n======\n\n.. image:: x.png\n   :alt: badge\n\n" + says +
			".\n\nInstall\n-------\n\nRun make.\n", "Garden", says},
		"adoc":     {"README.adoc", "= Garden\n:toc:\n\n" + says + ".\n\n== Install\n\nRun make.\n", "Garden", says},
		"org":      {"README.org", "#+TITLE: Garden\n#+AUTHOR: X\n\n" + says + ".\n\n* Install\nRun make.\n", "", says},
		"textile":  {"README.textile", "h1. Garden\n\n" + says + ".\n", "", says},
		"rdoc":     {"README.rdoc", "= Garden\n\n" + says + ".\n", "", says},
		"pod":      {"README.pod", "=head1 NAME\n\nGarden\n\n=head1 DESCRIPTION\n\n" + says + ".\n", "", ""}, // far from the title
		"plain":    {"README", "Garden\n======\n\n" + says + ".\n", "", says},
		"chinese":  {"README.md", "# 花园\n\n花园是一个帮助你种植植物的工具。它很简单，也很快。\n", "花园", "帮助你种植植物的工具"},
		"japanese": {"README.md", "# 庭園\n\n庭園は植物を育てるための小さくて速いツールです。\n", "庭園", "植物を育てるための"},
		"russian":  {"README.md", "# Сад\n\nСад помогает выращивать растения с терпением.\n", "Сад", "помогает выращивать растения"},
		"arabic":   {"README.md", "# حديقة\n\nحديقة أداة تساعدك على زراعة النباتات بصبر وعناية.\n", "حديقة", "زراعة النباتات"},
		"crlf":     {"README.md", "# Garden\r\n\r\n" + says + ".\r\n\r\n* a\r\n* b\r\n", "Garden", says},
		"mark":     {"README.md", "\uFEFF# Garden\n\n" + says + ".\n", "Garden", says},
		"utf-16":   {"README.md", inUTF16("# Garden\r\n\r\n" + says + ", größer.\r\n"), "Garden", says + ", größer"},
		"latin-1": {"README.md", "# Jardin\n\nLe jardin fait pousser des l\xe9gumes \xe0 la maison.\n",
			"Jardin", "des légumes à la maison"},
		"damaged": {"README.md", "# Garden\n\n" + says + " \xff.\n\n" + strings.Repeat("Цветы и деревья. ", 9), "Garden", says},
		"escapes": {"README.md", "# Gar\x1b[31mden\n\n\x1b]0;x\x07" + says + "\u202e\u200b </doc> & <script>x</script>.\n",
			"Garden", ""}, // it does not begin with the project's name
	} {
		t.Run(name, func(t *testing.T) {
			text := generated(t, material(t, map[string]string{c.file: c.text}))
			document, _ := llmstxt.Parse(text)
			if c.title != "" && document.Title != c.title || !strings.Contains(document.Summary, c.purpose) {
				t.Errorf("title %q, summary %q, want %q and %q", document.Title, document.Summary, c.title, c.purpose)
			}
		})
	}
}

func TestHardNames(t *testing.T) {
	files := map[string]string{"README.md": "# Garden\n\nGrows things with patience.\n"}
	for _, name := range []string{"a b", "[x](y)", "new\nline", "..", "a..b/c", "Case", "case", "'\"<>&", "\u202ebidi",
		"esc\x1b[31m", "100%", "%41", "a#b?c", `back\slash`, "-dash", "ünï", "`tick`", "*star*_", "]]>", "日本語"} {
		files["docs/"+name+".md"] = "# Page\n\nA page that tells of " + name + " and of nothing else.\n"
	}
	files["docs/bad\xff.md"] = "# Unseen\n"
	text := generated(t, material(t, files))
	if !strings.Contains(text, "(docs/a%20b.md)") || !strings.Contains(text, "(docs/Case.md)") ||
		!strings.Contains(text, "(docs/case.md)") || strings.Contains(text, "Unseen") {
		t.Errorf("the pages are not as they should be in\n%s", text)
	}
}

// TestLittleToSay wants a file that passes, or a failure with a code that says why.
func TestLittleToSay(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"empty":         nil,
		"all binary":    {"a.png": "\x89PNG", "b.dat": "\x00\x01", "sub/c": "\xff\xfe\x00\x00"},
		"empty files":   {"README.md": "", "a.go": "", "b/.gitkeep": ""},
		"only badges":   {"README.md": "[![x](https://example.com/y)](https://example.com/z)\n"},
		"all ignored":   {".lastwordignore": "*\n", "README.md": "# Garden\n"},
		"only a lock":   {"yarn.lock": "# yarn lockfile v1\n"},
		"only tests":    {"a_test.go": "package a\n"},
		"broken go":     {"a.go": "package\n\nfunc ((((\n", "go.mod": "modul x\n", "package.json": "{"},
		"lone brackets": {"README.md": "# [[[\n\n](((\n\n> > >\n\n```\n"},
	} {
		little := name == "empty" || name == "all binary" || name == "all ignored"
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			state := end(t, newJob(t, everything(material(t, files), out), nowhere))
			switch {
			case state.Status == messages.Failed != little:
				t.Errorf("it is %s: %+v", state.Status, state.End.Error)
			case state.Status == messages.Failed:
				if state.End.Cause != messages.CauseInvalidInput && state.End.Cause != messages.CauseLimitExceeded {
					t.Errorf("it fails with %s: %+v", state.End.Cause, state.End.Error)
				}
				if left := tree(t, out); len(left) > 0 {
					t.Errorf("it fails and leaves %q", names(left))
				}
			case state.Status != messages.Completed:
				t.Errorf("it is %s", state.Status)
			default:
				text := read(t, filepath.Join(out, "local", "garden", "llms.txt"))
				if _, problems := llmstxt.Parse(text); len(problems) > 0 {
					t.Errorf("%v in\n%s", problems, text)
				}
			}
		})
	}
}

func TestNoReadme(t *testing.T) {
	text := generated(t, material(t, map[string]string{
		"go.mod":    "module example.com/plants/garden\n",
		"garden.go": "// Package garden grows things with patience.\npackage garden\n\n// Grow grows.\nfunc Grow() {}\n",
		"bin/water": "#!/bin/sh\n# Waters the garden.\necho water\n",
	}))
	if !strings.Contains(text, "grows things with patience") || !strings.Contains(text, "(garden.go)") {
		t.Errorf("the package's own words are missing in\n%s", text)
	}
}

func TestHugeFileAside(t *testing.T) {
	dir := material(t, map[string]string{"README.md": "# Garden\n\nGrows things with patience.\n", "data.csv": "a,b\n"})
	if err := os.Truncate(filepath.Join(dir, "data.csv"), 2<<30); err != nil {
		t.Skip(err)
	}
	if text := generated(t, dir); strings.Contains(text, "data.csv") {
		t.Errorf("a file of 2 GiB is listed in\n%s", text)
	}
}
