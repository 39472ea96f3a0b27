package door

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Turn is one message of a chat client together with the messages before it. Its JSON is the input of a job that
// answers with a text (see messages.JobSpec), except that Text is written to the member that this job names.
type Turn struct {
	Text        string          `json:"-"`
	Earlier     []model.Message `json:"earlier,omitempty"`
	System      string          `json:"system,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
	Seed        *int64          `json:"seed,omitempty"`
	Stop        []string        `json:"stop,omitempty"`
	// Model is one of the server's models. Functions are tools that the client executes. Format is the format of the
	// answer.
	Model     string                     `json:"model,omitempty"`
	Functions []model.Tool               `json:"functions,omitempty"`
	Choice    string                     `json:"choice,omitempty"` // which of the functions the model must call
	Format    *model.Format              `json:"format,omitempty"`
	Extra     map[string]json.RawMessage `json:"extra,omitempty"` // further fields of the request to the model
}

// Add appends a message. Empty texts are left out. Errors: invalid_input for an unknown role.
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
		return messages.InvalidInput("messages of the role %.50q are not supported", role)
	}
	return nil
}

// Say is Add for a message with members that nobody reads here. One of the system that has some stays in its place.
func (t *Turn) Say(m model.Message) error {
	if m.Role == "developer" {
		m.Role = model.System
	}
	switch {
	case m.Role == model.System && m.Extra == "", m.Extra == "" && len(m.Calls) == 0:
		return t.Add(string(m.Role), m.Content)
	case m.Role != model.System && m.Role != model.User && m.Role != model.Assistant:
		return messages.InvalidInput("messages of the role %.50q are not supported", m.Role)
	}
	t.Earlier = append(t.Earlier, m)
	return nil
}

// AddCall adds a call of one of the client's functions to the last message of the assistant.
func (t *Turn) AddCall(call model.ToolCall) {
	last := len(t.Earlier) - 1
	if last < 0 || t.Earlier[last].Role != model.Assistant {
		t.Earlier, last = append(t.Earlier, model.Message{Role: model.Assistant}), last+1
	}
	t.Earlier[last].Calls = append(slices.Clip(t.Earlier[last].Calls), call)
}

// AddResult adds the result of a function call. Errors: invalid_input if the call was not added before.
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

// Message is a message of a chat client. See [TextOf] for its content.
type Message struct {
	Role    string
	Content json.RawMessage
}

// AddMessage is Add for a message. Errors: invalid_input.
func (t *Turn) AddMessage(m Message) error {
	text, err := TextOf(m.Content)
	if err != nil {
		return err
	}
	return t.Add(m.Role, text)
}

// TextOf returns the text of a message: a string, or an array of parts with text. Errors: invalid_input.
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
			return "", messages.InvalidInput("a part of the type %.50q is not supported; send text", part.Type)
		}
	}
	return strings.Join(texts, "\n"), nil
}

// Close moves the last message to Text if it is the user's, and has no Extra. After the result of a call, after words of the assistant that
// the model continues, or with a system prompt alone, Text stays empty. Errors: invalid_input.
func (t *Turn) Close() error {
	last := len(t.Earlier) - 1
	switch {
	case last < 0 && strings.TrimSpace(t.System) == "":
		return messages.InvalidInput("the conversation is empty; send a message")
	case last >= 0 && t.Earlier[last].Role == model.Assistant && len(t.Earlier[last].Calls) > 0:
		return messages.InvalidInput("the last message calls functions; send their results")
	case last >= 0 && t.Earlier[last].Role == model.User && t.Earlier[last].Extra == "":
		t.Text, t.Earlier = t.Earlier[last].Content, t.Earlier[:last]
	}
	return nil
}

// StartTurn starts a run of the job called name, or of the first job that answers with a text if name is "", and takes
// the functions if there are some. Members that the job's input does not have, such as a temperature, become further
// members of its requests to the model; functions and a format are refused instead.
// A key makes the start idempotent. Errors: forbidden, which is checked first; not_found; invalid_input; and the
// runtime's errors.
func (d *Door) StartTurn(ctx context.Context, name string, t Turn, labels map[string]string, key string) (messages.RunID, error) {
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return "", err
	}
	if pos := slices.IndexFunc(d.Jobs, func(job messages.JobInfo) bool {
		return job.PromptField != "" && bytes.Contains(job.Input.JSON(), []byte(`"functions"`))
	}); name == "" && len(t.Functions) > 0 && pos >= 0 {
		name = d.Jobs[pos].Name
	}
	job, err := d.textJob(name)
	if err != nil {
		return "", err
	}
	input := map[string]json.RawMessage{job.PromptField: JSON(t.Text)}
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
		if form.Properties["extra"] != nil {
			if t.Extra == nil {
				t.Extra = map[string]json.RawMessage{}
			}
			for member, value := range input {
				if form.Properties[member] == nil {
					t.Extra[member] = value
				}
			}
			if input["extra"] = JSON(t.Extra); len(t.Extra) == 0 {
				delete(input, "extra")
			}
		}
		maps.DeleteFunc(input, func(member string, _ json.RawMessage) bool { return form.Properties[member] == nil })
	}
	q := messages.Request{Job: job.Name, Input: Asking(job, JSON(input)), Labels: labels, Key: key}
	return d.Start(ctx, q)
}

// Asking returns the job's input with the member set that says that the caller can answer the job's questions.
func Asking(job messages.JobInfo, input json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if job.AskField == "" || json.Unmarshal(input, &members) != nil || members == nil || members[job.AskField] != nil {
		return input
	}
	members[job.AskField] = json.RawMessage("true")
	return JSON(members)
}

// Message returns the request that answers a text: of the job chat in a conversation, or of the job prompt if context
// is "".
func (d *Door) Message(text, context string) messages.Request {
	if context == "" {
		return messages.Request{Job: "prompt", Input: JSON(map[string]string{"text": text})}
	}
	job, input := d.jobs["chat"], map[string]string{"message": text}
	if bytes.Contains(job.Input.JSON(), []byte(`"context"`)) {
		input["context"] = context
	}
	return messages.Request{Job: "chat", Input: Asking(job.JobInfo, JSON(input)), Labels: map[string]string{messages.ContextLabel: context}}
}

// Turns returns the caller's runs of a conversation, the newest first, at most limit. Errors: forbidden.
func (d *Door) Turns(ctx context.Context, context string, limit int) ([]messages.Summary, error) {
	return d.List(ctx, messages.Query{Labels: map[string]string{messages.ContextLabel: context}, Limit: limit, ByQueued: true})
}

// Newest returns the State of the newest run of a conversation. ok is false if there is none. Errors: forbidden.
func (d *Door) Newest(ctx context.Context, context string) (state messages.State, ok bool, err error) {
	runs, err := d.Turns(ctx, context, 1)
	if err != nil || len(runs) == 0 {
		return state, false, err
	}
	state, err = d.Run(ctx, runs[0].RunID)
	return state, err == nil, err
}

// CancelNewest returns a handler that cancels the newest run of a conversation. name is the path parameter that holds
// the conversation's id. Without a run it does nothing.
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

// Conversation returns the messages before a run, the client's message, and what the run has said.
func (d *Door) Conversation(run messages.State) []model.Message {
	var turn Turn
	var all map[string]json.RawMessage
	if json.Unmarshal(run.Queued.Input, &turn) != nil || json.Unmarshal(run.Queued.Input, &all) != nil ||
		json.Unmarshal(all[d.jobs[run.Queued.Job].PromptField], &turn.Text) != nil {
		return nil
	}
	var texts, thoughts []string
	for _, stream := range run.Streams {
		switch {
		case stream.Thought:
			thoughts = append(thoughts, stream.Text())
		case stream.Len() > 0 && !messages.IsStderr(stream.Name):
			texts = append(texts, stream.Text())
		}
	}
	_, _ = turn.Add("user", turn.Text), turn.Add("assistant", strings.Join(texts, "\n\n")) // these roles are known
	if run.End != nil {
		var result model.Message // what the job prompt says of its answer
		_ = json.Unmarshal(run.End.Result, &struct {
			ThoughtsIn *string `json:"thoughts_in"`
			Extra      *string
		}{&result.ThoughtsIn, &result.Extra}) // other results have neither
		for _, call := range Calls(run.End.Result) {
			turn.AddCall(call)
		}
		if last := len(turn.Earlier) - 1; last >= 0 && turn.Earlier[last].Role == model.Assistant {
			msg := &turn.Earlier[last]
			if msg.ThoughtsIn, msg.Extra = result.ThoughtsIn, result.Extra; msg.ThoughtsIn != "" {
				msg.Thoughts = strings.Join(thoughts, "")
			}
		}
	}
	return turn.Earlier
}

// Extra returns the members of the model's answer that go back with it, from the end of a run.
func Extra(end messages.Body) string {
	var result struct{ Extra string }
	if b, ok := end.(messages.RunCompleted); ok {
		_ = json.Unmarshal(b.Result, &result) // other results have none
	}
	return result.Extra
}

// Calls returns the calls of the client's functions in a run's result.
func Calls(result json.RawMessage) []model.ToolCall {
	var calls struct{ Calls []model.ToolCall }
	_ = json.Unmarshal(result, &calls) // other results have no calls
	return calls.Calls
}

// textJob returns the job called name if it answers with a text, or the first such job if name is "". Errors:
// not_found.
func (d *Door) textJob(name string) (messages.JobInfo, error) {
	var names []string
	for _, job := range d.Jobs {
		switch {
		case job.PromptField == "":
		case name == "" || job.Name == name:
			return job, nil
		default:
			names = append(names, job.Name)
		}
	}
	return messages.JobInfo{}, messages.Errorf(messages.CodeNotFound, "there is no model %.100q; the models are %s", name, strings.Join(names, ", "))
}

// Answerer returns the job that answers for a model name: the job of that name if it answers with a text, or the job
// prompt with one of the server's models. Errors: not_found.
func (d *Door) Answerer(ctx context.Context, name string) (job messages.JobInfo, model string, err error) {
	job, err = d.textJob(name)
	if err == nil || d.Models == nil {
		return job, "", err
	}
	known, listErr := d.Models(ctx, name)
	switch prompt, ok := d.jobs["prompt"]; {
	case ok && slices.Contains(known, name):
		return prompt.JobInfo, name, nil
	case listErr != nil:
		unknown := messages.Errorf(messages.CodeNotFound, "%v; and the server's models are not known: %v", err, listErr)
		if e, ok := errors.AsType[*messages.Error](listErr); ok {
			unknown.Code, unknown.Retryable, unknown.Provider = e.Code, e.Retryable, e.Provider
		}
		return job, "", unknown
	case len(known) > 0:
		return job, "", messages.Errorf(messages.CodeNotFound, "%v, %s", err, strings.Join(known, ", "))
	}
	return job, "", err
}

// Ending is how a run ended, or what it waits for. It is for clients that wait for the whole answer. Text is what the
// run said after the question that the client answered last, or the run's result if it said nothing.
type Ending struct {
	model.Ending
	// Failed is why the run did not complete. Asked is the question that it waits for. Both are nil after a success.
	Failed *Reason
	Asked  *messages.InputRequired
}

// Reason says why a run did not complete, or why its end is unknown.
type Reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Retryable says that the same request may succeed later. Provider is what the model server said about its failure.
	Retryable bool               `json:"retryable,omitempty"`
	Provider  *messages.Provider `json:"provider,omitempty"`
}

// Wait waits until the caller's run ends, or asks a question after the question answered; "" means that none was
// answered. Errors: the runtime's errors.
func (d *Door) Wait(ctx context.Context, id messages.RunID, answered string) (Ending, error) {
	w := &waiter{SegmentWriter: SegmentWriter{Run: id, Seen: answered}}
	err := Fold(ctx, d, &waiting, w)
	return w.Ending, err
}

// waiter is the [Writer] of Wait: it collects the text until the run ends or asks.
type waiter struct {
	SegmentWriter
	Ending
	speech Speech
}

// waiting is the dialect of waiter.
var waiting = transcript.Dialect[*waiter]{Table: transcript.Table[*waiter]{
	transcript.Question: {transcript.Wait: func(w *waiter, op *transcript.Op) {
		if w.Waits(op) {
			question := op.Item.Asked()
			w.speech.Rest(op)
			w.speech.Ask(op.Item)
			w.Asked, w.Over, w.Ending.Ending = &question, true, op.Run.Ending()
			w.Text = w.speech.Text()
		}
	}},
	transcript.Run: {transcript.Open: func(w *waiter, op *transcript.Op) { w.speech.Begin(op.Run) },
		transcript.End: func(w *waiter, op *transcript.Op) {
			w.speech.Rest(op)
			w.Ending.Ending, w.Failed = op.Run.Ending(), Failure(op.Event.Body)
			w.Text = w.speech.Text()
		}},
}}

// Failure returns why a run did not complete, from its terminal event. It returns nil if the run completed.
func Failure(terminal messages.Body) *Reason {
	switch b := terminal.(type) {
	case messages.RunFailed:
		return ReasonOf(b.Cause, b.Error)
	case messages.RunCanceled:
		return &Reason{Code: "canceled", Message: "the run was canceled: " + string(b.Cause)}
	}
	return nil
}

// ReasonOf returns the reason for a failure with the cause. Its code is the cause, unless the model server refused the
// key.
func ReasonOf(cause messages.Code, e *messages.Error) *Reason {
	if e.Code == messages.CodeProviderAuth {
		cause = e.Code
	}
	return &Reason{string(cause), e.Message, e.Retryable, e.Provider}
}

// Problem returns the answer to a request whose run ended for the reason. What no server of models said is a failure of
// this one.
func (r *Reason) Problem() *auth.Problem {
	p := auth.ProblemOf(&messages.Error{Code: messages.Code(r.Code), Message: r.Message, Retryable: r.Retryable, Provider: r.Provider})
	if p.Code != r.Code || p.Code == string(messages.CauseLimitExceeded) {
		p.Status, p.Code = http.StatusInternalServerError, r.Code
	}
	p.Retryable = r.Retryable
	return p
}

// Unread returns the reason for an error of reading a run.
func Unread(err error) *Reason {
	p := auth.ProblemOf(err)
	return &Reason{Code: p.Code, Message: p.Detail, Retryable: p.Retryable}
}
