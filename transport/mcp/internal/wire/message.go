package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages"
)

// message is a parsed JSON-RPC message, or a batch.
type message struct {
	text          []byte          // the whole message
	id            json.RawMessage // as written by the client; nil if there is none
	method        string
	params        json.RawMessage
	result, fault json.RawMessage // of an answer to a question of the server
	meta          meta
	batch         []batched // the requests of a batch; nil if the message is no batch
	others        []message // the notifications and answers of a batch
	place         string    // where to continue a request whose stream broke
}

// meta is what a request declares in its _meta member.
type meta struct {
	all          json.RawMessage // the whole member; nil if there is none
	version      string
	capabilities json.RawMessage
	token        json.RawMessage // the progress token
	trace        messages.Trace
}

func (m *message) answer() bool { return m.method == "" }

// wantsAnswer reports whether the message gets an answer.
func (m *message) wantsAnswer() bool { return m.batch != nil || m.method != "" && m.id != nil }

// unanswered returns the notifications and answers in the message.
func (m *message) unanswered() []message {
	if m.wantsAnswer() || m.others != nil {
		return m.others
	}
	return []message{*m}
}

// modern reports whether the message declares a protocol version without sessions.
func (m *message) modern() bool { return mcp.IsModernProtocol(m.meta.version) }

// parse parses a message. Even an invalid message gets its id, if that can be read.
func parse(text []byte) (message, *Error) {
	m := message{text: bytes.TrimSpace(text)}
	switch {
	case !json.Valid(m.text) || !utf8.Valid(m.text):
		return m, errorf(mcp.PARSE_ERROR, "the message is not JSON in UTF-8")
	case m.text[0] == '[':
		return m, errorf(mcp.INVALID_REQUEST, "batches of messages are not supported: send one message at a time")
	case m.text[0] != '{':
		return m, errorf(mcp.INVALID_REQUEST, "the message is not a JSON object")
	}
	var version, method, declared json.RawMessage
	exact := members(m.text, []string{"jsonrpc", "id", "method", "params", "result", "error"},
		&version, &m.id, &method, &m.params, &m.result, &m.fault)
	answered := m.result != nil || m.fault != nil
	switch {
	case !exact || !members(m.params, []string{"_meta"}, &m.meta.all):
		return m, errorf(mcp.INVALID_REQUEST, "a member of the message is repeated, or not spelled as the protocol has it")
	case string(version) != `"2.0"`:
		return m, errorf(mcp.INVALID_REQUEST, `the member "jsonrpc" is not "2.0"`)
	case answered && method == nil:
		return m, nil // an error in reply to an error could go on for ever
	case m.id != nil && !validID(m.id):
		m.id = nil
		return m, errorf(mcp.INVALID_REQUEST, "the id is neither a string nor a number")
	case jsonwalk.Text(method) == "":
		return m, errorf(mcp.INVALID_REQUEST, "the message has no method, or one that is not a string")
	case answered:
		return m, errorf(mcp.INVALID_REQUEST, "the message is both a request and an answer")
	}
	m.method = jsonwalk.Text(method)
	members(m.meta.all, []string{mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientCapabilities, "progressToken"},
		&declared, &m.meta.capabilities, &m.meta.token)
	m.meta.trace = messages.ReadTrace(func(name string) (text string) {
		var value json.RawMessage
		members(m.meta.all, []string{name}, &value)
		return jsonwalk.Text(value)
	})
	m.meta.version = jsonwalk.Text(declared)
	if m.meta.token != nil && !validID(m.meta.token) {
		m.meta.token = nil
	}
	return m, nil
}

// members sets to[i] to the member of the object called names[i]. It returns false if a member is repeated or differs
// in case, because mcp-go or a proxy may have read the other one.
func members(object []byte, names []string, to ...*json.RawMessage) (exact bool) {
	exact = true
	jsonwalk.Object(object, func(key, value []byte) {
		for i, name := range names {
			if !bytes.EqualFold(key, []byte(name)) {
				continue
			}
			exact = exact && string(key) == name && *to[i] == nil
			if string(key) == name {
				*to[i] = value
			}
		}
	})
	return exact
}

// validID reports whether id is a string or a number. It is used for progress tokens too.
func validID(id json.RawMessage) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

// encode returns the message as JSON on one line. A marshaler that panics becomes an error, because callers do not
// recover.
func encode(m jsonrpc.RPCMessage) (message []byte, err error) {
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
	m := jsonrpc.RPCMessage{ID: id, Result: o.result, Error: o.fail}
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
