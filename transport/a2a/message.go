package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
)

// contents returns the texts of a message, and its data, which may be nil.
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

// send starts a task, or gives one what it asked for, and has the answer begin there.
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

// request asks for the run of a message.
func (w *writer) request(p *params, text string, data json.RawMessage) (q messages.Request, err error) {
	m := &p.Message
	conversation, skill := cmp.Or(m.ContextID, m.MessageID), cmp.Or(m.Metadata.Skill, p.Metadata.Skill)
	q = w.door.Message(text, conversation)
	if data != nil || skill != "" && skill != q.Job {
		job, err := w.door.Job(cmp.Or(skill, q.Job))
		switch {
		case err != nil:
			return q, err
		case data == nil && job.Text != "":
			data = door.JSON(map[string]string{job.Text: text})
		case data == nil && strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)):
			data = json.RawMessage(text)
		case data == nil:
			return q, messages.InvalidInput("the skill %s takes a part of data: %s", job.Name, job.Input.JSON())
		}
		q.Job, q.Input = job.Name, door.Asking(job, data)
	}
	q.Key, q.Labels = "a2a "+m.MessageID, map[string]string{door.ContextLabel: conversation, messageLabel: m.MessageID}
	return q, nil
}

// messageLabel is the label of a run with the id of the message that began it.
const messageLabel = "message"

// answer answers a question of the task: the one that the message names, or the oldest. A client may send an answer again
// that names its question.
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
	case !asked:
		return wrong(unsupported, "the task %s asks nothing; SubscribeToTask follows it", w.id)
	case data != nil:
		return w.door.Answer(ctx, w.id, in.Request, data)
	}
	return w.door.AnswerText(ctx, state, in.Request, text)
}
