package llm

import (
	"bytes"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/jsonwalk"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/model/decode"
)

// answer puts the parts of an answer together from its frames.
type answer struct {
	yield func(model.Part) // to the consumer
	began time.Time

	frame    chunk
	choice   choice
	content  channel
	thought  channel
	thoughts *decode.Thoughts
	calls    decode.Calls
	usage    []byte
	model    []byte

	failed     bool // a choice has an error of its own
	hasCalls   bool // a call was heard; a message that follows repeats it
	finish     string
	finishLast bool
	output     bool
	firstToken time.Duration
}

func newAnswer(began time.Time, d decode.Dialect, yield func(model.Part)) *answer {
	return &answer{began: began, yield: yield, thoughts: decode.NewThoughts(d)}
}

// voice is what was said so far, of text or of thoughts.
type channel struct {
	decode.Unescape
	text []byte
	// repeats says that a message holds what was said before it: there were deltas, or messages that grow.
	repeats bool
}

// add takes the next frame, which is valid JSON. Of several choices the answer is choice 0: no more than one is asked
// for.
func (a *answer) addFrame(frame []byte) {
	c := &a.frame
	c.read(frame)
	if !absent(c.model) && !bytes.Equal(c.model, a.model) {
		a.model = bytes.Clone(c.model)
	}
	if !absent(c.usage) {
		a.usage = append(a.usage[:0], c.usage...)
	}
	place := 0
	jsonwalk.Array(c.choices, func(value []byte) {
		a.addChoice(value, place)
		place++
	})
	a.setFinish(finishText(c.finish))
	a.setFinish(finishText(c.flag))
}

func (a *answer) addChoice(value []byte, place int) {
	c := &a.choice
	c.read(value)
	if c.number(place) == 0 {
		c.delta.texts(a.addDelta)
		c.delta.toolCalls(a.call)
		a.addMessage(&c.message)
		if absent(c.message.content) {
			a.addCompletion(c.text)
		}
		a.setFinish(finishText(c.finish))
		if native := finishText(c.native); model.FinishOf(native) > model.Unknown {
			a.setFinish(native)
		}
	}
	a.failed = a.failed || c.failed
}

// ended takes a finish_reason. One that comes before more of the answer is forgotten, and of two that come together the
// graver counts; a failure stays.
func (a *answer) setFinish(reason string) {
	before, now := model.FinishOf(a.finish), model.FinishOf(reason)
	switch {
	case now == model.Unfinished:
		return
	case before != model.Broken && (!a.finishLast || now >= before):
		a.finish = reason
	}
	a.finishLast = true
}

func (a *answer) channel(thought bool) *channel {
	if thought {
		return &a.thought
	}
	return &a.content
}

// say takes a JSON string of a delta.
func (a *answer) addDelta(literal []byte, thought bool) {
	v := a.channel(thought)
	if piece := v.Push(literal); piece != "" {
		v.repeats = true
		a.push(piece, thought)
	}
}

// hear takes a message, which may hold all that was said before.
func (a *answer) addMessage(m *delta) {
	var whole [2]string
	m.texts(func(literal []byte, thought bool) {
		if thought {
			whole[1] += jsonwalk.Text(literal)
			return
		}
		whole[0] += jsonwalk.Text(literal)
	})
	a.push(a.thought.newIn(whole[1]), true)
	a.push(a.content.newIn(whole[0]), false)
	if !a.hasCalls {
		m.toolCalls(a.call)
	}
}

// complete takes the text of a completion, which comes in pieces unless deltas say the same.
func (a *answer) addCompletion(literal []byte) {
	if a.content.repeats {
		a.push(a.content.newIn(jsonwalk.Text(literal)), false)
		return
	}
	a.push(a.content.Push(literal), false)
}

// fresh is what a message adds to what was said. It looks at no more than about the message's length, for a server may
// send many.
func (v *channel) newIn(message string) string {
	n := len(v.text)
	switch {
	case n == 0:
		return message
	case len(message) >= n && message[:n] == string(v.text) && (v.repeats || len(message) > n):
		v.repeats = true
		return message[n:]
	case v.repeats && len(message) < n && (message == string(v.text[:len(message)]) ||
		message == string(v.text[n-len(message):])), // without the thoughts, or what else came before it
		v.repeats && n < 2*len(message) && strings.TrimSpace(message) == string(bytes.TrimSpace(v.text)):
		return ""
	}
	return message
}

func (a *answer) push(piece string, thought bool) {
	if piece == "" {
		return
	}
	a.finishLast = false
	v := a.channel(thought)
	v.text = append(v.text, piece...)
	if thought {
		a.thoughts.Field(piece, a.emit)
		return
	}
	a.thoughts.Push(piece, a.emit)
}

func (a *answer) call(d decode.CallDelta) {
	a.hasCalls = true
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
	a.yield(p)
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
	return model.End{Calls: a.calls.Done(), Usage: counted, Model: jsonwalk.Text(a.model), FirstToken: a.firstToken}
}
