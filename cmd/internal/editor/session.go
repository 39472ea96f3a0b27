package editor

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/internal/acp"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// agent is shared by all sessions of an editor. mu guards the fields below it.
type agent struct {
	*options
	log    *slog.Logger
	config chat.Config
	kept   *conversation.Store

	mu   sync.Mutex
	open map[string]*session
	// edits holds the changes that calls have made to files, by run and call, until the editor is told.
	edits map[string]acp.Edit
}

// session is a session that the editor has open, with its tools.
type session struct {
	*acp.Session
	files *files
	box   *toolbox.Box
	model string
}

// begin opens the session's folder, and starts its MCP servers.
func (a *agent) begin(_ context.Context, s *acp.Session) error {
	root, err := regular.Root(s.Folder)
	if err != nil {
		return messages.InvalidInput("the folder %s cannot be opened: %v", s.Folder, exit.Reason(err))
	}
	one := &session{Session: s, files: &files{root, s, a}, model: a.model}
	if one.box, err = a.box.OpenFor(settingsOf(s.Servers), a.program.Env, a.program.Secrets, build.This().Exact(), a.program.Guarded); err != nil {
		root.Close()
		return err
	}
	time.AfterFunc(0, func() {
		if _, missing, _ := one.box.Set(context.Background()); missing != nil {
			a.log.Warn("MCP servers", "error", missing)
		}
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open[s.ID] = one
	return nil
}

// end stops the session's MCP servers.
func (a *agent) end(s *acp.Session) {
	a.mu.Lock()
	one := a.open[s.ID]
	if one != nil && one.Session == s {
		delete(a.open, s.ID)
	}
	a.mu.Unlock()
	if one != nil && one.Session == s {
		one.box.Close()
		one.files.root.Close()
	}
}

// tools returns the tools that the model may call in the session's mode. missing says which MCP servers have failed.
func (a *agent) tools(ctx context.Context, one *session) (set *tool.Set, missing, err error) {
	if set, missing, err = one.box.Set(ctx, append(one.files.tools(one.Mode() == editing), tool.AskUser())...); err != nil {
		return nil, nil, err
	}
	if one.Mode() == reading {
		set, err = set.Allow(tool.Read, nil)
	}
	return set, missing, err
}

// turn returns the configuration of a prompt's run.
func (a *agent) turn(in chat.Input) (chat.Config, error) {
	a.mu.Lock()
	one := a.open[in.Context]
	config := a.config
	if one != nil {
		config.Model, config.Folder = one.model, one.Folder
	}
	a.mu.Unlock()
	if one == nil {
		return config, messages.Errorf(messages.CodeNotFound, "no editor has the session %.100q open", in.Context)
	}
	config.List = func(ctx context.Context) (set *tool.Set, missing, err error) { return a.tools(ctx, one) }
	return config, nil
}

// listTools returns the list of tools for the command /tools, and why others are missing.
func (a *agent) listTools(ctx context.Context, s *acp.Session, _ string) (string, error) {
	a.mu.Lock()
	one := a.open[s.ID]
	a.mu.Unlock()
	set, missing, err := a.tools(ctx, one)
	if err != nil {
		return "", err
	}
	return toolbox.Listed(set, missing), nil
}

func (a *agent) list() (all []acp.Conversation, err error) {
	list, err := a.kept.List()
	for _, c := range list {
		all = append(all, acp.Conversation{ID: c.ID, Folder: c.Folder, Title: c.Title, Updated: c.Updated})
	}
	return all, err
}

func (a *agent) said(id string) ([]model.Message, error) {
	_, history, err := a.kept.Read(id)
	return history, err
}

// settingsOf returns the settings of MCP servers in the format of other hosts, or nil if there are none.
func settingsOf(servers []acp.Server) []byte {
	if len(servers) == 0 {
		return nil
	}
	all := map[string]any{}
	for _, s := range servers {
		values := map[string]string{}
		for _, v := range slices.Concat(s.Env, s.Headers) {
			values[v.Name] = v.Value
		}
		all[s.Name] = map[string]any{"type": s.Type, "command": s.Command, "args": s.Args, "env": values, "url": s.URL, "headers": values}
	}
	settings, _ := json.Marshal(map[string]any{"mcpServers": all}) // strings can always be encoded
	return settings
}
