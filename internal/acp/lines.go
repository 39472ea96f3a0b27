package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/coder/acp-go-sdk"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/internal/lines"
)

// message holds the members that input and output look at.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Session string `json:"sessionId"`
	} `json:"params"`
	Result struct {
		Session string `json:"sessionId"`
	} `json:"result"`
}

// input gives the connection one line at a time. After a prompt it waits until the prompt has begun or was answered, so
// that later messages find it. It handles cancels of prompts itself, before it passes on any later line.
//
// mu guards the fields below it, which output changes too.
type input struct {
	editor    *editor
	lines     *lines.Reader
	to        *lines.Writer
	rest      []byte
	connected chan struct{} // closed when there is a connection to answer on

	mu     sync.Mutex
	prompt json.RawMessage // the ID of the prompt that input waits for
	begun  chan struct{}   // closed when that prompt has begun; nil without one
}

// maxMessage is the maximum size of a message in bytes. A longer one is refused, without its ID.
const maxMessage = 16 << 20

// Read returns bytes of one line only.
func (i *input) Read(p []byte) (int, error) {
	<-i.connected
	if len(i.rest) == 0 {
		i.mu.Lock()
		begun := i.begun
		i.mu.Unlock()
		if begun != nil {
			<-begun
		}
		line, err := i.lines.Next()
		for ; errors.Is(err, lines.ErrLong); line, err = i.lines.Next() {
			err := &jsonrpc.RPCError{Code: jsonrpc.InvalidRequest, Message: fmt.Sprintf("the message is longer than %d bytes", maxMessage)}
			_ = i.to.Append(i.editor.ctx, bytes.TrimSpace(jsonrpc.AnswerTo(jsonrpc.Call{}, nil, err))) // whoever reads no more ends the connection
		}
		if err != nil {
			return 0, err
		}
		i.look(line)
		i.rest = line
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// look examines a line for prompts and cancels.
func (i *input) look(line []byte) {
	var m message
	_ = json.Unmarshal(line, &m) // the connection reports errors
	switch m.Method {
	case acp.AgentMethodSessionPrompt:
		i.mu.Lock()
		defer i.mu.Unlock()
		i.prompt, i.begun = m.ID, make(chan struct{})
	case acp.AgentMethodSessionCancel:
		if s, err := i.editor.session(m.Params.Session); err == nil {
			s.cancel()
		}
	}
}

// goOn ends the wait for the prompt with the ID; nil means any prompt.
func (i *input) goOn(id json.RawMessage) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.begun != nil && (id == nil || bytes.Equal(id, i.prompt)) {
		close(i.begun)
		i.begun = nil
	}
}

// output gets complete lines, one at a time.
type output struct {
	editor *editor
	to     *lines.Writer
}

// Write writes a line. After a response that names a new session, it writes that session's commands, because editors
// ignore updates of sessions that they do not know yet.
func (o output) Write(line []byte) (int, error) {
	all := bytes.Clone(line)
	if !bytes.Contains(line[:min(len(line), 200)], []byte(`"method":`)) { // a response
		var m message
		_ = json.Unmarshal(line, &m) // it is our own
		o.editor.in.goOn(m.ID)
		if m.Result.Session != "" {
			all = append(all, jsonrpc.Notification(acp.ClientMethodSessionUpdate, object{"sessionId": m.Result.Session, "update": o.editor.commands()})...)
		}
	}
	return len(line), o.to.Append(context.Background(), bytes.TrimSuffix(all, []byte("\n")))
}
