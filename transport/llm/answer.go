package llm

import (
	"bytes"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/model/decode"
)

// answer puts the parts of an answer together from its frames.
type answer struct {
	give  func(model.Part) // to the consumer
	began time.Time

	frame    chunk
	content  decode.Unescape
	thought  decode.Unescape
	thoughts *decode.Thoughts
	calls    decode.Calls
	usage    []byte
	model    []byte

	finish     string
	finishLast bool
	output     bool
	firstToken time.Duration
}

func newAnswer(began time.Time, d decode.Dialect, give func(model.Part)) *answer {
	return &answer{began: began, give: give, thoughts: decode.NewThoughts(d)}
}

// add takes the next frame, which is valid JSON.
func (a *answer) add(frame []byte) {
	c := &a.frame
	c.read(frame)
	if !none(c.model) && !bytes.Equal(c.model, a.model) {
		a.model = bytes.Clone(c.model)
	}
	if !none(c.usage) {
		a.usage = append(a.usage[:0], c.usage...)
	}
	spoken(c.thought(), true, a.say)
	spoken(c.content, false, a.say)
	spoken(c.refusal, false, a.say)
	if len(c.calls) > 0 {
		array(c.calls, func(value []byte) { a.call(callDelta(value)) })
	}
	if len(c.function) > 0 && c.function[0] == '{' {
		a.call(decode.CallDelta{Function: callFunction(c.function)})
	}
	if !none(c.finish) {
		a.finish, a.finishLast = text(c.finish), true
	}
}

// say takes a JSON string of text or of a thought.
func (a *answer) say(literal []byte, thought bool) {
	if thought {
		if piece := a.thought.Push(literal); piece != "" {
			a.finishLast = false
			a.thoughts.Field(piece, a.emit)
		}
		return
	}
	if piece := a.content.Push(literal); piece != "" {
		a.finishLast = false
		a.thoughts.Push(piece, a.emit)
	}
}

func (a *answer) call(d decode.CallDelta) {
	if part, ok := a.calls.Push(d); ok {
		a.finishLast = false
		a.emit(part)
	}
}

// emit gives a part. A thought's end alone is no output.
func (a *answer) emit(p model.Part) {
	if _, done := p.(model.ThoughtDone); !a.output && !done {
		a.output = true
		a.firstToken = max(time.Since(a.began), 1)
	}
	a.give(p)
}

// close gives what the decoders have held back.
func (a *answer) close() {
	if rest := a.thought.Close(); rest != "" {
		a.thoughts.Field(rest, a.emit)
	}
	if rest := a.content.Close(); rest != "" {
		a.thoughts.Push(rest, a.emit)
	}
	a.thoughts.Close(a.emit)
}

// end is the End as far as the answer goes.
func (a *answer) end() model.End {
	var counted *messages.Usage
	if len(a.usage) > 0 {
		counted = usage(a.usage)
	}
	return model.End{Calls: a.calls.Done(), Usage: counted, Model: text(a.model), FirstToken: a.firstToken}
}
