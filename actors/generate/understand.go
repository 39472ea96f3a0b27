package generate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/structured"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// understand is the task in which the model reads the repository and describes it.
func (g *generation) understand(
	ctx context.Context, t *actors.TaskContext, got fetched, about *llmstxt.Analysis, by consulted,
) (*llmstxt.Analysis, consulted, error) {
	if about == nil {
		t.Summarize("taken from the cache")
		return nil, by, nil
	}
	if by.model == nil {
		t.Summarize("skipped: there is no model")
		return about, by, nil
	}
	live := &live{begun: sync.OnceFunc(func() { _ = g.show(ctx, t, got, about) })} // the task write meets the error again
	answer, other, err := g.answer(ctx, t, about, by.model, live)
	if by.other = other; err != nil {
		if by.cause, err = g.withoutModel(ctx, t, err); err != nil {
			return nil, by, err
		}
		return about, by, closeTexts(t, llmstxt.Answer{}, live.Opened)
	}
	if err := closeTexts(t, answer, live.Opened); err != nil {
		return nil, by, err
	}
	t.Summarize(fmt.Sprintf("%s by %s", words.Count(len(answer.Notes), "note"), by.name()))
	return about.Describe(answer, "written by "+by.name()), by, nil
}

// live are the texts of the answer while they come. begun is called before each piece.
type live struct {
	llmstxt.Live
	begun func()
}

// show lets readers have llms.txt without notes while the model writes them.
func (g *generation) show(ctx context.Context, t *actors.TaskContext, got fetched, about *llmstxt.Analysis) error {
	out, err := g.place(got.material, got.out).openFolder(ctx, t)
	if err != nil {
		return err
	}
	defer out.Close()
	files, err := about.Files(ctx, g.output(out, consulted{}), caller(t))
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if _, err := files.List[0].Write(&text); err != nil {
		return err
	}
	return (&writer{t: t, out: out}).show(llmstxt.NameTxt, text.Bytes())
}

// closeTexts closes the streamed texts with the parts of the answer that the files use.
func closeTexts(t *actors.TaskContext, answer llmstxt.Answer, opened []string) error {
	for _, text := range answer.Texts() {
		words := words.Count(1+strings.Count(text.Text, "\n"), "line")
		if text.Text == "" {
			if words = "discarded"; !slices.Contains(opened, text.Stream) {
				continue
			}
		}
		done := messages.TextDone{Stream: text.Stream, Text: text.Text, SHA256: messages.Digest(text.Text), MediaType: messages.TextMarkdown}
		if err := t.Emit(done, text.Stream+": "+words); err != nil {
			return err
		}
	}
	return nil
}

// answer asks the model, with less material each time the server says that the context is too small. other is the
// model that answered instead, or "".
func (g *generation) answer(
	ctx context.Context, t *actors.TaskContext, about *llmstxt.Analysis, m *Model, live *live,
) (said llmstxt.Answer, other string, err error) {
	least := leastMaterial * bytesOfToken
	budget := m.material(llmstxt.PromptBytes)
	if budget < least {
		return said, "", messages.Errorf(messages.CauseLimitExceeded,
			"the model is loaded with a context of %d tokens, which is too small; load it with %d or more",
			m.Context, unknownContext)
	}
	recorded := call.Recorded(t, m.Stream, call.Label{Name: "understanding", Provider: m.Server})
	for {
		material, err := about.Material(ctx, budget, model.Neutral)
		if err != nil {
			return llmstxt.Answer{}, other, err
		}
		r, err := g.ask(ctx, t, m, recorded, material, about.Title(), budget, live)
		other = cmp.Or(r.other, other)
		if !r.overflow || budget/2 < least {
			said, refused := about.Clean(r.said, material)
			if len(refused) > 0 {
				t.Log(messages.LogWarn, fmt.Sprintf("refused %s of the answer: %s", words.Count(len(refused), "line"),
					strings.Join(refused[:min(len(refused), 3)], "; ")))
			}
			return said, other, err
		}
		budget /= 2
		t.Log(messages.LogWarn,
			fmt.Sprintf("the model's context is too small: asking again with %d bytes of the repository", budget))
	}
}

// reply is the result of one question.
type reply struct {
	said     llmstxt.Answer
	other    string // the model that answered instead of the requested one, or ""
	overflow bool   // the context was too small
}

// ask gets the answer from the cache, the run's log or the model.
func (g *generation) ask(ctx context.Context, t *actors.TaskContext, m *Model, recorded model.Stream, about llmstxt.Material,
	title string, budget int, live *live) (r reply, err error) {
	key := g.answerKey(m.Name, about)
	if g.cache.folder != "" && json.Unmarshal(g.cache.read(key), &r.said) == nil && r.said.Problems() == nil &&
		r.said.Grounded(about, title) {
		return r, nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	live.Say = func(stream, text string) {
		live.begun()
		if err := t.AppendTyped(stream, messages.TextMarkdown, text); err != nil {
			stop(err) // ends the stream
		}
	}
	o := structured.Options{Name: "description", Ladder: structured.NewLadder(m.Structured), Field: live.Field}
	o.Attempt = func(a structured.Attempt) {
		if len(a.Rejected) > 0 {
			t.Log(messages.LogWarn, fmt.Sprintf("attempt %d, with %s: the previous answer was rejected: %s", a.Number, a.Level,
				a.Rejected[0]))
		}
	}
	if len(live.Opened) > 0 {
		o.Field = nil // texts that were streamed before the context was full stay until they are closed
	}
	var report structured.Report
	type answer struct { // the answer, with the model that gave it
		Answer llmstxt.Answer `json:"answer"`
		Model  string         `json:"model,omitempty"`
	}
	stored, err := actors.Do(ctx, t, fmt.Sprintf("answer %.12s %d", m.request(about).Digest(), budget), func(ctx context.Context) (a answer, err error) {
		a.Answer, report, err = structured.Ask[llmstxt.Answer](ctx, recorded, m.request(about), o)
		a.Model = report.Model
		return a, err
	})
	// some servers end an answer as if it were complete when a context of unknown size is full
	r.said, r.overflow = stored.Answer, report.Overflow || m.Context == 0 && messages.CodeOf(err) == messages.CauseEmptyCompletion
	if err == nil && !r.said.Grounded(about, title) {
		err = messages.Errorf(messages.CauseInvalidOutput,
			"the model's answer says nothing of this repository: %.80q", r.said.Purpose)
	}
	if other := otherModel(m.Name, cmp.Or(stored.Model, report.Model)); err == nil {
		r.other = other
	}
	if err == nil && r.other == "" && g.cache.folder != "" {
		data, _ := json.Marshal(r.said) // never fails
		logUncached(t, "the model's answer is", g.cache.write(key, data))
	}
	return r, err
}

// request makes the request. It offers no tools, because strangers wrote what the model reads.
func (m *Model) request(about llmstxt.Material) model.Request {
	// the boundary is a digest, because no text contains its own digest
	system, user := about.Prompt("=====" + messages.Digest(about.Text)[:32] + "=====")
	return model.Request{Model: m.Name, MaxTokens: m.answer(), Extra: m.Extra,
		Messages: []model.Message{
			{Role: model.System, Content: system}, {Role: model.User, Content: user}}}
}
