package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Session is a conversation that an editor has open. mu guards the fields below it.
type Session struct {
	ID string
	// Folder is the user's working directory, an absolute path.
	Folder string
	// Servers are the MCP servers that the editor configures.
	Servers []Server
	// Reads and Writes say that the editor gives access to its files, including unsaved changes.
	Reads, Writes bool
	forms         bool // the editor can show forms
	editor        *editor

	mu   sync.Mutex
	mode string // the mode that decides which calls need permission
	turn *turn  // the newest
}

// Server is an MCP server: a command or, if the type is http, a URL.
type Server struct {
	Type, Name, Command, URL string
	Args                     []string
	Env, Headers             []struct{ Name, Value string }
}

// Mode returns the ID of the session's mode.
func (s *Session) Mode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

// ReadFile lets the editor read a text file.
func (s *Session) ReadFile(ctx context.Context, path string) (string, error) {
	r, err := acp.SendRequest[struct{ Content string }](s.editor.conn, ctx, acp.ClientMethodFsReadTextFile,
		object{"sessionId": s.ID, "path": path})
	return r.Content, err
}

// WriteFile lets the editor write a text file.
func (s *Session) WriteFile(ctx context.Context, path, text string) error {
	return s.editor.conn.SendRequestNoResult(ctx, acp.ClientMethodFsWriteTextFile, object{"sessionId": s.ID, "path": path, "content": text})
}

// session returns an open session. Errors: not_found.
func (e *editor) session(id string) (*Session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.sessions[id]; s != nil {
		return s, nil
	}
	return nil, messages.Errorf(messages.CodeNotFound, "there is no open session %.100q; load it, or make a new one", id)
}

// open opens a session. If one with the same ID is open, it replaces that.
func (e *editor) open(ctx context.Context, p params) (*Session, error) {
	if !filepath.IsAbs(p.Folder) {
		return nil, messages.InvalidInput("the folder %.200q is no absolute path", p.Folder)
	}
	_, _ = e.end(ctx, p) // end returns no error
	e.mu.Lock()
	can := e.can
	e.mu.Unlock()
	s := &Session{ID: p.Session, Folder: filepath.Clean(p.Folder), Servers: p.Servers, Reads: can.FS.Reads, Writes: can.FS.Writes,
		forms: can.Elicitation.Form != nil, editor: e, mode: e.Modes[0].ID}
	if err := e.Open(ctx, s); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions[s.ID] = s
	return s, nil
}

// end closes a session, if it is open, and cancels its prompt.
func (e *editor) end(_ context.Context, p params) (any, error) {
	e.mu.Lock()
	s := e.sessions[p.Session]
	delete(e.sessions, p.Session)
	e.mu.Unlock()
	if s != nil {
		s.cancel()
		e.Close(s)
	}
	return object{}, nil
}

// opened returns the response with a session's modes.
func (e *editor) opened(s *Session) object {
	return object{"modes": object{"currentModeId": s.Mode(), "availableModes": e.Modes}}
}

// commands returns the update that lists the commands.
func (e *editor) commands() object {
	return object{"sessionUpdate": "available_commands_update", "availableCommands": e.Commands}
}

// create opens a new session.
func (e *editor) create(ctx context.Context, p params) (any, error) {
	p.Session = e.NewID()
	s, err := e.open(ctx, p)
	if err != nil {
		return nil, err
	}
	answer := e.opened(s)
	answer["sessionId"] = s.ID
	return answer, nil
}

// reopen opens an earlier session. With replay it sends the messages of that session to the editor.
func (e *editor) reopen(ctx context.Context, p params, replay bool) (any, error) {
	msgs, err := e.Said(p.Session)
	if err != nil {
		return nil, err
	}
	s, err := e.open(ctx, p)
	if err == nil && replay {
		err = e.replay(s, msgs)
	}
	if err == nil {
		err = e.update(s.ID, e.commands())
	}
	if err != nil {
		return nil, err
	}
	return e.opened(s), nil
}

// replay sends earlier messages in the way in which they were first sent.
func (e *editor) replay(s *Session, msgs []model.Message) (err error) {
	kinds := map[model.Role]string{model.User: "user_message_chunk", model.Assistant: "agent_message_chunk"}
	for i, m := range msgs {
		id := "m" + strconv.Itoa(i)
		if kind := kinds[m.Role]; kind != "" && m.Content != "" {
			err = cmp.Or(err, e.say(s.ID, kind, id, m.Content, map[model.Role]string{model.Assistant: messages.TextMarkdown}[m.Role]))
		}
		for j, c := range m.Calls {
			call := e.call(s, id+"."+strconv.Itoa(j), c.Name, json.RawMessage(c.Arguments), "completed")
			call["sessionUpdate"] = "tool_call"
			if k := slices.IndexFunc(msgs[i:], func(m model.Message) bool { return m.CallID == c.ID && c.ID != "" }); k >= 0 {
				call["content"] = text(msgs[i+k].Content)
			}
			err = cmp.Or(err, e.update(s.ID, call))
		}
	}
	return err
}

// most is the maximum number of sessions in a list.
const most = 500

// list returns the saved sessions, of one folder if the editor names one.
func (e *editor) list(_ context.Context, p params) (any, error) {
	all, err := e.List()
	list := []object{}
	for _, c := range all {
		if c.Folder != "" && (p.Folder == "" || filepath.Clean(p.Folder) == c.Folder) && len(list) < most {
			list = append(list, object{"sessionId": c.ID, "cwd": c.Folder, "title": c.Title, "updatedAt": c.Updated.UTC().Format(time.RFC3339)})
		}
	}
	return object{"sessions": list}, err
}

// setMode changes the mode for the session's next prompts.
func (e *editor) setMode(_ context.Context, p params) (any, error) {
	s, err := e.session(p.Session)
	if err == nil && !slices.ContainsFunc(e.Modes, func(m Mode) bool { return m.ID == p.Mode }) {
		err = messages.InvalidInput("there is no mode %.50q", p.Mode)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = p.Mode
	return object{}, nil
}
