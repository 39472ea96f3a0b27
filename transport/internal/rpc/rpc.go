package rpc

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/transport/door"
)

// Server serves a protocol of JSON-RPC 2.0 over POST requests and WebSockets.
type Server struct {
	*door.Door
	// Known is the protocol version for a client that names none. Capabilities are what "initialize" returns.
	Known        string
	Capabilities map[string]any
	// Serve answers the calls of all methods but "initialize" and "ping". begun may be nil; it writes the notifications
	// that follow the reply. If begun fails on a POST, the connection is broken.
	Serve func(c *Caller, call jsonrpc.Call) (result any, begun func(to *Wire) error, err error)
}

// Caller describes where a call came from.
type Caller struct {
	Context context.Context
	Request *http.Request // the POST, or the request that opened the WebSocket
	Socket  bool          // whether the call came over a WebSocket
}

// Wire is the connection on which begun writes notifications.
type Wire struct {
	door.Connection
	// Emit adds a message to the next Flush. Beat writes something that keeps the connection open.
	Emit func(message []byte)
	Beat func()
}

// answer serves one call or a batch in order, and returns the reply and what must follow it. The reply is nil if the
// message has only notifications. Notifications are not served.
func (p *Server) answer(c *Caller, message []byte) (answer []byte, begun []func(to *Wire) error) {
	calls, batch, replies := jsonrpc.Calls(message)
	for _, call := range calls {
		if len(call.ID) == 0 {
			continue
		}
		result, run, err := p.serve(c, call)
		if replies = append(replies, jsonrpc.Reply(call, result, err)); err == nil && run != nil {
			begun = append(begun, run)
		}
	}
	switch {
	case len(replies) == 0:
		return nil, nil
	case batch:
		return door.JSON(replies), begun
	}
	return door.JSON(replies[0]), begun
}

// serve answers the calls that all protocols share, and passes the others to Serve.
func (p *Server) serve(c *Caller, call jsonrpc.Call) (result any, begun func(to *Wire) error, err error) {
	switch call.Method {
	case "initialize":
		var params struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		err = jsonrpc.Params(call, &params)
		return map[string]any{"protocolVersion": cmp.Or(params.ProtocolVersion, p.Known), "capabilities": p.Capabilities,
			"serverInfo": map[string]string{"name": "lastword", "version": p.Version}}, nil, err
	case "ping":
		return map[string]any{}, nil, nil
	}
	return p.Serve(c, call)
}

// Post serves the calls of a POST. The notifications that follow come after the reply, call by call, as server-sent
// events or JSON lines, whichever the Accept field asks for. If there is no reply, the status is 202.
func (p *Server) Post(w http.ResponseWriter, r *http.Request) error {
	body, err := door.Read(r)
	if err != nil {
		return err
	}
	answer, begun := p.answer(&Caller{Context: r.Context(), Request: r}, body)
	if len(begun) == 0 {
		w.Header().Set("Cache-Control", "no-store")
		if answer == nil {
			w.WriteHeader(http.StatusAccepted)
			return nil
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(p.Redact(answer)) // a client that left misses nothing
		return nil
	}
	kind, before, after, beat := "application/x-ndjson", "", "\n", "\n"
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		kind, before, after, beat = "text/event-stream", "data: ", "\n\n", ":\n\n"
	}
	out := p.Stream(w, kind)
	to := &Wire{Connection: out, Emit: func(message []byte) { _, _ = out.WriteString(before + string(message) + after) },
		Beat: func() { _, _ = out.WriteString(beat) }} // Flush reports the error
	to.Emit(answer)
	_ = out.Flush() // the next Flush fails too
	for _, run := range begun {
		if run(to) != nil {
			out.Break()
		}
	}
	return nil
}

// Open serves the calls of a WebSocket. Calls run side by side.
func (p *Server) Open(w http.ResponseWriter, r *http.Request) error {
	return p.Socket(w, r, func(socket *door.Socket) func([]byte) {
		c := &Caller{Context: socket.Context, Request: r, Socket: true}
		return func(message []byte) { socket.Call(func() { p.take(socket, c, message) }) }
	})
}

// take serves one message. It returns when everything that the message began has ended.
func (p *Server) take(socket *door.Socket, c *Caller, message []byte) {
	answer, begun := p.answer(c, message)
	if answer == nil || socket.Send(answer) != nil {
		return
	}
	var all sync.WaitGroup
	for _, run := range begun {
		frames := socket.Frames()
		to := &Wire{Connection: frames, Emit: frames.Add, Beat: func() {}} // the socket has its own pings
		all.Go(func() { _ = run(to) })                                     // the client knows why, or has left
	}
	all.Wait()
}
