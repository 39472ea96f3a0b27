package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/internal/lines"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
)

// Config configures an agent. All fields are required.
type Config struct {
	Door *door.Door
	// Log gets errors of the connection.
	Log *slog.Logger
	// Open prepares a session for prompts. The runs of its prompts have its ID as their context.
	Open func(ctx context.Context, s *Session) error
	// Close ends what Open has begun.
	Close func(s *Session)
	// NewID returns the ID for a new session.
	NewID func() string
	// List returns the conversations, the newest first.
	List func() ([]Conversation, error)
	// Said returns the messages of a conversation. Errors: not_found.
	Said func(id string) ([]model.Message, error)
	// Modes are the ways to allow tool calls. A session begins with the first.
	Modes []Mode
	// Commands are called by prompts that begin with a slash and the name of the command.
	Commands []Command
	// Kinds maps names of tools to the protocol's kinds.
	Kinds map[string]string
	// Preview returns the change that a tool call is about to make to a file. Changed returns the change that a call
	// has made. Both return nil if there is none.
	Preview func(s *Session, tool string, arguments json.RawMessage) *Edit
	Changed func(run messages.RunID, call string) *Edit
}

// Conversation is a session that an editor can load.
type Conversation struct {
	ID, Folder, Title string
	Updated           time.Time
}

// Mode is a way to allow tool calls.
type Mode struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	About string `json:"description"`
}

// Command is a slash command.
type Command struct {
	Name  string `json:"name"`
	About string `json:"description"`
	// Input says what may follow the name.
	Input *Hint                                                                  `json:"input,omitempty"`
	Run   func(ctx context.Context, s *Session, argument string) (string, error) `json:"-"`
}

// Hint is a text for the user.
type Hint struct {
	Text string `json:"hint"`
}

// Edit is a change of a file. Old is nil if the file is new.
type Edit struct {
	Path, New string
	Old       *string
}

const (
	// closeTimeout is how long the editor may take to read the last messages, and stallTimeout how long it may read
	// nothing meanwhile.
	closeTimeout = 5 * time.Second
	stallTimeout = 2 * time.Second
)

// Serve serves one editor until in ends or ctx is done. Then it cancels the runs of its prompts, and returns when they
// have ended. It returns an error if the editor reads or writes nothing for a minute in the middle of a message.
func (c Config) Serve(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e := &editor{Config: c, ctx: ctx, sessions: map[string]*Session{}}
	to := lines.NewWriter(out, c.Door.Redact)
	e.in = &input{editor: e, lines: lines.NewReader(in, maxMessage), to: to, connected: make(chan struct{})}
	go to.Run()
	e.conn = acp.NewConnection(e.handle, output{e, to}, e.in)
	e.conn.SetLogger(c.Log)
	close(e.in.connected)
	select {
	case <-e.conn.Done():
	case <-ctx.Done():
	case err = <-e.in.lines.Stuck():
	case <-to.Done():
		err = to.Err()
	}
	cancel()
	answered := make(chan struct{})
	go func() { e.prompts.Wait(); close(answered) }()
	to.Finish(answered, closeTimeout, stallTimeout)
	<-answered
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		c.Close(s)
	}
	return err
}

// editor is a connection to an editor. mu guards the fields below it.
type editor struct {
	Config
	ctx     context.Context // ends with the connection
	conn    *acp.Connection
	in      *input
	prompts sync.WaitGroup // those without an answer

	mu       sync.Mutex
	can      capabilities        // what the editor declared at the start
	sessions map[string]*Session // open sessions, by id
}

// object is a JSON object that is only written.
type object = map[string]any

// params are the parameters of all requests.
type params struct {
	Capabilities capabilities `json:"clientCapabilities"`
	Session      string       `json:"sessionId"`
	Folder       string       `json:"cwd"`
	Servers      []Server     `json:"mcpServers"`
	Mode         string       `json:"modeId"`
	Prompt       []block      `json:"prompt"`
}

// capabilities are the editor's capabilities.
type capabilities struct {
	FS struct {
		Reads  bool `json:"readTextFile"`
		Writes bool `json:"writeTextFile"`
	} `json:"fs"`
	Elicitation struct {
		Form *struct{} `json:"form"`
	} `json:"elicitation"`
}

// handle handles a request or a notification.
func (e *editor) handle(ctx context.Context, method string, text json.RawMessage) (result any, failed *acp.RequestError) {
	defer func() {
		if crash := recover(); crash != nil {
			e.Log.Error("a message of the editor crashes", "method", method, "crash", crash, "stack", string(debug.Stack()))
			result, failed = nil, &acp.RequestError{Code: jsonrpc.InternalError, Message: fmt.Sprintf("%s crashed: %v", method, crash)}
		}
	}()
	answer := map[string]func(context.Context, params) (any, error){
		acp.AgentMethodInitialize: e.initialize, acp.AgentMethodSessionNew: e.create,
		acp.AgentMethodSessionLoad:   func(ctx context.Context, p params) (any, error) { return e.reopen(ctx, p, true) },
		acp.AgentMethodSessionResume: func(ctx context.Context, p params) (any, error) { return e.reopen(ctx, p, false) },
		acp.AgentMethodSessionClose:  e.end, acp.AgentMethodSessionList: e.list,
		acp.AgentMethodSessionSetMode: e.setMode, acp.AgentMethodSessionPrompt: e.prompt,
		acp.AgentMethodSessionCancel: func(context.Context, params) (any, error) { return nil, nil }, // input has handled it
	}[method]
	if answer == nil {
		return nil, acp.NewMethodNotFound(method)
	}
	var p params
	if err := json.Unmarshal([]byte(cmp.Or(string(text), "{}")), &p); err != nil {
		return nil, &acp.RequestError{Code: jsonrpc.InvalidParams, Message: err.Error()}
	}
	result, err := answer(ctx, p)
	if failed, ok := errors.AsType[*acp.RequestError](err); ok {
		return nil, failed
	}
	if err != nil {
		return nil, refusal(door.Unread(err), "")
	}
	return result, nil
}

// refusal returns an error in the protocol's format.
func refusal(why *door.Reason, run messages.RunID) *acp.RequestError {
	refused := &acp.RequestError{Code: jsonrpc.InternalError, Message: why.Message, Data: object{"code": why.Code, "retryable": why.Retryable}}
	switch code := messages.Code(why.Code); {
	case run != "":
		refused.Data = object{"code": why.Code, "run_id": run}
	case code == messages.CodeNotFound:
		refused.Code = -32002
	case code == messages.CauseInvalidInput:
		refused.Code = jsonrpc.InvalidParams
	}
	return refused
}

// initialize answers the editor's first call. It keeps the editor's capabilities, because they decide which files and
// commands the agent may ask the editor for.
func (e *editor) initialize(_ context.Context, p params) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.can = p.Capabilities
	can := object{"loadSession": true, "mcpCapabilities": object{"http": true, "sse": false},
		"promptCapabilities":  object{"image": false, "audio": false, "embeddedContext": false},
		"sessionCapabilities": object{"list": object{}, "resume": object{}, "close": object{}}}
	return object{"protocolVersion": acp.ProtocolVersionNumber, "agentCapabilities": can, "authMethods": []any{},
		"agentInfo": object{"name": "lastword", "title": "lastword", "version": e.Door.Version}}, nil
}

// update notifies the editor of something that happened in a session.
func (e *editor) update(session string, u object) error {
	return e.conn.SendNotification(context.Background(), acp.ClientMethodSessionUpdate, object{"sessionId": session, "update": u})
}
