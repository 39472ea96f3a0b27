package wire

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// message is what the envelope of a JSON-RPC message says. Its parts are slices of the text that they were read from.
type message struct {
	text          []byte
	id            json.RawMessage // as it came; nil where there is none
	method        string
	params        json.RawMessage
	result, fault json.RawMessage // of the answer to a request of ours
	meta          meta
}

// meta is what a request says of itself in its _meta.
type meta struct {
	version      string
	capabilities json.RawMessage
	token        json.RawMessage
}

func (m *message) answer() bool       { return m.method == "" }
func (m *message) notification() bool { return m.method != "" && m.id == nil }

// modern reports whether the message says that it is of the protocol without sessions.
func (m *message) modern() bool { return mcp.IsModernProtocol(m.meta.version) }

// parse reads the envelope. The message has its id even where it is no good, if the id can be told.
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
	if fail := m.envelope(); fail != nil {
		return m, fail
	}
	return m, m.check()
}

// envelope reads the members. One that comes twice, or in capitals, would mean one thing here and another to mcp-go,
// which takes the last of any spelling.
func (m *message) envelope() *Error {
	var version, method json.RawMessage
	members := [...]struct {
		name string
		to   *json.RawMessage
	}{
		{"jsonrpc", &version}, {"id", &m.id}, {"method", &method},
		{"params", &m.params}, {"result", &m.result}, {"error", &m.fault},
	}
	for key, value := range fields(m.text) {
		for _, member := range members {
			if !strings.EqualFold(key, member.name) {
				continue
			}
			if key != member.name || *member.to != nil {
				return errorf(mcp.INVALID_REQUEST, "the member %q is there twice, or not spelled %q", key, member.name)
			}
			*member.to = value
		}
	}
	if string(version) != `"2.0"` {
		return errorf(mcp.INVALID_REQUEST, `the member "jsonrpc" is not "2.0"`)
	}
	if method != nil && unquote(method, &m.method) != nil {
		return errorf(mcp.INVALID_REQUEST, "the method is not a string")
	}
	return m.readMeta()
}

// check reports what makes the message neither a request nor a notification nor an answer.
func (m *message) check() *Error {
	answered := m.result != nil || m.fault != nil
	switch {
	case answered && m.method == "":
		return nil // an error for an error would go back and forth
	case m.id != nil && !validID(m.id):
		m.id = nil
		return errorf(mcp.INVALID_REQUEST, "the id is neither a string nor a number")
	case m.method == "":
		return errorf(mcp.INVALID_REQUEST, "the message has no method")
	case answered:
		return errorf(mcp.INVALID_REQUEST, "the message is both a request and an answer")
	}
	return nil
}

// validID is for tokens of progress too.
func validID(id json.RawMessage) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

func (m *message) readMeta() *Error {
	var found json.RawMessage
	for key, value := range fields(m.params) {
		if !strings.EqualFold(key, "_meta") {
			continue
		}
		if key != "_meta" || found != nil {
			return errorf(mcp.INVALID_REQUEST, "the member %q is there twice, or not spelled %q", key, "_meta")
		}
		found = value
	}
	for key, value := range fields(found) {
		switch key {
		case mcp.MetaKeyProtocolVersion:
			m.meta.version = ""
			_ = unquote(value, &m.meta.version)
		case mcp.MetaKeyClientCapabilities:
			m.meta.capabilities = value
		case "progressToken":
			m.meta.token = nil
			if validID(value) {
				m.meta.token = value
			}
		}
	}
	return nil
}

// unquote reads a JSON string.
func unquote(value json.RawMessage, to *string) error {
	if len(value) > 1 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		*to = string(value[1 : len(value)-1])
		return nil
	}
	return json.Unmarshal(value, to)
}

// fields are the members of an object, in their order; none where the text is something else. The text must be valid.
func fields(object json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		if len(object) == 0 || object[0] != '{' {
			return
		}
		for at := space(object, 1); object[at] != '}'; at = space(object, at) {
			if object[at] == ',' {
				at = space(object, at+1)
			}
			var key string
			end := valueEnd(object, at)
			_ = unquote(object[at:end], &key)
			at = space(object, space(object, end)+1) // past the colon
			end = valueEnd(object, at)
			if !yield(key, object[at:end:end]) {
				return
			}
			at = end
		}
	}
}

func space(text []byte, at int) int {
	for text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r' {
		at++
	}
	return at
}

// valueEnd is where the value that begins at at ends.
func valueEnd(text []byte, at int) int {
	switch text[at] {
	case '"':
		return stringEnd(text, at)
	case '{', '[':
		return nestedEnd(text, at)
	}
	for at < len(text) && strings.IndexByte(",]} \t\r\n", text[at]) < 0 {
		at++
	}
	return at
}

func stringEnd(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

func nestedEnd(text []byte, at int) int {
	for depth := 0; ; {
		switch text[at] {
		case '"':
			at = stringEnd(text, at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if at++; depth == 0 {
			return at
		}
	}
}
