package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages/model"
)

// answer turns the chunks of one answer into parts. It tells thoughts from text, joins the pieces of tool calls, and
// remembers the finish_reason. It belongs to the goroutine of the attempt.
type answer struct {
	yield func(model.Part) // passes a part to the consumer
	began time.Time

	choice   choice
	content  channel
	thought  channel
	thoughts *decode.Thoughts
	calls    decode.Calls
	usage    []byte
	counted  bool // nothing came after the usage
	model    []byte

	thoughtsIn string                     // the member with the thoughts
	extra      map[string]json.RawMessage // members that nobody reads

	failed     bool          // a choice contained an error
	hasCalls   bool          // deltas had tool calls, so that a later message repeats them
	finish     string        // the worst finish_reason so far
	finishLast bool          // nothing came after the finish_reason
	output     bool          // text, a thought or a call has come
	firstToken time.Duration // time until then

	most    int            // maximum number of tokens; 0 means no limit
	measure decode.Endless // counts tokens and finds repetitions
	endless string         // the reason for ending the answer here, if it does not end by itself
}

// channel holds the text, or the thoughts, so far.
type channel struct {
	decode.Unescape
	text []byte
	// repeats says that messages repeat the earlier text, because deltas came before or because the messages grow.
	repeats bool
}

// add adds the next chunk. It ignores all choices except 0, because requests ask for one.
func (a *answer) add(c *chunk) {
	if !absent(c.model) && !bytes.Equal(c.model, a.model) {
		a.model = bytes.Clone(c.model)
	}
	if !absent(c.usage) {
		a.usage = append(a.usage[:0], c.usage...)
	}
	if c.message != nil {
		v := &a.choice.delta
		*v = delta{}
		v.read(c.message)
		v.texts(a.addDelta)
		v.toolCalls(a.call)
		a.keep(v)
	}
	place := 0
	jsonwalk.Array(c.choices, func(value []byte) {
		a.addChoice(value, place)
		place++
	})
	a.setFinish(finishText(c.finish))
	a.setFinish(finishText(c.flag))
	a.counted = a.counted || !absent(c.usage)
}

// addChoice adds one choice of a chunk. place is its position in the list, which counts if the choice has no index.
func (a *answer) addChoice(value []byte, place int) {
	c := &a.choice
	c.read(value)
	if !absent(c.index) {
		place = int(count(c.index))
	}
	if place == 0 {
		c.delta.texts(a.addDelta)
		c.delta.toolCalls(a.call)
		a.keep(&c.delta)
		a.keep(&c.message)
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

// setFinish records a finish_reason. A later one replaces it if text came in between or if the later one is worse. A
// failure is never replaced.
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

// addDelta adds a JSON string of a delta.
func (a *answer) addDelta(literal []byte, thought bool) {
	v := a.channel(thought)
	if piece := v.Push(literal); piece != "" {
		v.repeats = true
		a.push(piece, thought)
	}
}

// keep keeps what goes back to the server with the answer: where it had its thoughts, and what nobody reads here. Lists
// grow, and of other members the last counts.
func (a *answer) keep(d *delta) {
	a.thoughtsIn = cmp.Or(a.thoughtsIn, d.thoughtsIn())
	if d.extra == "" {
		return
	}
	jsonwalk.Object([]byte(d.extra), func(key, value []byte) {
		if a.extra == nil {
			a.extra = map[string]json.RawMessage{}
		}
		a.extra[string(key)] = joined(a.extra[string(key)], value)
	})
}

// joined returns both lists as one, or else the later value. A fragment joins the element before it if both have one type
// and index.
func joined(before, value json.RawMessage) json.RawMessage {
	var old, more []map[string]any
	if json.Unmarshal(before, &old) != nil || json.Unmarshal(value, &more) != nil || old == nil {
		return bytes.Clone(value)
	}
	for _, next := range more {
		last := old[max(len(old)-1, 0):]
		if len(last) == 0 || next["index"] == nil || last[0]["index"] != next["index"] || last[0]["type"] != next["type"] {
			old = append(old, next)
			continue
		}
		for name, value := range next {
			piece, text := value.(string)
			if had, _ := last[0][name].(string); text && slices.Contains([]string{"text", "summary", "data"}, name) {
				value = had + piece
			}
			if value != nil {
				last[0][name] = value
			}
		}
	}
	all, _ := json.Marshal(old) // it was JSON
	return all
}

// addMessage adds a message, which may repeat the earlier text.
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

// addCompletion adds the text of a completion: a piece, or a repetition of the deltas.
func (a *answer) addCompletion(literal []byte) {
	if a.content.repeats {
		a.push(a.content.newIn(jsonwalk.Text(literal)), false)
		return
	}
	a.push(a.content.Push(literal), false)
}

// newIn returns what a message adds to the earlier text. It compares no more bytes than about the message's length,
// because a server may send many messages.
func (v *channel) newIn(message string) string {
	n := len(v.text)
	switch {
	case n == 0:
		return message
	case len(message) >= n && message[:n] == string(v.text) && (v.repeats || len(message) > n):
		v.repeats = true
		return message[n:]
	case v.repeats && len(message) < n && (message == string(v.text[:len(message)]) ||
		message == string(v.text[n-len(message):])), // the message lacks the thoughts or other text before it
		v.repeats && n < 2*len(message) && strings.TrimSpace(message) == string(bytes.TrimSpace(v.text)):
		return ""
	}
	return message
}

// push adds a piece of the text, or of the field with thoughts. Text may hold thoughts too, between marks.
func (a *answer) push(piece string, thought bool) {
	if piece == "" {
		return
	}
	a.finishLast, a.counted = false, false
	a.bound(piece)
	v := a.channel(thought)
	v.text = append(v.text, piece...)
	if thought {
		a.thoughts.Field(piece, a.emit)
		return
	}
	a.thoughts.Push(piece, a.emit)
}

// bound ends an answer that would never end. Some servers let a model write without limit.
func (a *answer) bound(piece string) {
	switch tokens, repeats := a.measure.Push(piece); {
	case repeats:
		a.endless = "the answer repeated itself without end"
	case a.most > 0 && tokens > a.most:
		a.endless = fmt.Sprintf("the answer had %d tokens and no end", a.most)
	}
}

// call adds a piece of a tool call.
func (a *answer) call(d decode.CallDelta) {
	a.hasCalls = true
	if part, ok := a.calls.Push(d); ok {
		a.finishLast, a.counted = false, false
		a.bound(part.Arguments)
		a.emit(part)
	}
}

// emit passes on a part, and measures the time to the first token. The end of a thought does not count as output.
func (a *answer) emit(p model.Part) {
	if _, done := p.(model.ThoughtDone); !a.output && !done {
		a.output = true
		a.firstToken = max(time.Since(a.began), 1)
	}
	a.yield(p)
}

// close passes on what the decoders have held back.
func (a *answer) close() {
	if rest := a.thought.Close(); rest != "" {
		a.thoughts.Field(rest, a.emit)
	}
	if rest := a.content.Close(); rest != "" {
		a.thoughts.Push(rest, a.emit)
	}
	a.thoughts.Close(a.emit)
}
