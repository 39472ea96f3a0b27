package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/coder/acp-go-sdk"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// turn is a prompt that is not answered yet.
type turn struct {
	id       json.RawMessage // of the request
	ctx      context.Context // ends with a cancel
	cancel   context.CancelFunc
	answered chan struct{} // closed once its answer is known
}

// cancel cancels the session's prompt, if it is that of the request; nil is any.
func (s *Session) cancel(request json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil && (request == nil || same(request, s.turn.id)) {
		s.turn.cancel()
	}
}

// prompt answers session/prompt when the run has ended.
func (e *editor) prompt(_ context.Context, p acp.PromptRequest) (r acp.PromptResponse, err error) {
	e.prompts.Add(1)
	defer e.prompts.Done()
	s, err := e.session(p.SessionId)
	if err != nil {
		return r, err
	}
	t := s.enter(e.ctx, e.begun)
	defer s.leave(t)
	text, err := s.text(p.Prompt)
	if err != nil {
		return r, err
	}
	if name, argument, _ := strings.Cut(text, " "); strings.HasPrefix(name, "/") {
		for _, c := range e.Commands {
			if c.Name == name[1:] {
				return e.command(t.ctx, s, c, strings.TrimSpace(argument))
			}
		}
	}
	return e.run(s, t, text)
}

// enter begins a prompt. It cancels the one before it, and returns when that has its answer. begun lets the input go on.
func (s *Session) enter(ctx context.Context, begun func() json.RawMessage) *turn {
	t := &turn{answered: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(ctx)
	s.mu.Lock()
	before := s.turn
	s.turn, t.id = t, begun()
	s.mu.Unlock()
	if before != nil {
		before.cancel()
		<-before.answered
	}
	return t
}

// leave ends a prompt: a cancel that comes now finds none.
func (s *Session) leave(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.cancel()
	close(t.answered)
	if s.turn == t {
		s.turn = nil
	}
}

func (e *editor) command(ctx context.Context, s *Session, c Command, argument string) (r acp.PromptResponse, err error) {
	text, err := c.Run(ctx, s, argument)
	if err == nil {
		err = e.chunk(s.ID, "agent_message_chunk", "", text)
	}
	r.StopReason = acp.StopReasonEndTurn
	return r, err
}

// text is what a prompt says. A link to a file stays a link: the model reads the file.
func (s *Session) text(blocks []acp.ContentBlock) (string, error) {
	var parts []string
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			parts = append(parts, b.Text.Text)
		case b.ResourceLink != nil:
			parts = append(parts, "["+b.ResourceLink.Name+"]("+s.below(b.ResourceLink.Uri)+")")
		default:
			return "", messages.InvalidInput("a prompt takes text and links to files; an image, a sound or the content " +
				"of a file is not taken: mention the file instead")
		}
	}
	return strings.Join(parts, "\n"), nil
}

// below is the path of a file of the session as tools name it, and of others the URI as it is.
func (s *Session) below(uri string) string {
	at, err := url.Parse(uri)
	if err != nil || at.Scheme != "file" {
		return uri
	}
	path, err := filepath.Rel(s.Folder, filepath.FromSlash(at.Path))
	if err != nil || !filepath.IsLocal(path) {
		return uri
	}
	return filepath.ToSlash(path)
}

// rate is how often a second an editor gets new words.
const rate = 30

// run is the prompt's run. Its end is the answer.
func (e *editor) run(s *Session, t *turn, text string) (r acp.PromptResponse, err error) {
	r.StopReason = acp.StopReasonCancelled
	if t.ctx.Err() != nil {
		return r, nil
	}
	q := e.Door.Message(text, s.ID)
	q.Mode = messages.Attached
	background := context.WithoutCancel(e.ctx)
	id, err := e.Door.Start(e.ctx, q)
	if err != nil {
		return r, err
	}
	defer context.AfterFunc(t.ctx, func() {
		_ = e.Door.Cancel(background, id, "") // it may have ended
	})()
	w := &writer{Part: door.Part{Run: id, Attached: true}, editor: e, session: s, turn: t, questions: map[string]context.CancelFunc{}}
	err = door.Play(background, e.Door, new(door.Unbuffered), messages.Follow{Rate: rate}, &writing, w)
	w.noMore()
	switch {
	case w.lost != nil:
		_ = e.Door.Cancel(background, id, "the editor does not read")
		return r, w.lost
	case err != nil:
		return r, failure(err, id)
	case w.failed != nil:
		return r, refusal(w.failed, id)
	}
	r.StopReason = w.reason
	r.Meta = map[string]any{"run_id": id}
	return r, nil
}

// writer tells an editor of a run.
type writer struct {
	door.Part
	editor  *editor
	session *Session
	turn    *turn
	calls   []messages.ToolCall // that the model has made
	said    bool                // there was an answer
	reason  acp.StopReason
	failed  *door.Reason // why the run did not complete
	lost    error        // why the editor gets no more

	asking    sync.WaitGroup
	questions map[string]context.CancelFunc // those without an answer
}

var writing = transcript.Dialect[*writer]{
	Policy: transcript.Mark,
	Rewind: func(w *writer, op *transcript.Op) { w.say(op.Item, op.ID, transcript.Rule) },
	Table: transcript.Table[*writer]{
		transcript.Run:      {transcript.Update: (*writer).note, transcript.End: (*writer).end},
		transcript.Text:     {transcript.Append: (*writer).append},
		transcript.Thought:  {transcript.Append: (*writer).append},
		transcript.Tool:     {transcript.Open: (*writer).begin, transcript.Update: (*writer).progress, transcript.Done: (*writer).result},
		transcript.Question: {transcript.Wait: (*writer).wait, transcript.Go: (*writer).goOn},
		transcript.Step:     {transcript.Open: (*writer).plan, transcript.Done: (*writer).plan},
	},
}

// write tells the editor of an update, until it takes no more.
func (w *writer) write(u acp.SessionUpdate) { w.took(w.editor.update(w.session.ID, u)) }

func (w *writer) took(err error) {
	if err != nil && w.lost == nil {
		w.lost, w.Over = err, true
	}
}

// chunk is the update that there are most of. The library's type takes it apart and together again.
type chunk struct {
	Session string `json:"sessionId"`
	Update  struct {
		Kind    string `json:"sessionUpdate"`
		Content struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Message string `json:"messageId,omitempty"`
	} `json:"update"`
}

func (e *editor) chunk(session, kind, id, text string) error {
	c := &chunk{Session: session}
	c.Update.Kind, c.Update.Message, c.Update.Content.Type, c.Update.Content.Text = kind, id, "text", text
	return e.conn.SendNotification(context.Background(), acp.ClientMethodSessionUpdate, c)
}

// id is the item's ID in its session, where other runs have items of the same names.
func (w *writer) id(name string) string { return string(w.Run) + "." + name }

// say shows what is for the user as a message, and all else as a thought.
func (w *writer) say(item *transcript.Item, id, text string) {
	kind := "agent_thought_chunk"
	if item.IsAnswer() {
		kind, w.said = "agent_message_chunk", true
	}
	w.took(w.editor.chunk(w.session.ID, kind, w.id(id), text))
}

func (w *writer) append(op *transcript.Op) { w.say(op.Item, op.ID, op.Text) }

// note keeps the calls of an answer, which questions name.
func (w *writer) note(op *transcript.Op) {
	if b, ok := op.Event.Body.(messages.LLMCompleted); ok {
		w.calls = append(w.calls, b.Calls...)
	}
}

func (w *writer) begin(op *transcript.Op) {
	name, arguments := op.Item.Call()
	call := w.editor.describe(w.session, w.id(op.ID), name, arguments)
	call.Status = acp.ToolCallStatusInProgress
	w.write(acp.SessionUpdate{ToolCall: &call})
}

func (w *writer) progress(op *transcript.Op) {
	if b, ok := op.Item.Latest.(messages.ToolProgress); ok {
		w.write(acp.UpdateToolCall(acp.ToolCallId(w.id(op.ID)), acp.WithUpdateContent(words(fmt.Sprintf("%d of %d %s", b.Done, b.Total, b.Unit)))))
	}
}

func words(text string) []acp.ToolCallContent {
	return []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(text))}
}

func (w *writer) result(op *transcript.Op) {
	result, failed := op.Item.Result()
	status, text := acp.ToolCallStatusCompleted, door.Plain(result)
	if failed != "" {
		status, text = acp.ToolCallStatusFailed, failed
	}
	content := words(text)
	if e := w.session.edited(w.id(op.Item.Name)); e != nil && failed == "" {
		content = contentOf(e)
	}
	w.write(acp.UpdateToolCall(acp.ToolCallId(w.id(op.ID)), acp.WithUpdateStatus(status), acp.WithUpdateContent(content),
		acp.WithUpdateRawOutput(text)))
}

// plan tells of all steps: the list takes the place of the one before.
func (w *writer) plan(op *transcript.Op) {
	var list []acp.PlanEntry
	for _, item := range op.Run.Items() {
		if item.Kind == transcript.Step {
			one := acp.PlanEntry{Content: item.ID, Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusInProgress}
			if item.Closed {
				one.Status = acp.PlanEntryStatusCompleted
			}
			list = append(list, one)
		}
	}
	w.write(acp.UpdatePlan(list...))
}

func (w *writer) end(op *transcript.Op) {
	w.noMore()
	b, ok := op.Event.Body.(messages.RunCompleted)
	if !ok {
		w.reason = acp.StopReasonCancelled
		if _, canceled := op.Event.Body.(messages.RunCanceled); !canceled {
			w.failed = door.Failure(op.Event.Body)
		}
		return
	}
	if text := door.ResultText(b.Result); !w.said && text != "" {
		w.took(w.editor.chunk(w.session.ID, "agent_message_chunk", w.id("result"), text))
	}
	var how struct{ Truncated, Filtered bool }
	_ = json.Unmarshal(b.Result, &how) // another job's result has neither
	switch {
	case how.Truncated:
		w.reason = acp.StopReasonMaxTokens
	case how.Filtered:
		w.reason = acp.StopReasonRefusal
	default:
		w.reason = acp.StopReasonEndTurn
	}
}
