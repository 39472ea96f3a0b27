package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// version is the version of the protocol on descriptor 3, which docs/commands.md describes. Programs get it in
// LASTWORD_EVENTS_VERSION.
const version = 1

// mostArtifacts bounds the files that a program may name.
const mostArtifacts = 10_000

var (
	past       = time.Unix(1, 0)
	noDeadline = time.Time{}
)

// line is a line of the channel. Its type determines which members count.
type line struct {
	Type string `json:"type"`
	// For type progress:
	Done  float64 `json:"done"`
	Total float64 `json:"total"`
	Unit  string  `json:"unit"`
	// For types text and log:
	Name      string            `json:"name"` // name of a text or a question
	Text      string            `json:"text"`
	MediaType string            `json:"media_type"` // of a text
	Level     messages.LogLevel `json:"level"`
	// For type ask:
	Prompt string             `json:"prompt"`
	Schema json.RawMessage    `json:"schema"`
	Kind   messages.InputKind `json:"kind"`
	// For type artifact:
	Path string `json:"path"`
	// For type result:
	Result json.RawMessage `json:"result"`
}

// answer is a line on the program's stdin.
type answer struct {
	Type  string          `json:"type"` // always "answer"
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"` // why there is no value
}

// channel is descriptor 3 of a program: lines that report more than output can.
type channel struct {
	x         *execution
	rest      []byte
	skipping  bool // inside a line that is too long
	result    json.RawMessage
	artifacts []string
	answers   sync.Mutex // serializes the lines
}

// write takes a piece of the lines. A faulty line is only a warning, because a program's mistake in its reports is no
// reason to end its work.
func (c *channel) write(piece []byte) error {
	for {
		before, after, ended := bytes.Cut(piece, []byte("\n"))
		if c.rest = append(c.rest, before...); len(c.rest) > mostLine {
			c.rest, c.skipping = nil, true
		}
		if !ended {
			return nil
		}
		text := bytes.TrimSpace(c.rest)
		var err error
		switch {
		case c.skipping:
			err = c.warn("a line has more than %d bytes", mostLine)
		case len(text) > 0:
			err = c.take(text)
		}
		if err != nil {
			return err
		}
		c.rest, c.skipping, piece = c.rest[:0], false, after
	}
}

func (c *channel) warn(format string, args ...any) error {
	return c.x.task.Log(messages.LogWarn, "descriptor 3: "+fmt.Sprintf(format, args...))
}

// take handles one line.
func (c *channel) take(text []byte) error {
	var l line
	text = c.x.Config.Secrets.Bytes(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	if err := json.Unmarshal(text, &l); err != nil {
		return c.warn("a line is no JSON of this form: %v", err)
	}
	t := c.x.task
	switch l.Type {
	case "progress":
		if !(math.Abs(l.Done) < 1<<53 && math.Abs(l.Total) < 1<<53) {
			return c.warn("progress is too large")
		}
		return t.Progress(int64(l.Done), int64(l.Total), l.Unit)
	case "text":
		if l.Name == "" {
			return c.warn("a text has no name")
		}
		return t.AppendTyped("text/"+l.Name, cmp.Or(l.MediaType, messages.TextPlain), l.Text)
	case "log":
		return t.Log(cmp.Or(l.Level, messages.LogInfo), l.Text)
	case "ask":
		return c.ask(l)
	case "artifact":
		if len(c.artifacts) == mostArtifacts {
			return c.warn("a run keeps %d artifacts", mostArtifacts)
		}
		c.artifacts = append(c.artifacts, l.Path)
		return nil
	case "result":
		c.result = l.Result
		return nil
	}
	return c.warn("there is no type %q in version %d", l.Type, version)
}

// ask asks the question, and writes the answer when it arrives. Meanwhile the program may continue.
func (c *channel) ask(l line) error {
	if c.x.stdin == nil {
		return c.warn("%q has no answer: stdin is the caller's", l.Name)
	}
	if l.Schema != nil {
		if _, err := validate.Compile(l.Schema); err != nil {
			c.x.task.Go(func(context.Context) error { return c.reply(answer{Name: l.Name, Error: err.Error()}) })
			return nil
		}
	}
	answered := c.x.limits.ask()
	c.x.task.Go(func(ctx context.Context) error {
		defer answered()
		value, err := c.x.task.Ask(ctx, messages.InputRequired{Request: l.Name, Prompt: l.Prompt, Schema: l.Schema, InputKind: l.Kind})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a := answer{Name: l.Name, Value: value}
		if err != nil {
			a.Error = err.Error()
		}
		return c.reply(a)
	})
	return nil
}

// reply writes an answer. The program may or may not read it.
func (c *channel) reply(a answer) error {
	a.Type = "answer"
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	c.answers.Lock()
	defer c.answers.Unlock()
	_, _ = c.x.stdin.Write(append(words.Unbroken(text), '\n'))
	return nil
}
