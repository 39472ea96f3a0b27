package command

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/form"
	"github.com/seed889630bf/lastword/actors/schedule"
	"github.com/seed889630bf/lastword/actors/structured/document"
	"github.com/seed889630bf/lastword/messages/fit"
	"github.com/seed889630bf/lastword/messages/words"
)

// Size is a number of bytes, such as 8MiB.
type Size int64

// UnmarshalJSON reads a whole number, or one with the unit KiB, MiB or GiB.
func (s *Size) UnmarshalJSON(data []byte) error {
	number, unit := strings.Trim(string(data), `"`), int64(1)
	for i, name := range []string{"KiB", "MiB", "GiB"} {
		if before, ok := strings.CutSuffix(number, name); ok {
			number, unit = strings.TrimSpace(before), 1<<(10*(i+1))
		}
	}
	var n int64
	err := json.Unmarshal([]byte(number), &n)
	*s = Size(n * unit)
	return err
}

var resultSchema = form.Result[Result]()

// compile prepares the command, and returns all its faults. at and place say where it stands in the file.
func (c *Command) compile(at document.Places, place string) (all document.Problems) {
	wrong := func(field, format string, args ...any) {
		all = append(all, at.Problem(document.Below(place, field), format, args...))
	}
	c.members = map[string]member{}
	for name, schema := range c.Input {
		m, err := readMember(schema)
		if err == nil {
			_, err = fit.Compile(schema)
		}
		switch {
		case err != nil:
			wrong("input."+name, "this is no JSON Schema: %s", strings.Join(strings.Fields(err.Error()), " "))
		case name == "out":
			wrong("input."+name, "out names the folder of a run; take another name")
		}
		c.members[name] = m
	}
	known := c.checkTemplates(wrong)
	if len(c.Command) == 0 || c.Command[0] == "" {
		wrong("command", "name a program, and then its arguments")
	} else if len(c.arguments[0]) > 1 {
		wrong("command.0", "the program is the operator's to name, not the caller's: write it here")
	}
	for name := range c.Input {
		if !known[name] {
			wrong("input."+name, "no argument has {%s}", name)
		}
	}
	var err error
	if c.progress, err = regexp.Compile(c.Progress); err != nil {
		wrong("progress", "%v", err)
	} else if c.Progress != "" && c.progress.NumSubexp() < 1 {
		wrong("progress", "a group has to match what is done, such as (\\d+)/(\\d+)")
	}
	for i, pattern := range c.Artifacts {
		if _, err := path.Match(pattern, ""); err != nil || path.IsAbs(pattern) || slices.Contains(strings.Split(pattern, "/"), "..") {
			wrong(fmt.Sprintf("artifacts.%d", i), "%q is no pattern of files below dir", pattern)
		}
	}
	for i, entry := range c.Env {
		if name, _, _ := strings.Cut(entry, "="); name == "" || strings.ContainsRune(entry, 0) {
			wrong(fmt.Sprintf("env.%d", i), "write NAME or NAME=value")
		}
	}
	for _, limit := range []struct {
		field string
		d     schedule.Duration
	}{{"timeout", c.Timeout}, {"idle", c.Idle}} {
		if limit.d < 0 || limit.d > schedule.Duration(day) {
			wrong(limit.field, "write a time of at most 24h, such as 10m")
		}
	}
	if c.Once && c.Retry.Times > 0 {
		wrong("once", "a program that is started once is not retried: leave out once or retry")
	}
	if all == nil {
		c.seal(wrong)
	}
	return all
}

// checkTemplates parses the templates, and returns the members that they use.
func (c *Command) checkTemplates(wrong func(field, format string, args ...any)) (known map[string]bool) {
	known = map[string]bool{}
	check := func(field, text string) template {
		t := parseTemplate(text)
		for _, name := range t.names() {
			m, there := c.members[name]
			switch known[name] = true; {
			case !there:
				names := make([]string, 0, len(c.Input))
				for other := range c.Input {
					names = append(names, other)
				}
				wrong(field, "input has no {%s}%s; a brace is {{", name, words.Meant(name, names))
			case !m.isPlain():
				wrong("input."+name, "an argument takes a string, an integer, a number or a boolean: give its type")
			}
		}
		return t
	}
	c.arguments = nil
	for i, text := range c.Command {
		c.arguments = append(c.arguments, check(fmt.Sprintf("command.%d", i), text))
	}
	c.question = check("confirm", c.Confirm)
	return known
}

// seal makes the schema of the whole input.
func (c *Command) seal(wrong func(field, format string, args ...any)) {
	properties := c.Input
	if properties == nil {
		properties = map[string]json.RawMessage{}
	}
	var err error
	if c.schema, err = json.Marshal(map[string]any{"type": "object", "properties": properties, "required": c.required(),
		"additionalProperties": false}); err == nil {
		c.form, err = fit.Compile(c.schema)
	}
	if err != nil {
		wrong("input", "%v", err)
		return
	}
	for name, m := range c.members {
		if m.Default == nil {
			continue
		}
		only, err := fit.Compile(c.Input[name])
		if err == nil && only.All(m.Default) != nil {
			wrong("input."+name+".default", "the default does not fit the schema")
		}
	}
}
