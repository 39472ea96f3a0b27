package call

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Past holds what earlier attempts of a task have recorded. It is empty in a first attempt.
type Past struct {
	// Tools holds the tool calls that have begun, by id.
	Tools map[string]Tool
	// Inputs holds people's answers, except secrets, by request.
	Inputs map[string]json.RawMessage
	// Messages holds the messages to the run that the task has taken, by the place where.
	Messages map[string][]messages.Message
	answers  map[string]told                   // complete and interrupted answers, by the label's name
	thoughts map[string][]messages.ThoughtDone // thoughts of the newest call, by the label's name
}

// Tool is a tool call that an earlier attempt began. If it has ended it has a Result or an Error.
type Tool struct {
	Name   string
	Ended  bool
	Result json.RawMessage
	Error  *messages.Error
}

// told is an answer and its thoughts, as the log has them.
type told struct {
	Answer
	thoughts []messages.ThoughtDone
}

// Recall reads what earlier attempts of the task have recorded. It concludes the model calls that they left open.
func Recall(ctx context.Context, t *actors.TaskContext) (*Past, error) {
	p := &Past{map[string]Tool{}, map[string]json.RawMessage{}, map[string][]messages.Message{}, map[string]told{}, map[string][]messages.ThoughtDone{}}
	var log messages.Fold
	for e, err := range t.Earlier(ctx) {
		if err == nil {
			err = log.Apply(e)
		}
		if err != nil {
			return nil, err
		}
		if messages.TaskOf(e.Body) == t.Name() {
			p.note(e.Body, &log)
		}
	}
	for _, c := range log.Peek().Calls {
		if !c.Model || c.Ended || c.Task != t.Name() {
			continue
		}
		lost := messages.Errorf(messages.CauseNodeLost, "the node was lost before the answer's end")
		if err := t.Conclude(messages.LLMCompleted{Call: c.ID, Model: c.Name, Evidence: "none",
			Verdict: string(model.Failed), Error: lost}, lost.Message); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// note collects what one event of the earlier attempt tells.
func (p *Past) note(body messages.Body, log *messages.Fold) {
	switch b := body.(type) {
	case messages.LLMStarted:
		delete(p.thoughts, messages.LabelOf(b.Call))
	case messages.ThoughtDone:
		name, _, _ := strings.Cut(b.Stream, ".thought.")
		p.thoughts[name] = append(p.thoughts[name], b)
	case messages.LLMCompleted:
		if b.Verdict == string(model.Completed) || b.Verdict == string(model.Canceled) {
			p.completed(b, log)
		}
	case messages.ToolStarted:
		p.Tools[b.Call] = Tool{Name: b.Tool}
	case messages.ToolCompleted:
		p.Tools[b.Call] = Tool{p.Tools[b.Call].Name, true, b.Result, b.Error}
	case messages.TextDone:
		if a, ok := p.answers[b.Stream]; ok {
			a.Text = b.Text
			p.answers[b.Stream] = a
		}
	case messages.MessageDelivered:
		msg, _ := log.Message(b.Message)
		p.Messages[b.At] = append(p.Messages[b.At], msg)
	case messages.InputReceived:
		if b.Value != nil {
			p.Inputs[b.Request] = b.Value
		}
	}
}

// completed keeps an answer. Streamed text is in the log before the end of the call.
func (p *Past) completed(b messages.LLMCompleted, log *messages.Fold) {
	name := messages.LabelOf(b.Call)
	text, _ := log.Stream(name)
	a := told{Answer: Answer{ID: b.Call, Text: text.Text()}, thoughts: p.thoughts[name]}
	a.End, _ = endOf(b)
	a.Calls = a.End.Calls
	for _, d := range a.thoughts {
		again := func(t Thought) bool { return t.Text == d.Text }
		if !slices.ContainsFunc(a.Thoughts, again) {
			a.Thoughts = append(a.Thoughts, Thought{d.Text, d.ThoughtType, d.Confidence, d.Source})
		}
	}
	p.answers[name] = a
}

// Has reports whether an earlier attempt has an answer to the call with that label, whole or interrupted.
func (p *Past) Has(label string) bool { _, ok := p.answers[label]; return ok }

// Respond is the function [Respond], unless an earlier attempt has an answer to the call with that label. Then it emits
// that answer again without calling the model, because the texts of a restarted task begin from nothing.
func (p *Past) Respond(
	ctx context.Context, t *actors.TaskContext, s model.Stream, r model.Request, v Label,
) (Answer, error) {
	a, ok := p.answers[v.name()]
	interrupted := a.End.Verdict.Outcome == model.Canceled
	if !ok || a.Text == "" && len(a.Calls) == 0 && !interrupted { // a text that is not streamed comes after the end of its call
		return Respond(ctx, t, s, r, v)
	}
	for _, d := range a.thoughts {
		if err := t.Emit(d, fmt.Sprintf("a thought, %d bytes", len(d.Text))); err != nil {
			return a.Answer, err
		}
	}
	if interrupted {
		return a.Answer, a.cut(t, v)
	}
	return a.Answer, a.done(t, v, mediaType(r))
}
