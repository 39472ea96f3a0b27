package agui

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

type handler struct{ *door.Door }

// Paths returns the paths that this package serves.
func Paths() []string { return []string{"/agui", "/agui/"} }

// New returns the handler for the Paths. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{to}
	return door.Routes(map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /agui":                 d.run,
		"POST /agui/{thread}/cancel": d.CancelNewest("thread"),
	}, auth.Refuse)
}

// input is the protocol's RunAgentInput.
type input struct {
	Thread   string                     `json:"threadId"`
	Run      string                     `json:"runId"`
	Protocol string                     `json:"protocolVersion"`
	State    map[string]json.RawMessage `json:"state"`
	Messages []json.RawMessage          `json:"messages"`
	Resume   []answer                   `json:"resume"`
	Tools    []model.Tool               `json:"tools"`
	Context  []struct {
		Description string `json:"description"`
		Value       string `json:"value"`
	} `json:"context"`
	Props struct {
		Job string `json:"job"`
	} `json:"forwardedProps"`
}

// answer is the answer to an interrupt.
type answer struct {
	Interrupt string          `json:"interruptId"`
	Status    string          `json:"status"`
	Payload   json.RawMessage `json:"payload"`
}

// run handles POST /agui: it starts a run, or answers the one that waits. The run continues if the client leaves.
func (d handler) run(w http.ResponseWriter, r *http.Request) error {
	var in input
	err := door.ReadJSON(r, &in)
	if err == nil && (in.Thread == "" || in.Run == "") {
		err = messages.Errorf(auth.CodeBadRequest, "the body must be a RunAgentInput with a threadId and a runId")
	}
	if err != nil {
		return err
	}
	out := &writer{in: &in}
	if len(in.Resume) > 0 {
		out.Run, out.Seen, err = d.resume(r.Context(), &in)
	} else {
		out.Run, err = d.start(r.Context(), &in)
	}
	if err == nil {
		door.Serve(w, r, d.Door, &writing, out)
	}
	return err
}

// start starts a run. The client's thread and run id are the idempotency key, so that a repeated request gets the same
// run. It drops what follows the user's last message and comes from a run: the client has received it as the answer.
func (d handler) start(ctx context.Context, in *input) (messages.RunID, error) {
	var said []struct {
		ID string
		door.Message
		Calls []struct {
			ID       string
			Function model.ToolCall
		} `json:"toolCalls"`
		CallID string `json:"toolCallId"`
	}
	if err := json.Unmarshal(door.JSON(in.Messages), &said); err != nil {
		return "", messages.InvalidInput("a message cannot be read: %v", err)
	}
	for n := len(said) - 1; n >= 0 && said[n].Role != "user" && strings.HasPrefix(said[n].ID, "r_"); n-- {
		said = said[:n]
	}
	turn := door.Turn{Functions: in.Tools}
	for _, about := range in.Context {
		_ = turn.Add("system", about.Description+": "+about.Value) // the role is known
	}
	theirs := map[string]bool{} // calls of the client's tools; all others are our own runs'
	for _, m := range said {
		if m.Role == "reasoning" || m.Role == "activity" || m.Role == "tool" && !theirs[m.CallID] { // our own runs create these
			continue
		}
		err := error(nil)
		if m.Role == "tool" {
			err = turn.AddResult(m.CallID, m.Content)
		} else {
			err = turn.AddMessage(m.Message)
		}
		if err != nil {
			return "", err
		}
		for _, c := range m.Calls {
			if theirs[c.ID] = slices.ContainsFunc(in.Tools, func(t model.Tool) bool { return t.Name == c.Function.Name }); theirs[c.ID] {
				turn.AddCall(model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
			}
		}
	}
	if err := turn.Close(); err != nil {
		return "", err
	}
	return d.StartTurn(ctx, in.Props.Job, turn, map[string]string{messages.ContextLabel: in.Thread}, "ag-ui "+in.Thread+" "+in.Run)
}

// resume answers the questions of the newest run in the thread. It returns the question after which the client
// continues.
func (d handler) resume(ctx context.Context, in *input) (run messages.RunID, seen string, err error) {
	answers := map[string]*string{}
	for _, a := range in.Resume {
		answers[a.Interrupt] = new(messages.Plain(a.Payload))
		if a.Status == "cancelled" {
			answers[a.Interrupt] = nil
		}
	}
	state, _, err := d.Newest(ctx, in.Thread)
	if err == nil {
		seen, err = d.Resume(ctx, door.Client, state, answers)
	}
	return state.RunID, seen, err
}
