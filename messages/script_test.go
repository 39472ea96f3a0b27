package messages_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Each script is a story: lines "seq type payload" or "from..seq type payload", then a line "---" and what the story
// adds up to. Lines that begin with # say what it is about. A refused line changes nothing, and the story goes on.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "scripts", "*.txt"))
	if err != nil || len(paths) < 12 {
		t.Fatalf("%d scripts, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			page, err := os.ReadFile(path)
			must(t, err)
			logOf, _, _ := strings.Cut(string(page), "---\n")
			golden(t, path, []byte(logOf+"---\n"+play(t, logOf)))
		})
	}
}

func play(t *testing.T, story string) string {
	var out strings.Builder
	var s messages.State
	for line := range strings.Lines(story) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		next, err := s.Apply(scriptEvent(t, line))
		if err != nil {
			fmt.Fprintln(&out, err)
		}
		s = next
	}
	show(t, &out, s)
	return out.String()
}

func scriptEvent(t *testing.T, line string) messages.Event {
	number, rest, _ := strings.Cut(line, " ")
	kind, payload, _ := strings.Cut(rest, " ")
	from, seq, spans := strings.Cut(number, "..")
	if !spans {
		seq = from
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	ts := epoch.Add(time.Duration(n) * time.Millisecond).Format(time.RFC3339Nano)
	if payload == "" {
		payload = "{}"
	}
	wire := fmt.Sprintf(`{"run_id":%q,"seq":%s,"from":%s,"ts":%q,"type":%q,"payload":%s}`, runID, seq, from, ts, kind, payload)
	var e messages.Event
	if err := json.Unmarshal([]byte(wire), &e); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return e
}

// show writes what there is in a state, a line for each thing.
func show(t *testing.T, out *strings.Builder, s messages.State) {
	fmt.Fprintf(out, "run      %s at %d", s.Status, s.Seq)
	if s.Canceling {
		out.WriteString(", canceling")
	}
	fmt.Fprintf(out, ", last milestone %d\n", s.Milestone)
	for _, v := range s.Tasks {
		fmt.Fprintf(out, "task     %s is %s, attempt %d\n", v.Name, v.Status, v.Attempt)
	}
	for _, v := range s.Streams {
		fmt.Fprintf(out, "stream   %s %q, %d deltas, closed %t\n", v.Name, v.Text(), v.Index, v.Closed)
	}
	for _, v := range s.Progress {
		fmt.Fprintf(out, "progress %s %d of %d\n", v.Task, v.Done, v.Total)
	}
	for _, v := range s.Log.Lines {
		fmt.Fprintf(out, "log      %d %s %s\n", v.Number, v.Level, v.Text)
	}
	if n := int(s.Log.Next) - 1 - len(s.Log.Lines); n > 0 {
		fmt.Fprintf(out, "log      %d lines dropped\n", n)
	}
	for _, v := range s.Calls {
		fmt.Fprintf(out, "call     %s %s, ended %t, progress %d\n", v.ID, v.Name, v.Ended, v.Progress.Done)
	}
	for _, v := range s.Artifacts {
		fmt.Fprintf(out, "artifact %s, %d bytes, partial %t\n", v.Name, v.Bytes, v.Partial)
	}
	for _, v := range s.Inputs {
		fmt.Fprintf(out, "input    %s %q %s closed %t %s\n", v.Request, v.Prompt, v.Schema, v.Closed, v.Value)
	}
	for _, v := range s.Messages {
		fmt.Fprintf(out, "message  %s %s %q, delivered %q, seen %t, dropped %q\n", v.Message, v.Mode, v.Content, v.At, v.Seen, v.Dropped)
	}
	for _, v := range s.Children {
		fmt.Fprintf(out, "child    %s %s %s\n", strings.TrimPrefix(string(v.Child), string(runID)), v.Job, v.Status)
	}
	for _, v := range s.Steps {
		fmt.Fprintf(out, "step     %s round %d, running %t, outcome %q\n", v.Name, v.Rounds, v.Running, v.Outcome)
	}
	for _, v := range s.Kept {
		fmt.Fprintf(out, "kept     %s of %s, begun %t, result %s, error %v\n", v.Step, v.Task, v.Begun, v.Result, v.Error)
	}
	if s.End != nil {
		fmt.Fprintf(out, "end      %s\n", asJSON(t, s.End))
	}
}
