package acp

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"github.com/coder/acp-go-sdk"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/internal/lines"
)

// message is what the input and the output look at.
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

// input gives the connection one line at a time. After a prompt it waits until that has begun or has been answered, so
// that what follows finds it; it cancels prompts itself, before any line after the cancel.
type input struct {
	editor    *editor
	lines     *lines.Reader
	rest      []byte
	connected chan struct{} // closed once there is a connection to answer with

	mu     sync.Mutex
	prompt json.RawMessage // the ID of the prompt that the input waits for
	begun  chan struct{}   // closed once that has begun; nil without one
}

// maxMessage is the most bytes of a message: a longer one ends the connection.
const maxMessage = 16 << 20

func newInput(e *editor, from io.Reader) *input {
	return &input{editor: e, lines: lines.NewReader(from, maxMessage), connected: make(chan struct{})}
}

// Read reads of one line.
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

func (i *input) look(line []byte) {
	var m message
	_ = json.Unmarshal(line, &m) // the connection says what is wrong
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

// goOn goes on after the prompt of the ID; nil is whichever the input waits for.
func (i *input) goOn(id json.RawMessage) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.begun != nil && (id == nil || bytes.Equal(id, i.prompt)) {
		close(i.begun)
		i.begun = nil
	}
}

// output takes whole lines, one after the other.
type output struct {
	editor *editor
	to     io.Writer
}

// Write writes the line. Behind the answer that names a new session come the session's commands: editors drop what
// they are told of a session that they do not know.
func (o output) Write(line []byte) (int, error) {
	all := bytes.Clone(line)
	if !bytes.Contains(line[:min(len(line), 200)], []byte(`"method":`)) { // an answer
		var m message
		_ = json.Unmarshal(line, &m) // our own
		o.editor.in.goOn(m.ID)
		if m.Result.Session != "" {
			all = append(all, door.Notification(acp.ClientMethodSessionUpdate, object{"sessionId": m.Result.Session, "update": o.editor.commands()})...)
			all = append(all, '\n')
		}
	}
	_, err := o.to.Write(o.editor.Door.Redact(all))
	return len(line), err
}
