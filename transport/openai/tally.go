package openai

import (
	"github.com/seed889630bf/lastword/messages"
	llm "github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Tally adds up what the models say of their answers.
type Tally struct {
	Tokens messages.Usage
	Finish string // of the last
}

// Add adds what an operation says.
func (t *Tally) Add(op *transcript.Op) {
	if b, ok := op.Event.Body.(messages.LLMCompleted); ok && op.Do == transcript.Update {
		t.Finish = b.FinishReason
		if b.Usage != nil {
			t.Tokens.PromptTokens += b.Usage.PromptTokens
			t.Tokens.CompletionTokens += b.Usage.CompletionTokens
			t.Tokens.ReasoningTokens += b.Usage.ReasoningTokens
		}
	}
}

// Reason is why a completed answer ended.
func (t *Tally) Reason() string {
	switch llm.FinishOf(t.Finish) {
	case llm.Truncated:
		return "length"
	case llm.Filtered:
		return "content_filter"
	default:
		return "stop"
	}
}
