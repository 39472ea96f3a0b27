package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
)

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
