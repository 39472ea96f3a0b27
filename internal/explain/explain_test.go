package explain_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/explain"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

var update = flag.Bool("update", false, "write what the logs explain")

// The sentences of logs of several endings. A line of a log is the time since its beginning, the kind and the payload.
func TestSentences(t *testing.T) {
	const name, golden = "testdata/logs.txt", "testdata/sentences.txt"
	logs, err := os.ReadFile(name)
	fatal.IfError(t, err)
	var got strings.Builder
	for story := range strings.SplitSeq(strings.TrimPrefix(string(logs), "== "), "\n== ") {
		title, lines, _ := strings.Cut(story, "\n")
		var run explain.Run
		seq := 0
		for line := range strings.Lines(lines) {
			seq++
			run.Add(event(t, seq, line))
		}
		fmt.Fprintf(&got, "== %s\n%s\n", title, strings.Join(run.Sentences(), "\n"))
	}
	if *update {
		fatal.IfError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != got.String() {
		t.Errorf("%v; the sentences are\n%s", err, got.String())
	}
}

func event(t *testing.T, seq int, line string) (e messages.Event) {
	t.Helper()
	at, rest, _ := strings.Cut(line, " ")
	kind, payload, _ := strings.Cut(rest, " ")
	since, err := time.ParseDuration(at)
	if err == nil {
		err = json.Unmarshal(fmt.Appendf(nil, `{"run_id":"r_a","seq":%d,"ts":%q,"type":%q,"payload":%s}`, seq,
			time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC).Add(since).Format(time.RFC3339Nano), kind, payload), &e)
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return e
}
