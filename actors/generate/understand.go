package generate

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/actors/llmstxt/insight"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/structured"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// understand is the task in which the model reads the repository and describes it.
func (g *generation) understand(ctx context.Context, t *actors.TaskContext) error {
	if g.hit != nil {
		t.Summarize("taken from the cache")
		return nil
	}
	if g.model == nil || g.degraded != "" {
		t.Summarize("skipped: there is no model")
		return nil
	}
	live := &insight.Live{}
	answer, err := g.answer(ctx, t, live)
	if err != nil {
		if err := g.withoutModel(ctx, t, err); err != nil {
			return err
		}
		return closeTexts(t, insight.Answer{}, live.Opened)
	}
	if err := closeTexts(t, answer, live.Opened); err != nil {
		return err
	}
	g.insight = answer
	g.index = answer.Into(g.index, "written by "+g.modelName(), g.room())
	t.Summarize(fmt.Sprintf("%s, %s to remember and %s by %s", prose.Count(len(answer.Concepts), "concept"),
		prose.Count(len(answer.Remember), "thing"), prose.Count(len(answer.Sections)+len(answer.Notes), "note"), g.modelName()))
	return nil
}

// closeTexts ends the streamed texts with what the files take from the answer.
func closeTexts(t *actors.TaskContext, answer insight.Answer, opened []string) error {
	for _, text := range answer.Texts() {
		words := prose.Count(1+strings.Count(text.Text, "\n"), "line")
		if text.Text == "" {
			if words = "discarded"; !slices.Contains(opened, text.Stream) {
				continue
			}
		}
		done := messages.TextDone{Stream: text.Stream, Text: text.Text, SHA256: messages.Digest(text.Text)}
		if err := t.Emit(done, text.Stream+": "+words); err != nil {
			return err
		}
	}
	return nil
}

// answer asks the model, with less material each time the server says that the context is too small.
func (g *generation) answer(ctx context.Context, t *actors.TaskContext, live *insight.Live) (insight.Answer, error) {
	least := leastMaterial * bytesOfToken
	budget := g.model.material(insight.PromptBytes)
	if budget < least {
		return insight.Answer{}, messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"the model is loaded with a context of %d tokens, which is too small; load it with %d or more",
			g.model.Context, unknownContext)
	}
	told := call.Recorded(t, g.model.Stream, call.Label{Name: "understanding", Provider: g.model.Server})
	for {
		material, err := insight.Gather(ctx, g.files, &g.secrets, g.repo, g.index, budget, model.Neutral)
		if err != nil {
			return insight.Answer{}, err
		}
		said, overflow, err := g.ask(ctx, t, told, material, budget, live)
		if !overflow || budget/2 < least {
			said, refused := said.Clean(g.index, material)
			if len(refused) > 0 {
				t.Log(messages.LogWarn, fmt.Sprintf("refused %s of the answer: %s", prose.Count(len(refused), "line"),
					strings.Join(refused[:min(len(refused), 3)], "; ")))
			}
			return said, err
		}
		budget /= 2
		t.Log(messages.LogWarn,
			fmt.Sprintf("the model's context is too small: asking again with %d bytes of the repository", budget))
	}
}

// ask takes the answer from the cache, the run's log or the model.
func (g *generation) ask(ctx context.Context, t *actors.TaskContext, told model.Stream, m insight.Material, budget int,
	live *insight.Live) (said insight.Answer, overflow bool, err error) {
	key := g.answerKey(m)
	if g.cache.folder != "" && json.Unmarshal(g.cache.read(key), &said) == nil && said.Problems() == nil {
		return said, false, nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	live.Say = func(stream, text string) {
		if err := t.Say(stream, text); err != nil {
			stop(err) // ends the stream
		}
	}
	o := structured.Options{Name: "description", Ladder: g.model.Ladder, Field: live.Field}
	o.Attempt = func(a structured.Attempt) {
		if len(a.Rejected) > 0 {
			t.Log(messages.LogWarn, fmt.Sprintf("attempt %d, with %s: the previous answer was rejected: %s", a.Number, a.Level,
				a.Rejected[0]))
		}
	}
	if len(live.Opened) > 0 {
		o.Field = nil // the texts streamed before the context was full stand until they are closed
	}
	var report structured.Report
	type answer struct { // and who gave it
		Answer insight.Answer `json:"answer"`
		Model  string         `json:"model,omitempty"`
	}
	kept, err := actors.Do(ctx, t, fmt.Sprintf("answer %.12s %d", key, budget), func(ctx context.Context) (a answer, err error) {
		a.Answer, report, err = structured.Ask[insight.Answer](ctx, told, g.request(m), o)
		a.Model = report.Model
		return a, err
	})
	said = kept.Answer
	g.noteAnswerer(t, cmp.Or(kept.Model, report.Model), err)
	if err == nil && g.other == "" && g.cache.folder != "" {
		data, _ := json.Marshal(said) // never fails
		logUncached(t, "the model's answer is", g.cache.write(key, data))
	}
	return said, report.Overflow || g.mayBeOverflow(err), err
}

// mayBeOverflow reports whether the error is an empty answer that may mean a full context of unknown size: some
// servers end such an answer as if it were complete.
func (g *generation) mayBeOverflow(err error) bool {
	return g.model.Context == 0 && messages.CodeOf(err) == messages.Code(messages.CauseEmptyCompletion)
}

// request offers no tools: strangers wrote what the model reads.
func (g *generation) request(m insight.Material) model.Request {
	system, user := m.Prompt("=====" + rand.Text() + "=====")
	return model.Request{Model: g.model.Name, MaxTokens: g.model.answer(), Extra: g.model.Extra,
		Messages: []model.Message{
			{Role: model.System, Content: system}, {Role: model.User, Content: user}}}
}

// room is how many bytes the model's lines may take in the details list.
func (g *generation) room() int {
	const most = 4 << 10
	if g.input.SizeBudget == 0 {
		return most
	}
	_, _, front := render.Fit(g.index, math.MaxInt64)
	return int(min(most, g.input.SizeBudget/4, g.input.SizeBudget-front-leastBudget/4))
}

// addAnswer adds the model, its notes on sections, and whether it failed to llms.json.
func (g *generation) addAnswer(d *render.Document) {
	if g.model != nil {
		d.Options.Model = g.modelName()
	} else {
		d.Options.Model = g.input.Model
	}
	d.Degraded, d.Cause = g.degraded != "", string(g.degraded)
	for i := range d.Sections {
		for _, said := range g.insight.Sections {
			if said.Name == d.Sections[i].Name {
				d.Sections[i].Note = said.Note
			}
		}
	}
}
