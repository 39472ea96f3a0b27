package completions

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
	"github.com/seed889630bf/lastword/transport/openai/internal/api"
)

type handler struct{ *api.Retries }

// Path is the path for creating a completion.
const Path = "/v1/chat/completions"

// Paths returns the paths that this package serves.
func Paths() []string { return []string{Path, Path + "/"} }

// New returns the handler for the Paths. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{&api.Retries{Door: to}}
	return api.Routes(map[string]api.Handler{"POST " + Path: d.complete, "DELETE " + Path + "/{id}": d.remove})
}

// remove handles DELETE /v1/chat/completions/{id}.
func (d handler) remove(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if err := d.DeleteLog(r.Context(), messages.RunID(strings.TrimPrefix(id, prefix))); err != nil {
		return err
	}
	return api.Answer(d.Door, w, map[string]any{"id": id, "object": "chat.completion.deleted", "deleted": true})
}

// prefix is the prefix of completion ids. The run's id follows.
const prefix = "chatcmpl-"

// complete handles POST /v1/chat/completions.
func (d handler) complete(w http.ResponseWriter, r *http.Request) error {
	var q request
	rest, err := api.Read(r, &q)
	if err != nil {
		return err
	}
	turn, err := q.turn(rest)
	if err != nil {
		return err
	}
	c := &completion{usage: q.StreamOptions.IncludeUsage, created: time.Now().Unix(), speech: door.Speech{All: true}}
	requested, label := "", q.Context(r, turn)
	if c.Run, c.Seen, err = d.answered(r.Context(), api.Chat(r) != "", label, turn); err == nil && c.Run == "" {
		c.Run, requested, err = d.Start(r, &q.Options, turn, q.Labels(label), "")
	}
	if err != nil {
		return err
	}
	c.Attached = requested == ""
	return d.Deliver(r, c.Run, requested, func() (bool, error) {
		err := d.write(w, r, c, q.Stream)
		return c.failed == nil, err
	})
}

// write writes the completion, as a stream or as a whole.
func (d handler) write(w http.ResponseWriter, r *http.Request, c *completion, stream bool) error {
	if stream {
		c.Late = true
		if door.Serve(w, r, d.Door, completing, c); !c.Unsent {
			return nil
		}
	} else if err := door.Fold(r.Context(), d.Door, completing, c); err != nil {
		return err
	}
	if c.failed != nil {
		return api.Fail(d.Door, w, c.failed, api.FailureOf(c.failed))
	}
	return api.Answer(d.Door, w, c.whole())
}

// completion is a run in the form of one text.
type completion struct {
	door.SegmentWriter
	model string
	usage bool // the client wants token counts

	speech  door.Speech
	tally   api.Tally
	created int64
	// thoughts are the thoughts in an answer that is not streamed.
	thoughts string
	calls    []json.RawMessage // calls of the client's tools
	extra    string            // members of the answer that go back with it
	failed   *auth.Problem
	begun    bool   // the stream has its first chunk
	reason   string // the finish_reason
}

// completing is the dialect of completion.
var completing = func() *transcript.Dialect[*completion] {
	table := transcript.Each((*completion).do)
	table[transcript.Run][transcript.Open] = (*completion).start
	return &transcript.Dialect[*completion]{
		Table:     table,
		Rewind:    (*completion).do,
		Heartbeat: func(c *completion) { c.chunk(delta{}, "") }, // a comment would hide a failure from go-openai
		Refuse:    func(c *completion, err error) { c.fail(auth.ProblemOf(err)) },
	}
}()

// start begins the answer. What an earlier answer contained is not repeated. The first chunk waits for what follows, so
// that a failure before it is answered with its status.
func (c *completion) start(op *transcript.Op) {
	c.model = api.Model(op.Run.Queued)
	c.speech.Begin(op.Run)
}

// do writes an operation. A question ends the answer, and the client's next request answers it.
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

// write writes a piece. If text of the client was taken back, a mark precedes it.
func (c *completion) write(piece string, anew bool) {
	if anew {
		piece = transcript.Rule + piece
	}
	if piece != "" {
		c.chunk(delta{Content: &piece}, "")
	}
}

// end writes the rest of the text, the calls of the client's tools, and the end.
func (c *completion) end(op *transcript.Op) {
	if failed := door.Failure(op.Event.Body); failed != nil {
		c.fail(failed.Problem())
		return
	}
	c.write(c.speech.Rest(op))
	end := op.Run.Ending()
	for i, one := range api.Calls(op.Run.Queued, end) {
		c.calls = append(c.calls, model.Merged(door.JSON(call{i, one.ID, "function", function{one.Name, one.Arguments}}), one.Extra))
		c.chunk(delta{Calls: c.calls[i:]}, "")
	}
	if c.extra = door.Extra(op.Event.Body); c.extra != "" {
		c.chunk(json.RawMessage(c.extra), "")
	}
	c.finish(string(end.Reason))
}

func (c *completion) fail(why *auth.Problem) {
	c.failed, c.Over = why, true
	if c.Unsent = !c.begun; c.begun {
		c.Frame("", api.FailureOf(why))
	}
}

// finish ends the answer. Out is nil if the client wants it as a whole.
func (c *completion) finish(reason string) {
	c.Over, c.reason = true, reason
	if c.Out == nil {
		return
	}
	c.chunk(delta{}, reason)
	if c.usage {
		last := c.envelope("chat.completion.chunk", []choice{})
		last.Usage = c.tally.Usage("prompt_tokens", "completion_tokens")
		c.Frame("", last)
	}
	_, _ = c.Out.WriteString("data: [DONE]\n\n") // Flush reports the error
}

// message is the whole answer. Its content is null beside calls alone.
type message struct {
	Role      string            `json:"role"`
	Content   *string           `json:"content"`
	Reasoning string            `json:"reasoning_content,omitempty"`
	Calls     []json.RawMessage `json:"tool_calls,omitempty"`
}

// delta is a part of the answer.
type delta struct {
	Role      string            `json:"role,omitempty"`
	Content   *string           `json:"content,omitempty"`
	Reasoning string            `json:"reasoning_content,omitempty"`
	Calls     []json.RawMessage `json:"tool_calls,omitempty"`
}

// call is a call of one of the client's tools. It is written as a whole, because the log has it only when it is
// complete.
type call struct {
	Index    int      `json:"index"`
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

// function is the function of a call. Arguments is JSON in a string.
type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// choice is the only choice: this server writes one answer to a request.
type choice struct {
	Index   int     `json:"index"`
	Delta   any     `json:"delta,omitempty"`
	Message any     `json:"message,omitempty"`
	Finish  *string `json:"finish_reason"`
}

// envelope is a chunk of a stream or, with Message, a whole answer.
type envelope struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	// Usage holds the tokens of all model calls of the run, as far as servers told them.
	Usage map[string]any `json:"usage,omitempty"`
}

func (c *completion) envelope(object string, choices []choice) envelope {
	return envelope{ID: prefix + string(c.Run), Object: object, Created: c.created, Model: c.model, Choices: choices}
}

// chunk writes a chunk. finish is empty in all but the last one.
func (c *completion) chunk(d any, finish string) {
	if !c.begun {
		c.begun = true
		c.chunk(delta{Role: "assistant", Content: new("")}, "")
	}
	one := choice{Delta: d}
	if finish != "" {
		one.Finish = &finish
	}
	c.Frame("", c.envelope("chat.completion.chunk", []choice{one}))
}

// whole returns the response for a client that does not stream.
func (c *completion) whole() envelope {
	text := c.speech.Text()
	msg := &message{Role: "assistant", Content: &text, Reasoning: c.thoughts, Calls: c.calls}
	if text == "" && c.calls != nil {
		msg.Content = nil
	}
	out := c.envelope("chat.completion", []choice{{Message: model.Merged(door.JSON(msg), c.extra), Finish: &c.reason}})
	out.Usage = c.tally.Usage("prompt_tokens", "completion_tokens")
	return out
}
