package command

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
)

// report emits what the program says of its tools, its thoughts and its calls of models.
func (c *channel) report(l line) error {
	t := c.x.task
	var err error
	switch l.Type {
	case "thought":
		err = t.Emit(messages.ThoughtDelta{Stream: "thoughts", Text: l.Text}, "")
	case "tool":
		if err = t.Emit(messages.ToolStarted{Call: c.call(l.Call), Tool: l.Name, Arguments: l.Args}, ""); err == nil {
			c.tools[l.Call] = true
		}
	case "tool_end":
		var failed *messages.Error
		if l.Error != "" {
			failed, l.Result = messages.Errorf(messages.CauseError, "%s", l.Error), nil
		}
		delete(c.tools, l.Call)
		err = t.Emit(messages.ToolCompleted{Call: c.call(l.Call), Result: l.Result, Error: failed}, "")
	case "usage":
		err = c.usage(l)
	}
	if err != nil {
		return c.warn("%s: %v", l.Type, err)
	}
	return nil
}

// call returns the id of a call of a tool, which every attempt may name alike.
func (c *channel) call(name string) string {
	if n := c.x.task.Attempt(); n > 1 && name != "" {
		return fmt.Sprint(name, "#", n)
	}
	return name
}

// usage records a call of a model that the program has made by itself.
func (c *channel) usage(l line) error {
	u := &messages.Usage{CompletionTokens: l.Output, CachedTokens: l.Cached, ReasoningTokens: l.Reasoning}
	if l.Input != nil {
		if err := json.Unmarshal(l.Input, &u.PromptTokens); err != nil {
			return messages.InvalidInput("input is a number of tokens")
		}
	}
	return c.x.task.Emit(messages.UsageReported{By: "program", Model: l.Model, Usage: *u, ModelCalls: 1}, "")
}

// close ends what the program has left open.
func (c *channel) close() {
	if c == nil {
		return
	}
	close(c.over)
	for call := range c.tools {
		unknown := messages.Errorf(messages.CauseError, "the program ended before the call did")
		_ = c.x.task.Conclude(messages.ToolCompleted{Call: c.call(call), Error: unknown}, "")
	}
}

// request answers what the program wants of its run.
func (c *channel) request(l line) error {
	switch {
	case l.Type == "child":
		made := c.children[l.Name]
		if made == nil { // asked for the first time in this attempt
			made = &child{end: make(chan struct{})}
			c.children[l.Name] = made
			return c.serve(func(ctx context.Context) answer {
				defer close(made.end)
				made.answer = c.child(ctx, l)
				return made.answer
			})
		}
		return c.serve(func(context.Context) answer { <-made.end; return made.answer })
	case l.Type == "message":
		return c.serve(func(ctx context.Context) answer { return c.message(ctx, l.Wait == nil || *l.Wait) })
	}
	c.x.task.Go(func(ctx context.Context) error { return c.seen(ctx, l.Message) })
	return nil
}

// child is a sub-run, with its answer at the end.
type child struct {
	end    chan struct{}
	answer answer
}

// child starts a job of the server as a sub-run, and returns its result. In every attempt the name stands for the same
// sub-run, and a retry gets its result.
func (c *channel) child(ctx context.Context, l line) answer {
	if l.Name == "" || l.Job == "" {
		return refusal("child", l.Name, messages.InvalidInput("a line of type child has a name and a job"))
	}
	q := messages.Request{Job: l.Job, Input: l.Input, Key: l.Name}
	if err := c.x.mayStart(q); err != nil {
		return refusal("child", l.Name, err)
	}
	answered := c.x.limits.ask() // the sub-run has its own limits
	defer answered()
	result, err := actors.Do(ctx, c.x.task, "child "+l.Name, func(ctx context.Context) (json.RawMessage, error) {
		run, err := c.x.task.Submit(ctx, q)
		if err != nil {
			return nil, err
		}
		return run.Result(ctx)
	})
	if err != nil {
		return refusal("child", l.Name, err)
	}
	return answer{Type: "child", Name: l.Name, Result: result}
}

// mayStart refuses commands and agents that Starts does not list (forbidden), as a job and as a step of a plan.
func (x *execution) mayStart(q messages.Request) error {
	if x.Config.Guarded == nil {
		return messages.Errorf("forbidden", "%s may not start the job %s here: only a server lets programs start jobs", x.Name, q.Job)
	}
	for _, job := range x.Config.Guarded(q) {
		if !slices.Contains(x.Starts, job) {
			return messages.Errorf("forbidden", "%s may not start the job %s: its operator may allow it with starts: [%[2]s]", x.Name, job)
		}
	}
	return nil
}

// heard are the messages to the run that the program has not got yet. mu is held while somebody waits for one.
type heard struct {
	mu    sync.Mutex
	begun bool
	queue []messages.Message
}

// atProgram is the place in message.delivered.
const atProgram = "program"

// message gives the program the next message to the run. Without one it waits, or says so.
func (c *channel) message(ctx context.Context, wait bool) answer {
	if !c.x.Messages {
		return refusal("message", "", messages.Errorf("forbidden", "the operator's file does not say messages: true of %s", c.x.Name))
	}
	c.heard.mu.Lock()
	defer c.heard.mu.Unlock()
	if !c.heard.begun {
		c.heard.begun = true
		c.heard.queue = c.unseen(ctx)
	}
	for len(c.heard.queue) == 0 {
		heard := c.x.task.Heard()
		msgs, err := c.x.task.Messages(ctx, atProgram)
		if err != nil {
			return refusal("message", "", err)
		}
		if c.heard.queue = msgs; len(msgs) > 0 {
			break
		}
		if !wait {
			return answer{Type: "message"}
		}
		select {
		case <-heard:
		case <-c.over:
			return answer{Type: "message"}
		case <-ctx.Done():
			return answer{Type: "message"}
		}
	}
	m := c.heard.queue[0]
	c.heard.queue = c.heard.queue[1:]
	return answer{Type: "message", Message: m.Message, Mode: m.Mode, Text: m.Content}
}

// seen notes that the program has seen a message, so that no later attempt gets it.
func (c *channel) seen(ctx context.Context, message string) error {
	_, err := actors.Do(ctx, c.x.task, messages.SeenStep+message, func(context.Context) (bool, error) { return true, nil }, actors.Step{Optional: true})
	if err != nil {
		return c.warn("seen: %v", err)
	}
	return nil
}

// unseen returns the messages that earlier attempts have got and not seen.
func (c *channel) unseen(ctx context.Context) (all []messages.Message) {
	got := map[string]messages.Message{}
	for e, err := range c.x.task.Earlier(ctx) {
		if err != nil {
			return nil // the attempt ends
		}
		switch b := e.Body.(type) {
		case messages.MessageQueued:
			got[b.Message] = messages.Message{Said: b.Said}
		case messages.MessageDelivered:
			if b.At == atProgram {
				all = append(all, got[b.Message])
			}
		case messages.StepKept:
			if message, ok := strings.CutPrefix(b.Step, messages.SeenStep); ok {
				all = stable.DeleteFunc(all, func(m messages.Message) bool { return m.Message == message })
			}
		}
	}
	return all
}
