package web_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

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
