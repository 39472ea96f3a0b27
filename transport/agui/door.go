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
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

type handler struct{ *door.Door }

// Paths are those of the protocol.
func Paths() []string { return []string{"/agui", "/agui/"} }

// New returns the handler of the Paths. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{to}
	return door.Routes(map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /agui":                 d.run,
		"POST /agui/{thread}/cancel": d.cancel,
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
	Props    struct {
		Job string `json:"job"`
	} `json:"forwardedProps"`
}

// answer answers an interrupt.
type answer struct {
	Interrupt string          `json:"interruptId"`
	Status    string          `json:"status"`
	Payload   json.RawMessage `json:"payload"`
}

// run answers POST /agui: it starts a run, or gives answers to the one that waits. A client that leaves cancels
// nothing.
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
		out.run, out.seen, err = d.resume(r.Context(), &in)
	} else {
		out.run, err = d.start(r.Context(), &in)
	}
	if err != nil {
		return err
	}
	out.muted = out.seen != ""
	out.stream = d.Stream(w, "text/event-stream")
	over := func(*transcript.Transcript) bool { return out.ended }
	if err := door.Play(r.Context(), d.Door, out.stream, out.run, messages.Follow{}, &writing, out, over); err != nil {
		out.stream.Break()
	}
	return nil
}

// start starts a run. The thread and the run of the client are its key, so that the same request gets the same run. What
// comes after the user's last message is what a client whose connection was cut has of the answer.
func (d handler) start(ctx context.Context, in *input) (messages.RunID, error) {
	var turn door.Turn
	for _, raw := range in.Messages {
		var m struct {
			Role    string
			Content json.RawMessage
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return "", messages.InvalidInput("a message cannot be read: %v", err)
		}
		if slices.Contains([]string{"tool", "reasoning", "activity"}, m.Role) {
			continue // our own runs make them
		}
		if err := turn.AddContent(m.Role, m.Content); err != nil {
			return "", err
		}
	}
	for len(turn.Earlier) > 0 && turn.Earlier[len(turn.Earlier)-1].Role != model.User {
		turn.Earlier = turn.Earlier[:len(turn.Earlier)-1]
	}
	if err := turn.Close(); err != nil {
		return "", err
	}
	return d.StartTurn(ctx, in.Props.Job, turn, map[string]string{door.ContextLabel: in.Thread}, "ag-ui "+in.Thread+" "+in.Run)
}

// newest returns the newest run of the thread. Errors: not_found.
func (d handler) newest(ctx context.Context, thread string) (messages.State, error) {
	state, ok, err := d.Newest(ctx, thread)
	if err == nil && !ok {
		err = messages.Errorf(messages.CodeNotFound, "the thread %.200q has no run", thread)
	}
	return state, err
}

// resume gives the answers to the run that waits, and returns the newest question that the client has seen. A client
// may send its answers again.
func (d handler) resume(ctx context.Context, in *input) (run messages.RunID, seen string, err error) {
	state, err := d.newest(ctx, in.Thread)
	if err != nil {
		return "", "", err
	}
	for _, asked := range state.Inputs {
		i := slices.IndexFunc(in.Resume, func(a answer) bool { return a.Interrupt == asked.Request })
		if i < 0 {
			continue
		}
		seen = asked.Request
		switch a := in.Resume[i]; {
		case asked.Closed || state.Status.IsEnded():
		case a.Status == "cancelled":
			err = d.Cancel(ctx, state.RunID, "the question was cancelled")
		default:
			err = d.AnswerText(ctx, state, asked.Request, payload(a.Payload))
		}
		if err != nil {
			return "", "", err
		}
	}
	if seen == "" {
		return "", "", messages.InvalidInput("the run %s asks nothing that resume answers", state.RunID)
	}
	return state.RunID, seen, nil
}

// payload is the text of an answer: a text, or JSON.
func payload(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return strings.TrimSpace(string(raw))
}

// cancel answers POST /agui/{thread}/cancel.
func (d handler) cancel(w http.ResponseWriter, r *http.Request) error {
	state, err := d.newest(r.Context(), r.PathValue("thread"))
	if err == nil {
		err = d.Cancel(r.Context(), state.RunID, "")
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
