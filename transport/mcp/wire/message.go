package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages/jsonwalk"
)

// message is the envelope of a JSON-RPC message, or a batch.
type message struct {
	text          []byte
	id            json.RawMessage // as written by the client; nil if there is none
	method        string
	params        json.RawMessage
	result, fault json.RawMessage // of the answer to a request of ours
	meta          meta
	batch         []batched // the requests of a batch; nil for other messages
	others        []message // the notifications and answers of a batch
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

// wantsAnswer reports whether the message gets an answer.
func (m *message) wantsAnswer() bool { return m.batch != nil || m.method != "" && m.id != nil }

// unanswered are the notifications and answers in the message.
func (m *message) unanswered() []message {
	if m.wantsAnswer() || m.others != nil {
		return m.others
	}
	return []message{*m}
}

// modern reports whether the message declares a protocol version without sessions.
func (m *message) modern() bool { return mcp.IsModernProtocol(m.meta.version) }

// parse reads a message. Even a bad message has its id if the id can be read.
func parse(text []byte) (message, *Error) {
	m := message{text: bytes.TrimSpace(text)}
	var e struct {
		Version                   string `json:"jsonrpc"`
		Method                    *string
		ID, Params, Result, Error json.RawMessage
	}
	err := json.Unmarshal(m.text, &e)
	wrong, isWrong := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err != nil && !isWrong || !utf8.Valid(m.text):
		return m, errorf(mcp.PARSE_ERROR, "the message is not JSON in UTF-8")
	case m.text[0] == '[':
		return m, errorf(mcp.INVALID_REQUEST, "batches of messages are not supported: send one message at a time")
	case m.text[0] != '{':
		return m, errorf(mcp.INVALID_REQUEST, "the message is not a JSON object")
	}
	m.id, m.params, m.result, m.fault = e.ID, e.Params, e.Result, e.Error
	answered := m.result != nil || m.fault != nil
	switch {
	case ambiguous(m.text, "jsonrpc", "id", "method", "params", "result", "error") || ambiguous(m.params, "_meta"):
		return m, errorf(mcp.INVALID_REQUEST, "a member of the message is repeated, or not spelled as the protocol has it")
	case isWrong:
		return m, errorf(mcp.INVALID_REQUEST, "the member %q must not be a JSON %s", wrong.Field, wrong.Value)
	case e.Version != "2.0":
		return m, errorf(mcp.INVALID_REQUEST, `the member "jsonrpc" is not "2.0"`)
	case answered && e.Method == nil:
		return m, nil // answering an error with an error would never end
	case m.id != nil && !validID(m.id):
		m.id = nil
		return m, errorf(mcp.INVALID_REQUEST, "the id is neither a string nor a number")
	case e.Method == nil || *e.Method == "":
		return m, errorf(mcp.INVALID_REQUEST, "the message has no method")
	case answered:
		return m, errorf(mcp.INVALID_REQUEST, "the message is both a request and an answer")
	}
	m.method = *e.Method
	m.readMeta()
	return m, nil
}

// ambiguous reports whether a member of the names is repeated or spelled otherwise: whoever stands before this server may
// have read another one.
func ambiguous(object []byte, names ...string) (found bool) {
	seen := make([]bool, len(names))
	jsonwalk.Object(object, func(key, _ []byte) {
		for i, name := range names {
			if bytes.EqualFold(key, []byte(name)) {
				found = found || seen[i] || string(key) != name
				seen[i] = true
			}
		}
	})
	return found
}

// validID checks progress tokens, too.
func validID(id json.RawMessage) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

func (m *message) readMeta() {
	var p struct {
		Meta struct {
			Version      json.RawMessage `json:"io.modelcontextprotocol/protocolVersion"`
			Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
			Token        json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(m.params, &p) // what cannot be read is not declared
	_ = json.Unmarshal(p.Meta.Version, &m.meta.version)
	m.meta.capabilities = p.Meta.Capabilities
	if len(p.Meta.Token) > 0 && validID(p.Meta.Token) {
		m.meta.token = p.Meta.Token
	}
}
