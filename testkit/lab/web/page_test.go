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
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
)

// The page finds in an llms.txt what lastword check finds, in good files and in broken ones.
func TestChecksAgree(t *testing.T) {
	const good = "# Name\n\n> Summary.\n\nDetails.\n\n## Docs\n\n- [Title](https://example.com/a): note\n- [Other](docs/b.md)\n"
	pieces := []string{"# Name", "## Docs", "### More", "> quote", ">", "> # x", "- [a](b)", "- [a](b): n", "- [a](b) n", "- [](b)",
		"- [a`b](c)", "- [a\\`b](c)", "- [a [b] c](d)", "- [a](about:x)", "- [a](https:///x)", "- [a](https://x/é)", "- [a](b c)", "- [a](b",
		"- [a](b): ", "- a", "* [a](b)", "  - [a](b)", "```", "````", "~~~", "===", "---", "text", "", " ", "\t# x", " ## More", "#\tName", "## xmlDocs", "## My Docs",
		"## docs", "## 1", "a\u200bb", "a\rb", "end\r", "\u2028", "#", "#x", "## ", "- [a](%zz)", "- [a](1:2)", "- [a](#x)", "- [a](//x/y)", "# a\\#b"}
	texts, r := []string{good, "", "\n", "# Name", "# Name\n\n"}, rand.New(rand.NewPCG(19, 1))
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
		must(t, os.WriteFile(name, fatal.Packed(t, made.Contents), 0o644))
	}
}

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// vendored is where the page's libraries are, by the names that its source imports.
func vendored(source string) map[string]string {
	vendor := func(name string) string { return filepath.Join(source, "vendor", name+".mjs") }
	return map[string]string{"preact": vendor("preact"), "preact/hooks": vendor("preact-hooks"),
		"preact/jsx-runtime": vendor("preact-jsx-runtime"), "@preact/signals": vendor("signals"),
		"@preact/signals-core": vendor("signals-core"), "marked": vendor("marked")}
}

// One law: after every event of every golden log, merged or not, the page's reducer says the State that Go's says.
func TestReducersAgree(t *testing.T) {
	logs := map[string][]messages.Event{}
	for _, story := range stories.All() {
		logs["story "+story.Name] = story.Events
		logs["story "+story.Name+", with texts left out"] = omitted(t, story.Events)
		logs["story "+story.Name+", merged"] = messages.MergeDeltas(story.Events)
		logs["story "+story.Name+", merged in the middle of a stretch"] = crossing(story.Events)
	}
	scripts, err := filepath.Glob("../../../messages/testdata/scripts/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	for _, path := range scripts {
		logs[filepath.Base(path)] = script(t, path)
	}
	input, err := json.Marshal(logs)
	must(t, err)
	var said map[string][]json.RawMessage
	must(t, json.Unmarshal(runScript(t, reduceAll, input), &said))
	for name, log := range logs {
		t.Run(name, func(t *testing.T) {
			var fold messages.Fold
			for i, e := range log {
				must(t, fold.Apply(e))
				var page messages.State
				if err := json.Unmarshal(said[name][i], &page); err != nil {
					t.Fatalf("%s\n%v", said[name][i], err)
				}
				if want, got := value(t, fold.State()), value(t, page); !reflect.DeepEqual(want, got) {
					t.Fatalf("after %d (%s) the page has\n%v\nwant\n%v", e.Seq, e.Kind(), got, want)
				}
			}
		})
	}
}

// omitted is the log as a reader gets it who asks for digests: no text that it has, and before a text that takes some
// back the part that does.
func omitted(t *testing.T, events []messages.Event) (out []messages.Event) {
	var fold messages.Fold
	for _, e := range events {
		d, done := messages.DoneOf(e.Body)
		had, known := fold.Stream(d.Stream)
		must(t, fold.Apply(e))
		if done && known {
			if had.Text() != d.Text {
				var part messages.Body = messages.TextDelta{Stream: d.Stream, Task: d.Task, Text: d.Text, Part: true}
				if had.Thought {
					part = messages.ThoughtDelta(part.(messages.TextDelta))
				}
				out = append(out, messages.Event{RunID: e.RunID, From: e.Seq, Seq: e.Seq, Time: e.Time, Body: part})
			}
			e.Body = messages.Omit(e.Body)
		}
		out = append(out, e.Unshared())
	}
	return out
}

// reduceAll writes the State after every event of every log.
const reduceAll = `import { readFileSync } from "node:fs";
import { Fold } from "./state/fold";
const said = {};
for (const [name, log] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
	const fold = new Fold();
	said[name] = log.map((event) => {
		fold.apply(event);
		return JSON.parse(JSON.stringify(fold.state));
	});
}
console.log(JSON.stringify(said));`

// crossing is the log as a reader sees it who has half of each stretch of deltas when it comes as one event.
func crossing(events []messages.Event) []messages.Event {
	var out []messages.Event
	for i := 0; i < len(events); {
		end := i + 1
		for end < len(events) && messages.CanMerge(events[end-1], events[end]) {
			end++
		}
		out = append(out, events[i:i+(end-i+1)/2]...)
		if end-i > 1 {
			out = append(out, messages.Merge(events[i:end]))
		}
		i = end
	}
	return out
}

// script is the part of a story of package messages that is legal.
func script(t *testing.T, path string) (log []messages.Event) {
	page, err := os.ReadFile(path)
	must(t, err)
	story, _, _ := strings.Cut(string(page), "---\n")
	var fold messages.Fold
	for line := range strings.Lines(story) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) < 2 || fields[0] == "#" {
			continue
		}
		from, seq, spans := strings.Cut(fields[0], "..")
		if !spans {
			seq = from
		}
		payload := strings.Join(append(fields[2:], "{}")[:1], "")
		at := time.Unix(1e9, int64(len(log))*1e6).UTC().Format(time.RFC3339Nano)
		wire := fmt.Sprintf(`{"run_id":"r_x","seq":%s,"from":%s,"ts":%q,"type":%q,"payload":%s}`, seq, from, at, fields[1], payload)
		var e messages.Event
		if err := json.Unmarshal([]byte(strings.ReplaceAll(wire, "r_4kqxv2m5zj7ay3hd6tnwbfeu2c", "r_x")), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if fold.Apply(e) == nil {
			log = append(log, e)
		}
	}
	return log
}

func value(t *testing.T, s messages.State) (v any) {
	t.Helper()
	data, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	must(t, err)
	return v
}

// runScript runs TypeScript that imports the page's modules in Node, and returns what it writes.
func runScript(t *testing.T, code string, input []byte) []byte {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil && os.Getenv("CI") == "" {
		t.Skip("this needs Node, from https://nodejs.org/")
	}
	source, err := filepath.Abs(page)
	must(t, err)
	bundle := api.Build(api.BuildOptions{Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", Alias: vendored(source),
		Stdin: &api.StdinOptions{Contents: code, ResolveDir: source, Loader: api.LoaderTS}})
	for _, message := range bundle.Errors {
		t.Fatalf("%+v: %s", message.Location, message.Text)
	}
	file := filepath.Join(t.TempDir(), "script.mjs")
	must(t, os.WriteFile(file, bundle.OutputFiles[0].Contents, 0o600))
	var failure bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "node", file)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &failure
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, failure.String())
	}
	return out
}

var must = fatal.IfError
