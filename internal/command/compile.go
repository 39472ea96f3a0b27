package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"regexp/syntax"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
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

var resultSchema = jobschema.Result[Result]()

// compile prepares the command, and returns all its faults. places and place say where it stands in the file.
func (c *Command) compile(places validate.Places, place string) (all validate.FileProblems) {
	wrong := func(field, format string, args ...any) {
		all = append(all, places.Problem(validate.Below(place, field), format, args...))
	}
	c.members = map[string]member{}
	for name, schema := range c.Input {
		m, err := readMember(schema)
		if err == nil {
			_, err = validate.Compile(schema)
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
			wrong("input."+name, "no argument uses {%s}: write it into command, or take the field out", name)
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
	if c.TTY && c.Output == "two" {
		wrong("output", "a terminal has one output: leave out output or tty")
	}
	if (c.TTY || c.Output == OneOutput) && c.Stderr == KeepStderr {
		wrong("stderr", "stdout has what the program writes to stderr: leave out stderr")
	}
	if c.Once && c.Retry.Times > 0 {
		wrong("once", "a program that is started once is not retried: leave out once or retry")
	}
	if all == nil {
		c.seal(places.Sort(validate.Below(place, "input"), maps.Keys(c.Input)), wrong)
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
				wrong(field, "input has no {%s}%s; a brace is {{", name, words.Meant(name, words.Keys(maps.Keys(c.Input))))
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
	codeIn(c.arguments, func(i int, p *interpreter) {
		for _, name := range c.arguments[i].names() {
			if len(c.members[name].Enum) == 0 {
				wrong(fmt.Sprintf("command.%d", i), "{%s} would be code for %s: %s", name, strings.ReplaceAll(p.names, " ", ", "),
					cmp.Or(p.how, "give it an enum"))
			}
		}
	})
	c.question = check("confirm", c.Confirm)
	return known
}

// seal makes the schema of the whole input. names are its members in the file's order, which forms keep.
func (c *Command) seal(names []string, wrong func(field, format string, args ...any)) {
	properties, required := []string{}, []string{}
	c.order = names
	for _, name := range names {
		quoted, _ := json.Marshal(name)
		properties = append(properties, string(quoted)+":"+string(c.Input[name]))
		if c.members[name].Default == nil {
			required = append(required, string(quoted))
		}
	}
	c.schema = json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") +
		`],"additionalProperties":false}`)
	var err error
	c.form, err = validate.Compile(c.schema)
	if err != nil {
		wrong("input", "%v", err)
		return
	}
	for name, m := range c.members {
		if m.Default == nil {
			continue
		}
		only, err := validate.Compile(c.Input[name])
		if err == nil && only.All(m.Default) != nil {
			wrong("input."+name+".default", "the default does not fit the schema")
		}
	}
}

// template is an argument: alternately a text and the name of an input's member.
type template []string

// placeholder matches a member of the input, or an escaped brace.
var placeholder = regexp.MustCompile(`\{\{|\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// parseTemplate returns literal text and parameter names in turns, beginning with text.
func parseTemplate(text string) (t template) {
	literal, end := "", 0
	for _, match := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		literal += text[end:match[0]]
		if end = match[1]; match[2] < 0 {
			literal += "{"
			continue
		}
		t, literal = append(t, literal, text[match[2]:match[3]]), ""
	}
	return append(t, literal+text[end:])
}

// names returns the members in the template.
func (t template) names() (names []string) {
	for i := 1; i < len(t); i += 2 {
		names = append(names, t[i])
	}
	return names
}

// text returns the template with the values filled in.
func (t template) text(values map[string]any) string {
	var b strings.Builder
	for i, part := range t {
		if i%2 == 1 {
			part = fmt.Sprint(values[part])
		}
		b.WriteString(part)
	}
	return b.String()
}

// line is text with the line breaks of the values escaped, so that no value looks like another sentence of the operator.
func (t template) line(values map[string]any) string {
	escaped := map[string]any{}
	for name, value := range values {
		escaped[name] = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(fmt.Sprint(value))
	}
	return t.text(escaped)
}

// longestArgument is the length from which on Linux refuses an argument: 32 pages with the byte that ends it.
const longestArgument = 128 << 10

// argument returns the template with the values filled in. It refuses a value that would make it an option that the
// operator did not intend.
func (t template) argument(values map[string]any, members map[string]member) (string, error) {
	text := t.text(values)
	if strings.ContainsRune(text, 0) {
		return "", messages.InvalidInput("the argument %q has a NUL: take it out", text)
	}
	if runtime.GOOS == "linux" && len(text) >= longestArgument {
		return "", messages.InvalidInput("the argument %.40q… has %d bytes, and the system takes at most %d (E2BIG): pass the value in stdin or a file",
			text, len(text), longestArgument-1)
	}
	dashes := false // values that may be options have been dashes alone
	for i, part := range t {
		begins, own := part, i%2 == 0
		if !own {
			begins = fmt.Sprint(values[part])
		}
		switch option := begins != "" && begins[0] == '-'; {
		case begins == "":
			continue
		case option && own && i > 0:
			return "", messages.InvalidInput("%s must not be empty, because %q would be an option", t[i-1], text)
		case !own && (option || dashes) && !members[part].mayBeOption():
			return "", messages.InvalidInput("%s must not begin with a -, because %q would be an option", part, text)
		case !own && strings.Trim(begins, "-") == "":
			dashes = true
			continue
		}
		break
	}
	return text, nil
}

// member is the part of a schema that matters for a member of the input.
type member struct {
	Type    any    `json:"type"`
	Pattern string `json:"pattern"`
	Enum    []any  `json:"enum"`
	Default any    `json:"default"`
}

// mayBeOption reports whether the operator has said how the value begins: by an enum, or by a pattern whose matches begin
// at ^ with characters that it names.
func (m member) mayBeOption() bool {
	if len(m.Enum) > 0 {
		return true
	}
	re, err := syntax.Parse(m.Pattern, syntax.Perl)
	if err != nil {
		return false
	}
	program, err := syntax.Compile(re.Simplify())
	return err == nil && beginsAsNamed(program, place{at: uint32(program.Start)}, map[place]bool{})
}

// place is one in a pattern's program. begun: ^ has matched before it.
type place struct {
	at    uint32
	begun bool
}

// beginsAsNamed reports whether each way on from the place names the first character, or the end: not by . or [^x].
func beginsAsNamed(p *syntax.Prog, from place, seen map[place]bool) bool {
	if seen[from] { // it leads nowhere else
		return true
	}
	seen[from] = true
	i, begun := &p.Inst[from.at], from.begun
	next := func(at uint32) bool { return beginsAsNamed(p, place{at, begun}, seen) }
	switch i.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return next(i.Out) && next(i.Arg)
	case syntax.InstEmptyWidth:
		if kind := syntax.EmptyOp(i.Arg); begun && kind == syntax.EmptyEndText {
			return true
		} else if kind == syntax.EmptyBeginText {
			begun = true
		}
		fallthrough
	case syntax.InstCapture, syntax.InstNop:
		return next(i.Out)
	case syntax.InstRune, syntax.InstRune1:
		return begun && !i.MatchRune(unicode.MaxRune)
	}
	return i.Op == syntax.InstFail // else any character, or a match that names none
}

// isPlain reports whether the value has only one form in an argument.
func (m member) isPlain() bool {
	switch m.Type {
	case "string", "integer", "number", "boolean":
		return true
	}
	return false
}

func readMember(schema json.RawMessage) (m member, err error) {
	d := json.NewDecoder(strings.NewReader(string(schema)))
	d.UseNumber()
	err = d.Decode(&m)
	return m, err
}
