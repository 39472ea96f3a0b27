package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/coder/acp-go-sdk"
)

// input gives the connection one line at a time. After a prompt it waits until that has begun or has been answered, so
// that what follows finds it; it cancels prompts itself, before any line after the cancel.
type input struct {
	editor    *editor
	from      io.Reader
	lines     *bufio.Reader
	rest      []byte
	connected chan struct{} // closed once there is a connection to answer with

	mu      sync.Mutex
	prompt  json.RawMessage // the ID of the prompt that the input waits for
	started chan struct{}   // closed once that has begun; nil without one
}

func (i *input) Read(p []byte) (int, error) {
	if i.lines == nil {
		<-i.connected
		i.lines = bufio.NewReaderSize(i.from, 64<<10)
	}
	if len(i.rest) == 0 {
		i.mu.Lock()
		started := i.started
		i.mu.Unlock()
		if started != nil {
			<-started
		}
		line, err := i.lines.ReadBytes('\n')
		if len(line) == 0 {
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
	if json.Unmarshal(line, &m) != nil {
		return // the connection says so
	}
	switch m.Method {
	case acp.AgentMethodSessionPrompt:
		i.mu.Lock()
		i.prompt, i.started = m.ID, make(chan struct{})
		i.mu.Unlock()
	case acp.AgentMethodSessionCancel:
		if s, err := i.editor.session(acp.SessionId(m.Params.Session)); err == nil {
			s.cancel(nil)
		}
	case "$/cancel_request":
		i.editor.mu.Lock()
		defer i.editor.mu.Unlock()
		for _, s := range i.editor.sessions {
			s.cancel(m.Params.Request)
		}
	}
}

// begun goes on after the prompt that the input waits for, and returns its ID.
func (i *input) begun() json.RawMessage {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started != nil {
		close(i.started)
		i.started = nil
	}
	return i.prompt
}

// answered goes on after a prompt that was refused.
func (i *input) answered(id json.RawMessage) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started != nil && same(id, i.prompt) {
		close(i.started)
		i.started = nil
	}
}

// output takes whole lines.
type output struct {
	to       io.Writer
	redact   func([]byte) []byte
	answered func(id json.RawMessage)

	mu   sync.Mutex
	next map[string][]byte // what follows the answer that names a new session
	err  error
}

// after writes the notification once the editor has the answer with the session: before that, editors drop it.
func (o *output) after(session string, notification any) {
	line, _ := json.Marshal(notification) // it is of JSON
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next == nil {
		o.next = map[string][]byte{}
	}
	o.next[session] = append(line, '\n')
}

func (o *output) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, more := len(line), []byte(nil)
	if !bytes.Contains(line[:min(len(line), 200)], []byte(`"method":`)) { // an answer
		var m message
		if json.Unmarshal(line, &m) == nil {
			more = o.next[m.Result.Session]
			delete(o.next, m.Result.Session)
			o.answered(m.ID)
		}
	}
	if _, o.err = o.to.Write(o.redact(append(bytes.Clone(line), more...))); o.err != nil {
		return 0, o.err
	}
	return n, nil
}

// failed is why the editor got no more, unless it has left.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.Is(o.err, io.ErrClosedPipe) {
		return nil
	}
	return o.err
}
