package call

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Label names the records of a call.
type Label struct {
	// Name is unique in the run; "" means "answer", see [messages.IsAnswer]. It names the stream of the text. Thoughts are
	// NAME.thought.0 and so on, calls NAME.ATTEMPT.1 and so on.
	Name string
	// Provider is the server's name in llm.started.
	Provider string
	// Whole: the text comes only with its text.done, not as the model writes it.
	Whole bool
	// Messages are the messages to the run that no server has accepted before this call.
	Messages []string
	// Hear, unless nil, is called with each part of an answer after its reader has taken it.
	Hear func(model.Part)
}

func (v Label) name() string { return cmp.Or(v.Name, answer) }

// answer is the stream of a run's only answer.
const answer = "answer"

// Recorded returns the stream with its calls recorded by the task: llm.started, the thoughts as they arrive, and
// llm.completed. It passes on every part unchanged. If the attempt is cancelled, so that the run refuses its events,
// the call ends with that cause. A call whose consumer stops early is recorded as failed, without evidence.
func Recorded(t *actors.TaskContext, stream model.Stream, v Label) model.Stream {
	return (&recorder{task: t, stream: stream, label: v}).call
}

// recorder records the calls of one stream. Calls may overlap, so what they share is atomic.
type recorder struct {
	task     *actors.TaskContext
	stream   model.Stream
	label    Label
	whole    bool // record the whole answer, with its tool calls
	calls    atomic.Int64
	thoughts atomic.Int64 // number of thoughts named so far
}

// maxText bounds the text in llm.completed, in bytes.
const maxText = 1 << 20

// recording is one call. Only the goroutine that reads the call's parts touches it.
type recording struct {
	*recorder
	id       string
	request  model.Request
	thoughts map[int]string // names of the thoughts' streams
	text     strings.Builder
	pieces   int // number of pieces of text and thoughts
	bytes    int // number of bytes in those pieces
	written  int // bytes of tool calls
	stop     context.CancelCauseFunc
	ended    bool
	err      error // error of the last part
	input    int   // tokens of the request, an estimate
	most     int   // tokens of the answer that the budget has room for; 0 without a budget
	over     error // the answer is longer than that
}

// call calls the model, records each part, and records the end even if the run refuses events.
func (n *recorder) call(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		id := n.id(n.calls.Add(1))
		ctx = messages.InSpan(ctx, n.task.RunID(), id)
		c := &recording{recorder: n, id: id, request: r, thoughts: map[int]string{}, stop: stop}
		started := messages.LLMStarted{Call: id, Model: r.Model, Provider: n.label.Provider, SHA256: r.Digest()}
		allowed, err := n.task.AskModel(started, "asking "+c.target(), inputOf(r), r.MaxTokens)
		if err != nil {
			stop(err) // the stream then reports the end
		}
		switch {
		case actors.Unsent(err):
			n.stream(ctx, r)(yield)
			return
		case messages.CodeOf(err) == messages.CodeBudget, messages.CodeOf(err) == messages.CauseInvalidInput: // the call is not made
			yield(model.End{Verdict: model.Verdict{Outcome: model.Failed, Cause: messages.CodeOf(err).Cause(), Message: err.Error()}}, err)
			return
		}
		if allowed.Ended != nil {
			defer allowed.Ended()
		}
		c.input, r = allowed.Input, c.bound(r, allowed)
		defer c.finish()
		stream := n.stream
		if past, ok, err := n.task.Recorded(ctx, started); ok {
			stream = recorded(past, err)
		}
		for part, err := range stream(ctx, r) {
			if err != nil && c.over != nil {
				err = c.over
			}
			c.part(part, err)
			if !yield(part, err) {
				return
			}
			if n.label.Hear != nil {
				n.label.Hear(part)
			}
		}
	}
}

func (n *recorder) id(number int64) string {
	return fmt.Sprintf("%s.%d.%d", n.label.name(), n.task.Attempt(), number)
}

// target describes the model and its server for people.
func (c *recording) target() string {
	who := cmp.Or(c.request.Model, "the server's model")
	if c.label.Provider != "" {
		who += " at " + c.label.Provider
	}
	return who
}

// emit emits an event, and cancels the call if the run refuses it. The stream then reports the end.
func (c *recording) emit(body messages.Body, message string) {
	if err := c.task.Emit(body, message); err != nil {
		c.stop(err)
	}
}

// part records one part of the answer as events.
func (c *recording) part(part model.Part, err error) {
	c.err = err
	switch p := part.(type) {
	case model.Loading:
		seconds := int64(p.For / time.Second)
		c.emit(messages.Progress{Done: seconds, Unit: "s"}, fmt.Sprintf("the server is loading %s, %d s", c.target(), seconds))
	case model.Text:
		c.heard(p.Text)
		if !c.whole || c.label.Whole {
			c.text.WriteString(p.Text)
		}
	case model.Thought:
		c.heard(p.Text)
		c.emit(messages.ThoughtDelta{Stream: c.thought(p.Number), Text: p.Text}, "")
	case model.ThoughtDone:
		c.emit(messages.ThoughtDone{Stream: c.thought(p.Number), Text: p.Text, SHA256: messages.Digest(p.Text),
			ThoughtType: p.Type, Confidence: p.Confidence, Source: sourceOf(p.Source)}, thoughtMessage(p))
	case model.CallDelta:
		c.wrote(len(p.Arguments))
	case model.End:
		c.end(p, err, p.Evidence.String())
	}
}

func (c *recording) heard(piece string) {
	c.pieces++
	c.bytes += len(piece)
	c.hold()
}

// wrote reports the length of the tool calls that the model is writing, once per kibibyte: nobody sees them before
// their end.
func (c *recording) wrote(bytes int) {
	before := c.written >> 10
	c.written += bytes
	c.hold()
	if c.written>>10 > before {
		c.emit(messages.Progress{Done: int64(c.written), Unit: "bytes"}, fmt.Sprintf("the model writes a call, %d bytes", c.written))
	}
}

// thought returns the stream's name of a thought. Calls with the same label share the numbers.
func (c *recording) thought(number int) string {
	name := c.thoughts[number]
	if name == "" {
		name = fmt.Sprintf("%s.thought.%d", c.label.name(), c.recorder.thoughts.Add(1)-1)
		c.thoughts[number] = name
	}
	return name
}

// end records the end of the call. The run accepts it even from a cancelled task.
func (c *recording) end(e model.End, err error, evidence string) {
	c.ended = true
	verdict := judged(e.Verdict, c.request)
	if err == nil {
		err = verdict.Err()
	}
	name := cmp.Or(words.Printable(e.Model), c.request.Model)
	words := endMessage(cmp.Or(name, "the model"), c.request.Model, e, verdict)
	const mostInPiece = 512 // a server that streams sends fewer bytes in one piece
	if c.pieces == 1 && c.bytes > mostInPiece {
		evidence += ", not streamed"
		words += "; it does not stream: the answer came in one piece"
	}
	text := c.text.String()
	if !c.whole && len(e.Calls) > 0 {
		text = e.Calls[0].Arguments
	}
	if len(text) > maxText {
		text = ""
	}
	var calls []messages.ToolCall
	if c.whole && err == nil {
		for i, t := range e.Calls {
			calls = append(calls, messages.ToolCall{Call: ToolCallID(c.id, i), Tool: t.Name, Arguments: t.Arguments, Cut: e.Reason().Cut(), Extra: bounded(t.Extra)})
		}
	}
	var seen []string
	if err == nil || e.Evidence.Output {
		seen = c.label.Messages
	}
	_ = c.task.Conclude(messages.LLMCompleted{
		Call: c.id, Model: name, Usage: c.usage(e), FirstTokenMS: milliseconds(e.FirstToken),
		FinishReason: e.FinishReason(), Evidence: evidence, Verdict: string(verdict.Outcome), Error: asError(err),
		Calls: calls, ThoughtsIn: e.ThoughtsIn, Extra: bounded(e.Extra), Seen: seen, Text: text,
	}, words) // an abandoned task cannot record anything
	if requested := c.request.Model; requested != "" && !model.SameModel(requested, name) {
		_ = c.task.Notice(messages.NoticeModelSwapped, name+" answered, not "+requested)
	}
}

// bounded returns members that go back to the server, unless they are larger than an event may hold.
func bounded(extra string) string {
	if len(extra) > maxText/4 {
		return ""
	}
	return extra
}

// finish records an end for a call that has none.
func (c *recording) finish() {
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

// ToolCallID returns the id in the run's events of a tool call. id is the model's call, and index the position in its
// answer.
func ToolCallID(id string, index int) string { return fmt.Sprintf("%s.%d", id, index+1) }

// judged returns the verdict on an answer to the request: JSON that the server cut is invalid.
func judged(v model.Verdict, r model.Request) model.Verdict {
	if v.Outcome != model.Completed || r.Format == nil || !v.Truncated && !v.Filtered {
		return v
	}
	v.Outcome, v.Cause = model.Failed, messages.CauseInvalidOutput
	v.Message = "invalid output: the JSON is incomplete, " + cutReason(v)
	return v
}

// recorded replays a recorded answer: its thoughts, its text and its end, or its error.
func recorded(past []messages.Body, failed error) model.Stream {
	return func(context.Context, model.Request) iter.Seq2[model.Part, error] {
		return func(yield func(model.Part, error) bool) {
			var thoughts []string
			for _, body := range past {
				switch b := body.(type) {
				case messages.ThoughtDone:
					n := len(thoughts)
					done := model.ThoughtDone{Number: n, Text: b.Text, Type: b.ThoughtType, Confidence: b.Confidence,
						Source: seenAt(b.Source), Repeated: slices.Contains(thoughts, b.Text)}
					thoughts = append(thoughts, b.Text)
					if b.Text != "" && !yield(model.Thought{Number: n, Text: b.Text}, nil) || !yield(done, nil) {
						return
					}
				case messages.LLMCompleted:
					end, err := endOf(b)
					if b.Text == "" || yield(model.Text{Text: b.Text}, nil) {
						yield(end, err)
					}
					return
				}
			}
			err := messages.Errorf(messages.CauseError, "%v", failed)
			yield(model.End{Verdict: model.Verdict{Outcome: model.Failed, Cause: err.Code, Message: err.Message}}, err)
		}
	}
}

// endOf returns the end of a recorded answer, and its error.
func endOf(b messages.LLMCompleted) (model.End, error) {
	e := model.Evidence{Done: true, Output: true, Finish: b.FinishReason}
	end := model.End{Model: b.Model, Usage: b.Usage, ThoughtsIn: b.ThoughtsIn, Extra: b.Extra}
	for _, c := range b.Calls {
		end.Calls = append(end.Calls, model.ToolCall{ID: c.Call, Name: c.Tool, Arguments: c.Arguments, Extra: c.Extra})
	}
	if b.Error == nil || b.Error.Code == messages.CauseInvalidOutput { // judged finds this error again
		end.Evidence, end.Verdict = e, model.Judge(model.Strict, e)
		return end, nil
	}
	cause := b.Error.Code.Cause()
	var provider messages.Provider
	if b.Error.Provider != nil {
		provider = *b.Error.Provider
	}
	switch cause {
	case messages.CauseProviderError:
		e.Failure = &model.Failure{Message: b.Error.Message, Code: provider.Code}
		_, _ = fmt.Sscanf(b.Error.Message, "http %d:", &e.Status)
	case messages.CauseContextExceeded:
		e.Sent = 1
	}
	end.Evidence = e
	end.Verdict = model.Verdict{Outcome: model.Outcome(b.Verdict), Cause: cause, Message: b.Error.Message,
		Retryable: b.Error.Retryable, Provider: provider}
	return end, b.Error
}
