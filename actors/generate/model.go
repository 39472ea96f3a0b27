package generate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Model is a language model that the job may ask.
type Model struct {
	Stream model.Stream
	Name   string // the server's name for it
	Server string // who runs it, for llm.started
	// Context is the number of tokens that fit into the loaded model; 0 if unknown.
	Context int
	// Structured is the strictest way to get JSON that the server is known to have, as "provider check" names it; ""
	// if nothing is known.
	Structured string
	// Extra fields are added to each request's body, such as those that disable reasoning.
	Extra map[string]json.RawMessage
}

// AutoModel is the model name that means any loaded model.
const AutoModel = "auto"

// Budgets in tokens.
const (
	// unknownContext is assumed if the context is unknown. If the real one is smaller, that costs an attempt or two.
	unknownContext = 8 << 10
	mostMaterial   = 16 << 10 // a desktop model takes minutes to read more, and gains little
	leastMaterial  = 400
	leastAnswer    = 800
	mostAnswer     = 4 << 10
	bytesOfToken   = 3 // at least, in every language that tokenizers are made for
)

// answer returns how many tokens the model may write.
func (m *Model) answer() int {
	return min(max(cmp.Or(m.Context, unknownContext)/4, leastAnswer), mostAnswer)
}

// material returns how many bytes of the repository the model can see, with room for its answer and a reserve of 15 %
// of its context.
func (m *Model) material(promptBytes int) int {
	tokens := cmp.Or(m.Context, unknownContext)*85/100 - m.answer()
	return min(tokens, mostMaterial)*bytesOfToken - promptBytes
}

// finder looks for the model once.
type finder struct {
	look    func(ctx context.Context, name string) (*Model, error)
	name    string
	model   *Model
	unfound error
}

func (f *finder) find(ctx context.Context) (*Model, error) {
	if f.model == nil && f.unfound == nil {
		f.model, f.unfound = f.look(ctx, f.name)
	}
	return f.model, f.unfound
}

// consulted records how asking the model went.
type consulted struct {
	model *Model        // nil if no model is used
	other string        // the model that answered instead of the requested one, or ""
	cause messages.Code // why the model failed, or ""
}

// name returns the model that answered, or else the one that was requested.
func (c consulted) name() string { return cmp.Or(c.other, c.model.Name) }

// configure is the task that finds the model.
func (g *generation) configure(ctx context.Context, t *actors.TaskContext) (by consulted, err error) {
	m, err := g.finder.find(ctx)
	if err != nil {
		by.cause, err = g.withoutModel(ctx, t, err)
		return by, err
	}
	words := "model " + m.Name
	if m.Server != "" {
		words += " at " + m.Server
	}
	if m.Context > 0 {
		words += fmt.Sprintf(", %d tokens", m.Context)
	}
	t.Summarize(words)
	return consulted{model: m}, nil
}

// withoutModel logs that the model failed, and continues without it. It returns an error if a model is required or
// the run is ending.
func (g *generation) withoutModel(ctx context.Context, t *actors.TaskContext, err error) (messages.Code, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if g.input.RequireModel {
		return "", err
	}
	cause := messages.CodeOf(err).Cause()
	t.Summarize("without the model")
	return cause, t.Notice(messages.NoticeStageSkipped,
		fmt.Sprintf("the model failed (%s): %v; the files were written without it", cause, err))
}

// otherModel returns the model that answered instead of the requested one, or "". Some servers answer with a
// loaded model if they cannot load the requested one. If the requested model answered, its requested name is used, as
// in the cache.
func otherModel(requested, answered string) string {
	name := shownModel(answered)
	if name == "" || model.SameModel(requested, answered) {
		return ""
	}
	return name
}

// shownModel returns the server's name for a model, without control characters and the folders of its machine.
func shownModel(name string) string {
	name = llmstxt.Line(name)
	if strings.HasPrefix(name, "/") || strings.Contains(name, `\`) {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	}
	return strings.ToValidUTF8(name[:min(len(name), maxModelName)], "")
}
