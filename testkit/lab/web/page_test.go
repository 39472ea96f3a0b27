package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/seed889630bf/lastword/actors/llmstxt"
)

// The page finds in an llms.txt what lastword check finds, in good files and in broken ones.
func TestChecksAgree(t *testing.T) {
	const good = "# Name\n\n> Summary.\n\nDetails.\n\n## Docs\n\n- [Title](https://example.com/a): note\n- [Other](docs/b.md)\n"
	pieces := []string{"# Name", "## Docs", "### More", "> quote", ">", "> # x", "- [a](b)", "- [a](b): n", "- [a](b) n", "- [](b)",
		"- [a`b](c)", "- [a\\`b](c)", "- [a [b] c](d)", "- [a](about:x)", "- [a](https:///x)", "- [a](https://x/é)", "- [a](b c)", "- [a](b",
		"- [a](b): ", "- a", "* [a](b)", "  - [a](b)", "```", "````", "~~~", "===", "---", "text", "", " ", "\t# x", " ## More", "#\tName", "## xmlDocs", "## My Docs",
		"## docs", "## 1", "a\u200bb", "a\rb", "end\r", "\u2028", "#", "#x", "## ", "- [a](%zz)", "- [a](1:2)", "- [a](#x)", "- [a](//x/y)", "# a\\#b"}
	texts := []string{good, "", "\n", "# Name", "# Name\n\n"}
	r := rand.New(rand.NewPCG(19, 1))
	for range 3000 {
		lines := strings.Split(good, "\n")
		for range 1 + r.IntN(4) {
			i, piece := r.IntN(len(lines)), pieces[r.IntN(len(pieces))]
			switch r.IntN(3) {
			case 0:
				lines[i] = piece
			case 1:
				lines = append(lines[:i], append([]string{piece}, lines[i:]...)...)
			default:
				lines = append(lines[:i:i], lines[i+1:]...)
			}
			if len(lines) == 0 {
				lines = []string{""}
			}
		}
		texts = append(texts, strings.Join(lines, "\n"))
	}
	input, err := json.Marshal(texts)
	must(t, err)
	var said [][]string
	must(t, json.Unmarshal(runScript(t, checkAll, input), &said))
	for i, text := range texts {
		want := []string{}
		_, problems := llmstxt.Parse(text)
		for _, p := range problems {
			want = append(want, fmt.Sprintf("%d %s", p.Line, p.Rule))
		}
		if !reflect.DeepEqual(said[i], want) {
			t.Fatalf("%q: the page finds %q, lastword check %q", text, said[i], want)
		}
	}
}

const checkAll = `import { readFileSync } from "node:fs";
import { check } from "./run/check";
const texts = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => check(text).findings.map((f) => f.line + " " + f.rule))));`

// A text is cut into blocks that are parsed alone. However it grew, and whatever was taken back, they make up the text.
func TestBlocksMakeUpTheText(t *testing.T) {
	var failures []string
	must(t, json.Unmarshal(runScript(t, growTexts, nil), &failures))
	for _, failure := range failures {
		t.Error(failure)
	}
}

const growTexts = `import { Blocks } from "./run/markdown";
let seed = 19;
const draw = (n) => (seed = (seed * 48271) % 2147483647) % n;
const pieces = ["# head\n", "\n", "\n\n", "word ", "- item\n", "1. one\n", "> quote\n", "\r\n", "~~~\n", "code\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n",
	"===\n", "[a](b)", "<b>", "\t", "  ", "x".repeat(9000), "é🌍", "[r]: u\n", "*", "**"];
const failures = [];
for (let i = 0; i < 400; i++) {
	const blocks = new Blocks();
	let text = "";
	for (let n = draw(40); n > 0; n--) {
		text = draw(30) ? text + pieces[draw(pieces.length)] : text.slice(0, draw(text.length + 1));
		const whole = blocks.of(text).map((b) => b.text).join("");
		if (whole.replace(/\s/g, "") !== text.replace(/\s/g, "")) failures.push("the blocks of " + JSON.stringify(text.slice(0, 300)) + " are " + JSON.stringify(whole.slice(0, 300)));
	}
}
console.log(JSON.stringify(failures.slice(0, 3)));`

// page is the source of the page.
const page = "../../../transport/web/page"

var update = flag.Bool("update", false, "build the page")

// TestBuilt compares what the program holds with what esbuild makes of the page's source. go generate rewrites it.
func TestBuilt(t *testing.T) {
	source, err := filepath.Abs(page)
	must(t, err)
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(source, "main.tsx")}, Outdir: source, EntryNames: "page",
		Bundle: true, MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Format: api.FormatESModule, Target: api.ES2023, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsEndOfFile,
		JSX: api.JSXAutomatic, JSXImportSource: "preact",
		Alias: vendored(source),
	})
	for _, message := range append(result.Errors, result.Warnings...) {
		t.Errorf("%+v: %s", message.Location, message.Text)
	}
	if len(result.OutputFiles) != 2 {
		t.Fatalf("esbuild made %d files, want the script and the styles", len(result.OutputFiles))
	}
	for _, made := range result.OutputFiles {
		name := filepath.Join(page, "..", "built", filepath.Base(made.Path)+".gz")
		had, _ := os.ReadFile(name) // what is missing or broken is built
		if plain, err := unzip(had); err == nil && bytes.Equal(plain, made.Contents) {
			continue
		}
		if !*update {
			t.Errorf("%s is not what esbuild makes of the source: run go generate ./transport/web", name)
			continue
		}
		must(t, os.WriteFile(name, zipped(t, made.Contents), 0o644))
	}
}

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	must(t, err)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	must(t, w.Close())
	return out.Bytes()
}

// vendored is where the page's libraries are, by the names that its source imports.
func vendored(source string) map[string]string {
	vendor := func(name string) string { return filepath.Join(source, "vendor", name+".mjs") }
	return map[string]string{"preact": vendor("preact"), "preact/hooks": vendor("preact-hooks"),
		"preact/jsx-runtime": vendor("preact-jsx-runtime"), "@preact/signals": vendor("signals"),
		"@preact/signals-core": vendor("signals-core"), "marked": vendor("marked")}
}
