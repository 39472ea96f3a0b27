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
	"github.com/seed889630bf/lastword/transport/door"
)

// Session is a conversation that an editor has open.
type Session struct {
	ID string
	// Folder is where the user works, an absolute path.
	Folder string
	// Servers are settings of MCP servers, {"mcpServers": {...}}; nil is none.
	Servers json.RawMessage
	// Reads and Writes say that the editor gives its files: with changes that are not on the disk.
	Reads, Writes bool
	editor        *editor

	mu    sync.Mutex
	mode  string
	turn  *turn           // the newest
	edits map[string]Edit // by run and call
}

// Mode is the ID of the session's mode.
func (s *Session) Mode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

// ReadFile has the editor read a text file.
func (s *Session) ReadFile(ctx context.Context, path string) (string, error) {
	r, err := acp.SendRequest[acp.ReadTextFileResponse](s.editor.conn, ctx, acp.ClientMethodFsReadTextFile,
		acp.ReadTextFileRequest{SessionId: acp.SessionId(s.ID), Path: path})
	return r.Content, err
}

// WriteFile has the editor write a text file.
func (s *Session) WriteFile(ctx context.Context, path, text string) error {
	return s.editor.conn.SendRequestNoResult(ctx, acp.ClientMethodFsWriteTextFile,
		acp.WriteTextFileRequest{SessionId: acp.SessionId(s.ID), Path: path, Content: text})
}

// Edited notes what a call has made of a file, for its end.
func (s *Session) Edited(run messages.RunID, call string, e Edit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.edits == nil {
		s.edits = map[string]Edit{}
	}
	s.edits[string(run)+"."+call] = e
}

// edited returns what a call has made of a file, once.
func (s *Session) edited(id string) *Edit {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.edits[id]
	if !ok {
		return nil
	}
	delete(s.edits, id)
	return &e
}

// open opens a session, in the place of one with its ID.
func (e *editor) open(ctx context.Context, id, folder string, servers []acp.McpServer) (*Session, error) {
	if !filepath.IsAbs(folder) {
		return nil, messages.InvalidInput("the folder %.200q is no absolute path", folder)
	}
	settings, err := settingsOf(servers)
	if err != nil {
		return nil, err
	}
	can := e.capabilities().Fs
	s := &Session{ID: id, Folder: filepath.Clean(folder), Servers: settings, Reads: can.ReadTextFile, Writes: can.WriteTextFile, editor: e,
		mode: e.Modes[0].ID}
	e.end(id)
	if err := e.Open(ctx, s); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions[id] = s
	return s, nil
}

// end ends a session, if it is open, and what it does.
func (e *editor) end(id string) {
	e.mu.Lock()
	s := e.sessions[id]
	delete(e.sessions, id)
	e.mu.Unlock()
	if s != nil {
		s.cancel(nil)
		e.Close(s)
	}
}

// settingsOf are the settings of MCP servers as other hosts write them.
func settingsOf(servers []acp.McpServer) (json.RawMessage, error) {
	if len(servers) == 0 {
		return nil, nil
	}
	all := map[string]any{}
	for _, s := range servers {
		switch {
		case s.Stdio != nil:
			env := map[string]string{}
			for _, v := range s.Stdio.Env {
				env[v.Name] = v.Value
			}
			all[s.Stdio.Name] = map[string]any{"command": s.Stdio.Command, "args": s.Stdio.Args, "env": env}
		case s.Http != nil:
			headers := map[string]string{}
			for _, h := range s.Http.Headers {
				headers[h.Name] = h.Value
			}
			all[s.Http.Name] = map[string]any{"type": "http", "url": s.Http.Url, "headers": headers}
		default:
			return nil, messages.InvalidInput("an MCP server must be a command, or of the type http")
		}
	}
	return door.JSON(map[string]any{"mcpServers": all}), nil
}

func (e *editor) modes(s *Session) *acp.SessionModeState {
	state := &acp.SessionModeState{CurrentModeId: acp.SessionModeId(s.Mode())}
	for _, m := range e.Modes {
		state.AvailableModes = append(state.AvailableModes, acp.SessionMode{Id: acp.SessionModeId(m.ID), Name: m.Name, Description: &m.About})
	}
	return state
}

// commands lists the commands.
func (e *editor) commands() acp.SessionUpdate {
	list := []acp.AvailableCommand{}
	for _, c := range e.Commands {
		one := acp.AvailableCommand{Name: c.Name, Description: c.About}
		if c.Hint != "" {
			one.Input = &acp.AvailableCommandInput{Unstructured: &acp.UnstructuredCommandInput{Hint: c.Hint}}
		}
		list = append(list, one)
	}
	return acp.SessionUpdate{AvailableCommandsUpdate: &acp.SessionAvailableCommandsUpdate{AvailableCommands: list}}
}

func (e *editor) create(ctx context.Context, p acp.NewSessionRequest) (r acp.NewSessionResponse, err error) {
	s, err := e.open(ctx, e.NewID(), p.Cwd, p.McpServers)
	if err != nil {
		return r, err
	}
	e.out.after(s.ID, map[string]any{"jsonrpc": "2.0", "method": acp.ClientMethodSessionUpdate,
		"params": acp.SessionNotification{SessionId: acp.SessionId(s.ID), Update: e.commands()}})
	return acp.NewSessionResponse{SessionId: acp.SessionId(s.ID), Modes: e.modes(s)}, nil
}

func (e *editor) load(ctx context.Context, p acp.LoadSessionRequest) (r acp.LoadSessionResponse, err error) {
	said, err := e.Said(string(p.SessionId))
	if err != nil {
		return r, err
	}
	s, err := e.open(ctx, string(p.SessionId), p.Cwd, p.McpServers)
	if err != nil {
		return r, err
	}
	for _, u := range append(e.replay(s, said), e.commands()) {
		if err := e.update(s.ID, u); err != nil {
			return r, err
		}
	}
	r.Modes = e.modes(s)
	return r, nil
}

// replay is what was said, as the editor was told of it.
func (e *editor) replay(s *Session, said []model.Message) (all []acp.SessionUpdate) {
	for i, m := range said {
		id := new("m" + strconv.Itoa(i))
		switch {
		case m.Role == model.User:
			all = append(all, acp.SessionUpdate{UserMessageChunk: &acp.SessionUpdateUserMessageChunk{Content: acp.TextBlock(m.Content), MessageId: id}})
		case m.Role == model.Assistant && m.Content != "":
			all = append(all, acp.SessionUpdate{AgentMessageChunk: &acp.SessionUpdateAgentMessageChunk{Content: acp.TextBlock(m.Content), MessageId: id}})
		}
		for j, c := range m.Calls {
			call := e.describe(s, *id+"."+strconv.Itoa(j), c.Name, json.RawMessage(c.Arguments))
			call.Status = acp.ToolCallStatusCompleted
			if k := slices.IndexFunc(said[i:], func(m model.Message) bool { return m.CallID == c.ID && c.ID != "" }); k >= 0 {
				call.Content = []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(said[i+k].Content))}
			}
			all = append(all, acp.SessionUpdate{ToolCall: &call})
		}
	}
	return all
}

func (e *editor) resume(ctx context.Context, p acp.ResumeSessionRequest) (r acp.ResumeSessionResponse, err error) {
	if _, err = e.Said(string(p.SessionId)); err != nil {
		return r, err
	}
	s, err := e.open(ctx, string(p.SessionId), p.Cwd, p.McpServers)
	if err == nil {
		r.Modes, err = e.modes(s), e.update(s.ID, e.commands())
	}
	return r, err
}

func (e *editor) close(_ context.Context, p acp.CloseSessionRequest) (r acp.CloseSessionResponse, err error) {
	e.end(string(p.SessionId))
	return r, nil
}

// page is how many sessions a list has.
const page = 100

func (e *editor) list(_ context.Context, p acp.ListSessionsRequest) (r acp.ListSessionsResponse, err error) {
	from := 0
	if p.Cursor != nil {
		if from, err = strconv.Atoi(*p.Cursor); err != nil || from < 0 {
			return r, messages.InvalidInput("the cursor %.50q is of no list", *p.Cursor)
		}
	}
	all, err := e.List()
	if err != nil {
		return r, err
	}
	all = slices.DeleteFunc(all, func(c Conversation) bool {
		return c.Folder == "" || p.Cwd != nil && filepath.Clean(*p.Cwd) != c.Folder
	})
	r.Sessions = []acp.SessionInfo{}
	for _, c := range all[min(from, len(all)):min(from+page, len(all))] {
		one := acp.SessionInfo{SessionId: acp.SessionId(c.ID), Cwd: c.Folder, UpdatedAt: new(c.Updated.UTC().Format(time.RFC3339))}
		if c.Title != "" {
			one.Title = &c.Title
		}
		r.Sessions = append(r.Sessions, one)
	}
	if from+page < len(all) {
		r.NextCursor = new(strconv.Itoa(from + page))
	}
	return r, nil
}

func (e *editor) setMode(_ context.Context, p acp.SetSessionModeRequest) (r acp.SetSessionModeResponse, err error) {
	s, err := e.session(p.SessionId)
	if err != nil {
		return r, err
	}
	if !slices.ContainsFunc(e.Modes, func(m Mode) bool { return m.ID == string(p.ModeId) }) {
		return r, messages.InvalidInput("there is no mode %.50q", p.ModeId)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = string(p.ModeId)
	return r, nil
}

// describe is a call as editors show it.
func (e *editor) describe(s *Session, id, tool string, arguments json.RawMessage) acp.SessionUpdateToolCall {
	var in struct {
		Path string
		From int
	}
	call := acp.SessionUpdateToolCall{ToolCallId: acp.ToolCallId(id), Title: tool, Status: acp.ToolCallStatusPending,
		Kind: acp.ToolKind(cmp.Or(e.Kinds[tool], string(acp.ToolKindOther)))}
	if json.Valid(arguments) {
		call.RawInput = arguments
	}
	if json.Unmarshal(arguments, &in) == nil && in.Path != "" {
		call.Title += " " + in.Path
		at := acp.ToolCallLocation{Path: s.at(in.Path)}
		if in.From > 0 {
			at.Line = &in.From
		}
		call.Locations = []acp.ToolCallLocation{at}
	}
	return call
}

// at is the absolute path of a file of the session.
func (s *Session) at(path string) string { return filepath.Join(s.Folder, filepath.FromSlash(path)) }

func contentOf(e *Edit) []acp.ToolCallContent {
	return []acp.ToolCallContent{{Diff: &acp.ToolCallContentDiff{Path: e.Path, OldText: e.Old, NewText: e.New}}}
}
