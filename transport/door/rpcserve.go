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
	to, out := &Wire{}, (*Stream)(nil)
	answer, begun := Answer(body, func(call Call) (any, func(), error) {
		result, run, err := p.serve(&Caller{Context: r.Context(), Request: r}, call)
		if run == nil {
			return result, nil, err
		}
		return result, func() {
			if run(to) != nil {
				out.Break()
			}
		}, err
	})
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
	out = p.Stream(w, kind)
	to.Out = out
	to.Emit = func(message []byte) { _, _ = out.WriteString(before + string(message) + after) } // Flush fails
	to.Beat = func() { _, _ = out.WriteString(beat) }
	to.Emit(answer)
	_ = out.Flush() // so does the next one
	for _, run := range begun {
		run()
	}
	return nil
}

// Open answers the calls of a WebSocket. What a call began is written beside all others.
func (p *RPC) Open(w http.ResponseWriter, r *http.Request) error {
	return p.Socket(w, r, func(socket *Socket) func([]byte) {
		c := &Caller{Context: socket.Context, Request: r, Socket: true}
		return func(message []byte) { socket.Call(func() { p.answer(socket, c, message) }) }
	})
}

// answer returns when all that the message began has ended.
func (p *RPC) answer(socket *Socket, c *Caller, message []byte) {
	answer, begun := Answer(message, func(call Call) (any, func(), error) {
		result, run, err := p.serve(c, call)
		if run == nil {
			return result, nil, err
		}
		frames := socket.Frames()
		to := &Wire{Out: frames, Emit: frames.Add, Beat: func() {}} // the socket has pings
		return result, func() { _ = run(to) }, err                  // it has said so, or the connection is gone
	})
	if answer == nil || socket.Send(answer) != nil {
		return
	}
	var all sync.WaitGroup
	for _, run := range begun {
		all.Go(run)
	}
	all.Wait()
}

// NoMethod is the error for a method that a protocol lacks.
func NoMethod(c Call) error {
	return &RPCError{Code: MethodNotFound, Message: "there is no method " + c.Method}
}
