package a2a

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	neturl "net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// part is a part of a message or artifact: text, data, or a URL. Raw bytes are refused.
type part struct {
	Text      any             `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	URL       string          `json:"url,omitempty"`
	Raw       json.RawMessage `json:"raw,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
}

// message is a message of the client or the agent.
type message struct {
	MessageID string         `json:"messageId"`
	Role      string         `json:"role"`
	Parts     []part         `json:"parts"`
	TaskID    messages.RunID `json:"taskId,omitempty"`
	ContextID string         `json:"contextId,omitempty"`
	Metadata  metadata       `json:"metadata,omitzero"`
}

// metadata holds the members that lastword reads: the skill, which is a job, the question that a message answers, and
// what becomes of a message to a conversation whose turn works.
type metadata struct {
	Skill   string `json:"skill,omitempty"`
	Request string `json:"request,omitempty"`
	// Busy is as in POST /v1/runs.
	Busy messages.Busy `json:"lastword.busy,omitempty"`
	// Budget is the limits.budget of POST /v1/runs.
	Budget json.RawMessage `json:"lastword.budget,omitempty"`
}

// status is a TaskStatus of A2A. Message holds the question while the state is input-required.
type status struct {
	State     string   `json:"state"`
	Timestamp string   `json:"timestamp"`
	Message   *message `json:"message,omitempty"`
}

// artifact is an Artifact of A2A. Each file of a run becomes one, and so does the result.
type artifact struct {
	ID       string `json:"artifactId"`
	Name     string `json:"name,omitempty"`
	Parts    []part `json:"parts"`
	Metadata any    `json:"metadata,omitempty"`
}

// task is a Task of A2A: one run. A client may limit the length of History.
type task struct {
	ID        messages.RunID `json:"id"`
	ContextID string         `json:"contextId"`
	Status    status         `json:"status"`
	Artifacts []artifact     `json:"artifacts,omitempty"`
	History   []message      `json:"history,omitempty"`
}

// update is a change of a task's status or of an artifact.
type update struct {
	TaskID    messages.RunID `json:"taskId"`
	ContextID string         `json:"contextId"`
	Status    *status        `json:"status,omitempty"`
	Artifact  *artifact      `json:"artifact,omitempty"`
	Append    bool           `json:"append,omitempty"`
}

// event is an event of a stream, or the answer to a message.
type event struct {
	Task     *task   `json:"task,omitempty"`
	Status   *update `json:"statusUpdate,omitempty"`
	Artifact *update `json:"artifactUpdate,omitempty"`
}

// ofStatus holds the task state of each status of a run.
var ofStatus = map[messages.Status]string{messages.Pending: "TASK_STATE_SUBMITTED", messages.Processing: "TASK_STATE_WORKING",
	messages.Completed: "TASK_STATE_COMPLETED", messages.Failed: "TASK_STATE_FAILED", messages.Canceled: "TASK_STATE_CANCELED"}

const (
	unspecified   = "TASK_STATE_UNSPECIFIED"
	inputRequired = "TASK_STATE_INPUT_REQUIRED"
	authRequired  = "TASK_STATE_AUTH_REQUIRED"
)

// states are all task states of the protocol. No run is rejected: its start fails.
var states = append([]string{unspecified, inputRequired, authRequired, "TASK_STATE_REJECTED"}, slices.Sorted(maps.Values(ofStatus))...)

// stateOf returns the state of a run in a list, where questions for secrets look like other questions.
func stateOf(run messages.Summary) string {
	if len(run.OpenRequests) > 0 {
		return inputRequired
	}
	return ofStatus[run.Status]
}

// after returns the state of a task that does not ask, after an event.
func after(e messages.Event) string {
	status, _ := strings.CutPrefix(string(e.Kind()), "run.") // a terminal is named after its status
	return cmp.Or(ofStatus[messages.Status(status)], ofStatus[messages.Processing])
}

// contextOf returns the contextId of a run.
func contextOf(id messages.RunID, labels map[string]string) string {
	return cmp.Or(labels[messages.ContextLabel], string(id))
}

func stamp(when time.Time) string { return when.UTC().Format("2006-01-02T15:04:05.000Z") }

// Error codes of the protocol.
const (
	notFound            = -32001
	notCancelable       = -32002
	noPush              = -32003
	unsupported         = -32004
	badContent          = -32005
	versionNotSupported = -32009
	forbidden           = -31403 // as in the protocol's SDK for Go
)

func wrong(code int, format string, args ...any) error {
	return &jsonrpc.RPCError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// refusal returns the error with the details that the protocol requires.
func refusal(err error) *jsonrpc.RPCError {
	e := *jsonrpc.RPCErrorOf(err)
	problem, _ := e.Data.(map[string]any) // missing if the error's code says everything
	reason, _ := problem["code"].(string)
	if code, ok := map[messages.Code]int{messages.CodeNotFound: notFound, messages.CodeConflict: unsupported,
		auth.CodeForbidden: forbidden}[messages.Code(reason)]; ok {
		e.Code = code
	}
	name, known := map[int]string{notFound: "TASK_NOT_FOUND", notCancelable: "TASK_NOT_CANCELABLE", badContent: "CONTENT_TYPE_NOT_SUPPORTED",
		noPush: "PUSH_NOTIFICATION_NOT_SUPPORTED", unsupported: "UNSUPPORTED_OPERATION", versionNotSupported: "VERSION_NOT_SUPPORTED",
		jsonrpc.MethodNotFound: "METHOD_NOT_FOUND"}[e.Code]
	if !known {
		name = strings.ToUpper(cmp.Or(reason, "invalid_input"))
	}
	e.Data = []any{map[string]string{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": name, "domain": "a2a-protocol.org"}}
	return &e
}

// origin returns the URL at which the client reaches the server.
func (s server) origin(r *http.Request) string {
	if s.door.Secure || r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// card answers with the agent's card.
func (s server) card(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "private, max-age=60")
	card := s.describe(r, auth.Require(r.Context(), auth.ReadRuns) == nil)
	w.Header().Set("ETag", `"`+messages.Digest(string(card))[:32]+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(card))
	return nil
}

// cardForm is the card without version, URL, security and skills.
const cardForm = `{"name":"lastword","version":%s,"description":"Runs long jobs. A message is a turn of chat. Another skill is ` +
	`named by metadata.skill, and its input is a part of data. metadata.request names the question that a message answers.",` +
	`"supportedInterfaces":[{"url":%s,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
	`"capabilities":{"streaming":true,"pushNotifications":%t,"extendedAgentCard":true},` +
	`"defaultInputModes":["text/plain","application/json"],"defaultOutputModes":["text/markdown","text/plain","application/json"],%s"skills":%s}`

// tokenForm is the part of an agent card that says that calls need a bearer token.
const tokenForm = `"securitySchemes":{"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}},` +
	`"securityRequirements":[{"schemes":{"bearer":{"list":[]}}}],`

// describe returns the card. If all is false, it lists only what unknown callers may see.
func (s server) describe(r *http.Request, all bool) json.RawMessage {
	skills, known := []map[string]any{}, ""
	for _, job := range s.door.Jobs {
		modes := []string{"text/plain", "application/json"}
		if job.PromptField == "" {
			modes = modes[1:]
		}
		if all || job.Name == s.door.Message("", "c").Job {
			skills = append(skills, map[string]any{"id": job.Name, "name": cmp.Or(job.Title, job.Name), "description": job.Description,
				"tags": []string{"job"}, "inputModes": modes})
		}
	}
	if auth.From(r.Context()).Name != "" {
		known = tokenForm
	}
	return fmt.Appendf(nil, cardForm, door.JSON(s.door.Version), door.JSON(s.origin(r)+Path), s.door.Callback != nil, known, door.JSON(skills))
}

// push is a push notification config. That which came with the message that began the task has the id firstPush.
type push struct {
	ID             string          `json:"id"`
	TaskID         messages.RunID  `json:"taskId"`
	URL            string          `json:"url"`
	Token          string          `json:"token,omitempty"`
	Authentication json.RawMessage `json:"authentication,omitempty"`
}

const (
	firstPush = "1"
	// mostPushes is the maximum number of configs that clients have added to a task.
	mostPushes = 16
)

// Form is the value of [messages.CallbackFormLabel] for runs whose client gets a [Notification].
const Form = "a2a"

// check returns an error if the server sends no notifications to the client's URL.
func (s server) check(to *push) error {
	if to.URL == "" || to.Token != "" || to.Authentication != nil {
		return messages.InvalidInput("give a push notification config a url alone: notifications are signed, as Standard Webhooks")
	}
	return s.door.CheckCallback(to.URL)
}

// pushes handles the methods for push notification configs.
func (s server) pushes(ctx context.Context, method string, config push) (any, error) {
	if s.door.Callback == nil || s.door.Callbacks == nil {
		return nil, wrong(noPush, "this agent sends no push notifications")
	}
	run, err := s.door.Run(ctx, config.TaskID)
	if err != nil {
		return nil, err
	}
	switch method {
	case "CreateTaskPushNotificationConfig":
		if err := s.check(&config); err != nil {
			return nil, err
		}
		config.ID = cmp.Or(config.ID, strings.ToLower(rand.Text()))
		return config, s.changePush(ctx, run.RunID, config.ID, config.URL)
	case "DeleteTaskPushNotificationConfig":
		return struct{}{}, s.changePush(ctx, run.RunID, config.ID, "")
	}
	urls := map[string]string{firstPush: run.Queued.Labels[messages.CallbackLabel]}
	added, err := s.door.Callbacks(ctx, run.RunID)
	maps.Copy(urls, added)
	maps.DeleteFunc(urls, func(_, url string) bool { return url == "" })
	if config.URL = urls[config.ID]; method == "ListTaskPushNotificationConfigs" {
		configs := []push{}
		for _, id := range slices.Sorted(maps.Keys(urls)) {
			configs = append(configs, push{ID: id, TaskID: config.TaskID, URL: urls[id]})
		}
		return map[string]any{"configs": configs}, err
	}
	if err == nil && config.URL == "" {
		err = wrong(notFound, "the task %s has no push notification config %.100q", config.TaskID, config.ID)
	}
	return config, err
}

// changePush sets the URL of a config; "" deletes it.
func (s server) changePush(ctx context.Context, run messages.RunID, id, url string) error {
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return err
	}
	return s.door.ChangeCallbacks(ctx, run, func(urls map[string]string) error {
		switch _, known := urls[id]; {
		case url == "" && id != firstPush:
			delete(urls, id)
			return nil
		case len(id) > 64 || neturl.PathEscape(id) != id:
			return messages.InvalidInput("the id of a push notification config has up to 64 letters, digits and -._~")
		case url != "" && !known && len(urls) >= mostPushes:
			return messages.LimitExceeded("the task has %d push notification configs; delete one", mostPushes)
		}
		urls[id] = url
		return nil
	})
}

// Notification returns the body of the message about a run's question or end.
func Notification(q *messages.RunQueued, e messages.Event) json.RawMessage {
	w, state := writer{id: e.RunID}, after(e)
	w.run.Queued, w.run.Ended = *q, e.Body
	parts := failing(e.Body, w.run.Ending())
	if b, asks := e.Body.(messages.InputRequired); asks {
		state, parts = waiting(b), asking(b)
	}
	return door.JSON(event{Status: &update{TaskID: w.id, ContextID: w.context(), Status: w.statusOf(e, state, parts)}})
}
