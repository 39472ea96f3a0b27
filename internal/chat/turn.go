package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// turn is one attempt at a turn. Its task's goroutine uses it; only tools run in others.
type turn struct {
	Config
	task         *actors.TaskContext
	past         *call.Past
	voice        string           // prefix of its texts: VOICE.1 and so on
	whole        bool             // the texts arrive in one piece
	listen       func(model.Part) // gets the parts of the model's answers; may be nil
	model        string
	extra        map[string]json.RawMessage // further members of requests
	memory       *conversation.Turn         // nil without a context
	context      string                     // id of the conversation in memory
	aside        bool                       // what is said now is not for the memory
	conversation []model.Message
	sources      []string // names of what the tools have read
	spent        spent
	usage        *messages.Usage
	room         room
	tainted      bool     // the conversation has text of strangers
	allowed      []string // pins of tools that the user allowed in this turn
	denied       bool     // the user did not allow a call
	unseen       []string // messages to the run that no server has accepted
	announced    bool     // people know what the conversation lacks
	missing      string   // tells the model which tools cannot be used
}

// run answers a message in a turn without stages.
func (u *turn) run(ctx context.Context, in Input) error {
	ctx, stop := u.timed(ctx)
	defer stop()
	if err := u.begin(ctx, in); err != nil {
		return err
	}
	return u.withConversation(true, func() error {
		a, err := u.loop(ctx)
		if err != nil {
			return err
		}
		r := u.result(a)
		r.Citations = u.citations(a.Text, nil, false)
		return u.finish(r)
	})
}

// timed returns a context that ends when the turn's time is over.
func (u *turn) timed(ctx context.Context) (context.Context, func()) {
	ctx, stop := tool.WithTimeout(ctx, u.Bounds.Time-u.spent.time, messages.Errorf(messages.CauseDeadline,
		"the turn took longer than its timeout of %s", u.Bounds.Time))
	return ctx, func() { u.spent.time = u.Bounds.Time - stop() }
}

// loop asks the model and runs tools until an answer calls none.
func (u *turn) loop(ctx context.Context) (call.Answer, error) {
	for {
		a, err := u.converse(ctx)
		if err != nil || len(a.Calls) == 0 {
			return a, err
		}
		run := u.runTools
		if a.End.Reason().Cut() {
			run = u.refuseCut
		}
		u.spent.asked(a.Calls, u.Tools, cutBy(a.End))
		if err := u.Bounds.exceeded(u.spent); err != nil {
			return a, err
		}
		if err := run(ctx, a); err != nil {
			return a, err
		}
		if u.denied {
			if heard, err := u.hear(ctx); err != nil || !heard {
				return a, err
			}
			u.denied = false // the user has said what to do instead
		}
	}
}

// begin begins a task of the turn. The first one lists the tools, chooses the model, and begins a turn of the
// conversation.
func (u *turn) begin(ctx context.Context, in Input) error {
	if u.conversation != nil {
		return u.recall(ctx)
	}
	if err := u.list(ctx, in.Tools); err != nil {
		return err
	}
	if err := u.recall(ctx); err != nil {
		return err
	}
	u.Stream, u.extra = u.bounded(u.Stream), in.Extra
	if in.Model != Auto {
		u.model = in.Model
	}
	if u.model == "" && u.Choose != nil {
		name, err := u.Choose(ctx)
		if err != nil {
			return err
		}
		u.model = name
	}
	return u.remember(ctx, in)
}

// list lists the tools. It tells people and the model what cannot be used.
func (u *turn) list(ctx context.Context, names []string) error {
	if u.List == nil {
		return nil
	}
	set, missing, err := u.List(ctx)
	if err == nil {
		set, err = set.Allow(tool.All, names)
		if err != nil && missing != nil {
			err = messages.InvalidInput("%v; %v", err, missing)
		}
	}
	if u.Tools = set; err != nil || missing == nil {
		return err
	}
	for line := range strings.Lines(missing.Error()) {
		if err := u.task.Notice(messages.NoticeToolsMissing, line); err != nil {
			return err
		}
	}
	u.missing = "\n\nTools that cannot be used now:\n" + tool.Bounded(model.Neutral(missing.Error()), mostQuoted)
	return nil
}

// ask calls the model with the conversation, and adds its answer to it.
func (u *turn) ask(ctx context.Context) (call.Answer, error) {
	inner, stop := u.task.Interruptible(ctx)
	defer stop()
	if _, err := u.hear(ctx); err != nil {
		return call.Answer{}, err
	}
	if err := u.fitContext(ctx); err != nil {
		return call.Answer{}, err
	}
	r := model.Request{Model: u.model, Messages: conversation.Wire(u.conversation, u.Profile), Tools: u.Tools.Offered(), Extra: u.extra}
	label := call.Label{Name: u.label(), Provider: u.Provider, Whole: u.whole, Hear: u.listen, Messages: u.unseen}
	a, err := u.past.Respond(inner, u.task, u.Stream, r, label)
	message := model.Message{Role: model.Assistant, Content: a.Text, Calls: a.Calls, ThoughtsIn: a.End.ThoughtsIn, Extra: a.End.Extra}
	if err != nil {
		if shorter, failed := u.overflowed(ctx, a); shorter || failed != nil {
			u.spent.iterations++ // each answer needs its own name
			if failed != nil {
				return a, failed
			}
			return u.ask(ctx)
		}
		if message.Calls, message.Extra = nil, ""; errors.Is(err, actors.ErrInterrupted) && ctx.Err() == nil {
			if a.End.Evidence.Output {
				u.unseen = nil
			}
			if a.Text != "" {
				message.Content += "\n\n" + cutHere
			}
			return a, cmp.Or(u.appendMessages(message), err)
		}
		_ = u.appendMessages(message) // the part that arrived; the turn fails with the other error
		return a, err
	}
	u.usage, u.unseen = u.usage.Sum(a.End.Usage), nil
	for _, t := range a.Thoughts {
		message.Thoughts += t.Text
	}
	err = u.appendMessages(message)
	if used := a.End.Usage; used != nil && used.PromptTokens != nil {
		prompt, completion := used.Tokens()
		if used.ReasoningTokens != nil {
			completion -= *used.ReasoningTokens
		}
		u.room.counted, u.room.messages = int(prompt+completion), len(u.conversation)
	}
	return a, err
}

// runTools runs the calls of an answer, and adds their results in the order of the calls.
func (u *turn) runTools(ctx context.Context, a call.Answer) error {
	results, failure := u.runAll(ctx, a)
	failed, msgs := true, make([]model.Message, 0, len(results))
	for i, r := range results {
		failed = failed && r.Error != nil
		if r.Text == "" {
			continue // the call did not begin
		}
		msgs = append(msgs, model.Message{Role: model.ToolRole, CallID: a.Calls[i].ID, Content: r.Text})
		if r.Error == nil {
			u.read(u.Tools.Sources(a.Calls[i].Name, a.Calls[i].Arguments, r.Text))
		}
	}
	err := cmp.Or(u.guard(a.Calls, results), u.appendMessages(msgs...))
	if err := cmp.Or(failure, err); err != nil {
		return err
	}
	u.spent.failures++
	if !failed {
		u.spent.failures = 0
	}
	return u.task.Commit(ctx)
}

// refuseCut tells the model and the user that calls were not made, because the answer with them was cut.
func (u *turn) refuseCut(ctx context.Context, a call.Answer) error {
	why, msgs := u.spent.why, make([]model.Message, len(a.Calls))
	for i, c := range a.Calls {
		msgs[i] = model.Message{Role: model.ToolRole, CallID: c.ID,
			Content: "not called: your answer was " + why + "; write less, and make the call again"}
	}
	return cmp.Or(u.appendMessages(msgs...), u.task.Log(messages.LogWarn, "the model's answer was "+why+
		" inside its calls of tools, so none was made"), u.task.Commit(ctx))
}

// cutBy says how an answer was cut, or "".
func cutBy(end model.End) string {
	switch reason := end.Reason(); {
	case !reason.Cut():
		return ""
	case reason != model.Length:
		return "cut by the server's content filter"
	case end.Usage != nil && end.Usage.CompletionTokens != nil:
		return fmt.Sprintf("cut at max_tokens %d", *end.Usage.CompletionTokens)
	}
	return "cut at max_tokens"
}

// runAll runs the calls, in parallel as far as the bounds allow. Those that need approval begin last.
func (u *turn) runAll(ctx context.Context, a call.Answer) ([]tool.Result, error) {
	results, failures := make([]tool.Result, len(a.Calls)), make([]error, len(a.Calls))
	slots := make(chan struct{}, u.Bounds.Parallel)
	var running sync.WaitGroup
	var last chan struct{} // closed after the last call of a tool that runs in order
	for _, i := range u.approvalsLast(a.Calls) {
		c, id := a.Calls[i], call.ToolCallID(a.ID, i)
		before, begun := u.past.Tools[id]
		denied, err := u.approve(ctx, id, c, begun)
		if before.Ended {
			results[i] = resultOf(before)
			results[i].Ran = denied == nil
			continue
		}
		slots <- struct{}{}
		if err == nil && !begun {
			err = u.started(ctx, id, c)
		}
		if failures[i] = err; err != nil {
			break
		}
		running.Add(1)
		var ahead, done chan struct{}
		if u.Tools.Tool(c.Name).InOrder {
			ahead, done = last, make(chan struct{})
			last = done
		}
		u.task.Go(func(context.Context) error {
			defer running.Done()
			defer func() { <-slots }()
			if done != nil {
				defer close(done)
			}
			if ahead != nil {
				<-ahead
			}
			results[i] = u.runTool(ctx, id, c, denied)
			if !u.willRepeat(ctx, c) {
				failures[i] = u.conclude(id, c.Name, results[i])
			}
			return nil
		})
	}
	running.Wait()
	return results, cmp.Or(context.Cause(ctx), errors.Join(failures...))
}

// started records the start of a call.
func (u *turn) started(ctx context.Context, id string, c model.ToolCall) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	arguments := json.RawMessage(c.Arguments)
	if !json.Valid(arguments) {
		arguments, _ = json.Marshal(c.Arguments) // a string is always valid JSON
	}
	err := u.task.Emit(messages.ToolStarted{Call: id, Tool: c.Name, Arguments: arguments}, "calling "+c.Name)
	if ctx.Err() != nil && err != nil && !actors.Unsent(err) && !u.willRepeat(ctx, c) {
		_ = u.conclude(id, c.Name, tool.Failed(err)) // the log may hold the start
	}
	return err
}

// runTool runs a tool once the log holds its start.
func (u *turn) runTool(ctx context.Context, id string, c model.ToolCall, denied error) tool.Result {
	if err := cmp.Or(u.task.Commit(ctx), repeated(u.spent.equal), denied); err != nil {
		return tool.Failed(err)
	}
	return u.Tools.Call(messages.InSpan(ctx, u.task.RunID(), id), c.Name, tool.Call{ID: id, Key: string(u.task.RunID()) + "/" + id,
		Arguments: json.RawMessage(c.Arguments), Task: u.task, Unattended: u.Unattended})
}

// conclude records how a call ended, even after a cancel.
func (u *turn) conclude(id, name string, r tool.Result) error {
	done, words := messages.ToolCompleted{Call: id, Error: r.Error}, name+" failed"
	if r.Error == nil {
		done.Result, _ = json.Marshal(r.Text) // a string is always valid JSON
		words = fmt.Sprintf("%s gave %d bytes", name, len(r.Text))
	}
	return u.task.Conclude(done, words)
}

// repeated returns an error for a call that the model made too often.
func repeated(times int) error {
	if times < warnAt {
		return nil
	}
	return messages.InvalidInput("you made the same calls %d times in a row, and their results are above; answer, or "+
		"call something else", times)
}

// result makes the turn's Result from its last answer.
func (u *turn) result(a call.Answer) Result {
	finish, reason := a.End.FinishReason(), a.End.Reason()
	if u.denied {
		finish = model.Denied
	}
	return Result{Text: a.Text, Model: cmp.Or(a.End.Model, u.model), FinishReason: finish,
		Truncated: reason == model.Length, Filtered: reason == model.Filter, Usage: u.usage}
}

// finish ends the turn with the result. The run is degraded if the answer is not whole, as Result says.
func (u *turn) finish(r Result) error {
	words := fmt.Sprintf("%d bytes of text", len(r.Text))
	if n := u.spent.toolCalls; n > 0 {
		words += fmt.Sprintf("; calls of tools: %d", n)
	}
	u.task.Summarize(words)
	return u.task.Result(r, r.Truncated || r.Filtered || u.denied || r.Text == "" || r.Degraded != "")
}

// recall finds what earlier attempts have done, so that answers and results in the log are used again. The outcome of
// a call that had begun but not ended is unknown: if its tool is not idempotent, the turn ends here.
func (u *turn) recall(ctx context.Context) (err error) {
	if u.past, err = call.Recall(ctx, u.task); err != nil {
		return err
	}
	var open []string
	for _, id := range slices.Sorted(maps.Keys(u.past.Tools)) {
		c := u.past.Tools[id]
		if c.Ended {
			continue
		}
		open = append(open, id)
		if !u.Tools.Idempotent(c.Name) {
			err = messages.Errorf(messages.CauseNodeLost,
				"the node was lost during the call %s of %s, which must not be made twice", id, c.Name)
		}
	}
	if err == nil {
		return nil
	}
	for _, id := range open {
		lost := messages.Errorf(messages.CauseNodeLost, "the node was lost before the call ended")
		if err := u.task.Conclude(messages.ToolCompleted{Call: id, Error: lost}, lost.Message); err != nil {
			return err
		}
	}
	return err
}

// resultOf returns the result of a call that ended in an earlier attempt.
func resultOf(c call.Tool) (r tool.Result) {
	if c.Error != nil {
		return tool.Failed(c.Error)
	}
	_ = json.Unmarshal(c.Result, &r.Text) // conclude wrote it
	return r
}

// willRepeat reports whether the next node will repeat the call, because this node shuts down. Then the call gets no end
// here.
func (u *turn) willRepeat(ctx context.Context, c model.ToolCall) bool {
	down := ctx.Err() != nil && messages.CodeOf(context.Cause(ctx)) == messages.CauseShutdown
	return down && u.Tools.Idempotent(c.Name)
}
