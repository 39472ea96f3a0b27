package aisdk

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

type handler struct{ *door.Door }

// Paths returns the paths that this package serves.
func Paths() []string { return []string{"/api/chat", "/api/chat/"} }

// New returns the handler for the Paths. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{to}
	return door.Routes(map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /api/chat":            d.chat,
		"GET /api/chat/{id}/stream": d.resume,
		"POST /api/chat/{id}/stop":  d.CancelNewest("id"),
	}, problem)
}

// problem answers with the error as plain text, because the client shows the body.
func problem(w http.ResponseWriter, err error) {
	p := auth.ProblemOf(err)
	maps.Copy(w.Header(), p.Headers())
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_, _ = io.WriteString(w, p.Detail) // a client that left needs no answer
}

// request is what the client sends: all messages of the chat.
type request struct {
	ID       string    `json:"id"`
	Messages []message `json:"messages"`
	Job      string    `json:"job"`
}

// message is a UIMessage of the AI SDK.
type message struct {
	ID    string `json:"id"`
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// part is a part of a message. Its type decides which of the other members are set.
type part struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	ToolName string          `json:"toolName"`
	CallID   string          `json:"toolCallId"`
	State    string          `json:"state"`
	Output   json.RawMessage `json:"output"`
	Approval *struct {
		Approved *bool `json:"approved"`
	} `json:"approval"`
	// Metadata identifies a text. Data identifies a text that was taken back.
	Metadata struct {
		Lastword struct{ ID string } `json:"lastword"`
	} `json:"providerMetadata"`
	Data json.RawMessage `json:"data"`
}

// text returns the text of the message, without what was taken back.
func (m message) text() string {
	var texts []string
	back := map[string]bool{} // the texts that were taken back
	for _, p := range m.Parts {
		var data struct{ Type, ID string }
		if p.Type == retracted && json.Unmarshal(p.Data, &data) == nil && data.Type == "text" {
			back[data.ID] = true
		}
	}
	for _, p := range m.Parts {
		if p.Type == "text" && !back[p.Metadata.Lastword.ID] {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// chat handles POST /api/chat: it starts a run, or answers the questions of one.
func (d handler) chat(w http.ResponseWriter, r *http.Request) error {
	var q request
	if err := door.ReadJSON(r, &q); err != nil {
		return err
	}
	if len(q.Messages) == 0 {
		return messages.Errorf(auth.CodeBadRequest, "the body must have the id of the chat and its messages")
	}
	if last := q.Messages[len(q.Messages)-1]; last.Role == "assistant" {
		state, err := d.Run(r.Context(), messages.RunID(last.ID))
		seen := ""
		if err == nil {
			seen, err = d.Resume(r.Context(), door.Client, state, last.answers())
		}
		if err == nil || strings.HasPrefix(last.ID, "r_") { // else its words are the client's own
			return d.play(w, r, state.RunID, seen, err)
		}
	}
	var turn door.Turn
	for _, m := range q.Messages {
		if slices.ContainsFunc(m.Parts, func(p part) bool { return p.Type == "file" }) {
			return messages.InvalidInput("files are not supported; send text")
		}
		if err := turn.Add(m.Role, m.text()); err != nil {
			return err
		}
	}
	if err := turn.Close(); err != nil {
		return err
	}
	run, err := d.StartTurn(r.Context(), q.Job, turn, map[string]string{messages.ContextLabel: q.ID}, "")
	return d.play(w, r, run, "", err)
}

// answers returns the message's answers to questions of its run.
func (m message) answers() map[string]*string {
	all := map[string]*string{}
	for _, p := range m.Parts {
		switch asks := p.Type == "tool-ask" || p.Type == "dynamic-tool" && p.ToolName == "ask"; {
		case asks && p.Approval != nil && p.Approval.Approved != nil:
			all[p.CallID] = new(string(door.JSON(*p.Approval.Approved)))
		case asks && p.State == "output-available":
			all[p.CallID] = new(messages.Plain(p.Output))
		}
	}
	return all
}

// resume handles GET /api/chat/{id}/stream: it writes the newest run of the chat from its beginning.
func (d handler) resume(w http.ResponseWriter, r *http.Request) error {
	state, ok, err := d.Newest(r.Context(), r.PathValue("id"))
	if err == nil && !ok {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return d.play(w, r, state.RunID, "", err)
}

// play writes the run until its end or until it waits for an answer. The run continues if the client leaves.
func (d handler) play(w http.ResponseWriter, r *http.Request, run messages.RunID, seen string, err error) error {
	if err != nil {
		return err
	}
	w.Header().Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
	out := &writer{SegmentWriter: door.SegmentWriter{Run: run, Seen: seen}, resets: r.Header.Get("X-AI-SDK") == "7"}
	form := &supersede
	if out.resets {
		form = &reset
	}
	door.Serve(w, r, d.Door, form, out)
	return nil
}
