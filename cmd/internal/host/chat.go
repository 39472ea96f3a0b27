package host

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/transport/llm"
)

// ChatConfig returns the configuration of a chat with a model server. It includes what "provider check" has learned
// about the server, and what its provider requires of messages.
func ChatConfig(endpoint *settings.Endpoint, client *llm.Client) (chat.Config, error) {
	c := chat.Config{Stream: client.Stream, Provider: endpoint.Host(), Choose: settings.LoadedModel(client),
		Window: settings.ModelWindow(client)}
	learned, err := endpoint.LearnedProfile()
	if err != nil {
		return c, err
	}
	if learned != nil {
		c.Structured, c.NoThoughts = learned.Structured, learned.Server.Off
	}
	c.Profile.ShortIDs = strings.Contains(endpoint.Host(), "mistral")
	return c, nil
}

// AboutModel says which model answers next, for the command /model.
func AboutModel(ctx context.Context, config chat.Config, name string) string {
	if name == chat.Auto {
		chosen, err := config.Choose(ctx)
		if err != nil {
			return err.Error()
		}
		name = cmp.Or(chosen, "the model that its server picks")
	}
	return name + " answers the next turn. `lastword models` lists what the server has; /model NAME takes another."
}

// chat defines the job chat.
func (c *catalog) chat() actors.Definition {
	return chat.Define(func(in chat.Input) (config chat.Config, err error) {
		client, err := c.finder.client()
		if err != nil {
			return config, err
		}
		if config, err = ChatConfig(&c.finder.Endpoint, client); err != nil {
			return config, err
		}
		config.Model = cmp.Or(c.model, chat.Auto)
		config.Conversations = func(principal string) (*conversation.Store, error) {
			return c.conversations.of(c.folder(), homeOf(principal))
		}
		return config, c.mcpTools.Give(&config, c.chatTools(in)...)
	})
}

// chatTools returns what a chat has beside the tools of MCP servers: the operator's commands, and ask_user if the caller
// answers questions.
func (c *catalog) chatTools(in chat.Input) (more []tool.Tool) {
	if in.Asks || len(in.Tools) > 0 {
		more = append(more, tool.AskUser())
	}
	for _, job := range c.commands() {
		more = append(more, tool.Job(job))
	}
	return more
}

// startTools starts the MCP servers in the background.
func (c *catalog) startTools(log *zap.Logger) {
	if c.mcpTools.Empty() {
		return
	}
	time.AfterFunc(0, func() {
		if _, missing, _ := c.mcpTools.Set(context.Background()); missing != nil {
			log.Warn("MCP servers", zap.Error(missing))
		}
	})
}

// conversations holds the conversations of each caller: in a folder below the state folder, where nodes share them, or in memory.
// mu guards the map.
type conversations struct {
	shared func(folder string, most int) *conversation.Store // of several nodes; may be nil
	mu     sync.Mutex
	byHome map[string]*conversation.Store
}

// The maximum number of conversations per caller. In memory, a new one replaces the oldest.
const (
	mostInMemory = 1000
	mostInFolder = 10_000
)

// of returns the conversations of a caller, by the name of its folder. state is the state folder, or "".
func (c *conversations) of(state, home string) (store *conversation.Store, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byHome[home] != nil {
		return c.byHome[home], nil
	}
	switch {
	case c.shared != nil:
		store = c.shared(path.Join(ConversationFolder, home), mostInFolder)
	case state != "":
		store, err = chat.OpenConversations(filepath.Join(state, ConversationFolder, home), mostInFolder)
	default:
		store = conversation.NewMemory(mostInMemory)
	}
	if err == nil {
		if c.byHome == nil {
			c.byHome = map[string]*conversation.Store{}
		}
		c.byHome[home] = store
	}
	return store, err
}

// OpenConversations opens the conversations below the state folder, which is "" if there is none.
func OpenConversations(state string) (*conversation.Store, error) {
	if state == "" {
		return nil, exit.Misconfigured(store.ErrNoFolder)
	}
	kept, err := conversation.Open(filepath.Join(state, ConversationFolder), 0)
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		err = exit.Unusable(err, state, "--state")
	}
	return kept, exit.Misconfigured(err)
}

// ConversationFolder is the name of the folder with conversations in a state folder.
const ConversationFolder = "conversations"
