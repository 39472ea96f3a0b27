package acp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
)

// Config is what an Agent is made of.
type Config struct {
	Door *door.Door
	// Log is told what goes wrong in the connection.
	Log *slog.Logger
	// Open makes a session ready for prompts, whose runs have its ID as their context.
	Open func(ctx context.Context, s *Session) error
	// Close ends what Open began.
	Close func(s *Session)
	// NewID returns the ID of a new session.
	NewID func() string
	// List returns the conversations, the newest first.
	List func() ([]Conversation, error)
	// Said returns what was said in a conversation. Errors: not_found.
	Said func(id string) ([]model.Message, error)
	// Modes are the ways to allow calls of tools; a session begins with the first.
	Modes []Mode
	// Commands are called by a prompt that begins with a slash and their name.
	Commands []Command
	// Kinds are those that the protocol has for tools, by their names.
	Kinds map[string]string
	// Preview returns what a call of a tool is about to make of a file, and nil if that is nothing.
	Preview func(ctx context.Context, s *Session, tool string, arguments json.RawMessage) *Edit
}

// Conversation is a session that an editor may load.
type Conversation struct {
	ID, Folder, Title string
	Updated           time.Time
}

// Mode is a way to allow calls of tools.
type Mode struct{ ID, Name, About string }

// Command is a command of a prompt. Hint says what may follow its name.
type Command struct {
	Name, About, Hint string
	Run               func(ctx context.Context, s *Session, argument string) (string, error)
}

// Edit is what a call makes of a file. Old is nil where there was none.
type Edit struct {
	Path, New string
	Old       *string
}

// Serve speaks with one editor until in ends or ctx is done. Then the runs of its prompts are canceled, and have ended
// when Serve returns, or when ctx is done.
func (c Config) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e := &editor{Config: c, ctx: ctx, sessions: map[string]*Session{}}
	e.out = &output{to: out, redact: c.Door.Redact}
	input := &input{editor: e, from: in, connected: make(chan struct{})}
	e.begun = input.begun
	e.out.answered = input.answered
	e.conn = acp.NewConnection(e.handle, e.out, input)
	e.conn.SetLogger(c.Log)
	close(input.connected)
	select {
	case <-e.conn.Done():
	case <-ctx.Done():
	}
	cancel()
	e.prompts.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		c.Close(s)
	}
	return e.out.failed()
}

// editor is a connection to an editor.
type editor struct {
	Config
	ctx     context.Context // ends with the connection
	conn    *acp.Connection
	out     *output
	begun   func() (id json.RawMessage)
	prompts sync.WaitGroup

	mu       sync.Mutex
	can      acp.ClientCapabilities
	sessions map[string]*Session
}

// handle answers a request or takes a notification.
func (e *editor) handle(ctx context.Context, method string, params json.RawMessage) (result any, failed *acp.RequestError) {
	defer func() {
		if crash := recover(); crash != nil {
			e.Log.Error("a message of the editor crashes", "method", method, "crash", crash, "stack", string(debug.Stack()))
			result, failed = nil, &acp.RequestError{Code: door.InternalError, Message: fmt.Sprintf("%s crashed: %v", method, crash)}
		}
	}()
	switch method {
	case acp.AgentMethodInitialize:
		return call(ctx, params, e.initialize)
	case acp.AgentMethodSessionNew:
		return call(ctx, params, e.create)
	case acp.AgentMethodSessionLoad:
		return call(ctx, params, e.load)
	case acp.AgentMethodSessionResume:
		return call(ctx, params, e.resume)
	case acp.AgentMethodSessionClose:
		return call(ctx, params, e.close)
	case acp.AgentMethodSessionList:
		return call(ctx, params, e.list)
	case acp.AgentMethodSessionSetMode:
		return call(ctx, params, e.setMode)
	case acp.AgentMethodSessionPrompt:
		return call(ctx, params, e.prompt)
	case acp.AgentMethodSessionCancel:
		return nil, nil // the input has heeded it
	}
	return nil, acp.NewMethodNotFound(method)
}

// call reads the params of a request and answers it.
func call[P, R any](ctx context.Context, params json.RawMessage, f func(context.Context, P) (R, error)) (any, *acp.RequestError) {
	var p P
	err := json.Unmarshal([]byte(cmp.Or(string(params), "{}")), &p)
	if valid, ok := any(&p).(interface{ Validate() error }); ok && err == nil {
		err = valid.Validate()
	}
	if err != nil {
		return nil, &acp.RequestError{Code: door.InvalidParams, Message: err.Error()}
	}
	result, err := f(ctx, p)
	if err != nil {
		return nil, failure(err, "")
	}
	return result, nil
}

// failure is an error in the protocol's form.
func failure(err error, run messages.RunID) *acp.RequestError {
	if request, ok := err.(*acp.RequestError); ok {
		return request
	}
	return refusal(door.ReasonOf(err), run)
}

// notFound is the protocol's code for what there is not.
const notFound = -32002

func refusal(why *door.Reason, run messages.RunID) *acp.RequestError {
	code := door.InternalError
	switch messages.Code(why.Code) {
	case messages.CodeNotFound:
		code = notFound
	case messages.CauseInvalidInput:
		code = door.InvalidParams
	}
	data := map[string]any{"code": why.Code}
	if run != "" {
		code, data["run_id"] = door.InternalError, run
	}
	return &acp.RequestError{Code: code, Message: why.Message, Data: data}
}

func (e *editor) initialize(_ context.Context, p acp.InitializeRequest) (acp.InitializeResponse, error) {
	e.mu.Lock()
	e.can = p.ClientCapabilities
	e.mu.Unlock()
	can := acp.AgentCapabilities{LoadSession: true, McpCapabilities: acp.McpCapabilities{Http: true},
		SessionCapabilities: acp.SessionCapabilities{List: &acp.SessionListCapabilities{},
			Resume: &acp.SessionResumeCapabilities{}, Close: &acp.SessionCloseCapabilities{}}}
	return acp.InitializeResponse{ProtocolVersion: acp.ProtocolVersionNumber, AgentCapabilities: can, AuthMethods: []acp.AuthMethod{},
		AgentInfo: &acp.Implementation{Name: "lastword", Title: new("lastword"), Version: e.Door.Version}}, nil
}

// capabilities are those of the editor.
func (e *editor) capabilities() acp.ClientCapabilities {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.can
}

// update tells the editor what happens in a session.
func (e *editor) update(session string, u acp.SessionUpdate) error {
	return e.conn.SendNotification(context.Background(), acp.ClientMethodSessionUpdate,
		acp.SessionNotification{SessionId: acp.SessionId(session), Update: u})
}

// session returns one that is open. Errors: not_found.
func (e *editor) session(id acp.SessionId) (*Session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.sessions[string(id)]; s != nil {
		return s, nil
	}
	return nil, messages.Errorf(messages.CodeNotFound, "there is no open session %.100q; load it, or make a new one", id)
}

// message is what the input and the output look at.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Session string          `json:"sessionId"`
		Request json.RawMessage `json:"requestId"`
	} `json:"params"`
	Result struct {
		Session string `json:"sessionId"`
	} `json:"result"`
}

func same(a, b json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b)) }
