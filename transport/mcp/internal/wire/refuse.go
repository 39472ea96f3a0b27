package wire

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Require returns an error if the caller lacks the scope. The request is then answered with a JSON-RPC error that names
// the scope, whatever its handler returns. Over HTTP the status is 403, so that the client can ask for a token with the
// scope.
func Require(ctx context.Context, scope auth.Scope) error {
	err := auth.Require(ctx, scope)
	if e, ok := errors.AsType[*messages.Error](err); ok {
		if x := From(ctx); x != nil {
			x.Fail(&Error{Code: mcp.INVALID_REQUEST, Message: e.Message, Data: map[string]any{"code": e.Code}, Scope: scope})
		}
	}
	return err
}

// RPCError returns err as a JSON-RPC error if the client may see it. Otherwise it returns err itself, which package
// wire logs and hides.
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
	return &Error{Code: code, Message: e.Message, Data: map[string]any{"code": e.Code}}
}

// Fail answers the request of ctx with the error, if its client may see it.
func Fail(ctx context.Context, err error) {
	if e, ok := errors.AsType[*Error](RPCError(err)); ok {
		From(ctx).Fail(e)
	}
}

// NoMethod returns the error for a method that does not exist in the request's protocol version.
func NoMethod() *Error {
	return &Error{Code: mcp.METHOD_NOT_FOUND, Message: "the protocol's version has no such method"}
}

// TasksExtension is the name of the extension for tasks in protocol version 2026-07-28.
const TasksExtension = "io.modelcontextprotocol/tasks"

// missingCapability is the error code for a client that did not declare a capability that the request needs.
const missingCapability = -32021

// NeedsTasks returns the error for a request that requires the tasks extension, from a client without it.
func NeedsTasks() *Error {
	extension := map[string]any{TasksExtension: struct{}{}}
	return &Error{Code: missingCapability, Message: "missing required client capability: " + TasksExtension,
		Data: map[string]any{"requiredCapabilities": map[string]any{"extensions": extension}}}
}

// NoResource returns the error for a resource that does not exist, or that belongs to another caller.
func NoResource(x *Exchange, uri string) *Error {
	code := mcp.RESOURCE_NOT_FOUND
	if x.Modern() {
		code = mcp.INVALID_PARAMS
	}
	return &Error{Code: code, Message: "there is no resource " + uri, Data: map[string]string{"uri": uri}}
}

// Params decodes the request's parameters. Errors: invalid_input.
func Params[T any](x *Exchange) (T, error) {
	var p T
	if raw := x.Params(); len(raw) > 0 {
		if err := json.Unmarshal(raw, &p); err != nil {
			return p, messages.InvalidInput("the parameters are not understood: %v", err)
		}
	}
	return p, nil
}
