package door

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Turn is what a client of a chat says: a text, and what was said before it. It is the input of a job with a
// text (messages.About): the text is that member, and the others are named here.
type Turn struct {
	Text        string          `json:"-"`
	Earlier     []model.Message `json:"earlier,omitempty"`
	System      string          `json:"system,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
	Seed        *int64          `json:"seed,omitempty"`
	Stop        []string        `json:"stop,omitempty"`
	// Model is the server's, Functions are tools of the client, and Format is that of the answer.
	Model     string                     `json:"model,omitempty"`
	Functions []model.Tool               `json:"functions,omitempty"`
	Choice    string                     `json:"choice,omitempty"` // of functions
	Format    *model.Format              `json:"format,omitempty"`
	Extra     map[string]json.RawMessage `json:"extra,omitempty"` // more fields of the request to the model
}

// Add adds what somebody said. Empty texts are left out. Errors: invalid_input.
func (t *Turn) Add(role, text string) error {
	switch role {
	case "system", "developer":
		if t.System != "" {
			t.System += "\n\n"
		}
		t.System += text
	case "user", "assistant":
		if strings.TrimSpace(text) != "" {
			t.Earlier = append(t.Earlier, model.Message{Role: model.Role(role), Content: text})
		}
	default:
		return messages.InvalidInput("messages of the role %.50q are not taken", role)
	}
	return nil
}

// AddCall adds a call of one of the client's functions to what the assistant said last.
func (t *Turn) AddCall(call model.ToolCall) {
	last := len(t.Earlier) - 1
	if last < 0 || t.Earlier[last].Role != model.Assistant {
		t.Earlier, last = append(t.Earlier, model.Message{Role: model.Assistant}), last+1
	}
	t.Earlier[last].Calls = append(slices.Clip(t.Earlier[last].Calls), call)
}

// AddResult adds the result of a call. Errors: invalid_input, for a call that was not added.
func (t *Turn) AddResult(call string, content json.RawMessage) error {
	if !slices.ContainsFunc(t.Earlier, func(m model.Message) bool {
		return slices.ContainsFunc(m.Calls, func(c model.ToolCall) bool { return c.ID == call })
	}) {
		return messages.InvalidInput("there is no call %.100q before its result", call)
	}
	text, err := TextOf(content)
	t.Earlier = append(t.Earlier, model.Message{Role: model.ToolRole, CallID: call, Content: text})
	return err
}

// Message is what somebody said, see [TextOf].
type Message struct {
	Role    string
	Content json.RawMessage
}

// AddAll adds messages, and takes the last for the text. Errors: invalid_input.
func (t *Turn) AddAll(all []Message) error {
	for _, m := range all {
		text, err := TextOf(m.Content)
		if err == nil {
			err = t.Add(m.Role, text)
		}
		if err != nil {
			return err
		}
	}
	return t.Close()
}

// TextOf returns the content of a message: a text, or an array of parts that are texts. Errors: invalid_input.
func TextOf(content json.RawMessage) (string, error) {
	var text string
	if len(content) == 0 || string(content) == "null" || json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(content, &parts); err != nil {
		return "", messages.InvalidInput("a content must be a text or an array of parts: %v", err)
	}
	var texts []string
	for _, part := range parts {
		switch part.Type {
		case "text", "input_text", "output_text":
			texts = append(texts, part.Text)
		default:
			return "", messages.InvalidInput("a part of the type %.50q is not taken; send texts", part.Type)
		}
	}
	return strings.Join(texts, "\n"), nil
}

// Close takes the last message for the text; after the result of a call there is none. Errors: invalid_input, unless the
// last message is the user's or a result.
func (t *Turn) Close() error {
	last := len(t.Earlier) - 1
	switch {
	case last >= 0 && t.Earlier[last].Role == model.ToolRole:
	case last < 0 || t.Earlier[last].Role != model.User:
		return messages.InvalidInput("the last message must be a text of the user")
	default:
		t.Text, t.Earlier = t.Earlier[last].Content, t.Earlier[:last]
	}
	return nil
}

// StartTurn starts a run of the job of the name that answers with a text, or the first for "". What the job does not take,
// such as a temperature, is left out, but not functions and a format. A key makes the start idempotent. Errors: forbidden, before anything else is looked at; not_found; and those of the runtime.
func (d *Door) StartTurn(ctx context.Context, name string, t Turn, labels map[string]string, key string) (messages.RunID, error) {
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return "", err
	}
	job, err := d.textJob(name)
	if err != nil {
		return "", err
	}
	input := map[string]json.RawMessage{job.Text: JSON(t.Text)}
	if err := json.Unmarshal(JSON(t), &input); err != nil { // adds the other members
		return "", err
	}
	var form struct{ Properties map[string]json.RawMessage }
	if json.Unmarshal(job.Input.JSON(), &form) == nil && len(form.Properties) > 0 {
		for _, member := range []string{"functions", "format"} {
			if input[member] != nil && form.Properties[member] == nil {
				return "", messages.InvalidInput("the job %s takes no %s", job.Name, member)
			}
		}
		maps.DeleteFunc(input, func(member string, _ json.RawMessage) bool { return form.Properties[member] == nil })
	}
	q := messages.Request{Job: job.Name, Input: Asking(job, JSON(input)), Labels: labels, Key: key}
	return d.submit(ctx, q)
}

// Asking returns the input of a job with the member that says that the caller answers what the job asks.
func Asking(job messages.JobInfo, input json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if job.Asks == "" || json.Unmarshal(input, &members) != nil || members == nil || members[job.Asks] != nil {
		return input
	}
	members[job.Asks] = json.RawMessage("true")
	return JSON(members)
}

// ContextLabel is the label of a run that is a turn of a conversation: the conversation's id.
const ContextLabel = "context"

// Message is the request for an answer: of the job chat in the conversation of the context, without one of the job
// prompt.
func (d *Door) Message(text, context string) messages.Request {
	if context == "" {
		return messages.Request{Job: "prompt", Input: JSON(map[string]string{"text": text})}
	}
	job, input := d.jobs["chat"], map[string]string{"message": text}
	if bytes.Contains(job.Input.JSON(), []byte(`"context"`)) {
		input["context"] = context
	}
	return messages.Request{Job: "chat", Input: Asking(job, JSON(input)), Labels: map[string]string{ContextLabel: context}}
}

// Turns returns the caller's runs of the context, the newest first, at most limit. Errors: forbidden.
func (d *Door) Turns(ctx context.Context, context string, limit int) ([]messages.Summary, error) {
	return d.List(ctx, messages.Query{Labels: map[string]string{ContextLabel: context}, Limit: limit, ByQueued: true})
}

// Newest returns the State of the newest of the Turns, and false if there is none. Errors: forbidden.
func (d *Door) Newest(ctx context.Context, context string) (state messages.State, ok bool, err error) {
	runs, err := d.Turns(ctx, context, 1)
	if err != nil || len(runs) == 0 {
		return state, false, err
	}
	state, err = d.Run(ctx, runs[0].RunID)
	return state, err == nil, err
}

// CancelNewest serves requests that cancel the newest run of the context, if there is one. The path has its name.
func (d *Door) CancelNewest(name string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		state, ok, err := d.Newest(r.Context(), r.PathValue(name))
		if err == nil && ok {
			err = d.Cancel(r.Context(), state.RunID, "")
		}
		if err == nil {
			w.WriteHeader(http.StatusNoContent)
		}
		return err
	}
}

// Conversation is what was said before a run, what its client said, and what the run has said.
func (d *Door) Conversation(run messages.State) []model.Message {
	var turn Turn
	var all map[string]json.RawMessage
	if json.Unmarshal(run.Queued.Input, &turn) != nil || json.Unmarshal(run.Queued.Input, &all) != nil ||
		json.Unmarshal(all[d.jobs[run.Queued.Job].Text], &turn.Text) != nil {
		return nil
	}
	var texts []string
	for _, stream := range run.Streams {
		if !stream.Thought && stream.Len() > 0 {
			texts = append(texts, stream.Text())
		}
	}
	_, _ = turn.Add("user", turn.Text), turn.Add("assistant", strings.Join(texts, "\n\n")) // roles that are taken
	if run.End != nil {
		for _, call := range Calls(run.End.Result) {
			turn.AddCall(call)
		}
	}
	return turn.Earlier
}

// Calls are those of the client's functions in the result of a run.
func Calls(result json.RawMessage) []model.ToolCall {
	var calls struct{ Calls []model.ToolCall }
	_ = json.Unmarshal(result, &calls) // others have none
	return calls.Calls
}

// textJob returns the job of the name that answers with a text, or the first for "". Errors: not_found.
func (d *Door) textJob(name string) (messages.JobInfo, error) {
	var names []string
	for _, job := range d.Jobs {
		switch {
		case job.Text == "":
		case name == "" || job.Name == name:
			return job, nil
		default:
			names = append(names, job.Name)
		}
	}
	return messages.JobInfo{}, messages.Errorf(messages.CodeNotFound, "there is no model %.100q; the models are %s", name, strings.Join(names, ", "))
}

// Answerer returns the job that answers for a model: the TextJob of that name, or the job prompt with one of the server's
// Models. Errors: not_found.
func (d *Door) Answerer(ctx context.Context, name string) (job messages.JobInfo, model string, err error) {
	job, err = d.textJob(name)
	if err == nil || d.Models == nil {
		return job, "", err
	}
	known, listErr := d.Models(ctx, name)
	switch prompt, ok := d.jobs["prompt"]; {
	case ok && slices.Contains(known, name):
		return prompt, name, nil
	case listErr != nil:
		return job, "", messages.Errorf(messages.CodeNotFound, "%v; and the server's models are not known: %v", err, listErr)
	case len(known) > 0:
		return job, "", messages.Errorf(messages.CodeNotFound, "%v, %s", err, strings.Join(known, ", "))
	}
	return job, "", err
}

// Ending is how a run ended, or what it waits for, for a client that waits.
type Ending struct {
	// Text is what the run answered after the question that the client answered last; without any its result.
	Text string
	// Failed is why it did not complete, and Asked what it waits for.
	Failed *Reason
	Asked  *messages.InputRequired
}

// Reason is why a run did not complete, or why nobody can tell.
type Reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Wait waits until a run of the caller ends, or asks something after the question that the client has answered; "" is
// none. Errors: those of the runtime.
func (d *Door) Wait(ctx context.Context, id messages.RunID, answered string) (Ending, error) {
	w := &waiter{Part: Part{Run: id, Seen: answered}}
	err := Fold(ctx, d, &waiting, w)
	return w.Ending, err
}

type waiter struct {
	Part
	Ending
	speech Speech
}

var waiting = transcript.Dialect[*waiter]{Table: transcript.Table[*waiter]{
	transcript.Question: {transcript.Wait: func(w *waiter, op *transcript.Op) {
		if w.Waits(op) {
			asked := op.Item.Asked()
			w.speech.Rest(op)
			w.speech.Ask(op.Item)
			w.Asked, w.Over, w.Text = &asked, true, w.speech.Text()
		}
	}},
	transcript.Run: {transcript.Open: func(w *waiter, op *transcript.Op) { w.speech.Begin(op.Run) },
		transcript.End: func(w *waiter, op *transcript.Op) {
			w.speech.Rest(op)
			w.Text, w.Failed = w.speech.Text(), Failure(op.Event.Body)
		}},
}}

// Failure returns why a run did not complete, by its terminal, and nil if it did.
func Failure(terminal messages.Body) *Reason {
	switch b := terminal.(type) {
	case messages.RunFailed:
		return &Reason{string(b.Cause), b.Error.Message}
	case messages.RunCanceled:
		return &Reason{"canceled", "the run was canceled: " + string(b.Cause)}
	}
	return nil
}

// ReasonOf is why a run cannot be read.
func ReasonOf(err error) *Reason {
	p := auth.ProblemOf(err)
	return &Reason{p.Code, p.Detail}
}
