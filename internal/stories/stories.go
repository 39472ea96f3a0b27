package stories

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/messages"
)

// Story is the log of a whole run, as a door serves it.
type Story struct {
	Name   string
	Events []messages.Event
}

// State returns the sum of the story's log.
func (s Story) State() messages.State {
	state, err := Fold(s.Events)
	if err != nil {
		panic(fmt.Sprintf("the story %s is not legal: %v", s.Name, err))
	}
	return state
}

//go:embed stories.txt
var archive []byte

// Run is the id of the run in every story.
const Run messages.RunID = "r_story"

// All returns one log for each thing that a reader in another protocol's format must get right: plain, two streams,
// tool error, restart inside a text, recovery, question, cancel, failure, child, cut.
func All() []Story {
	var all []Story
	for _, file := range txtar.Parse(archive).Files {
		story := Story{Name: file.Name}
		for line := range strings.Lines(string(file.Data)) {
			if !strings.HasPrefix(line, "#") {
				story.Events = append(story.Events, event(strings.TrimSuffix(line, "\n")))
			}
		}
		all = append(all, story)
	}
	return all
}

// event parses a line: NUMBER or FROM..NUMBER, kind, payload. The digest of a done event is computed from its text.
func event(line string) messages.Event {
	numbers, rest, _ := strings.Cut(line, " ")
	kind, payload, _ := strings.Cut(rest, " ")
	from, seq, merged := strings.Cut(numbers, "..")
	if !merged {
		seq = from
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	var e messages.Event
	if err == nil {
		when := time.Date(2026, 11, 20, 20, 0, 0, int(n%1_000_000)*int(time.Microsecond), time.UTC)
		err = json.Unmarshal(fmt.Appendf(nil, `{"run_id":%q,"from":%s,"seq":%s,"ts":%q,"type":%q,"payload":%s}`,
			Run, from, seq, when.Format(time.RFC3339Nano), kind, payload), &e)
	}
	if err != nil {
		panic(fmt.Sprintf("the story line %q: %v", line, err))
	}
	switch b := e.Body.(type) {
	case messages.TextDone:
		b.SHA256 = messages.Digest(b.Text)
		e.Body = b
	case messages.ThoughtDone:
		b.SHA256 = messages.Digest(b.Text)
		e.Body = b
	}
	return e
}

// Golden compares a door's output for the story with testdata/NAME.golden. With update it writes that file first.
func (s Story) Golden(t testing.TB, update bool, got string) {
	t.Helper()
	file := filepath.Join("testdata", strings.ReplaceAll(s.Name, " ", "-")+".golden")
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got {
		t.Errorf("%s is told as (%v)\n%s", s.Name, err, got)
	}
}

// Fold returns the State of a log.
func Fold(events []messages.Event) (messages.State, error) {
	var f messages.Fold
	for _, e := range events {
		if err := f.Apply(e); err != nil {
			return f.State(), err
		}
	}
	return f.State(), nil
}
