package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages/jsonwalk"
)

// message is the envelope of a JSON-RPC message. Its parts are slices of its text.
type message struct {
	text          []byte
	id            json.RawMessage // as written by the client; nil if there is none
	method        string
	params        json.RawMessage
	result, fault json.RawMessage // of the answer to a request of ours
	meta          meta
	batch         []batched // the requests of a batch; nil for other messages
	place         string    // where a request goes on whose stream broke
}

// meta is what a request declares in its _meta.
type meta struct {
	version      string
	capabilities json.RawMessage
	token        json.RawMessage
}

// goesOn reports whether the message stands for a request whose stream broke.
func (m *message) goesOn() bool { return m.text == nil && m.batch == nil }

func (m *message) answer() bool       { return m.method == "" }
func (m *message) notification() bool { return m.method != "" && m.id == nil }

// modern reports whether the message declares a protocol version without sessions.
func (m *message) modern() bool { return mcp.IsModernProtocol(m.meta.version) }

// parse reads the envelope. Even a bad message has its id if the id can be read.
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

// envelope reads the members. It refuses repeated members and other spellings: mcp-go takes the last one in any
// spelling, so that the two would read different messages.
func (m *message) envelope() *Error {
	var version, method json.RawMessage
	members := [...]struct {
		name string
		to   *json.RawMessage
	}{
		{"jsonrpc", &version}, {"id", &m.id}, {"method", &method},
		{"params", &m.params}, {"result", &m.result}, {"error", &m.fault},
	}
	var fail *Error
	jsonwalk.Object(m.text, func(key, value []byte) {
		for _, member := range members {
			if fail == nil && bytes.EqualFold(key, []byte(member.name)) {
				fail = take(key, value, member.name, member.to)
			}
		}
	})
	switch {
	case fail != nil:
		return fail
	case string(version) != `"2.0"`:
		return errorf(mcp.INVALID_REQUEST, `the member "jsonrpc" is not "2.0"`)
	case method != nil && method[0] != '"':
		return errorf(mcp.INVALID_REQUEST, "the method is not a string")
	}
	m.method = jsonwalk.Text(method)
	return m.readMeta()
}

// take sets the member. It refuses a repeated member and another spelling.
func take(key, value []byte, name string, to *json.RawMessage) *Error {
	if string(key) != name || *to != nil {
		return errorf(mcp.INVALID_REQUEST, "the member %q is repeated, or not spelled %q", key, name)
	}
	*to = value
	return nil
}

// check returns an error unless the message is a request, a notification or an answer.
func (m *message) check() *Error {
	answered := m.result != nil || m.fault != nil
	switch {
	case answered && m.method == "":
		return nil // answering an error with an error would never end
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

// validID checks progress tokens, too.
func validID(id json.RawMessage) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

func (m *message) readMeta() *Error {
	var found json.RawMessage
	var fail *Error
	jsonwalk.Object(m.params, func(key, value []byte) {
		if fail == nil && bytes.EqualFold(key, []byte("_meta")) {
			fail = take(key, value, "_meta", &found)
		}
	})
	if fail != nil {
		return fail
	}
	jsonwalk.Object(found, func(key, value []byte) {
		switch string(key) {
		case mcp.MetaKeyProtocolVersion:
			m.meta.version = jsonwalk.Text(value)
		case mcp.MetaKeyClientCapabilities:
			m.meta.capabilities = value
		case "progressToken":
			m.meta.token = nil
			if validID(value) {
				m.meta.token = value
			}
		}
	})
	return nil
}
