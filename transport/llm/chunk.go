package llm

import (
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model/decode"
)

// chunk is what one frame adds to an answer: raw JSON values, nil where the frame has none. Servers differ in nearly
// every type; what is not of the type that is looked for says nothing.
type chunk struct {
	model, usage, finish                       []byte
	content, refusal, calls, function          []byte
	reasoningContent, reasoning, reasoningList []byte
	choices                                    int
}

// read takes the frame apart. Of several choices only the first is the answer: no more than one is asked for.
func (c *chunk) read(frame []byte) {
	*c = chunk{}
	object(frame, func(key, value []byte) {
		switch string(key) {
		case "model":
			c.model = value
		case "usage":
			c.usage = value
		case "choices":
			array(value, c.choice)
		}
	})
}

func (c *chunk) choice(value []byte) {
	if c.choices++; c.choices > 1 {
		return
	}
	object(value, func(key, value []byte) {
		switch string(key) {
		case "finish_reason":
			c.finish = value
		case "delta":
			object(value, c.delta)
		}
	})
}

func (c *chunk) delta(key, value []byte) {
	switch string(key) {
	case "content":
		c.content = value
	case "refusal":
		c.refusal = value
	case "tool_calls":
		c.calls = value
	case "function_call":
		c.function = value
	case "reasoning_content":
		c.reasoningContent = value
	case "reasoning":
		c.reasoning = value
	case "reasoning_details":
		c.reasoningList = value
	}
}

// thought is the value that holds the frame's piece of a thought: servers that send more than one send the same twice.
func (c *chunk) thought() []byte {
	switch {
	case !none(c.reasoningContent):
		return c.reasoningContent
	case !none(c.reasoning):
		return c.reasoning
	}
	return c.reasoningList
}

// spoken gives the strings in a content: itself, or those of the parts of a list, thoughts apart from text.
func spoken(value []byte, thinking bool, give func(literal []byte, thought bool)) {
	switch {
	case len(value) == 0:
	case value[0] == '"':
		give(value, thinking)
	case value[0] == '[':
		array(value, func(part []byte) { spoken(part, thinking, give) })
	case value[0] == '{':
		object(value, func(key, value []byte) {
			switch string(key) {
			case "text", "content", "summary":
				spoken(value, thinking, give)
			case "thinking":
				spoken(value, true, give)
			}
		})
	}
}

func callDelta(value []byte) (d decode.CallDelta) {
	object(value, func(key, value []byte) {
		switch string(key) {
		case "index":
			d.Index = value
		case "id":
			d.ID = value
		case "function":
			d.Function = callFunction(value)
		}
	})
	return d
}

func callFunction(value []byte) (f decode.CallFunction) {
	object(value, func(key, value []byte) {
		switch string(key) {
		case "name":
			f.Name = value
		case "arguments":
			f.Arguments = value
		}
	})
	return f
}

// usage is nil where the value counts nothing.
func usage(value []byte) *messages.Usage {
	var u messages.Usage
	if !object(value, func(key, value []byte) {
		switch string(key) {
		case "prompt_tokens":
			u.PromptTokens = count(value)
		case "completion_tokens":
			u.CompletionTokens = count(value)
		case "completion_tokens_details":
			object(value, func(key, value []byte) {
				if string(key) == "reasoning_tokens" {
					u.ReasoningTokens = count(value)
				}
			})
		}
	}) {
		return nil
	}
	return &u
}
