package standin

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// MCPServer is a MCP server whose answers a test scripts, over lines of JSON.
type MCPServer struct {
	// Modern selects protocol version 2026-07-28; otherwise it is 2025-11-25.
	Modern bool
	// Handle answers tools/list and tools/call, in its own goroutine.
	Handle func(s *MCPSession, method string, params json.RawMessage) (result any, err error)
}

// MCPSession is the connection to one client. It is safe for concurrent use.
type MCPSession struct {
	mu      sync.Mutex
	out     io.Writer
	asked   int
	answers map[string]chan json.RawMessage
}

// rpcMessage is a message of JSON-RPC: a request, a notification or a response.
type rpcMessage struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// Serve answers the client until its input ends.
func (m MCPServer) Serve(in io.Reader, out io.Writer) {
	s := &MCPSession{out: out, answers: map[string]chan json.RawMessage{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var got rpcMessage
		switch {
		case json.Unmarshal(line, &got) != nil:
		case got.Method == "":
			s.mu.Lock()
			answer := s.answers[string(got.ID)]
			s.mu.Unlock()
			if answer != nil {
				answer <- append(got.Result, got.Error...) // one of them is there
			}
		case len(got.ID) > 0:
			go s.answer(m, got)
		}
	}
}

// answer answers a request. A server begins only in the way of its own version of the protocol.
func (s *MCPSession) answer(m MCPServer, got rpcMessage) {
	info := map[string]any{"name": "scripted", "version": "1"}
	able := map[string]any{"tools": map[string]any{"listChanged": true}}
	var result any
	err := fmt.Errorf("there is no method %s", got.Method)
	switch got.Method {
	case "server/discover":
		if m.Modern {
			result, err = map[string]any{"resultType": "complete", "supportedVersions": []string{"2026-07-28"}, "capabilities": able,
				"serverInfo": info}, nil
		}
	case "initialize":
		if !m.Modern {
			result, err = map[string]any{"protocolVersion": "2025-11-25", "capabilities": able, "serverInfo": info}, nil
		}
	case "tools/list", "tools/call", "tasks/get", "tasks/update":
		result, err = m.Handle(s, got.Method, got.Params)
	}
	if err != nil {
		s.send(map[string]any{"id": got.ID, "error": map[string]any{"code": -32601, "message": err.Error()}})
		return
	}
	s.send(map[string]any{"id": got.ID, "result": result})
}

// Notify sends a notification.
func (s *MCPSession) Notify(method string, params any) {
	s.send(map[string]any{"method": method, "params": params})
}

// Ask sends a request and returns the client's result, or its error.
func (s *MCPSession) Ask(method string, params any) json.RawMessage {
	answer := make(chan json.RawMessage, 1)
	s.mu.Lock()
	s.asked++
	id := fmt.Sprint(s.asked)
	s.answers[id] = answer
	s.mu.Unlock()
	s.send(map[string]any{"id": json.RawMessage(id), "method": method, "params": params})
	return <-answer
}

func (s *MCPSession) send(message map[string]any) {
	message["jsonrpc"] = "2.0"
	line, err := json.Marshal(message)
	if err != nil {
		panic(err) // of the script
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(append(line, '\n')) // a client that has left is no concern of the script
}
