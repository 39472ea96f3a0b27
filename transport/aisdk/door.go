package aisdk

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

type handler struct{ *door.Door }

// Paths are those of the protocol.
func Paths() []string { return []string{"/api/chat", "/api/chat/"} }

// New returns the handler of the Paths. Put it behind an auth.Middleware.
func New(to *door.Door) *door.Handler {
	d := handler{to}
	return door.Routes(map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /api/chat":            d.chat,
		"GET /api/chat/{id}/stream": d.resume,
		"POST /api/chat/{id}/stop":  d.stop,
	}, problem)
}

// problem answers with the error alone: the client shows the body.
func problem(w http.ResponseWriter, err error) {
	p := auth.ProblemOf(err)
	maps.Copy(w.Header(), p.Headers())
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_, _ = io.WriteString(w, p.Detail) // a client that left misses nothing
}

// request is what the client sends: all messages of the chat.
type request struct {
	ID       string    `json:"id"`
	Messages []message `json:"messages"`
	Job      string    `json:"job"`
}

type message struct {
	ID    string `json:"id"`
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

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
	// Metadata names a text, and Data a text that was taken back.
	Metadata struct {
		Lastword struct{ ID string } `json:"lastword"`
	} `json:"providerMetadata"`
	Data json.RawMessage `json:"data"`
}

// names reports whether the data names the text or the thought.
func (p part) names(form, id string) bool {
	var data struct{ Type, ID string }
	return json.Unmarshal(p.Data, &data) == nil && data.Type == form && data.ID == id
}

func (p part) asks() bool {
	return p.Type == "tool-ask" || p.Type == "dynamic-tool" && p.ToolName == "ask"
}

// answer is what the client says to a question, and false if it has said nothing.
func (p part) answer() (text string, ok bool) {
	switch {
	case !p.asks():
		return "", false
	case p.Approval != nil && p.Approval.Approved != nil:
		return string(door.JSON(*p.Approval.Approved)), true
	case p.State != "output-available":
		return "", false
	case json.Unmarshal(p.Output, &text) == nil:
		return text, true
	}
	return string(p.Output), true
}

// text is what the message says, without what was taken back.
func (m message) text() string {
	var texts []string
	for _, p := range m.Parts {
		back := func(other part) bool { return other.Type == retracted && other.names("text", p.Metadata.Lastword.ID) }
		if p.Type == "text" && !slices.ContainsFunc(m.Parts, back) {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// chat answers POST /api/chat: it starts a run, or gives the answers to the questions of one.
func (d handler) chat(w http.ResponseWriter, r *http.Request) error {
	var q request
	if err := door.ReadJSON(r, &q); err != nil {
		return err
	}
	if len(q.Messages) == 0 {
		return messages.Errorf(auth.CodeBadRequest, "the body must have the id of the chat and its messages")
	}
	ctx := r.Context()
	if last := q.Messages[len(q.Messages)-1]; last.Role == "assistant" {
		state, question, err := d.answer(ctx, last)
		if err != nil {
			return err
		}
		d.play(w, r, &writer{state: state, seen: question})
		return nil
	}
	var turn door.Turn
	for _, m := range q.Messages {
		if slices.ContainsFunc(m.Parts, func(p part) bool { return p.Type == "file" }) {
			return messages.InvalidInput("files are not taken; send texts")
		}
		if err := turn.Add(m.Role, m.text()); err != nil {
			return err
		}
	}
	if err := turn.Close(); err != nil {
		return err
	}
	run, err := d.StartTurn(ctx, q.Job, turn, map[string]string{door.ContextLabel: q.ID}, "")
	if err != nil {
		return err
	}
	d.play(w, r, &writer{state: messages.State{RunID: run}})
	return nil
}

// answer gives the answers in the run's message to the run. It returns the newest question that the client has seen.
// A client may send its answers again.
func (d handler) answer(ctx context.Context, m message) (state messages.State, seen string, err error) {
	if state, err = d.Run(ctx, messages.RunID(m.ID)); err != nil {
		return state, "", err
	}
	for _, p := range m.Parts {
		if !p.asks() {
			continue
		}
		seen = p.CallID
		isOpen := func(in messages.Input) bool { return in.Request == p.CallID && !in.Closed }
		open := slices.ContainsFunc(state.Inputs, isOpen)
		if text, ok := p.answer(); ok && open {
			if err := d.AnswerText(ctx, state, p.CallID, text); err != nil {
				return state, "", err
			}
		}
	}
	if seen == "" {
		return state, "", messages.InvalidInput("the last message must be the user's, or answer what the assistant asks")
	}
	state, err = d.Run(ctx, state.RunID)
	return state, seen, err
}

// resume answers GET /api/chat/{id}/stream with the newest run of the chat from its beginning.
func (d handler) resume(w http.ResponseWriter, r *http.Request) error {
	state, ok, err := d.Newest(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if !ok {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	d.play(w, r, &writer{state: state})
	return nil
}

// stop answers POST /api/chat/{id}/stop: it cancels the newest run of the chat.
func (d handler) stop(w http.ResponseWriter, r *http.Request) error {
	state, ok, err := d.Newest(r.Context(), r.PathValue("id"))
	if err == nil && ok {
		err = d.Cancel(r.Context(), state.RunID, "")
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// play writes the run until it waits for an answer that it has not got. A client that leaves cancels nothing.
func (d handler) play(w http.ResponseWriter, r *http.Request, out *writer) {
	w.Header().Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
	out.stream = d.Stream(w, "text/event-stream")
	form := &supersede
	if r.Header.Get("X-AI-SDK") == "7" {
		form = &reset
	}
	out.resets, out.muted = form == &reset, out.seen != ""
	over := func(*transcript.Transcript) bool { return out.ended }
	if err := door.Play(r.Context(), d.Door, out.stream, out.state.RunID, messages.Follow{}, form, out, over); err != nil {
		out.stream.Break()
	}
}
