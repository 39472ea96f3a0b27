package completions

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
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
	c := &completion{model: job.Name, usage: q.StreamOptions.IncludeUsage, created: time.Now().Unix()}
	chat := cmp.Or(r.Header.Get("X-Chat-Id"), r.Header.Get("X-OpenWebUI-Chat-Id"))
	if c.run, c.question, err = d.answered(ctx, chat, turn); err == nil && c.run == "" {
		labels := map[string]string{door.ContextLabel: cmp.Or(chat, conversation(turn))}
		c.run, err = d.StartTurn(ctx, job.Name, turn, labels, r.Header.Get("Idempotency-Key"))
	}
	if err != nil {
		return err
	}
	if q.Stream {
		d.streamCompletion(w, ctx, c)
		return nil
	}
	if err := door.Fold(ctx, d.Door, c.run, completing, c, c.over); err != nil {
		openai.Leave(ctx, d.Door, c.run)
		return err
	}
	if c.failed != nil {
		w.Header().Set("X-Should-Retry", "false")
		openai.Write(w, http.StatusInternalServerError, c.failed)
		return nil
	}
	return openai.Answer(d.Door, w, c.whole())
}

func (d handler) streamCompletion(w http.ResponseWriter, ctx context.Context, c *completion) {
	c.stream = d.Stream(w, "text/event-stream")
	c.chunk(delta{Role: "assistant", Content: new("")}, "")
	if err := door.Play(ctx, d.Door, c.stream, c.run, messages.Follow{}, completing, c, c.over); err != nil {
		openai.Leave(ctx, d.Door, c.run)
		c.stream.Break()
	}
}

// completion is a run as one text.
type completion struct {
	run    messages.RunID
	model  string
	usage  bool         // the client wants the usage
	stream *door.Stream // nil for an answer as a whole
	// question is the one that the client has answered: what comes up to it is not written. "" is the beginning.
	question string

	sent    []byte // what the client has after the last mark
	begun   int    // of sent, what an earlier answer had
	departs bool   // the text is not what the client has, or no more than its beginning
	tally   openai.Tally
	created int64
	// thoughts are those of an answer that is not streamed.
	thoughts string
	failed   *openai.Failure
	ended    bool
}

var completing = &transcript.Dialect[*completion]{
	Table:     transcript.Each((*completion).do),
	Rewind:    (*completion).do,
	Heartbeat: func(c *completion) { c.chunk(delta{}, "") }, // a comment would hide a failure from go-openai
	Refuse: func(c *completion, err error) {
		p := auth.ProblemOf(err)
		c.fail(p.Code, p.Detail)
	},
}

// over says that the answer is complete.
func (c *completion) over(*transcript.Transcript) bool { return c.ended }

// muted says that the client has this already.
func (c *completion) muted() bool { return c.question != "" }

func (c *completion) do(op *transcript.Op) {
	c.tally.Add(op)
	switch {
	case c.ended:
	case op.Item.Kind == transcript.Text && op.Do == transcript.Append && op.Offset > 0 && !c.departs:
		if live(op.Run) == op.Item {
			c.add(op.Text)
		}
	case op.Item.Kind == transcript.Text:
		c.reconcile(joined(op.Run))
	case op.Item.Kind == transcript.Thought && op.Do == transcript.Append && !c.muted():
		c.thoughts += op.Text
		c.chunk(delta{Reasoning: op.Text}, "")
	case op.Do == transcript.Wait && op.Item.Name == c.question:
		c.question, c.begun = "", len(c.sent)
	case op.Do == transcript.Wait && !c.muted():
		c.wait(op.Item)
	case op.Do == transcript.End:
		c.end(op)
	}
}

// live is the text that grows before the client's eyes: the first that is not done. The others wait.
func live(t *transcript.Transcript) *transcript.Item {
	for _, item := range t.Items() {
		if item.Kind == transcript.Text && !item.Closed {
			return item
		}
	}
	return nil
}

// joined are the texts up to the first that is not done.
func joined(t *transcript.Transcript) string {
	var out strings.Builder
	for _, item := range t.Items() {
		if item.Kind != transcript.Text {
			continue
		}
		if out.Len() > 0 && item.Len() > 0 {
			out.WriteString("\n\n")
		}
		out.WriteString(item.Text())
		if !item.Closed {
			break
		}
	}
	return out.String()
}

// reconcile brings the client to the text. While the text repeats what the client has, nothing is written; where it
// departs, it begins again behind a mark.
func (c *completion) reconcile(text string) {
	more, longer := strings.CutPrefix(text, string(c.sent))
	switch c.departs = !longer; {
	case longer:
		c.add(more)
	case !strings.HasPrefix(string(c.sent), text):
		c.restart(text)
	}
}

func (c *completion) restart(text string) {
	c.write(transcript.Rule + text)
	c.sent, c.departs, c.begun = []byte(text), false, 0
}

func (c *completion) add(text string) {
	if c.begun > 0 && len(c.sent) == c.begun && !c.muted() { // the client shows it as a message of its own
		gap := len(text) - len(strings.TrimLeft(text, "\n"))
		c.sent, text, c.begun = append(c.sent, text[:gap]...), text[gap:], c.begun+gap
	}
	c.sent = append(c.sent, text...)
	c.write(text)
}

func (c *completion) write(text string) {
	if text != "" && !c.muted() {
		c.chunk(delta{Content: &text}, "")
	}
}

// wait ends the answer with the question.
func (c *completion) wait(question *transcript.Item) {
	asked := question.Opened.(messages.InputRequired)
	prompt := door.Prompt(asked.Prompt, asked.Schema)
	if len(c.sent) > c.begun {
		prompt = "\n\n" + prompt
	}
	c.write(prompt)
	c.sent = append(c.sent, prompt...)
	c.finish("stop")
}

func (c *completion) end(op *transcript.Op) {
	switch b := op.Event.Body.(type) {
	case messages.RunFailed:
		c.fail(string(b.Cause), b.Error.Message)
	case messages.RunCanceled:
		c.fail("canceled", "the run was canceled: "+string(b.Cause))
	default:
		if text := joined(op.Run); text != string(c.sent) {
			c.restart(text)
		}
		c.finish(c.tally.Reason())
	}
}

func (c *completion) fail(code, message string) {
	f := openai.FailureOf(code, message, true)
	c.failed, c.ended = &f, true
	if c.stream != nil {
		c.stream.Event("", "", f)
	}
}

func (c *completion) finish(reason string) {
	c.ended = true
	if c.stream == nil {
		c.tally.Finish = reason
		return
	}
	c.chunk(delta{}, reason)
	if c.usage {
		last := c.envelope("chat.completion.chunk", []choice{})
		last.Usage = c.tokens()
		c.stream.Event("", "", last)
	}
	c.stream.WriteString("data: [DONE]\n\n")
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
	return envelope{ID: "chatcmpl-" + string(c.run), Object: object, Created: c.created, Model: c.model,
		Choices: choices}
}

func (c *completion) chunk(d delta, finish string) {
	if c.stream == nil {
		return
	}
	one := choice{Delta: &d}
	if finish != "" {
		one.Finish = &finish
	}
	c.stream.Event("", "", c.envelope("chat.completion.chunk", []choice{one}))
}

// whole is the answer of a client that does not stream.
func (c *completion) whole() envelope {
	text := string(c.sent[c.begun:])
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
