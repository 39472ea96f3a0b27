package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

const (
	// answersAt is the descriptor of answers.
	answersAt = 4
	// mostKept is the longest value that a step keeps.
	mostKept = 1 << 20
	// codeStep is the code of an error that a program has kept.
	codeStep messages.Code = "step"
	// unknown is the answer if nobody knows how a step has ended that must not happen twice.
	unknown = "unknown"
)

// steps are the steps that the program asks for in an attempt. mu guards them, and what they hold.
type steps struct {
	mu      sync.Mutex
	all     map[string]*step
	open    int
	secrets redact.Secrets // answers to secret questions
	short   []string       // those that are no secret by their form
}

// step is a step from the program's first question to the end of the attempt.
type step struct {
	name    string
	once    bool
	input   json.RawMessage // what it depends on, or nil
	key     string          // "" until the program may make it
	asked   int             // number of questions without an answer
	keeps   []outcome       // without an answer; the first one counts
	outcome chan outcome    // has the first of keeps
	over    bool            // it is known what is kept
	value   json.RawMessage
	err     error
}

// outcome is what the program keeps: a value, as the log has it and as it was given, or an error.
type outcome struct {
	kept, value json.RawMessage
	err         error
}

var errUnkept = errors.New("the program ended before it kept the step")

// step answers what is kept of the step, or that the program makes it.
func (c *channel) step(l line) error {
	if err := c.wait(); err != nil {
		return err
	}
	c.steps.mu.Lock()
	s := c.steps.all[l.Name]
	var now []answer
	switch {
	case s == nil && c.steps.open >= mostOpen:
		now = []answer{refusal("step", l.Name, messages.LimitExceeded("%d steps are not kept yet: keep some first", mostOpen))}
	case s == nil:
		s = &step{name: l.Name, once: l.Once, input: l.Input, asked: 1, outcome: make(chan outcome, 1)}
		c.steps.all[l.Name] = s
		c.steps.open++
		c.x.task.Go(func(ctx context.Context) error { c.make(ctx, s); return nil })
	case string(s.input) != string(l.Input):
		now = []answer{refusal("step", l.Name, messages.Errorf(messages.CauseInvalidOutput, "this attempt has asked for the step with another input: give it another name"))}
	case s.over || s.key != "":
		now = []answer{s.answer()}
	default:
		s.asked++
	}
	c.steps.mu.Unlock()
	c.answer(now...)
	return nil
}

// answer says what is known of the step. A step that must not happen twice is given to one asker.
func (s *step) answer() answer {
	switch {
	case s.err != nil:
		return refusal("step", s.name, s.err)
	case s.over:
		return answer{Type: "step", Name: s.name, Kept: s.value}
	case s.once:
		return answer{Type: "step", Name: s.name, Error: unknown, Detail: "the step had begun, and nobody knows how it ended"}
	}
	return answer{Type: "step", Name: s.name, Key: s.key}
}

// refusal says why there is no answer: the error that the program has kept, or else a word and a sentence.
func refusal(kind, name string, err error) answer {
	code, text := messages.CodeOf(err), err.Error()
	if code == codeStep {
		return answer{Type: kind, Name: name, Error: text}
	}
	return answer{Type: kind, Name: name, Error: string(cmp.Or(code, messages.CauseError)), Detail: text}
}

// make makes the step as [actors.Do] does, with the program in the place of its function.
func (c *channel) make(ctx context.Context, s *step) {
	do := actors.Do[json.RawMessage]
	if s.once {
		do = actors.DoOnce[json.RawMessage]
	}
	var about []actors.Step
	if s.input != nil {
		about = append(about, actors.Step{Input: s.input})
	}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	var made outcome
	kept, err := do(ctx, c.x.task, s.name, func(ctx context.Context) (json.RawMessage, error) {
		key, err := c.x.task.StepKey(ctx, s.name)
		if err != nil {
			return nil, err
		}
		c.offer(s, key)
		select {
		case made = <-s.outcome:
		case <-c.over:
			select {
			case made = <-s.outcome:
			default:
				leave(errUnkept) // so nothing is kept of it
				return nil, errUnkept
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		return made.kept, made.err
	}, about...)
	if made.value == nil && err == nil {
		made.value, err = c.unseal(kept)
	}
	c.settle(s, made.value, err)
}

// offer lets the program make the step.
func (c *channel) offer(s *step, key string) {
	c.steps.mu.Lock()
	var all []answer
	all = append(all, answer{Type: "step", Name: s.name, Key: key})
	for s.key = key; len(all) < s.asked; {
		all = append(all, s.answer())
	}
	s.asked = 0
	c.steps.mu.Unlock()
	c.answer(all...)
}

// settle ends the step: the log durably has the value, or the program learns why not.
func (c *channel) settle(s *step, value json.RawMessage, err error) {
	c.steps.mu.Lock()
	c.steps.open--
	if s.once && s.key == "" && messages.CodeOf(err) == messages.CauseError {
		s.key = unknown // it had begun in an earlier attempt
	} else {
		s.over, s.value, s.err = true, value, err
	}
	var all []answer
	for ; s.asked > 0; s.asked-- {
		all = append(all, s.answer())
	}
	for _, o := range s.keeps {
		all = append(all, s.kept(o))
	}
	s.keeps = nil
	c.steps.mu.Unlock()
	c.answer(all...)
}

// kept answers whether the step keeps the outcome.
func (s *step) kept(o outcome) answer {
	switch {
	case o.err != nil && messages.CodeOf(s.err) == codeStep && s.err.Error() == o.err.Error(), o.err == nil && s.err == nil && bytes.Equal(o.value, s.value):
		return answer{Type: "kept", Name: s.name}
	case s.err == nil || messages.CodeOf(s.err) == codeStep:
		return refusal("kept", s.name, messages.Errorf(messages.CodeConflict, "the step keeps something else already"))
	}
	return refusal("kept", s.name, s.err)
}

// keep keeps what the program has made of a step, and answers when the log durably has it.
func (c *channel) keep(l line) error {
	if err := c.wait(); err != nil {
		return err
	}
	o, wrong := c.outcomeOf(l)
	c.steps.mu.Lock()
	s := c.steps.all[l.Name]
	var now []answer
	switch {
	case s == nil || s.key == "" && !s.over:
		now = []answer{refusal("kept", l.Name, messages.InvalidInput("nobody has asked for the step: write its line of type step, and read the answer"))}
	case wrong != nil:
		now = []answer{refusal("kept", l.Name, wrong)}
	case s.over || s.key == unknown:
		now = []answer{s.kept(o)}
	default:
		if s.keeps = append(s.keeps, o); len(s.keeps) == 1 {
			s.outcome <- o
		}
	}
	c.steps.mu.Unlock()
	c.answer(now...)
	return nil
}

// outcomeOf returns what the line keeps, or why that cannot be kept.
func (c *channel) outcomeOf(l line) (o outcome, wrong error) {
	if l.Error != "" {
		return outcome{err: supervision.Permanent(&messages.Error{Code: codeStep, Message: messages.Bound(l.Error, mostText)})}, nil
	}
	var value bytes.Buffer
	if err := json.Compact(&value, append([]byte(nil), cmp.Or(string(l.Value), "null")...)); err != nil {
		return o, messages.InvalidInput("the value is no JSON: %v", err)
	}
	o.value = value.Bytes()
	switch {
	case value.Len() > mostKept:
		return o, messages.LimitExceeded("a step keeps %d bytes at most, not %d: keep a file, and its name", mostKept, value.Len())
	case !l.Secret && c.steps.hasSecret(o.value):
		return o, messages.Errorf("secret", "the value has the answer to a secret question: leave it out, or say \"secret\":true")
	}
	o.kept, wrong = c.seal(o.value, l.Secret)
	return o, wrong
}

// learn notes the answer to a secret question.
func (s *steps) learn(value json.RawMessage) {
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secrets.Add("answer", text); s.secrets.Text(text) == text && len(text) > 3 {
		quoted, _ := json.Marshal(text)
		s.short = append(s.short, strings.Trim(string(quoted), `"`))
	}
}

// hasSecret reports whether the value has an answer to a secret question.
func (s *steps) hasSecret(value json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, short := range s.short {
		if strings.Contains(string(value), short) {
			return true
		}
	}
	return s.secrets.Text(string(value)) != string(value)
}

// sealed stands in the log for a value with secrets. Only the program gets the value again.
type sealed struct {
	Sealed string          `json:"$sealed"`
	Shown  json.RawMessage `json:"shown,omitempty"`
}

// seal returns the value as the log has it: readers of the log see none of its secrets.
func (c *channel) seal(value json.RawMessage, secret bool) (json.RawMessage, error) {
	shown := c.x.Config.Secrets.Bytes(value)
	if !secret && bytes.Equal(shown, value) && !bytes.HasPrefix(value, []byte(`{"$sealed"`)) {
		return value, nil
	}
	if c.x.Config.Seal == nil {
		return nil, messages.Errorf("secret", "the value has a secret, and this process has no key to seal it: set HOME, so that lastword has a folder for its keys")
	}
	s := sealed{Sealed: c.x.Config.Seal(value)}
	if !secret && json.Valid(shown) && len(shown)+len(s.Sealed) < mostKept-1024 {
		s.Shown = shown
	}
	text, err := json.Marshal(s)
	if err == nil && len(text) > mostKept {
		err = messages.LimitExceeded("a value with secrets has %d bytes at most", mostKept/4*3)
	}
	return text, err
}

// unseal returns the value that the log keeps.
func (c *channel) unseal(kept json.RawMessage) (json.RawMessage, error) {
	var s sealed
	if !bytes.HasPrefix(kept, []byte(`{"$sealed"`)) || json.Unmarshal(kept, &s) != nil {
		return kept, nil
	}
	if c.x.Config.Open != nil {
		if value, ok := c.x.Config.Open(s.Sealed); ok {
			return value, nil
		}
	}
	return nil, messages.Errorf("secret", "the key that sealed the value is missing: look into lastword's folder of keys")
}
