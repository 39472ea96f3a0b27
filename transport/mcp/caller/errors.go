package caller

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// Require checks that the caller has the scope. If not, the request is answered with a JSON-RPC error that names it,
// whatever its handler returns: over HTTP the status is 403, so that the client can ask for a token with the scope.
func Require(ctx context.Context, scope auth.Scope) error {
	err := auth.Require(ctx, scope)
	if e, ok := errors.AsType[*messages.Error](err); ok {
		if x := wire.From(ctx); x != nil {
			x.Fail(&wire.Error{Code: mcp.INVALID_REQUEST, Message: e.Message, Data: ErrorData{e.Code}, Scope: scope})
		}
	}
	return err
}

// ErrorData goes with JSON-RPC errors that have a code of ours.
type ErrorData struct {
	Code messages.Code `json:"code"`
}

// RPCError returns the error as a JSON-RPC error where the client is to see it; any other is for the wire to log.
func RPCError(err error) error {
	e, coded := errors.AsType[*messages.Error](err)
	if !coded {
		return err
	}
	code := mcp.INVALID_PARAMS
	switch status := auth.ProblemOf(err).Status; {
	case e.Code == auth.CodeForbidden:
		code = mcp.INVALID_REQUEST
	case status >= http.StatusInternalServerError:
		code = mcp.INTERNAL_ERROR
	}
	return &wire.Error{Code: code, Message: e.Message, Data: ErrorData{e.Code}}
}

// Fail answers the request of the context with the error, if its client may see it.
func Fail(ctx context.Context, err error) {
	if e, ok := errors.AsType[*wire.Error](RPCError(err)); ok {
		wire.From(ctx).Fail(e)
	}
}

// NoMethod answers a method that the request's protocol version lacks.
func NoMethod() *wire.Error {
	return &wire.Error{Code: mcp.METHOD_NOT_FOUND, Message: "the protocol's version has no such method"}
}

// TasksExtension is the name of the tasks of 2026-07-28.
const TasksExtension = "io.modelcontextprotocol/tasks"

// missingCapability is the code of the error for a client that did not declare what the request needs.
const missingCapability = -32021

// NeedsTasks answers a request that only a client with the tasks extension can make.
func NeedsTasks() *wire.Error {
	extension := map[string]any{TasksExtension: struct{}{}}
	return &wire.Error{Code: missingCapability, Message: "missing required client capability: " + TasksExtension,
		Data: map[string]any{"requiredCapabilities": map[string]any{"extensions": extension}}}
}

// NoResource answers a request for a resource that is not there for the caller, whoever else may see it.
func NoResource(x *wire.Exchange, uri string) *wire.Error {
	code := mcp.RESOURCE_NOT_FOUND
	if x.Modern() {
		code = mcp.INVALID_PARAMS
	}
	return &wire.Error{Code: code, Message: "there is no resource " + uri, Data: map[string]string{"uri": uri}}
}

// Params reads the request's parameters.
func Params[T any](x *wire.Exchange) (T, error) {
	var p T
	if raw := x.Params(); len(raw) > 0 {
		if err := json.Unmarshal(raw, &p); err != nil {
			return p, messages.InvalidInput("the parameters are not understood: %v", err)
		}
	}
	return p, nil
}
