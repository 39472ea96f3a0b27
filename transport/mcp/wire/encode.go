package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// outgoing is a message to a client: a request or notification with params, or an answer.
type outgoing struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// encode returns the message as JSON on one line. A marshaler that panics becomes an error, because callers do not
// recover.
func encode(m outgoing) (message []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be encoded as JSON: panic: %v", p)
		}
	}()
	m.Version = "2.0"
	return json.Marshal(m)
}

// encodeAnswer returns the answer to the request with the id: the error of o if there is one, else the result.
func encodeAnswer(id json.RawMessage, o outcome) ([]byte, error) {
	if o.batch != nil {
		return append(append([]byte{'['}, bytes.Join(o.batch, []byte{','})...), ']'), nil
	}
	m := outgoing{ID: id, Result: o.result, Error: o.fail}
	switch {
	case id == nil:
		m.ID = json.RawMessage("null")
	case o.fail != nil:
		m.Result = nil
	case o.result == nil:
		m.Result = json.RawMessage("null")
	}
	return encode(m)
}

// withModernFields adds the members that every result has from 2026-07-28 on: resultType, and the server's name in
// _meta.
func (s *Server) withModernFields(result any) (any, error) {
	text, err := json.Marshal(result)
	if err != nil || len(text) == 0 || text[0] != '{' {
		return json.RawMessage(text), err
	}
	fields := map[string]json.RawMessage{"resultType": json.RawMessage(`"complete"`)}
	meta := map[string]json.RawMessage{mcp.MetaKeyServerInfo: s.info}
	err = json.Unmarshal(text, &fields)
	if own := fields["_meta"]; err == nil && own != nil {
		err = json.Unmarshal(own, &meta)
	}
	if err == nil && s.info != nil {
		fields["_meta"], err = json.Marshal(meta)
	}
	return fields, err
}
