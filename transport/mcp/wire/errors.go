package wire

import (
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Causes (see context.Cause) with which the context of an exchange ends.
var (
	// ErrCanceled means that the client cancelled the request, either by notifications/cancelled or, over HTTP from
	// 2026-07-28 on, by closing the stream, which matches ErrDisconnected too. Match it with errors.Is: the text ends
	// with the client's reason.
	ErrCanceled = errors.New("the client cancelled the request")
	// ErrDisconnected means that the client has disconnected. Up to 2025-11-25 this does not cancel a request.
	ErrDisconnected = errors.New("the client disconnected")
)

// errStreamClosed matches both: over HTTP from 2026-07-28 on, clients cancel a request by closing its stream.
var errStreamClosed = fmt.Errorf("%w: %w", ErrCanceled, ErrDisconnected)

// errEnded means that the exchange has been answered.
var errEnded = errors.New("the request has its answer")

// Error is a JSON-RPC error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
	// Scope, if set, is the scope that the caller's token lacks. Over HTTP the response then has status 403 and names
	// the scope in WWW-Authenticate.
	Scope auth.Scope `json:"-"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Error codes that JSON-RPC leaves to the server, as the official SDKs use them.
const (
	codeBusy    = -32000
	codeSession = -32001
)

func errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func internalError() *Error {
	return &Error{Code: mcp.INTERNAL_ERROR, Message: "internal error"}
}
