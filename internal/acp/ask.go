package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// wait asks the user a question, while other events of the run continue. The question may be answered elsewhere first.
func (w *writer) wait(op *transcript.Op) {
	asked := op.Item.Asked()
	ctx, stop := context.WithCancel(w.turn.ctx)
	w.questions[asked.Request] = stop
	q := question{w: w, asked: asked, id: w.id(asked.Request)}
	if i := slices.IndexFunc(w.calls, func(c messages.ToolCall) bool { return strings.HasPrefix(asked.Request, "approve."+c.Call+".") }); i >= 0 {
		q.call, q.id = &w.calls[i], w.id(w.calls[i].Call)
	}
	w.asking.Go(func() {
		defer stop()
		defer func() {
			if crash := recover(); crash != nil {
				w.editor.Log.Error("a question crashes", "crash", crash)
			}
		}()
		q.ask(ctx)
	})
}

// goOn withdraws a question that was answered.
func (w *writer) goOn(op *transcript.Op) {
	if stop := w.questions[op.Item.Name]; stop != nil {
		stop()
		delete(w.questions, op.Item.Name)
	}
}

// noMore withdraws all questions.
func (w *writer) noMore() {
	for _, stop := range w.questions {
		stop()
	}
	w.asking.Wait()
}

// question is a question that the editor shows.
type question struct {
	w     *writer
	asked messages.InputRequired
	call  *messages.ToolCall // the call that the question is about; nil for other questions
	id    string             // of the call that the editor shows
}

// ask passes the user's answer to the run. If the editor cannot show the question, the answer is null.
func (q *question) ask(ctx context.Context) {
	value, err := json.RawMessage("null"), error(nil)
	if choices := choicesOf(q.asked.Schema); len(choices) > 0 {
		value, err = q.choose(ctx, choices)
	} else if q.w.session.forms && q.asked.InputKind != messages.InputSecret {
		value, err = q.fill(ctx)
	}
	if err != nil {
		value = json.RawMessage("null")
	}
	switch {
	case ctx.Err() != nil: // it was answered, or the prompt was canceled
		return
	case err != nil:
		q.w.editor.Log.Warn("the editor answers no question", "error", err)
	case value == nil: // the editor says that the prompt was canceled
		q.w.turn.cancel()
		return
	}
	err = q.w.editor.Door.Answer(context.WithoutCancel(ctx), door.Dialogue, q.w.Run, q.asked.Request, value)
	if err != nil && messages.CodeOf(err) != messages.CodeConflict {
		q.w.editor.Log.Warn("an answer is not taken", "error", err)
		q.w.turn.cancel()
	}
}

// choicesOf returns the answers that a schema allows, if it lists them.
func choicesOf(schema json.RawMessage) (all []any) {
	var s struct {
		Type any
		Enum []any
	}
	if json.Unmarshal(schema, &s) == nil && s.Type == "boolean" {
		return []any{true, false}
	}
	return s.Enum
}

// option returns a choice as editors show it. They show options that allow and options that reject differently.
func option(choice any) object {
	name, kind := messages.Plain(door.JSON(choice)), "allow_once"
	name = words.Visible(cmp.Or(map[any]string{true: "yes", false: "no"}[choice], name))
	if name == "no" {
		kind = "reject_once"
	} else if strings.HasPrefix(name, "yes, ") && name != "yes, once" {
		kind = "allow_always"
	}
	return object{"optionId": name, "name": name, "kind": kind}
}

// choose lets the user choose. It returns nil if the editor says that the prompt was canceled.
func (q *question) choose(ctx context.Context, choices []any) (json.RawMessage, error) {
	options := []object{}
	for _, c := range choices {
		options = append(options, option(c))
	}
	r, err := acp.SendRequest[struct {
		Outcome struct{ Outcome, OptionID string }
	}](q.w.editor.conn, ctx, acp.ClientMethodSessionRequestPermission,
		object{"sessionId": q.w.session.ID, "toolCall": q.shown(), "options": options})
	if err != nil || r.Outcome.Outcome != "selected" {
		return nil, err
	}
	i := slices.IndexFunc(options, func(o object) bool { return o["optionId"] == r.Outcome.OptionID })
	if i < 0 {
		return nil, messages.InvalidInput("the editor chose %.100q, which nobody offered", r.Outcome.OptionID)
	}
	return door.JSON(choices[i]), nil
}

// shown returns the call that the question is about, with the whole question and the change that the call would make to
// a file. It leaves out what an editor could show instead: the arguments as the model wrote them.
func (q *question) shown() object {
	call := object{"toolCallId": q.id, "title": words.Clip(words.OneLine(q.asked.Prompt), 100), "kind": "other", "status": "pending"}
	content := text(door.Shown(q.asked))
	if q.call != nil {
		arguments := json.RawMessage(q.call.Arguments)
		call = q.w.editor.call(q.w.session, q.id, q.call.Tool, arguments, "pending")
		delete(call, "rawInput")
		if e := q.w.editor.Preview(q.w.session, q.call.Tool, arguments); e != nil {
			content = append(content, e.shown()...)
		}
	}
	call["content"] = content
	return call
}

// fill lets the user fill in a form, for answers that are not choices.
func (q *question) fill(ctx context.Context) (json.RawMessage, error) {
	form, whole := q.asked.Schema, struct{ Type any }{}
	if json.Unmarshal(form, &whole) != nil || whole.Type != "object" {
		form = door.JSON(object{"type": "object", "required": []string{"answer"},
			"properties": object{"answer": json.RawMessage(cmp.Or(string(form), `{"type":"string"}`))}})
	}
	r, err := acp.SendRequest[struct {
		Action  string
		Content map[string]json.RawMessage
	}](q.w.editor.conn, ctx, acp.ClientMethodElicitationCreate,
		object{"sessionId": q.w.session.ID, "mode": "form", "message": q.asked.Prompt, "requestedSchema": form})
	switch {
	case err != nil || r.Action == "cancel":
		return nil, err
	case r.Action != "accept":
		return json.RawMessage("null"), nil
	case whole.Type == "object":
		return door.JSON(r.Content), nil
	}
	return json.RawMessage(cmp.Or(string(r.Content["answer"]), "null")), nil
}
