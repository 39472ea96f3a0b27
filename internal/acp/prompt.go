package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// turn is a prompt without a response.
type turn struct {
	ctx      context.Context // canceled by a cancel of the prompt
	cancel   context.CancelFunc
	answered chan struct{} // closed when the response is known
}

// cancel cancels the session's current prompt.
func (s *Session) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.cancel()
	}
}

// enter begins a prompt. It cancels the previous one and waits for its response.
func (s *Session) enter(ctx context.Context) *turn {
	t := &turn{answered: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(ctx)
	s.mu.Lock()
	before := s.turn
	s.turn = t
	s.mu.Unlock()
	s.editor.in.goOn(nil)
	if before != nil {
		before.cancel()
		<-before.answered
	}
	return t
}

// leave ends a prompt. A later cancel does not find it any more.
func (s *Session) leave(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.cancel()
	close(t.answered)
	if s.turn == t {
		s.turn = nil
	}
}

// stop returns the response to a prompt.
func stop(reason string) object { return object{"stopReason": reason} }

// prompt handles session/prompt. It returns when the run has ended.
func (e *editor) prompt(ctx context.Context, p params) (any, error) {
	e.prompts.Add(1)
	defer e.prompts.Done()
	s, err := e.session(p.Session)
	if err != nil {
		return nil, err
	}
	t := s.enter(ctx)
	defer s.leave(t)
	text, err := s.text(p.Prompt)
	if err != nil {
		return nil, err
	}
	if name, argument, _ := strings.Cut(text, " "); strings.HasPrefix(name, "/") {
		for _, c := range e.Commands {
			if c.Name == name[1:] {
				words, err := c.Run(t.ctx, s, strings.TrimSpace(argument))
				if err == nil {
					err = e.say(s.ID, "agent_message_chunk", "", words, "")
				}
				return stop("end_turn"), err
			}
		}
	}
	return e.run(s, t, text)
}

// block is a part of a prompt.
type block struct{ Type, Text, Name, URI string }

// text returns the text of a prompt. A link to a file stays a link, because the model can read the file.
func (s *Session) text(blocks []block) (string, error) {
	var parts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		case "resource_link":
			parts = append(parts, "["+b.Name+"]("+s.below(b.URI)+")")
		default:
			return "", messages.InvalidInput("a prompt takes text and links to files, and no %.50q: mention the file instead", b.Type)
		}
	}
	return strings.Join(parts, "\n"), nil
}

// below returns the path of a file of the session as tools name it. Other URIs are returned unchanged.
func (s *Session) below(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
		if path, err := filepath.Rel(s.Folder, filepath.FromSlash(u.Path)); err == nil && filepath.IsLocal(path) {
			return filepath.ToSlash(path)
		}
	}
	return uri
}

// rate is the maximum number of text updates per second.
const rate = 30

// run executes the prompt's run and returns the response.
func (e *editor) run(s *Session, t *turn, text string) (any, error) {
	if t.ctx.Err() != nil {
		return stop("cancelled"), nil
	}
	q := e.Door.Message(text, s.ID)
	q.Mode = messages.Attached
	id, err := e.Door.Start(e.ctx, q)
	if err != nil {
		return nil, err
	}
	background := context.WithoutCancel(e.ctx)
	defer context.AfterFunc(t.ctx, func() {
		_ = e.Door.Cancel(background, id, "") // an error means that it has ended
	})()
	w := &writer{SegmentWriter: door.SegmentWriter{Run: id, Attached: true}, editor: e, session: s, turn: t, questions: map[string]context.CancelFunc{}}
	err = door.Play(background, e.Door, new(door.Unbuffered), messages.FollowOptions{Rate: rate}, &writing, w)
	w.noMore()
	switch {
	case w.lost != nil:
		t.cancel()
		return nil, w.lost
	case err != nil:
		return nil, refusal(door.Unread(err), id)
	case w.failed != nil:
		return nil, refusal(w.failed, id)
	}
	answer := stop(w.reason)
	answer["_meta"] = object{"run_id": id}
	return answer, nil
}

// writer writes a run to an editor. It belongs to the goroutine of the prompt.
type writer struct {
	door.SegmentWriter
	editor  *editor
	session *Session
	turn    *turn
	calls   []messages.ToolCall // the calls that the model has requested
	said    bool                // whether there was an answer
	reason  string              // the stop reason of a prompt that has ended
	failed  *door.Reason        // why the run did not complete
	lost    error               // why the editor gets no more

	asking    sync.WaitGroup
	questions map[string]context.CancelFunc // cancel functions of questions without an answer
}

// writing is the dialect of writer.
var writing = transcript.Dialect[*writer]{
	Policy: transcript.Mark,
	Rewind: func(w *writer, op *transcript.Op) { w.say(op, transcript.Rule) },
	Table: transcript.Table[*writer]{
		transcript.Run:      {transcript.Update: (*writer).note, transcript.End: (*writer).end},
		transcript.Text:     {transcript.Append: (*writer).append},
		transcript.Thought:  {transcript.Append: (*writer).append},
		transcript.Tool:     {transcript.Open: (*writer).begin, transcript.Update: (*writer).progress, transcript.Done: (*writer).result},
		transcript.Question: {transcript.Wait: (*writer).wait, transcript.Go: (*writer).goOn},
		transcript.Step:     {transcript.Open: (*writer).plan, transcript.Done: (*writer).plan},
		transcript.Notice: {transcript.Open: func(w *writer, op *transcript.Op) {
			w.say(op, op.Item.Opened.(messages.Notice).Text)
		}},
	},
}

// took stops the writing if the editor does not accept more.
func (w *writer) took(err error) {
	if err != nil {
		w.lost, w.Over = err, true
	}
}

func (w *writer) write(kind string, u object) {
	u["sessionUpdate"] = kind
	w.took(w.editor.update(w.session.ID, u))
}

// id returns the item's ID within its session, where other runs may have items with the same name.
func (w *writer) id(name string) string { return string(w.Run) + "." + name }

func (e *editor) say(session, kind, id, text, mediaType string) error {
	content := object{"type": "text", "text": text}
	if mediaType != "" {
		content["_meta"] = object{"media_type": mediaType}
	}
	return e.update(session, object{"sessionUpdate": kind, "messageId": id, "content": content})
}

// say writes answers as messages, and other texts as thoughts.
func (w *writer) say(op *transcript.Op, text string) {
	kind := "agent_thought_chunk"
	if op.Item.IsAnswer() {
		kind, w.said = "agent_message_chunk", true
	}
	w.took(w.editor.say(w.session.ID, kind, w.id(op.ID), text, op.Item.MediaType))
}

func (w *writer) append(op *transcript.Op) { w.say(op, op.Text) }

// note records the calls in a model's answer, because questions refer to them.
func (w *writer) note(op *transcript.Op) {
	if b, ok := op.Event.Body.(messages.LLMCompleted); ok {
		w.calls = append(w.calls, b.Calls...)
	}
}

// call returns a tool call as editors show it. The argument path names a file only for lastword's tools.
func (e *editor) call(s *Session, id, tool string, arguments json.RawMessage, status string) object {
	var in struct {
		Path string
		From int
	}
	kind, ours := e.Kinds[tool]
	call := object{"toolCallId": id, "title": words.Visible(tool), "status": status, "kind": cmp.Or(kind, "other")}
	if json.Valid(arguments) {
		call["rawInput"] = arguments
	}
	if json.Unmarshal(arguments, &in) == nil && in.Path != "" && ours {
		call["title"] = tool + " " + words.Clip(words.OneLine(words.Visible(in.Path)), 200)
		at := object{"path": filepath.Join(s.Folder, filepath.FromSlash(in.Path))}
		if in.From > 0 {
			at["line"] = in.From
		}
		call["locations"] = []object{at}
	}
	return call
}

// text returns a text as the content of a call.
func text(text string) []object {
	return []object{{"type": "content", "content": object{"type": "text", "text": text}}}
}

// shown returns a change of a file as the content of a call.
func (e *Edit) shown() []object {
	return []object{{"type": "diff", "path": e.Path, "oldText": e.Old, "newText": e.New}}
}

func (w *writer) begin(op *transcript.Op) {
	name, arguments := op.Item.Call()
	w.write("tool_call", w.editor.call(w.session, w.id(op.ID), name, arguments, "in_progress"))
}

// progress shows how far a tool is, in place of its earlier progress.
func (w *writer) progress(op *transcript.Op) {
	if b, ok := op.Item.Latest.(messages.ToolProgress); ok {
		w.write("tool_call_update", object{"toolCallId": w.id(op.ID), "content": text(fmt.Sprintf("%d of %d %s", b.Done, b.Total, b.Unit))})
	}
}

// result ends a tool call. If the tool changed a file, the editor gets the difference to show instead of the text.
func (w *writer) result(op *transcript.Op) {
	result, failed := op.Item.Result()
	words := cmp.Or(failed, messages.Plain(result))
	done := object{"toolCallId": w.id(op.ID), "status": "completed", "content": text(words), "rawOutput": words}
	if failed != "" {
		done["status"] = "failed"
	} else if e := w.editor.Changed(w.Run, op.Item.Name); e != nil {
		done["content"] = e.shown()
	}
	w.write("tool_call_update", done)
}

// plan writes all steps. The list replaces the previous one.
func (w *writer) plan(op *transcript.Op) {
	list := []object{}
	for _, item := range op.Run.Items() {
		if item.Kind == transcript.Step {
			one := object{"content": item.ID, "priority": "medium", "status": "in_progress"}
			if item.Closed {
				one["status"] = "completed"
			}
			list = append(list, one)
		}
	}
	w.write("plan", object{"entries": list})
}

// reasons are the stop reasons of answers that were cut.
var reasons = map[model.Reason]string{model.Length: "max_tokens", model.Filter: "refusal"}

// end sets the prompt's stop reason. A run that failed has none: its error answers the prompt.
func (w *writer) end(op *transcript.Op) {
	w.noMore()
	switch b := op.Event.Body.(type) {
	case messages.RunCanceled:
		w.reason = "cancelled"
	case messages.RunCompleted:
		end := op.Run.Ending()
		if !w.said && end.Text != "" {
			w.took(w.editor.say(w.session.ID, "agent_message_chunk", w.id("result"), end.Text, ""))
		}
		w.reason = cmp.Or(reasons[end.Reason], "end_turn")
	default:
		w.failed = door.Failure(b)
	}
}
