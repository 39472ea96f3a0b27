package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// wait puts a question to the user, while the run's other events go on. Another door may answer it first.
func (w *writer) wait(op *transcript.Op) {
	asked := op.Item.Asked()
	ctx, stop := context.WithCancel(w.turn.ctx)
	w.questions[asked.Request] = stop
	q := question{w: w, asked: asked, id: w.id(asked.Request)}
	if i := slices.IndexFunc(w.calls, func(c messages.ToolCall) bool { return strings.HasPrefix(asked.Request, "approve."+c.Call+".") }); i >= 0 {
		q.call, q.id = &w.calls[i], w.id(w.calls[i].Call)
	}
	w.asking.Add(1)
	go func() {
		defer w.asking.Done()
		defer stop()
		defer func() {
			if crash := recover(); crash != nil {
				w.editor.Log.Error("a question crashes", "crash", crash)
			}
		}()
		q.ask(ctx)
	}()
}

// goOn takes a question back that has its answer.
func (w *writer) goOn(op *transcript.Op) {
	if stop := w.questions[op.Item.Name]; stop != nil {
		stop()
		delete(w.questions, op.Item.Name)
	}
}

// noMore takes all questions back.
func (w *writer) noMore() {
	for _, stop := range w.questions {
		stop()
	}
	w.asking.Wait()
}

// question is one that the editor shows.
type question struct {
	w     *writer
	asked messages.InputRequired
	call  *messages.ToolCall // whether it may be made; nil for another question
	id    string             // of the call that the editor shows
}

// ask gives the run the user's answer. One that cannot be put to the user is declined.
func (q *question) ask(ctx context.Context) {
	var value json.RawMessage
	var err error
	form := q.w.editor.capabilities().Elicitation
	switch choices := choicesOf(q.asked.Schema); {
	case len(choices) > 0:
		value, err = q.choose(ctx, choices)
	case form != nil && form.Form != nil && q.asked.InputKind != messages.InputSecret:
		value, err = q.fill(ctx)
	default:
		value = json.RawMessage("null")
	}
	if ctx.Err() != nil {
		return // it has its answer, or the prompt is canceled
	}
	if err != nil {
		q.w.editor.Log.Warn("the editor answers no question", "error", err)
		value = json.RawMessage("null")
	}
	if value == nil { // the editor says that the prompt is canceled
		q.w.turn.cancel()
		return
	}
	err = q.w.editor.Door.Answer(context.WithoutCancel(ctx), q.w.Run, q.asked.Request, value)
	if err != nil && messages.CodeOf(err) != messages.CodeConflict {
		q.w.editor.Log.Warn("an answer is not taken", "error", err)
		q.w.turn.cancel()
	}
}

// choice is an answer to choose.
type choice struct {
	name  string
	value any
	kind  acp.PermissionOptionKind
}

// choicesOf are the answers that a schema lists; chat's questions end with the one that allows nothing.
func choicesOf(schema json.RawMessage) (all []choice) {
	var s struct {
		Type any
		Enum []string
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	if s.Type == "boolean" {
		return []choice{{"yes", true, acp.PermissionOptionKindAllowOnce}, {"no", false, acp.PermissionOptionKindRejectOnce}}
	}
	for _, one := range s.Enum {
		kind := acp.PermissionOptionKindAllowOnce
		switch {
		case one == "no":
			kind = acp.PermissionOptionKindRejectOnce
		case strings.HasPrefix(one, "yes, ") && one != "yes, once":
			kind = acp.PermissionOptionKindAllowAlways
		}
		all = append(all, choice{one, one, kind})
	}
	return all
}

// choose has the user choose. It returns nil if the editor says that the prompt is canceled.
func (q *question) choose(ctx context.Context, choices []choice) (json.RawMessage, error) {
	p := acp.RequestPermissionRequest{SessionId: acp.SessionId(q.w.session.ID), ToolCall: q.shown(ctx)}
	for _, c := range choices {
		p.Options = append(p.Options, acp.PermissionOption{OptionId: acp.PermissionOptionId(c.name), Name: c.name, Kind: c.kind})
	}
	r, err := acp.SendRequest[acp.RequestPermissionResponse](q.w.editor.conn, ctx, acp.ClientMethodSessionRequestPermission, p)
	if err != nil || r.Outcome.Selected == nil {
		return nil, err
	}
	i := slices.IndexFunc(choices, func(c choice) bool { return c.name == string(r.Outcome.Selected.OptionId) })
	if i < 0 {
		return nil, messages.InvalidInput("the editor chose %.100q, which nobody offered", r.Outcome.Selected.OptionId)
	}
	return door.JSON(choices[i].value), nil
}

// shown is the call that the question is about, with what it is about to make of a file.
func (q *question) shown(ctx context.Context) acp.ToolCallUpdate {
	call := acp.SessionUpdateToolCall{ToolCallId: acp.ToolCallId(q.id), Title: q.asked.Prompt, Kind: acp.ToolKindOther}
	if q.call != nil {
		call = q.w.editor.describe(q.w.session, q.id, q.call.Tool, json.RawMessage(q.call.Arguments))
		if e := q.w.editor.Preview(ctx, q.w.session, q.call.Tool, json.RawMessage(q.call.Arguments)); e != nil {
			call.Content = contentOf(e)
		}
	}
	return acp.ToolCallUpdate{ToolCallId: call.ToolCallId, Title: &call.Title, Kind: &call.Kind, Content: call.Content,
		Locations: call.Locations, RawInput: call.RawInput, Status: new(acp.ToolCallStatusPending)}
}

// fill has the user fill in a form, for an answer that no choice gives.
func (q *question) fill(ctx context.Context) (json.RawMessage, error) {
	var object struct {
		Type       any
		Properties map[string]json.RawMessage
	}
	schema, wrapped := q.asked.Schema, false
	if json.Unmarshal(schema, &object) != nil || object.Type != "object" || len(object.Properties) == 0 {
		schema, wrapped = door.JSON(map[string]any{"type": "object", "required": []string{"answer"},
			"properties": map[string]any{"answer": json.RawMessage(cmp.Or(string(schema), `{"type":"string"}`))}}), true
	}
	r, err := acp.SendRequest[struct {
		Action  string
		Content map[string]json.RawMessage
	}](q.w.editor.conn, ctx, acp.ClientMethodElicitationCreate, map[string]any{"sessionId": q.w.session.ID, "mode": "form",
		"message": q.asked.Prompt, "requestedSchema": schema})
	switch {
	case err != nil:
		return nil, err
	case r.Action == "cancel":
		return nil, nil
	case r.Action != "accept":
		return json.RawMessage("null"), nil
	case wrapped:
		return json.RawMessage(cmp.Or(string(r.Content["answer"]), "null")), nil
	}
	return door.JSON(r.Content), nil
}
