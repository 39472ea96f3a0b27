package call

import (
	"maps"
	"slices"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// bytesHeard are the bytes of a token that a model sends, for estimates. They are more than the bytes of
// [messages.InputTokens], because the server counts what it sends itself.
const bytesHeard = 4

// inputOf estimates the tokens of a request.
func inputOf(r model.Request) int {
	bytes := model.Size(r.Messages)
	for _, t := range r.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return messages.InputTokens(bytes)
}

// bound returns the request as the budget allows it. Once most of the budget was spent, it tells the model what is left.
func (c *recording) bound(r model.Request, allowed actors.Allowance) model.Request {
	if c.most = allowed.MaxTokens; c.most > 0 {
		r.MaxTokens, r.Extra = c.most, maps.Clone(r.Extra)
		for _, name := range []string{"max_tokens", "max_completion_tokens", "max_new_tokens", "n_predict"} {
			delete(r.Extra, name)
		}
	}
	if last := len(r.Messages) - 1; allowed.Note != "" && last >= 0 && r.Messages[last].Role != model.Assistant && r.Messages[last].Extra == "" {
		r.Messages = slices.Clone(r.Messages)
		r.Messages[last].Content += allowed.Note
	}
	return r
}

// hold ends an answer that is far longer than the request allowed: its server does not heed max_tokens.
func (c *recording) hold() {
	if c.over == nil && c.most > 0 && (c.bytes+c.written)/bytesHeard > c.most+c.most/2+64 {
		c.over = messages.Errorf(messages.CodeBudget, "the answer is longer than the %d tokens that the budget has left for it; "+
			"start the run with a larger budget", c.most)
		c.stop(c.over)
	}
}

// usage returns the server's counts. Without them it estimates the usage of a run with a budget, if the server answered.
func (c *recording) usage(e model.End) *messages.Usage {
	if e.Usage.Total() != nil || !c.task.Budgeted() || e.Usage == nil && c.bytes+c.written == 0 && !e.Evidence.Output {
		return e.Usage
	}
	used := messages.Usage{}
	if e.Usage != nil {
		used = *e.Usage
	}
	used.Estimated = true
	if used.PromptTokens == nil {
		used.PromptTokens = new(int64(c.input))
	}
	if used.CompletionTokens == nil {
		used.CompletionTokens = new(int64((c.bytes + c.written + bytesHeard - 1) / bytesHeard))
	}
	return &used
}
