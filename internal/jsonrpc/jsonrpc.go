package jsonrpc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
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
	return encode(RPCMessage{Version: "2.0", Method: method, Params: params})
}

// AnswerTo returns the reply to a call: the result, or the error if err is not nil.
func AnswerTo(c Call, result any, err error) []byte { return encode(Reply(c, result, err)) }

// Reply returns the reply before it is JSON. A reply must have an id, if only null.
func Reply(c Call, result any, err error) RPCMessage {
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

// Calls decodes one call or a batch. It returns replies to those elements that are not valid calls.
func Calls(body []byte) (calls []Call, batch bool, refused []RPCMessage) {
	raw, batch, err := Split(body)
	if err != nil {
		if batch {
			err.Message = "a batch has between 1 and 100 calls"
		}
		return nil, false, []RPCMessage{Reply(Call{}, nil, err)}
	}
	for _, one := range raw {
		var c Call
		if json.Unmarshal(one, &c) != nil || c.Version != "2.0" || c.Method == "" || len(c.ID) > 0 && strings.ContainsRune("{[tf", rune(c.ID[0])) {
			if len(c.ID) > 0 && strings.ContainsRune("{[tf", rune(c.ID[0])) {
				c.ID = nil
			}
			refused = append(refused, Reply(Call{ID: c.ID}, nil, &RPCError{Code: InvalidRequest,
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
	if err != nil { // of a time, for example
		return &RPCError{Code: InvalidParams, Message: fmt.Sprintf("the params of %s: %v", c.Method, err)}
	}
	return nil
}

// NoMethod returns the error for a method that a protocol does not have.
func NoMethod(c Call) error {
	return &RPCError{Code: MethodNotFound, Message: "there is no method " + c.Method}
}

// encode returns v as JSON, or the error that it has none.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		data, _ = json.Marshal(Reply(Call{}, nil, messages.Errorf(auth.CodeInternal, "%v", err))) // strings
	}
	return data
}
