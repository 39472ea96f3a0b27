package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Set holds tools by name. It never changes, and is safe for concurrent use. nil is the empty Set.
type Set struct {
	tools    map[string]entry
	withheld map[string]entry // tools that Safe has withheld
	redact   func(string) string
}

// entry is a tool in a Set.
type entry struct {
	Tool
	schema *validate.Schema
	named  bool // Allow was given its name
}

var legalName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// NewSet returns a Set. redact, unless nil, removes secrets from every result before it is cut.
func NewSet(redact func(string) string, tools ...Tool) (*Set, error) {
	s := &Set{tools: map[string]entry{}, redact: redact}
	for _, t := range tools {
		_, taken := s.tools[t.Name]
		switch {
		case t.fault != nil:
			return nil, t.fault
		case len(t.Name) > 64 || !legalName.MatchString(t.Name):
			return nil, messages.InvalidInput("the tool name %q must have 1 to 64 letters, digits, _ and -", t.Name)
		case taken:
			return nil, messages.InvalidInput("there are two tools %s; rename one", t.Name)
		case t.Run == nil || t.Access&All == None || t.Timeout < 0:
			return nil, messages.InvalidInput("the tool %s needs a function, an access and no negative timeout", t.Name)
		}
		schema, err := validate.CompileForeign(t.Parameters)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		s.tools[t.Name] = entry{Tool: t, schema: schema, named: t.Named}
	}
	return s, nil
}

// Allow returns the Set of the tools that need no more than the access and match one of the names; nil names match
// all. A name may end in "*". A name that matches no tool is an invalid_input error.
func (s *Set) Allow(access Access, names []string) (*Set, error) {
	if s == nil {
		s = &Set{}
	}
	out := &Set{tools: map[string]entry{}, redact: s.redact}
	for _, name := range names {
		if !slices.ContainsFunc(s.names(), func(tool string) bool { return fits(name, tool) }) {
			return nil, s.unknown(name)
		}
	}
	for name, t := range s.tools {
		named := slices.ContainsFunc(names, func(pattern string) bool { return fits(pattern, name) })
		if t.named = t.named || named; t.Access&^access == 0 && (names == nil || named) {
			out.tools[name] = t
		}
	}
	return out, nil
}

// fits reports whether the pattern matches the name.
func fits(pattern, name string) bool {
	start, more := strings.CutSuffix(pattern, "*")
	return name == pattern || more && strings.HasPrefix(name, start)
}

// Safe returns the Set of the tools that may be called while the conversation has text of strangers: those that do
// not reach the network, and those that Allow was given by name. withheld has the names of the others.
func (s *Set) Safe() (safe *Set, withheld []string) {
	out := &Set{tools: map[string]entry{}, withheld: map[string]entry{}, redact: s.redact}
	for name, t := range s.tools {
		if t.Network && !t.named {
			out.withheld[name] = t
		} else {
			out.tools[name] = t
		}
	}
	return out, slices.Sorted(maps.Keys(out.withheld))
}

// Tool returns the tool with the name, or the zero Tool.
func (s *Set) Tool(name string) Tool { return s.tools[name].Tool }

// Sources returns the names of what a call of the tool has read, for citations.
func (s *Set) Sources(name, arguments, result string) []string {
	if sources := s.tools[name].Sources; sources != nil {
		return sources(json.RawMessage(arguments), result)
	}
	return []string{name}
}

// unknown returns the error of a call of a tool that is not in the Set.
func (s *Set) unknown(name string) *messages.Error {
	if _, ok := s.withheld[name]; ok {
		return messages.InvalidInput("%s reaches the network, and the conversation has text of strangers; do without it, "+
			"or tell the user to allow %s by name", name, name)
	}
	if len(s.tools) == 0 {
		return messages.InvalidInput("there is no tool %q; there are no tools", name)
	}
	return messages.InvalidInput("there is no tool %q; the tools are %s", name, strings.Join(s.names(), ", "))
}

func (s *Set) names() []string { return slices.Sorted(maps.Keys(s.tools)) }

// Named reports whether Allow was given the tool by name.
func (s *Set) Named(name string) bool { return s.tools[name].named }

// Idempotent reports whether a call of the tool may be repeated.
func (s *Set) Idempotent(name string) bool { return s.tools[name].Idempotent }

// Offered describes the tools for a model, sorted by name. The order is stable, because servers cache the common
// beginning of requests.
func (s *Set) Offered() (out []model.Tool) {
	for _, name := range s.names() {
		t := s.tools[name]
		out = append(out, model.Tool{Name: name, Description: t.Description, Parameters: t.Parameters})
	}
	return out
}

// Result is the outcome of a call.
type Result struct {
	// Text is what the model gets, even after an error. It is never empty.
	Text  string
	Error *messages.Error
	// Ran: the tool was called, so Text may come from strangers.
	Ran bool
}

// Failed returns the Result of a call that failed with the error.
func Failed(err error) Result {
	e := messages.Errorf(cmp.Or(messages.CodeOf(err), messages.CauseError), "%v", err)
	return Result{Text: "error: " + e.Message, Error: e}
}

// Call calls the tool with the name, and returns when the tool does.
func (s *Set) Call(ctx context.Context, name string, c Call) Result {
	c.Arguments = orNone(c.Arguments)
	text, err := "", s.Check(name, c.Arguments)
	ran := err == nil
	if ran {
		text, err = s.tools[name].told(ctx, name, &c)
	}
	clean := func(text string) string { return s.clean(c.withoutSecrets(text)) }
	if err != nil {
		r := Failed(err)
		r.Ran, r.Error.Message, r.Text = ran, clean(r.Error.Message), clean(r.Text)
		if crash, ok := errors.AsType[*messages.Error](err); ok {
			r.Error.Stack = clean(crash.Stack)
		}
		return r
	}
	if text = clean(text); strings.TrimSpace(text) == "" {
		text = "(no output)"
	}
	return Result{Text: text, Ran: true}
}

// told is call, unless a test has a recorded result.
func (t entry) told(ctx context.Context, name string, c *Call) (text string, err error) {
	recorded, ok, err := c.Task.Recorded(ctx, messages.ToolStarted{Call: c.ID, Tool: name, Arguments: c.Arguments})
	switch {
	case !ok:
		return t.call(ctx, c)
	case err != nil:
		return "", err
	}
	done, _ := recorded[len(recorded)-1].(messages.ToolCompleted)
	if done.Error != nil {
		return "", done.Error
	}
	return text, json.Unmarshal(done.Result, &text)
}

// call runs the tool within its timeout. When ctx is done, its cause counts, and not what the tool returned.
func (t entry) call(ctx context.Context, c *Call) (string, error) {
	limit := cmp.Or(t.Timeout, defaultTimeout)
	late := messages.Errorf(messages.CauseDeadline, "%s took longer than its timeout of %s", t.Name, limit)
	ctx, cancel := WithTimeout(ctx, limit, late)
	defer cancel()
	text, err := t.guarded(ctx, c)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return text, err
}

// Check returns why the tool cannot be called with the arguments, or nil.
func (s *Set) Check(name string, arguments json.RawMessage) error {
	t, ok := s.tools[name]
	if !ok {
		return s.unknown(name)
	}
	if problems := t.schema.Problems(orNone(arguments)); len(problems) > 0 {
		return messages.InvalidInput("the arguments of %s do not fit: %s", name, strings.Join(problems, "; "))
	}
	return nil
}

// orNone replaces missing arguments by an empty object.
func orNone(arguments json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(arguments)) == 0 {
		return json.RawMessage("{}")
	}
	return arguments
}

// guarded runs the tool, and turns a panic into an error.
func (t entry) guarded(ctx context.Context, c *Call) (text string, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = &messages.Error{Code: messages.CausePanic,
				Message: fmt.Sprintf("%s crashed: %v", t.Name, fault), Stack: string(debug.Stack())}
		}
	}()
	return t.Run(ctx, c)
}

// clean makes the text of a tool safe for a model. Cutting comes last, because a secret is found only in the whole
// text.
func (s *Set) clean(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if s.redact != nil {
		text = s.redact(text)
	}
	return Bounded(model.Neutral(text), maxResult)
}

// maxResult bounds the text of a result, in bytes.
const maxResult = 32 << 10

// Bounded keeps the beginning and the end of a longer text, and says how much is missing.
func Bounded(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	const words = 64 // room for the words between
	head := text[:(bytes-words)*3/4]
	tail := text[len(text)-(bytes-words)/4:]
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	return fmt.Sprintf("%s\n[%d bytes are left out here]\n%s", head, len(text)-len(head)-len(tail), tail)
}
