package door

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

// maxBatch is the maximum number of calls in one batch.
const maxBatch = 100

// Call is a call of JSON-RPC 2.0. A call without an ID is a notification, which gets no reply.
type Call struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// reply is the reply to a call: a result or an error.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
}

// RPCError is the error object of a reply.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

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
	return JSON(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
}

// AnswerTo returns the reply to a call: the result, or the error if err is not nil.
func AnswerTo(c Call, result any, err error) []byte { return JSON(answerTo(c, result, err)) }

func answerTo(c Call, result any, err error) reply {
	r := reply{Version: "2.0", ID: c.ID, Result: result}
	if err != nil {
		r.Result, r.Error = nil, RPCErrorOf(err)
	}
	if len(r.ID) == 0 {
		r.ID = json.RawMessage("null")
	}
	return r
}

// calls decodes one call or a batch. It returns replies to those elements that are not valid calls.
func calls(body []byte) (calls []Call, batch bool, refused []reply) {
	refuse := func(code int, message string) {
		refused = append(refused, answerTo(Call{}, nil, &RPCError{Code: code, Message: message}))
	}
	var raw []json.RawMessage
	switch {
	case !utf8.Valid(body) || !json.Valid(body):
		refuse(ParseError, "the message is not JSON in UTF-8")
		return nil, false, refused
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")):
		batch = true
		if json.Unmarshal(body, &raw) != nil || len(raw) == 0 || len(raw) > maxBatch {
			refuse(InvalidRequest, "a batch has between 1 and 100 calls")
			return nil, false, refused
		}
	default:
		raw = []json.RawMessage{body}
	}
	for _, one := range raw {
		var c Call
		if json.Unmarshal(one, &c) != nil || c.Version != "2.0" || c.Method == "" || len(c.ID) > 0 && strings.ContainsRune("{[tf", rune(c.ID[0])) {
			refuse(InvalidRequest, `a call has "jsonrpc":"2.0", a method, and an id that is a string or a number`)
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
