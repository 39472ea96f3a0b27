package door

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Error codes of JSON-RPC 2.0.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	MethodNotFound = -32601
	InvalidParams  = -32602
	InternalError  = -32603
)

// maxBatch is the maximum number of messages in one batch. Each may have a long answer.
const maxBatch = 100

// Call is a call of JSON-RPC 2.0. A call without an ID is a notification, which gets no reply.
type Call struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// RPCMessage is a message of JSON-RPC 2.0 to a client: a request or notification with params, or a reply.
type RPCMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
}

// RPCError is the error object of a reply.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
	// Scope, if set, is the scope that the caller's token lacks.
	Scope auth.Scope `json:"-"`
}

// Error returns the message.

func (e *RPCError) Error() string { return e.Message }

// RPCErrorOf returns err as an RPCError: invalid params if the caller is at fault, else an internal error. Its data has
// the code of the problem and whether the call may be retried.
func RPCErrorOf(err error) *RPCError {
	if known, ok := errors.AsType[*RPCError](err); ok {
		return known
	}
	p := auth.ProblemOf(err)
	code := InternalError
	if p.Status < http.StatusInternalServerError && p.Status != http.StatusTooManyRequests {
		code = InvalidParams
	}
	return &RPCError{Code: code, Message: p.Detail, Data: map[string]any{"code": p.Code, "retryable": p.Retryable}}
}

// Notification returns a message of JSON-RPC that expects no reply.
func Notification(method string, params any) []byte {
	return JSON(RPCMessage{Version: "2.0", Method: method, Params: params})
}

// AnswerTo returns the reply to a call: the result, or the error if err is not nil.
func AnswerTo(c Call, result any, err error) []byte { return JSON(answerTo(c, result, err)) }

// answerTo returns the reply before it is JSON. A reply must have an id, if only null.
func answerTo(c Call, result any, err error) RPCMessage {
	r := RPCMessage{Version: "2.0", ID: c.ID, Result: result}
	if err != nil {
		r.Result, r.Error = nil, RPCErrorOf(err)
	}
	if len(r.ID) == 0 {
		r.ID = json.RawMessage("null")
	}
	return r
}

// Split returns the messages of a batch, or the message itself if it is none. Errors: an [RPCError].
func Split(message []byte) (each []json.RawMessage, batch bool, err *RPCError) {
	text := bytes.TrimSpace(message)
	switch {
	case !utf8.Valid(text) || !json.Valid(text):
		return nil, false, &RPCError{Code: ParseError, Message: "the message is not JSON in UTF-8"}
	case text[0] != '[':
		return []json.RawMessage{text}, false, nil
	}
	_ = json.Unmarshal(text, &each) // it is valid JSON
	if len(each) == 0 || len(each) > maxBatch {
		err = &RPCError{Code: InvalidRequest, Message: fmt.Sprintf("a batch has 1 to %d messages, not %d", maxBatch, len(each))}
	}
	return each, true, err
}

// calls decodes one call or a batch. It returns replies to those elements that are not valid calls.
func calls(body []byte) (calls []Call, batch bool, refused []RPCMessage) {
	raw, batch, err := Split(body)
	if err != nil {
		if batch {
			err.Message = "a batch has between 1 and 100 calls"
		}
		return nil, false, []RPCMessage{answerTo(Call{}, nil, err)}
	}
	for _, one := range raw {
		var c Call
		if json.Unmarshal(one, &c) != nil || c.Version != "2.0" || c.Method == "" || len(c.ID) > 0 && strings.ContainsRune("{[tf", rune(c.ID[0])) {
			refused = append(refused, answerTo(Call{}, nil, &RPCError{Code: InvalidRequest,
				Message: `a call has "jsonrpc":"2.0", a method, and an id that is a string or a number`}))
			continue
		}
		calls = append(calls, c)
	}
	return calls, batch, refused
}

// Params decodes the parameters of a call. Errors: an [RPCError] with InvalidParams.
func Params(c Call, into any) error {
	if len(c.Params) == 0 {
		return nil
	}
	err := json.Unmarshal(c.Params, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &RPCError{Code: InvalidParams,
			Message: fmt.Sprintf("the %s of %s must not be a JSON %s", cmp.Or(wrong.Field, "params"), c.Method, wrong.Value)}
	}
	return err
}

// JSON returns v as JSON. If v has no JSON form, it returns a JSON-RPC error object instead.
func JSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		data, _ = json.Marshal(answerTo(Call{}, nil, messages.Errorf(auth.CodeInternal, "%v", err))) // strings
	}
	return data
}

// RPC serves a protocol of JSON-RPC 2.0 over POST requests and WebSockets.
type RPC struct {
	*Door
	// Known is the protocol version for a client that names none. Capabilities are what "initialize" returns.
	Known        string
	Capabilities map[string]any
	// Serve answers the calls of all methods but "initialize" and "ping". begun may be nil; it writes the notifications
	// that follow the reply. If begun fails on a POST, the connection is broken.
	Serve func(c *Caller, call Call) (result any, begun func(to *Wire) error, err error)
}

// Caller describes where a call came from.
type Caller struct {
	Context context.Context
	Request *http.Request // the POST, or the request that opened the WebSocket
	Socket  bool          // whether the call came over a WebSocket
}

// Wire is the connection on which begun writes notifications.
type Wire struct {
	Connection
	// Emit adds a message to the next Flush. Beat writes something that keeps the connection open.
	Emit func(message []byte)
	Beat func()
}

// answer serves one call or a batch in order, and returns the reply and what must follow it. The reply is nil if the
// message has only notifications. Notifications are not served.
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

// serve answers the calls that all protocols share, and passes the others to Serve.
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

// Post serves the calls of a POST. The notifications that follow come after the reply, call by call, as server-sent
// events or JSON lines, whichever the Accept field asks for. If there is no reply, the status is 202.
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
func (p *RPC) Open(w http.ResponseWriter, r *http.Request) error {
	return p.Socket(w, r, func(socket *Socket) func([]byte) {
		c := &Caller{Context: socket.Context, Request: r, Socket: true}
		return func(message []byte) { socket.Call(func() { p.take(socket, c, message) }) }
	})
}

// take serves one message. It returns when everything that the message began has ended.
func (p *RPC) take(socket *Socket, c *Caller, message []byte) {
	answer, begun := p.answer(c, message)
	if answer == nil || socket.Send(answer) != nil {
		return
	}
	var all sync.WaitGroup
	for _, run := range begun {
		frames := socket.Frames()
		to := &Wire{Connection: frames, Emit: frames.Add, Beat: func() {}} // the socket has pings of its own
		all.Go(func() { _ = run(to) })                                     // the client knows why, or is gone
	}
	all.Wait()
}

// NoMethod returns the error for a method that a protocol does not have.
func NoMethod(c Call) error {
	return &RPCError{Code: MethodNotFound, Message: "there is no method " + c.Method}
}
