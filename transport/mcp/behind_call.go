package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/internal/wrapped"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
	"github.com/seed889630bf/lastword/transport/mcp/internal/task"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// streamWrap is the stream of a call of a tool of a server behind.
const streamWrap = "wrap"

// asTask returns the tool with how it can be called as a task, which is this server's affair.
func (b *behind) asTask(x *wire.Exchange, tool json.RawMessage) json.RawMessage {
	var support json.RawMessage
	if task.HasLegacy(x) {
		support = json.RawMessage(`{"taskSupport":"optional"}`)
	}
	return edit(tool, "execution", support)
}

// callTool calls a tool of a server behind as a run, or one of this server's own.
func (b *behind) callTool(ctx context.Context, x *wire.Exchange) (any, error) {
	var req mcp.CallToolRequest
	if json.Unmarshal(x.Params(), &req.Params) != nil {
		return x.Library()
	}
	own := b.mcp.GetTool(req.Params.Name) != nil && (!b.Alone || slices.Contains(aloneTools, req.Params.Name))
	if own {
		return x.Library()
	}
	if err := wire.Require(ctx, auth.WriteRuns); err != nil {
		return nil, err
	}
	o, known := b.find(ctx, x, "tools/list", req.Params.Name)
	if !known {
		return nil, &wire.Error{Code: mcp.INVALID_PARAMS, Message: fmt.Sprintf("there is no tool %.100q", req.Params.Name)}
	}
	result, err := b.call(ctx, x, o, req)
	if _, fault := errors.AsType[*wire.Error](err); err == nil || fault {
		return result, err
	}
	return b.failed(ctx, req.Params.Name, err).library(), nil
}

// call starts a run, or goes on with an earlier round's, and returns its result, its questions or a task.
func (b *behind) call(ctx context.Context, x *wire.Exchange, o origin, req mcp.CallToolRequest) (any, error) {
	again, err := b.asker.Resume(ctx, req)
	if err != nil {
		return nil, err
	}
	asTask, refused := task.Wanted(x, task.Optional, req)
	if refused != nil {
		return nil, refused
	}
	if again != nil {
		return b.await(ctx, x, req, *again, cursor.Cursor{Seq: again.After}, asTask)
	}
	mark := ""
	if !asTask {
		mark = x.Session().Mark(x.ID())
	}
	state, err := b.start(ctx, x, o, req, mark)
	if err != nil {
		return nil, err
	}
	if asTask && !x.Modern() {
		b.hub.ReportTask(ctx, x.Session(), state)
		return b.tasks.Reply(x, state), nil
	}
	return b.await(ctx, x, req, task.Resumed{Run: state.RunID}, cursor.Cursor{}, asTask)
}

// start starts the run of a call. Its input has the tool as it is now, and what the client declares. mark is for its callerLabel.
func (b *behind) start(ctx context.Context, x *wire.Exchange, o origin, req mcp.CallToolRequest, mark string) (messages.State, error) {
	who := caller(ctx, x)
	input := wrapped.Input{Server: o.server, Tool: o.name, Arguments: req.Params.RawArguments, Client: who.Capabilities}
	if tools, err := b.Behind.List(ctx, o.server, who, "tools/list"); err == nil { // it is known for a minute
		if i := slices.Index(tools.Names, o.name); i >= 0 {
			input.Shown = b.shownAs(o, tools.Entries[i])
		}
	}
	state, err := startCall(ctx, b.runs, input, mark)
	if err == nil {
		b.hub.Started(state)
	}
	return state, err
}

// startCall starts the run of a call of a tool. mark, if not "", is for its callerLabel. The end of ctx does not end the run.
func startCall(ctx context.Context, runs wire.Runs, input wrapped.Input, mark string) (messages.State, error) {
	if _, err := runs.Job(wrapJob); err != nil {
		return messages.State{}, messages.InvalidInput("calls of tools need the job %s; add durable.Tools() to the Jobs of actors.Config", wrapJob)
	}
	text, err := json.Marshal(input)
	if err != nil {
		return messages.State{}, err
	}
	labels := map[string]string{toolLabel: input.Server + "/" + input.Tool}
	if mark != "" {
		labels[callerLabel] = mark
	}
	lasting := context.WithoutCancel(ctx)
	id, err := runs.StartFit(lasting, messages.Request{Job: wrapJob, Input: text, Labels: labels})
	if err != nil {
		return messages.State{}, err
	}
	return runs.State(lasting, id)
}

// shownAs is shownOf, which it calls once for an entry of a list.
func (b *behind) shownAs(o origin, raw json.RawMessage) json.RawMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := b.shown[o]; len(last.of) == 0 || &last.of[0] != &raw[0] {
		b.shown[o] = shown{raw, shownOf(raw)}
	}
	return b.shown[o].text
}

// shownOf returns a tool as the input of its runs has it.
func shownOf(raw json.RawMessage) json.RawMessage {
	return edit(edit(edit(raw, "icons", nil), "_meta", nil), "name", nil)
}

// await follows the run from the cursor on, for as long as a call may take. A client that leaves before ends the run, if
// its protocol says so.
func (b *behind) await(ctx context.Context, x *wire.Exchange, req mcp.CallToolRequest, r task.Resumed, cur cursor.Cursor, asTask bool) (any, error) {
	wait := b.Wait
	if asTask {
		wait = max(b.TaskAfter, 0)
	}
	within, stop := context.WithTimeout(ctx, wait)
	defer stop()
	defer b.attend(ctx, x, r.Run, stop)()
	if len(b.asker.Wishes(x, r.Run)) > 0 { // they came before this call
		stop()
	}
	state, _, err := b.follow(within, streamWrap, r.Run, cur)
	switch {
	case ctx.Err() != nil:
		mode := messages.Detached
		if x.Modern() {
			mode = messages.Attached
		}
		b.leave(ctx, r.Run, mode)
	case err != nil && within.Err() != nil:
		state, err = b.runs.State(ctx, r.Run)
	}
	switch {
	case err != nil:
		return nil, err
	case state.Status.IsEnded():
		return b.outcome(ctx, state)
	case asTask:
		return b.tasks.Reply(x, state), nil
	case x.Modern() && x.Elicits() && !r.Unanswered && len(wire.Questions(state)) > 0, len(b.asker.Wishes(x, r.Run)) > 0:
		return b.asker.Required(ctx, req, state), nil
	}
	return stillWorks(state).library(), nil
}

// stillWorks names the run of a call that takes longer than a client may wait. A client would refuse it as the result of
// a tool with an output schema, unless it is an error.
func stillWorks(state messages.State) *Result {
	var in struct {
		Shown struct{ OutputSchema json.RawMessage }
	}
	_ = json.Unmarshal(state.Queued.Input, &in) // start wrote it
	r := &Result{Text: fmt.Sprintf(`The call is not done: run %s goes on. Call run_wait {"run_id":%[1]q} for its result.`, state.RunID)}
	if len(wire.Questions(state)) > 0 {
		r.Text = sentence(state)
	}
	if r.IsError = in.Shown.OutputSchema != nil; !r.IsError { // Codex shows its model the structured result alone
		r.Structured = map[string]any{"run_id": state.RunID, "status": statusOf(state), "message": r.Text}
	}
	return r
}

// outcome returns what a call has come to: the server's result as it wrote it, or its JSON-RPC error. Other ends are
// results with isError, which name the run.
func (b *behind) outcome(ctx context.Context, state messages.State) (any, error) {
	if state.Status == messages.Completed {
		if held := b.Behind.Result(state.RunID); held != nil {
			return held, nil
		}
		if isResult(state.End.Result) {
			return state.End.Result, nil
		}
		return (&Result{Text: "the log keeps only a digest of the result, and the server no longer holds the result; call the tool again", IsError: true}).library(), nil
	}
	if fault := b.refusal(ctx, state); fault != nil {
		return nil, fault
	}
	return (&Result{Text: sentence(state), IsError: true}).library(), nil
}

// isResult tells a result of tools/call from a digest of one.
func isResult(text json.RawMessage) bool {
	var r struct{ SHA256 string }
	_ = json.Unmarshal(text, &r) // what is no object is no digest
	return r.SHA256 == ""
}

// refusal returns the JSON-RPC error with which the server has refused the call of the run, or nil.
func (b *behind) refusal(ctx context.Context, state messages.State) *wire.Error {
	if b == nil || state.Status != messages.Failed || state.Queued == nil || state.Queued.Job != wrapJob {
		return nil
	}
	kinds := messages.FollowOptions{Filter: messages.Filter{Kinds: []messages.Kind{messages.KindToolCompleted}}}
	for e, err := range messages.Each(b.runs.Door.Runs.Follow(ctx, state.RunID, kinds)) {
		if done, ok := e.Body.(messages.ToolCompleted); err == nil && ok && done.Error != nil {
			return readFault(done.Result)
		}
	}
	return nil
}

// result is outcome for the tools and the tasks that show runs of calls. It is nil for other runs, and for calls that
// have no result.
func (b *behind) result(state messages.State) *mcp.CallToolResult {
	if b == nil || state.Queued == nil || state.Queued.Job != wrapJob || state.Status != messages.Completed {
		return nil
	}
	got, _ := b.outcome(context.Background(), state) // it has completed
	text, _ := json.Marshal(got)
	var r struct {
		Content           []json.RawMessage
		StructuredContent json.RawMessage
		IsError           bool
		Meta              map[string]any `json:"_meta"`
	}
	if json.Unmarshal(text, &r) != nil {
		return nil
	}
	out := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: r.IsError}
	if r.StructuredContent != nil {
		out.StructuredContent = r.StructuredContent
	}
	if r.Meta != nil {
		out.Meta = mcp.NewMetaFromMap(r.Meta)
	}
	for _, part := range r.Content {
		out.Content = append(out.Content, rawContent{json: part})
	}
	return out
}

// rawContent is a part of a result as a server behind has written it.
type rawContent struct {
	mcp.TextContent
	json json.RawMessage
}

// MarshalJSON returns the part unchanged.
func (c rawContent) MarshalJSON() ([]byte, error) { return c.json, nil }

// pass sends an event of a call to the client as the server behind has said it: progress, and messages of its log.
func (p *progress) pass(x *wire.Exchange, e messages.Event, place string) {
	bodies := []messages.Body{e.Body}
	if merged, ok := e.Body.(messages.Merged); ok {
		bodies = merged.Parts
	}
	for _, body := range bodies {
		switch b := body.(type) {
		case messages.ToolProgress:
			p.forward(b, e.Message, place)
		case messages.Log:
			for _, l := range b.Lines {
				_ = x.Notify(string(mcp.MethodNotificationMessage), logParams(l)) // the next event notices an error
			}
		}
	}
}

// leastStep is how much greater the next number of a server's progress is at least.
const leastStep = 1e-6

// forward sends progress with the server's own numbers. They must grow, whatever the server says.
func (p *progress) forward(b messages.ToolProgress, message, place string) {
	done, total := float64(b.Done), float64(b.Total)
	if b.Unit == "‰" {
		done, total = done/1000, total/1000
	}
	_ = p.beats.Do(func() (over bool, err error) {
		p.last, p.silent = max(done, p.last+p.step), 0
		err = p.notify(place, "notifications/progress", progressParams{Token: p.token, Progress: p.last, Total: total, Message: message})
		return err != nil, err
	})
}

// logParams returns the params of a log message. A text that is JSON is the whole message.
func logParams(l messages.LogLine) any {
	var whole map[string]json.RawMessage
	if strings.HasPrefix(l.Text, "{") && json.Unmarshal([]byte(l.Text), &whole) == nil && whole["level"] != nil && whole["data"] != nil {
		return whole
	}
	level := string(l.Level)
	if l.Level == messages.LogWarn {
		level = "warning"
	}
	return map[string]any{"level": level, "data": l.Text}
}
