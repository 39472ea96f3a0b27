package call

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Voice is whose calls are told, and under which names.
type Voice struct {
	// Name is unique in the run; "answer" if empty. It is that of the answer's text, its thoughts are NAME.thought.0 and
	// so on, its calls NAME.ATTEMPT.1 and so on.
	Name string
	// Provider is who runs the model, as llm.started names it.
	Provider string
}

func (v Voice) name() string { return cmp.Or(v.Name, "answer") }

// Told returns the stream with its calls told by the task: llm.started, the thoughts as they come, llm.completed. It
// passes every part on as it is. A call whose events the run takes no more, because the attempt was cancelled, ends
// with that cause; one that its consumer stops early is told as failed, without evidence.
func Told(t *actors.TaskContext, stream model.Stream, v Voice) model.Stream {
	n := &narrator{task: t, stream: stream, voice: v}
	return n.call
}

// narrator tells the calls of one stream; they may overlap.
type narrator struct {
	task     *actors.TaskContext
	stream   model.Stream
	voice    Voice
	calls    atomic.Int64
	thoughts atomic.Int64 // names that are taken
}

// telling is one call.
type telling struct {
	*narrator
	id       string
	request  model.Request
	thoughts map[int]string // the streams' names
	stop     context.CancelCauseFunc
	ended    bool
	err      error // of the last part
}

func (n *narrator) call(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		id := fmt.Sprintf("%s.%d.%d", n.voice.name(), n.task.Attempt(), n.calls.Add(1))
		c := &telling{narrator: n, id: id, request: r, thoughts: map[int]string{}, stop: stop}
		c.say(messages.LLMStarted{Call: id, Model: r.Model, Provider: n.voice.Provider}, "asking "+c.asked())
		defer c.unfinished()
		for part, err := range n.stream(ctx, r) {
			c.part(part, err)
			if !yield(part, err) {
				return
			}
		}
	}
}

// asked is who is asked, in words.
func (c *telling) asked() string {
	who := cmp.Or(c.request.Model, "the server's model")
	if c.voice.Provider != "" {
		who += " at " + c.voice.Provider
	}
	return who
}

// say ends the call when the run takes no more events of the task. The stream then says how it ended.
func (c *telling) say(body messages.Body, message string) {
	if err := c.task.Emit(body, message); err != nil {
		c.stop(err)
	}
}

func (c *telling) part(part model.Part, err error) {
	c.err = err
	switch p := part.(type) {
	case model.Thought:
		c.say(messages.ThoughtDelta{Stream: c.thought(p.Number), Text: p.Text}, "")
	case model.ThoughtDone:
		c.say(messages.ThoughtDone{Stream: c.thought(p.Number), Text: p.Text, SHA256: messages.Digest(p.Text),
			ThoughtType: p.Type, Confidence: p.Confidence, Source: sourceOf(p.Source)}, thoughtWords(p))
	case model.End:
		c.end(p, err, p.Evidence.String())
	}
}

// thought is the stream of a call's thought: the calls of a voice share the names.
func (c *telling) thought(number int) string {
	name := c.thoughts[number]
	if name == "" {
		name = fmt.Sprintf("%s.thought.%d", c.voice.name(), c.narrator.thoughts.Add(1)-1)
		c.thoughts[number] = name
	}
	return name
}

// end tells the end of the call, which the run hears even where it was cancelled.
func (c *telling) end(e model.End, err error, evidence string) {
	c.ended = true
	verdict := Judged(e.Verdict, c.request)
	if err == nil {
		err = verdict.Err()
	}
	name := cmp.Or(e.Model, c.request.Model)
	_ = c.task.Conclude(messages.LLMCompleted{
		Call: c.id, Model: name, Usage: e.Usage, FirstTokenMS: milliseconds(e.FirstToken),
		FinishReason: e.Evidence.Finish, Evidence: evidence, Verdict: string(verdict.Outcome), Error: told(err),
	}, endWords(cmp.Or(name, "the model"), e, verdict)) // of an abandoned task nothing is heard
}

// unfinished tells the end of a call that has none of its own.
func (c *telling) unfinished() {
	if c.ended {
		return
	}
	message := "the answer was not read to its end"
	if c.err != nil {
		message = c.err.Error()
	}
	verdict := model.Verdict{Outcome: model.Failed, Cause: messages.CauseError, Message: message}
	c.end(model.End{Verdict: verdict}, c.err, "none")
}

// Judged is the verdict on an answer to the request: JSON that the server cut is none.
func Judged(v model.Verdict, r model.Request) model.Verdict {
	if v.Outcome != model.Completed || r.Format == nil || !v.Truncated && !v.Filtered {
		return v
	}
	v.Outcome, v.Cause = model.Failed, messages.CauseInvalidOutput
	v.Message = "invalid output: the JSON is not whole, " + cutWords(v)
	return v
}
