package completions

import (
	"cmp"
	"net/http"
	"time"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
	"github.com/seed889630bf/lastword/transport/openai"
)

type handler struct{ *door.Door }

// Path is that of the API.
const Path = "/v1/chat/completions"

// New returns the handler of the Path. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{to}
	return openai.Routes(map[string]openai.Handler{"POST " + Path: d.complete})
}

// complete answers POST /v1/chat/completions.
func (d handler) complete(w http.ResponseWriter, r *http.Request) error {
	var q request
	if err := door.ReadJSON(r, &q); err != nil {
		return err
	}
	turn, err := q.turn()
	if err != nil {
		return err
	}
	ctx := r.Context()
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return err
	}
	job, err := d.TextJob(q.Model)
	if err != nil {
		return err
	}
	c := &completion{model: job.Name, usage: q.StreamOptions.IncludeUsage, created: time.Now().Unix(), Part: door.Part{Attached: true}, speech: door.Speech{All: true}}
	chat := cmp.Or(r.Header.Get("X-Chat-Id"), r.Header.Get("X-OpenWebUI-Chat-Id"))
	if c.Run, c.Seen, err = d.answered(ctx, chat, turn); err == nil && c.Run == "" {
		labels := map[string]string{door.ContextLabel: cmp.Or(chat, conversation(turn))}
		c.Run, err = d.StartTurn(ctx, job.Name, turn, labels, r.Header.Get("Idempotency-Key"))
	}
	if err == nil && q.Stream {
		door.Serve(w, r, d.Door, completing, c)
		return nil
	}
	if err == nil {
		err = door.Fold(ctx, d.Door, completing, c)
	}
	switch {
	case err != nil:
		return err
	case c.failed != nil:
		w.Header().Set("X-Should-Retry", "false")
		openai.Write(w, http.StatusInternalServerError, c.failed)
		return nil
	}
	return openai.Answer(d.Door, w, c.whole())
}

// completion is a run as one text.
type completion struct {
	door.Part
	model string
	usage bool // the client wants the usage

	speech  door.Speech
	tally   openai.Tally
	created int64
	// thoughts are those of an answer that is not streamed.
	thoughts string
	failed   *openai.Failure
}

var completing = func() *transcript.Dialect[*completion] {
	table := transcript.Each((*completion).do)
	table[transcript.Run][transcript.Open] = (*completion).start
	return &transcript.Dialect[*completion]{
		Table:     table,
		Rewind:    (*completion).do,
		Heartbeat: func(c *completion) { c.chunk(delta{}, "") }, // a comment would hide a failure from go-openai
		Refuse:    func(c *completion, err error) { c.fail(door.ReasonOf(err)) },
	}
}()

// start begins the answer. What an earlier answer had is not written again.
func (c *completion) start(op *transcript.Op) {
	c.speech.Begin(op.Run)
	c.chunk(delta{Role: "assistant", Content: new("")}, "")
}

func (c *completion) do(op *transcript.Op) {
	c.tally.Add(op)
	switch {
	case op.Item.Kind == transcript.Text:
		c.write(c.speech.Take(op))
	case op.Item.Kind == transcript.Thought && op.Do == transcript.Append:
		c.thoughts += op.Text
		c.chunk(delta{Reasoning: op.Text}, "")
	case op.Do == transcript.Wait:
		c.write(c.speech.Ask(op.Item), false)
		c.finish("stop")
	case op.Do == transcript.End:
		c.end(op)
	}
}

// write writes a piece, after a mark if what the client has was taken back.
func (c *completion) write(piece string, anew bool) {
	if anew {
		piece = transcript.Rule + piece
	}
	if piece != "" {
		c.chunk(delta{Content: &piece}, "")
	}
}

func (c *completion) end(op *transcript.Op) {
	if failed := door.Failure(op.Event.Body); failed != nil {
		c.fail(failed)
		return
	}
	c.write(c.speech.Rest(op))
	c.finish(c.tally.Reason())
}

func (c *completion) fail(why *door.Reason) {
	f := openai.FailureOf(why.Code, why.Message, true)
	c.failed, c.Over = &f, true
	c.Frame("", f)
}

func (c *completion) finish(reason string) {
	c.Over = true
	if c.Out == nil {
		c.tally.Finish = reason
		return
	}
	c.chunk(delta{}, reason)
	if c.usage {
		last := c.envelope("chat.completion.chunk", []choice{})
		last.Usage = c.tokens()
		c.Frame("", last)
	}
	_, _ = c.Out.WriteString("data: [DONE]\n\n") // Flush fails
}

type delta struct {
	Role      string  `json:"role,omitempty"`
	Content   *string `json:"content,omitempty"`
	Reasoning string  `json:"reasoning_content,omitempty"`
}

type choice struct {
	Index   int     `json:"index"`
	Delta   *delta  `json:"delta,omitempty"`
	Message *delta  `json:"message,omitempty"`
	Finish  *string `json:"finish_reason"`
}

type envelope struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
}

func (c *completion) envelope(object string, choices []choice) envelope {
	return envelope{ID: "chatcmpl-" + string(c.Run), Object: object, Created: c.created, Model: c.model,
		Choices: choices}
}

func (c *completion) chunk(d delta, finish string) {
	one := choice{Delta: &d}
	if finish != "" {
		one.Finish = &finish
	}
	c.Frame("", c.envelope("chat.completion.chunk", []choice{one}))
}

// whole is the answer of a client that does not stream.
func (c *completion) whole() envelope {
	text := c.speech.Text()
	message := &delta{Role: "assistant", Content: &text}
	message.Reasoning = c.thoughts
	out := c.envelope("chat.completion", []choice{{Message: message, Finish: &c.tally.Finish}})
	out.Usage = c.tokens()
	return out
}

func (c *completion) tokens() *usage {
	in, out := c.tally.Tokens.PromptTokens, c.tally.Tokens.CompletionTokens
	return &usage{in, out, in + out}
}
