package host

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/chat"
	"github.com/seed889630bf/lastword/actors/chat/conversation"
	"github.com/seed889630bf/lastword/actors/chat/history"
	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/actors/structured"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/llm"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// ChatConfig says how a chat asks a server of models: with what provider check has learned of it, and with what its
// provider demands of messages.
func ChatConfig(at *settings.Endpoint, client *llm.Client) (chat.Config, error) {
	c := chat.Config{Stream: client.Stream, Provider: at.Host(), Choose: settings.LoadedModel(client),
		Window: settings.ModelWindow(client)}
	learned, err := at.LearnedProfile()
	if err != nil {
		return c, err
	}
	if learned != nil {
		if level, ok := structured.LevelOf(learned.Structured); ok {
			c.Ladder = structured.NewLadder(level)
		}
		c.NoThoughts = learned.Server.Off
	}
	switch provider := at.Host(); {
	case strings.Contains(provider, "mistral"):
		c.Profile.ShortIDs = true
	case strings.Contains(provider, "deepseek"), strings.Contains(provider, "moonshot"):
		c.Profile.Thoughts = history.Always
	}
	return c, nil
}

// chatInput is the input of chat in a server's run: Home is whose conversations they are.
type chatInput struct {
	chat.Input
	Home string `json:"home,omitempty"`
}

// chat makes the job from what prepareChat returned.
func (h *Options) chat(input json.RawMessage) (actors.Job, error) {
	var in chatInput
	if err := decode(input, &in); err != nil {
		return actors.Job{}, err
	}
	client, err := h.finder.clients.of(h.finder.Endpoint)
	if err != nil {
		return actors.Job{}, err
	}
	config, err := ChatConfig(&h.finder.Endpoint, client)
	if err == nil {
		config.Tools, err = h.chatTools(in.Tools)
	}
	if err == nil && in.Context != "" {
		config.Conversations, err = h.talks.of(h, in.Home)
	}
	if err != nil {
		return actors.Job{}, err
	}
	job, err := chat.Job(in.Input, config)
	job.Input = in // another node makes the same job from it
	return job, err
}

// listing bounds how long a run waits for the lists of MCP servers, which all start with the server.
const listing = 2 * time.Second

// chatTools are what a chat may call: the tools of the MCP servers and, for callers who say that they answer questions
// by naming it, ask_user.
func (h *Options) chatTools(names []string) (*tool.Set, error) {
	var more []tool.Tool
	if len(names) > 0 {
		more = append(more, tool.AskUser())
	}
	ctx, stop := context.WithTimeout(context.Background(), listing)
	defer stop()
	set, _, err := h.box.Set(ctx, more...) // startTools has told the log what is missing
	return set, err
}

// startTools starts the MCP servers.
func (h *Options) startTools(log *zap.Logger) {
	if h.box.Empty() {
		return
	}
	time.AfterFunc(0, func() {
		if _, missing, _ := h.box.Set(context.Background()); missing != nil {
			log.Warn("MCP servers", zap.Error(missing))
		}
	})
}

func (h *Options) prepareChat(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	var in chatInput
	if err := decode(arguments, &in.Input); err != nil {
		return nil, err
	}
	in.Model = cmp.Or(in.Model, h.model, chat.Auto)
	if in.Context != "" {
		in.Home = homeOf(gate.From(ctx).Name)
	}
	return json.Marshal(in)
}

// conversations are those of each caller: in a folder below the state folder or, if there is none, in memory.
type conversations struct {
	mu     sync.Mutex
	byHome map[string]*conversation.Store
}

// What bounds the conversations of a caller. In memory, a new one takes the place of the oldest.
const (
	mostInMemory = 1000
	mostInFolder = 10_000
)

// of returns the conversations of a caller; nil where other nodes, which do not have them, may go on with a run.
func (c *conversations) of(h *Options, home string) (kept *conversation.Store, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byHome[home] != nil {
		return c.byHome[home], nil
	}
	switch folder := h.Store.Folder(h.Env()); {
	case folder != "":
		kept, err = conversation.Open(filepath.Join(folder, ConversationFolder, home), mostInFolder)
	case !h.Store.Durable():
		kept = conversation.NewMemory(mostInMemory)
	}
	if err == nil && kept != nil {
		if c.byHome == nil {
			c.byHome = map[string]*conversation.Store{}
		}
		c.byHome[home] = kept
	}
	return kept, err
}

// ConversationFolder is where conversations are below a state folder.
const ConversationFolder = "conversations"

// chatForms are the properties of the input that programs need, and models do not.
var chatForms = []string{`"output":{"type":"string","enum":["text","structured"]}`,
	`"tokens":{"type":"string","enum":["authoritative","debug","off"]}`}

// chatTool is the job chat as a tool. With tools of others, callers may name those that need not be allowed. More are
// properties of its input.
func chatTool(prepare prepareInput, others bool, more ...string) mcp.JobTool {
	tools := `"tools":{"type":"array","items":{"type":"string","enum":["ask_user"]},"description":"if you answer questions"}`
	if others {
		tools = `"tools":{"type":"array","items":{"type":"string"},"description":"the only ones it may call, and unasked; ask_user if you answer"}`
	}
	return mcp.JobTool{
		Job: chat.Name, Title: "Chat with a language model",
		Description: "Gives the server's language model a message and gives its answer.",
		Input: mcp.Object([]string{"message"}, append(more,
			`"message":{"type":"string","minLength":1}`,
			`"context":{"type":"string","description":"id of the conversation, new or known"}`,
			`"system":{"type":"string"}`,
			`"model":{"type":"string","maxLength":256}`,
			`"stages":{"type":"boolean"}`,
			tools)...),
		Output: json.RawMessage(chatResult), OpenWorld: true, Prepare: prepare,
	}
}

const chatResult = `{"type":"object","required":["text"],"properties":{"text":{"type":"string"},` +
	`"citations":{"type":"array","items":{"type":"object"}},"confidence":{"type":"string"},` +
	`"degraded":{"type":"string"},"model":{"type":"string"},"finish_reason":{"type":"string"},` +
	`"truncated":{"type":"boolean"},"filtered":{"type":"boolean"},"usage":{"type":"object"}}}`
