package testkit

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/messages"
)

// Story is the log of a whole run, as a door serves it.
type Story struct {
	Name   string
	Events []messages.Event
}

// State is the sum of the story's log.
func (s Story) State() messages.State {
	state, err := fold(s.Events)
	if err != nil {
		panic(fmt.Sprintf("the story %s is not legal: %v", s.Name, err))
	}
	return state
}

//go:embed stories.txt
var stories []byte

// StoryRun is the id of the run that the stories tell.
const StoryRun messages.RunID = "r_story"

// Stories returns one log for each thing that a reader in another system's format must get right: plain, two streams,
// tool error, restart inside a text, recovery, question, cancel, failure, child.
func Stories() []Story {
	var all []Story
	for _, file := range txtar.Parse(stories).Files {
		story := Story{Name: file.Name}
		for line := range strings.Lines(string(file.Data)) {
			if !strings.HasPrefix(line, "#") {
				story.Events = append(story.Events, storyEvent(strings.TrimSuffix(line, "\n")))
			}
		}
		all = append(all, story)
	}
	return all
}

// storyEvent reads a line: NUMBER or FROM..NUMBER, kind, payload. A done event's digest is that of its text.
func storyEvent(line string) messages.Event {
	numbers, rest, _ := strings.Cut(line, " ")
	kind, payload, _ := strings.Cut(rest, " ")
	from, seq, merged := strings.Cut(numbers, "..")
	if !merged {
		seq = from
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	var e messages.Event
	if err == nil {
		at := time.Date(2026, 11, 20, 20, 0, 0, int(n%1_000_000)*int(time.Microsecond), time.UTC)
		err = json.Unmarshal(fmt.Appendf(nil, `{"run_id":%q,"from":%s,"seq":%s,"ts":%q,"type":%q,"payload":%s}`,
			StoryRun, from, seq, at.Format(time.RFC3339Nano), kind, payload), &e)
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
