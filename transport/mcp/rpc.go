package mcp

import (
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// missingCapability is the code of the error for a client that did not declare what the request needs.
const missingCapability = -32021

// errorData goes with JSON-RPC errors that have a code of ours.
type errorData struct {
	Code messages.Code `json:"code"`
}

// rpcError returns the error as a JSON-RPC error where the client is to see it; any other is for the wire to log.
func rpcError(err error) error {
	e, coded := errors.AsType[*messages.Error](err)
	if !coded {
		return err
	}
	data := errorData{e.Code}
	switch e.Code {
	case messages.Code(messages.CauseInvalidInput), messages.Code(messages.CauseLimitExceeded), messages.CodeNotFound,
		messages.CodeConflict, messages.CodeEventsGone, messages.CodeReset:
		return &wire.Error{Code: mcp.INVALID_PARAMS, Message: e.Message, Data: data}
	case codeForbidden:
		return &wire.Error{Code: mcp.INVALID_REQUEST, Message: e.Message, Data: data}
	case messages.CodeUnavailable:
		return &wire.Error{Code: mcp.INTERNAL_ERROR, Message: e.Message, Data: data}
	}
	return err
}

// noMethod is the answer to a method that the request's protocol does not have.
func noMethod() *wire.Error {
	return &wire.Error{Code: mcp.METHOD_NOT_FOUND, Message: "the protocol's version has no such method"}
}

// needsTasks is the answer to a request that only a client with the tasks extension can make.
func needsTasks() *wire.Error {
	extension := map[string]any{tasksExtension: struct{}{}}
	return &wire.Error{Code: missingCapability, Message: "missing required client capability: " + tasksExtension,
		Data: map[string]any{"requiredCapabilities": map[string]any{"extensions": extension}}}
}

// paramsOf reads the request's parameters.
func paramsOf[T any](x *wire.Exchange) (T, error) {
	var p T
	if raw := x.Params(); len(raw) > 0 {
		if err := json.Unmarshal(raw, &p); err != nil {
			return p, invalid("the parameters are not understood: %v", err)
		}
	}
	return p, nil
}
