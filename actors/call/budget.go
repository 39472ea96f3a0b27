package call

import (
	"maps"
	"slices"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

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
	if c.over == nil && c.most > 0 && messages.OutputTokens(c.bytes+c.written) > c.most+c.most/2+64 {
		c.over = messages.Errorf(messages.CodeBudget, "the answer is longer than the %d tokens that the budget has left for it; "+
			"start the run with a larger budget", c.most)
		c.stop(c.over)
	}
}

// usage returns the server's counts, and estimates those that it lacks of a call that it has answered, or had accepted when
// this side ended it. A count of nothing for an answer that came is none. Without a budget, half a usage stays as it was told.
func (c *recording) usage(e model.End) *messages.Usage {
	heard, accepted := c.bytes+c.written, e.Evidence.Stopped != "" && e.Evidence.Status/100 == 2
	if e.Usage == nil && heard == 0 && !e.Evidence.Output && !accepted || e.Usage != nil && e.Usage.Total() == nil && !c.task.Budgeted() {
		return e.Usage
	}
	used := messages.Usage{}
	if e.Usage != nil {
		used = *e.Usage
	}
	if used.PromptTokens == nil {
		used.PromptTokens, used.Estimated = new(int64(c.input)), true
	}
	if least := int64(messages.OutputTokens(heard)); used.CompletionTokens == nil || *used.CompletionTokens == 0 && least > 0 {
		used.CompletionTokens, used.Estimated = &least, true
	}
	return &used
}
