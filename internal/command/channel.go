package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// version is the version of the protocol on descriptor 3, which docs/commands.md describes. Programs get it in
// LASTWORD_EVENTS_VERSION.
const version = 2

const (
	// mostArtifacts bounds the files that a program may name.
	mostArtifacts = 10_000
	// longestLine is the longest line.
	longestLine = 4 << 20
	// mostUnanswered bounds the lines that wait for their answers, and mostOpen the steps that are not kept yet.
	mostUnanswered, mostOpen = 256, 1000
)

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
	// For types text, thought and log:
	Name      string            `json:"name"` // name of a text, a question, a step, a tool or a sub-run
	Text      string            `json:"text"`
	MediaType string            `json:"media_type"` // of a text
	Level     messages.LogLevel `json:"level"`
	// For type ask:
	Prompt string             `json:"prompt"`
	Schema json.RawMessage    `json:"schema"`
	Kind   messages.InputKind `json:"kind"`
	// Answers is 4 if the answer is a line on descriptor 4.
	Answers int `json:"answers"`
	// For types step and keep:
	Once   bool            `json:"once"`
	Value  json.RawMessage `json:"value"`
	Error  string          `json:"error"`
	Secret bool            `json:"secret"`
	// For types tool and tool_end, which has Result or Error:
	Call string          `json:"call"`
	Args json.RawMessage `json:"args"`
	// For types child, usage and step. Input is the input of the sub-run's job, the number of tokens, or what the step depends on.
	Job       string          `json:"job"`
	Input     json.RawMessage `json:"input"`
	Model     string          `json:"model"`
	Output    *int64          `json:"output"`
	Cached    *int64          `json:"cached"`
	Reasoning *int64          `json:"reasoning"`
	// For types message and seen:
	Message string `json:"message"`
	Wait    *bool  `json:"wait"`
	// For type artifact:
	Path string `json:"path"`
	// For type result:
	Result json.RawMessage `json:"result"`
}

// answer is a line to the program: on stdin for type answer, and otherwise on descriptor 4.
type answer struct {
	Type  string          `json:"type"`
	Name  string          `json:"name,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	// For type step: what is kept, or the key of the effect.
	Kept json.RawMessage `json:"kept,omitempty"`
	Key  string          `json:"key,omitempty"`
	// For types child and message:
	Result  json.RawMessage  `json:"result,omitempty"`
	Message string           `json:"message,omitempty"`
	Mode    messages.SayMode `json:"mode,omitempty"`
	Text    string           `json:"text,omitempty"`
	// Error is why there is no value, in one word for all types but answer; Detail is a sentence for people.
	Error  string `json:"error,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// channel is descriptor 3 of a program: lines that report more than output can.
type channel struct {
	x         *execution
	lines     cutter
	result    json.RawMessage
	artifacts []string
	answers   sync.Mutex // serializes the lines
	steps     steps
	tools     map[string]bool // calls of tools that are open
	children  map[string]*child
	heard     heard
	room      chan struct{} // holds a value for each line that waits for its answer
	over      chan struct{} // closed when the program says nothing more
}

func newChannel(x *execution) *channel {
	return &channel{x: x, lines: cutter{most: longestLine}, tools: map[string]bool{}, children: map[string]*child{}, room: make(chan struct{}, mostUnanswered), over: make(chan struct{}),
		steps: steps{all: map[string]*step{}}}
}

// write takes a piece of the lines. A faulty line is only a warning, because a program's mistake in its reports is no
// reason to end its work.
func (c *channel) write(piece []byte) error {
	return c.lines.each(piece, func(text []byte, long bool) error {
		if long {
			return c.faulty(text[:min(len(text), 1024)], messages.LimitExceeded("a line has more than %d bytes: keep a file, and its name", longestLine))
		}
		return c.take(text)
	})
}

func (c *channel) warn(format string, args ...any) error {
	return c.x.task.Log(messages.LogWarn, "descriptor 3: "+fmt.Sprintf(format, args...))
}

// take handles one line.
func (c *channel) take(text []byte) error {
	var l line
	clean := c.x.Config.Secrets.Bytes(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	if err := json.Unmarshal(clean, &l); err != nil {
		return c.faulty(clean, messages.InvalidInput("a line is no JSON of this form: %v", err))
	}
	if !utf8.Valid(text) && slices.Contains([]string{"step", "keep", "child"}, l.Type) { // two names would be one
		return c.faulty(clean, messages.InvalidInput("a line of type %s is UTF-8", l.Type))
	}
	t := c.x.task
	switch l.Type {
	case "step":
		return c.step(l)
	case "keep":
		var given struct {
			Value json.RawMessage
			Error *string
		}
		_ = json.Unmarshal(text, &given) // as clean, which is JSON
		if l.Value = given.Value; l.Value == nil && given.Error != nil {
			l.Error = cmp.Or(l.Error, "the step failed") // with an error that says nothing
		}
		return c.keep(l)
	case "tool", "tool_end", "thought", "usage":
		return c.report(l)
	case "child", "message", "seen":
		return c.request(l)
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
		switch {
		case c.x.Config.Folder == nil:
			return t.Notice(messages.NoticeStageSkipped, fmt.Sprintf("the artifact %s is not kept: no folder keeps it; start the run with --state", l.Path))
		case len(c.artifacts) == mostArtifacts:
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
	to := io.Writer(c.x.stdin)
	if c.x.stdin == nil || l.Answers == answersAt { // stdin may be the caller's
		to = c.x.replies
	}
	if l.Schema != nil {
		if _, err := validate.Compile(l.Schema); err != nil {
			c.x.task.Go(func(context.Context) error {
				return c.reply(to, answer{Type: "answer", Name: l.Name, Error: err.Error()})
			})
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
		a := answer{Type: "answer", Name: l.Name, Value: value}
		if err != nil {
			a.Error = err.Error()
		} else if l.Kind == messages.InputSecret {
			c.steps.learn(value)
		}
		return c.reply(to, a)
	})
	return nil
}

// reply writes an answer. The program may or may not read it.
func (c *channel) reply(to io.Writer, a answer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	c.answers.Lock()
	defer c.answers.Unlock()
	_, _ = to.Write(append(words.Unbroken(text), '\n'))
	return nil
}

// wait waits until few lines are unanswered. Each answer makes room for one.
func (c *channel) wait() error {
	select {
	case c.room <- struct{}{}:
		return nil
	case <-c.x.ctx.Done():
		return context.Cause(c.x.ctx)
	}
}

// answer answers lines that waited for that.
func (c *channel) answer(all ...answer) {
	for _, a := range all {
		_ = c.reply(c.x.replies, a)
		<-c.room
	}
}

// serve answers a line in its own goroutine. Meanwhile the program may continue.
func (c *channel) serve(f func(ctx context.Context) answer) error {
	if err := c.wait(); err != nil {
		return err
	}
	c.x.task.Go(func(ctx context.Context) error { c.answer(f(ctx)); return nil })
	return nil
}

// wanted finds what a line that cannot be read wants an answer to, and its name.
var wanted = lazyregexp.New(`"type" ?: ?"(step|keep|child|message)"(?:[^{}]*?"name" ?: ?"([^"\\]*)")?`)

// faulty warns of a line that cannot be read. If the program waits for an answer, it gets one.
func (c *channel) faulty(text []byte, wrong error) error {
	if found := wanted.FindStringSubmatch(string(text)); found != nil {
		if err := c.wait(); err != nil {
			return err
		}
		c.answer(refusal(strings.Replace(found[1], "keep", "kept", 1), found[2], wrong))
	}
	return c.warn("%v", wrong)
}
