package llmstxt

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/structured"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Model is a language model to ask.
type Model struct {
	Stream model.Stream
	Name   string // as the server knows it
	Server string // who runs it, as llm.started names it
	// Context is how many tokens fit into the model as it is loaded; 0 where that is not known.
	Context int
	// Ladder is what is known of the server's ways to keep an answer to a form; nil for nothing.
	Ladder *structured.Ladder
	// Extra are more fields of each request's body, such as those that switch thoughts off.
	Extra map[string]json.RawMessage
}

// FindModel finds the model of the name, or any where the name is [AutoModel]. Its error is that of a provider as a
// rule.
type FindModel func(ctx context.Context, name string) (*Model, error)

// AutoModel as the model's name takes one that there is.
const AutoModel = "auto"

// Tokens of a model's context.
const (
	// unknownContext is taken for one that is not known: a smaller one costs an attempt or two, a larger one is not
	// used.
	unknownContext = 8 << 10
	mostMaterial   = 16 << 10 // more takes minutes to read for a model on a desk, and tells it little
	leastMaterial  = 400
	leastAnswer    = 800
	mostAnswer     = 4 << 10
	bytesOfToken   = 3 // or more, in any language that a tokenizer was made for
)

// answer is how many tokens the model may write.
func (m *Model) answer() int {
	return min(max(cmp.Or(m.Context, unknownContext)/4, leastAnswer), mostAnswer)
}

// material is how many bytes of the repository the model can be shown, with room for its answer and 15 % of its
// context to spare.
func (m *Model) material(promptBytes int) int {
	tokens := cmp.Or(m.Context, unknownContext)*85/100 - m.answer()
	return min(tokens, mostMaterial)*bytesOfToken - promptBytes
}

// find finds the model once.
func (g *generation) find(ctx context.Context) (*Model, error) {
	if g.model == nil && g.unfound == nil {
		g.model, g.unfound = g.config.Model(ctx, g.input.Model)
	}
	return g.model, g.unfound
}

// configure is the task that says which model is asked.
func (g *generation) configure(ctx context.Context, t *actors.TaskContext) error {
	m, err := g.find(ctx)
	if err != nil {
		return g.withoutModel(ctx, t, err)
	}
	words := "model " + m.Name
	if m.Server != "" {
		words += " at " + m.Server
	}
	if m.Context > 0 {
		words += fmt.Sprintf(", %d tokens", m.Context)
	}
	t.Summarize(words)
	return nil
}

// withoutModel goes on without the model, whose failure is told, unless there is to be one or the run itself is to
// end.
func (g *generation) withoutModel(ctx context.Context, t *actors.TaskContext, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if g.input.RequireModel {
		return err
	}
	g.degraded = messages.Cause(cmp.Or(messages.CodeOf(err), messages.Code(messages.CauseError)))
	t.Summarize("without the model")
	return t.Log(messages.LogWarn,
		fmt.Sprintf("the model failed (%s): %v; the files were written without it", g.degraded, err))
}
