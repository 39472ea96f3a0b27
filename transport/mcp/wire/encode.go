package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// outgoing is a message to a client: a request or a notification with its params, or an answer.
type outgoing struct {
	id, method string
	member     string // params, result or error
	value      any
}

// encode returns the message as JSON on one line. A marshaler that panics is an error: nobody may recover further up.
func encode(m outgoing) (message []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be encoded as JSON: panic: %v", p)
		}
	}()
	value, err := json.Marshal(m.value)
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, len(m.id)+len(m.method)+len(value)+64), `{"jsonrpc":"2.0"`...)
	if m.id != "" {
		b = append(append(b, `,"id":`...), m.id...)
	}
	if m.method != "" {
		b = append(append(append(b, `,"method":"`...), m.method...), '"')
	}
	if m.value != nil || m.member == "result" {
		b = append(append(append(append(b, `,"`...), m.member...), `":`...), value...)
	}
	return append(b, '}'), nil
}

// encodeAnswer returns the answer to the request with the id: its error, else its result.
func encodeAnswer(id json.RawMessage, o outcome) ([]byte, error) {
	switch {
	case o.batch != nil:
		return append(append([]byte{'['}, bytes.Join(o.batch, []byte{','})...), ']'), nil
	case id == nil:
		id = json.RawMessage("null")
	}
	if o.fail != nil {
		return encode(outgoing{id: string(id), member: "error", value: o.fail})
	}
	return encode(outgoing{id: string(id), member: "result", value: o.result})
}

// withModernFields adds what every result has from 2026-07-28 on: resultType, and the server's name in _meta.
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
