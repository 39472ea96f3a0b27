package wire

import (
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages/words"
	"github.com/seed889630bf/lastword/transport/gate"
)

// Causes of the end of an exchange's context, for context.Cause.
var (
	// ErrCanceled: the client cancelled the request (notifications/cancelled; over HTTP from 2026-07-28 also by closing
	// the stream, and then it is ErrDisconnected too). errors.Is; the error's text ends in the client's reason.
	ErrCanceled = errors.New("the client cancelled the request")
	// ErrDisconnected: the client is gone, which up to 2025-11-25 says nothing about what it wants.
	ErrDisconnected = errors.New("the client disconnected")
)

// errStreamClosed is both: over HTTP from 2026-07-28 a client has no other way to cancel, and none to leave otherwise.
var errStreamClosed = fmt.Errorf("%w: %w", ErrCanceled, ErrDisconnected)

// errEnded: the exchange has its result.
var errEnded = errors.New("the request has its answer")

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
	Data    any
	// Scope is what the caller's token lacks. Over HTTP the answer then has status 403 and names it in WWW-Authenticate.
	Scope gate.Scope
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Codes that JSON-RPC leaves to the server, as the official SDKs use them.
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

// canceled is ErrCanceled with the client's reason.
func canceled(reason string) error {
	if reason == "" {
		return ErrCanceled
	}
	return fmt.Errorf("%w: %s", ErrCanceled, words.Clip(reason, 200))
}
