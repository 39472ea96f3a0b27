package door

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
)

// RPC serves a protocol of JSON-RPC 2.0, by POST and over a WebSocket.
type RPC struct {
	*Door
	// Known is the version of the protocol for a client that names none, and Capabilities are told by initialize.
	Known        string
	Capabilities map[string]any
	// Serve answers calls of all methods but initialize and ping. What the call began, which may be nil, writes to the wire
	// after the answer was sent; after its error the answer to a POST is broken off.
	Serve func(c *Caller, call Call) (result any, begun func(to *Wire) error, err error)
}

// Caller is who calls.
type Caller struct {
	Context context.Context
	Request *http.Request // the POST, or what opened the WebSocket
	Socket  bool          // the call came over a WebSocket
}

// Wire is where the notifications of what a call began are written.
type Wire struct {
	Out
	// Emit adds a message, and Beat what keeps the connection open.
	Emit func(message []byte)
	Beat func()
}

// answer answers a call or a batch, in order, and returns what the calls began. The answer is nil if nobody waits for one:
// notifications are left out.
func (p *RPC) answer(c *Caller, message []byte) (answer []byte, begun []func(to *Wire) error) {
	calls, batch, replies := calls(message)
	for _, call := range calls {
		if len(call.ID) == 0 {
			continue
		}
		result, run, err := p.serve(c, call)
		if replies = append(replies, answerTo(call, result, err)); err == nil && run != nil {
			begun = append(begun, run)
		}
	}
	switch {
	case len(replies) == 0:
		return nil, nil
	case batch:
		return JSON(replies), begun
	}
	return JSON(replies[0]), begun
}

func (p *RPC) serve(c *Caller, call Call) (result any, begun func(to *Wire) error, err error) {
	switch call.Method {
	case "initialize":
		var params struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		err = Params(call, &params)
		return map[string]any{"protocolVersion": cmp.Or(params.ProtocolVersion, p.Known), "capabilities": p.Capabilities,
			"serverInfo": map[string]string{"name": "lastword", "version": p.Version}}, nil, err
	case "ping":
		return map[string]any{}, nil, nil
	}
	return p.Serve(c, call)
}

// Post answers the calls of a POST, and then writes what they began, one after the other, as server-sent events or JSON
// lines, as Accept asks. Without an answer the status is 202.
func (p *RPC) Post(w http.ResponseWriter, r *http.Request) error {
	body, err := Read(r)
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
	to := &Wire{Out: out, Emit: func(message []byte) { _, _ = out.WriteString(before + string(message) + after) },
		Beat: func() { _, _ = out.WriteString(beat) }} // Flush fails
	to.Emit(answer)
	_ = out.Flush() // so does the next one
	for _, run := range begun {
		if run(to) != nil {
			out.Break()
		}
	}
	return nil
}

// Open answers the calls of a WebSocket. What a call began is written beside all others.
func (p *RPC) Open(w http.ResponseWriter, r *http.Request) error {
	return p.Socket(w, r, func(socket *Socket) func([]byte) {
		c := &Caller{Context: socket.Context, Request: r, Socket: true}
		return func(message []byte) { socket.Call(func() { p.take(socket, c, message) }) }
	})
}

// take returns when all that the message began has ended.
func (p *RPC) take(socket *Socket, c *Caller, message []byte) {
	answer, begun := p.answer(c, message)
	if answer == nil || socket.Send(answer) != nil {
		return
	}
	var all sync.WaitGroup
	for _, run := range begun {
		frames := socket.Frames()
		to := &Wire{Out: frames, Emit: frames.Add, Beat: func() {}} // the socket has pings
		all.Go(func() { _ = run(to) })                              // it has said why, or the connection is gone
	}
	all.Wait()
}

// NoMethod is the error for a method that a protocol lacks.
func NoMethod(c Call) error {
	return &RPCError{Code: MethodNotFound, Message: "there is no method " + c.Method}
}
