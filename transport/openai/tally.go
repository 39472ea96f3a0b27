package openai

import (
	"github.com/seed889630bf/lastword/messages"
	llm "github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Tally adds up what the models report about their answers.
type Tally struct {
	Tokens messages.Usage
	Finish string // of the last answer
}

// Add adds the token counts and the finish reason in an operation, if it has any.
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

// Reason returns the API's word for why a completed answer ended.
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
