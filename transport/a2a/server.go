package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/pieces"
	"github.com/seed889630bf/lastword/transport/internal/rpc"
)

// Paths that this package serves. The card needs no token; without one it lists only the skill for messages that name
// none.
const (
	Path     = "/a2a"
	CardPath = "/.well-known/agent-card.json"
)

type server struct{ door *door.Door }

// New returns the handler for Path and CardPath.
func New(d *door.Door) *door.Handler {
	s := server{d}
	rpc := &rpc.Server{Door: d, Serve: func(c *rpc.Caller, call jsonrpc.Call) (any, func(*rpc.Wire) error, error) {
		result, begun, err := s.serve(c, call)
		if err != nil {
			err = refusal(err)
		}
		return result, begun, err
	}}
	return door.Routes(map[string]func(http.ResponseWriter, *http.Request) error{
		"GET " + CardPath: s.card,
		"POST " + Path: func(w http.ResponseWriter, r *http.Request) error {
			r.Header.Set("Accept", "text/event-stream") // for streams; other answers are JSON
			return rpc.Post(w, r)
		},
	}, auth.Refuse)
}

// params are the parameters of all methods.
type params struct {
	ID            messages.RunID
	Message       message
	Configuration struct {
		HistoryLength              *int
		ReturnImmediately          bool
		TaskPushNotificationConfig *push
	}
	TaskID         messages.RunID // this and the next of methods for push notification configs
	URL, Token     string
	Authentication json.RawMessage

	ContextID, Status, PageToken string
	PageSize, HistoryLength      *int
	StatusTimestampAfter         time.Time
	IncludeArtifacts             bool
}

// serve handles a call. If the method streams, result is the first event of the stream, and begun writes the others.
func (s server) serve(c *rpc.Caller, call jsonrpc.Call) (result any, begun func(*rpc.Wire) error, err error) {
	ctx, r := c.Context, c.Request
	var p params
	switch err := auth.Require(ctx, auth.ReadRuns); {
	case err != nil:
		return nil, nil, err
	case cmp.Or(r.Header.Get("A2A-Version"), r.URL.Query().Get("A2A-Version")) != "1.0":
		return nil, nil, wrong(versionNotSupported, "this agent speaks A2A 1.0; say so in A2A-Version")
	}
	if err := jsonrpc.Params(call, &p); err != nil {
		return nil, nil, err
	}
	if length := cmp.Or(p.HistoryLength, p.Configuration.HistoryLength); length != nil && *length < 0 {
		return nil, nil, messages.InvalidInput("a historyLength is 0 or more")
	}
	w := s.reader(s.origin(r), p.ID, p.HistoryLength)
	switch w.call = call; call.Method {
	case "SendMessage":
		err = w.send(ctx, &p)
		w.head, w.waits = 0, !p.Configuration.ReturnImmediately
	case "SendStreamingMessage":
		begun, err = w.follow(ctx), w.send(ctx, &p)
	case "SubscribeToTask":
		begun, w.ended = w.follow(ctx), unsupported
	case "GetTask":
	case "CancelTask":
		w.cancels, w.ended = true, notCancelable
	case "ListTasks":
		result, err = s.list(ctx, w.base, &p)
		return result, nil, err
	case "GetExtendedAgentCard":
		return s.describe(r, true), nil, nil
	default:
		if strings.Contains(call.Method, "TaskPushNotificationConfig") {
			result, err = s.pushes(ctx, call.Method, push{string(p.ID), p.TaskID, p.URL, p.Token, p.Authentication})
			return result, nil, err
		}
		return nil, nil, jsonrpc.NoMethod(call)
	}
	if err != nil {
		return nil, nil, err
	}
	t, err := w.fold(ctx)
	if w.id != p.ID || begun != nil { // the client sent a message
		return event{Task: t}, begun, err
	}
	return t, nil, err
}

// reader returns a writer that reads the task with the id.
func (s server) reader(base string, id messages.RunID, length *int) *writer {
	w := &writer{server: s, base: base, id: id, length: length}
	w.words = pieces.NewWords(w.piece)
	return w
}

// fold reads the task from its beginning up to the event after which the client gets it.
func (w *writer) fold(ctx context.Context) (*task, error) {
	state, err := w.door.Run(ctx, w.id)
	if err == nil && state.Status.IsEnded() && w.ended != 0 {
		err = wrong(w.ended, "the task has ended; GetTask has it")
	}
	if err == nil && w.cancels {
		err = w.door.Cancel(ctx, w.id, "asked by a client of A2A")
	}
	if err != nil {
		return nil, err
	}
	w.head = cmp.Or(w.head, state.Seq)
	for events, err := range w.door.Runs.Follow(ctx, w.id, messages.FollowOptions{}) {
		if err != nil {
			return nil, err
		}
		if done, _ := w.Events(events); done { // Events returns no error
			return w.task(), nil
		}
	}
	return nil, messages.Errorf(messages.CodeUnavailable, "the run's events ended before the run")
}

// follow returns a function that writes the events after the first one.
func (w *writer) follow(ctx context.Context) func(*rpc.Wire) error {
	return func(to *rpc.Wire) error {
		if w.Wire = to; w.run.Ended != nil {
			return nil
		}
		return w.door.Follow(ctx, to.Connection, w.id, messages.FollowOptions{After: w.run.Seq}, w)
	}
}

// list returns a page of the caller's tasks, the last changed first, from the newest 1,000. A page token is the page's
// offset.
func (s server) list(ctx context.Context, base string, p *params) (any, error) {
	q := messages.Query{Limit: 1000}
	if p.ContextID != "" {
		q.Labels = map[string]string{messages.ContextLabel: p.ContextID}
	}
	size, none := 50, 0
	from, err := strconv.ParseUint(cmp.Or(p.PageToken, "0"), 10, 31)
	if p.PageSize != nil {
		size = *p.PageSize
	}
	if err != nil || size < 1 || size > 100 {
		return nil, messages.InvalidInput("a pageSize is 1 to 100, and a pageToken what a page gave")
	}
	if p.Status != "" && !slices.Contains(states, p.Status) {
		return nil, messages.InvalidInput("there is no status %s; there are %s", p.Status, strings.Join(states, ", "))
	}
	runs, err := s.door.List(ctx, q)
	runs = stable.DeleteFunc(runs, func(run messages.Summary) bool {
		return !slices.Contains([]string{"", unspecified, stateOf(run)}, p.Status) ||
			run.UpdatedAt.Before(p.StatusTimestampAfter) || strings.Contains(string(run.RunID), ".") // leave out sub-runs
	})
	total, next := len(runs), ""
	runs = runs[min(int(from), total):]
	if len(runs) > size {
		runs, next = runs[:size], strconv.Itoa(int(from)+size)
	}
	tasks := make([]*task, len(runs))
	for i, run := range runs {
		tasks[i] = &task{ID: run.RunID, ContextID: contextOf(run.RunID, run.Labels), Status: status{State: stateOf(run), Timestamp: stamp(run.UpdatedAt)}}
		if err == nil && (p.IncludeArtifacts || p.HistoryLength != nil) {
			w := s.reader(base, run.RunID, cmp.Or(p.HistoryLength, &none))
			if tasks[i], err = w.fold(ctx); err == nil && !p.IncludeArtifacts {
				tasks[i].Artifacts = nil
			}
		}
	}
	return map[string]any{"tasks": tasks, "totalSize": total, "pageSize": size, "nextPageToken": next}, err
}

// contents returns the text of a message, and its data, which may be nil.
func (m *message) contents() (text string, data json.RawMessage, err error) {
	var texts []string
	for _, part := range m.Parts {
		if text, ok := part.Text.(string); ok {
			texts = append(texts, text)
		} else if data = part.Data; data == nil || len(m.Parts) > 1 {
			return "", nil, wrong(badContent, "a message has texts, or one part of data")
		}
	}
	if m.MessageID == "" || m.Role != "ROLE_USER" || len(m.Parts) == 0 {
		err = messages.InvalidInput("a message has a messageId, the role ROLE_USER, and parts")
	}
	return strings.Join(texts, "\n"), data, err
}

// send starts a task, or answers a question of one, or tells one that works something. The answer begins at that point.
func (w *writer) send(ctx context.Context, p *params) error {
	text, data, err := p.Message.contents()
	if err != nil {
		return err
	}
	w.head, w.length = 1, p.Configuration.HistoryLength
	if w.id = p.Message.TaskID; w.id != "" {
		return w.answer(ctx, &p.Message, text, data)
	}
	q, err := w.request(p, text, data)
	if err == nil {
		w.id, err = w.door.Start(ctx, q)
	}
	return err
}

// request returns the request for the run of a message.
func (w *writer) request(p *params, text string, data json.RawMessage) (q messages.Request, err error) {
	m := &p.Message
	digest := messages.Digest(string(door.JSON(m))) // another message with the same messageId begins another task
	conversation, skill := cmp.Or(m.ContextID, digest[:32]), m.Metadata.Skill
	q = w.door.Message(text, conversation)
	if data != nil || skill != "" && skill != q.Job {
		job, err := w.door.Job(cmp.Or(skill, q.Job))
		switch {
		case err != nil:
			return q, err
		case data == nil && job.PromptField != "":
			data = door.JSON(map[string]string{job.PromptField: text})
		case data == nil && strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)):
			data = json.RawMessage(text)
		case data == nil:
			return q, messages.InvalidInput("the skill %s takes a part of data: %s", job.Name, job.Input.JSON())
		}
		q.Job, q.Input = job.Name, door.Asking(job, data)
	}
	q.Busy, q.Agent = m.Metadata.Busy, true
	if q.Limits.Budget, err = messages.ReadBudget(m.Metadata.Budget); err != nil {
		return q, err
	}
	q.Key, q.Labels = "a2a "+digest, map[string]string{messages.ContextLabel: conversation, messageLabel: m.MessageID}
	to := p.Configuration.TaskPushNotificationConfig // where the server sends the task's questions and its end
	if to == nil {
		return q, nil
	}
	q.Labels[messages.CallbackLabel], q.Labels[messages.CallbackFormLabel] = to.URL, Form
	return q, w.check(to)
}

// messageLabel is the label of a run that holds the id of the message that began it.
const messageLabel = "message"

// sayPrefix begins the names that messages to a task have in its run.
const sayPrefix = "a2a "

// answer answers a question of the task: the one that the message names, or the oldest. If an answer names its
// question, the client may repeat it.
func (w *writer) answer(ctx context.Context, m *message, text string, data json.RawMessage) error {
	state, err := w.door.Run(ctx, w.id)
	if err != nil {
		return err
	}
	in, asked := door.Question(state)
	if i := slices.IndexFunc(state.Inputs, func(in messages.Input) bool { return in.Request == m.Metadata.Request }); i >= 0 {
		in, asked = state.Inputs[i], true
	}
	switch w.seen = in.Request; {
	case m.ContextID != "" && m.ContextID != contextOf(w.id, state.Queued.Labels):
		return messages.InvalidInput("the task %s is not of the context %.100q", w.id, m.ContextID)
	case asked && in.Closed:
		return nil
	case state.Status.IsEnded():
		return wrong(unsupported, "the task %s has ended; leave the taskId out", w.id)
	case !asked && data != nil:
		return wrong(unsupported, "the task %s asks nothing; say it in texts, or follow it with SubscribeToTask", w.id)
	case !asked:
		_, err := w.door.Say(ctx, door.Agent, w.id, messages.Said{Message: sayPrefix + m.MessageID, Content: text})
		return err
	case data != nil:
		return w.door.Answer(ctx, door.Agent, w.id, in.Request, data)
	}
	return w.door.AnswerText(ctx, door.Agent, state, in.Request, text)
}
