package command

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/form"
	"github.com/seed889630bf/lastword/messages"
)

// Line is the input of the job run: a command line.
type Line struct {
	Command []string `json:"command" jsonschema:"program and arguments, as the operator's file lists them"`
}

// Listed returns the job run. It accepts a command line instead of a job's name and input, but only one that a
// command of the file produces from a valid input. The run is then that command's.
func (f *File) Listed(config Config) actors.Definition {
	limits := messages.Limits{WallClockMS: day.Milliseconds(), StallMS: day.Milliseconds()} // the command's own hold
	return actors.Definition{Name: "run", About: messages.About{Title: "Run a listed command", Input: form.Input[Line](),
		Description: "Runs a command line that the operator's file of jobs lists.", Destructive: true, OpenWorld: true, Limits: limits},
		New: actors.Typed(func(line Line) (actors.Job, error) {
			for _, name := range slices.Sorted(maps.Keys(f.Jobs)) {
				if input, ok := f.Jobs[name].inputOf(line.Command); ok {
					return f.Jobs[name].job(input, config)
				}
			}
			return actors.Job{}, messages.InvalidInput("the operator of the server lists no command like %q", strings.Join(line.Command, " "))
		})}
}

// inputOf returns the input from which the command produces exactly these words.
func (c *Command) inputOf(words []string) (json.RawMessage, bool) {
	if len(words) != len(c.arguments) {
		return nil, false
	}
	values := map[string]any{}
	for i, a := range c.arguments {
		found := a.pattern().FindStringSubmatch(words[i])
		if found == nil {
			return nil, false
		}
		for j, name := range a.names() {
			values[name] = c.members[name].read(found[j+1])
		}
	}
	input, err := json.Marshal(values)
	if err != nil {
		return nil, false
	}
	if values, err = c.values(input); err != nil {
		return nil, false
	}
	for i, a := range c.arguments {
		if made, err := a.argument(values, c.members); err != nil || made != words[i] {
			return nil, false
		}
	}
	return input, true
}

// pattern returns an expression that matches what the template may produce.
func (t template) pattern() *regexp.Regexp {
	var b strings.Builder
	for i, part := range t {
		if i%2 == 1 {
			b.WriteString("(.*)")
		} else {
			b.WriteString(regexp.QuoteMeta(part))
		}
	}
	return regexp.MustCompile("(?s)^" + b.String() + "$")
}

// read returns the value that is written as text.
func (m member) read(text string) any {
	if m.Type != "string" && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
