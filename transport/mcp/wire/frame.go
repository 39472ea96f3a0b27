package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages/jsonwalk"
)

const (
	eventHead = "event: message\ndata: "
	eventTail = "\n\n"
	// keptFrame bounds the buffers that are kept for later messages.
	keptFrame = 64 << 10
)

// frame is an outgoing message, built once with what either transport puts around it.
type frame struct {
	buffer  bytes.Buffer
	encoder *json.Encoder
	held    bool // it may still be read: HTTP/2 abandons writes in progress
}

var frames = sync.Pool{New: func() any {
	f := new(frame)
	f.encoder = json.NewEncoder(&f.buffer)
	return f
}}

func newFrame() *frame {
	f := frames.Get().(*frame)
	f.buffer.Reset()
	f.buffer.WriteString(eventHead)
	f.buffer.WriteString(`{"jsonrpc":"2.0"`)
	return f
}

func (f *frame) free() {
	if !f.held && f.buffer.Cap() <= keptFrame {
		frames.Put(f)
	}
}

// value appends the value as JSON on one line. If its marshaler panics, that is an error: nobody may recover further
// up.
func (f *frame) value(v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be encoded as JSON: panic: %v", p)
		}
	}()
	if err := f.encoder.Encode(v); err != nil {
		return err
	}
	f.buffer.Truncate(f.buffer.Len() - 1)
	return nil
}

func (f *frame) close() {
	f.buffer.WriteByte('}')
	f.buffer.WriteString(eventTail)
}

// event returns the message as a server-sent event, line with a newline, json alone.
func (f *frame) event() []byte { return f.buffer.Bytes() }
func (f *frame) line() []byte  { return f.buffer.Bytes()[len(eventHead) : f.buffer.Len()-1] }
func (f *frame) json() []byte {
	return f.buffer.Bytes()[len(eventHead) : f.buffer.Len()-len(eventTail)]
}

// redact removes what no client may read.
func (s *Server) redact(f *frame) {
	if s.config.Redact == nil {
		return
	}
	message := f.json()
	if quiet := s.config.Redact(message); !bytes.Equal(quiet, message) {
		f.buffer.Truncate(len(eventHead))
		f.buffer.Write(quiet)
		f.buffer.WriteString(eventTail)
	}
}

// callFrame returns a request of the server, or a notification if id is empty.
func callFrame(id, method string, params any) (*frame, error) {
	f := newFrame()
	if id != "" {
		f.buffer.WriteString(`,"id":`)
		f.buffer.WriteString(id)
	}
	f.buffer.WriteString(`,"method":`)
	if err := f.name(method); err != nil {
		return nil, err
	}
	if params != nil {
		f.buffer.WriteString(`,"params":`)
		if err := f.value(params); err != nil {
			return nil, err
		}
	}
	f.close()
	return f, nil
}

func (f *frame) name(method string) error {
	if strings.ContainsFunc(method, special) {
		return f.value(method)
	}
	f.buffer.WriteByte('"')
	f.buffer.WriteString(method)
	f.buffer.WriteByte('"')
	return nil
}

func special(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

// answerFrame returns the answer to the request with the id: its error, else its result.
func answerFrame(id json.RawMessage, o outcome) (*frame, error) {
	f := newFrame()
	if o.batch != nil {
		f.buffer.Truncate(len(eventHead))
		f.buffer.WriteByte('[')
		f.buffer.Write(bytes.Join(o.batch, []byte{','}))
		f.buffer.WriteByte(']')
		f.buffer.WriteString(eventTail)
		return f, nil
	}
	f.buffer.WriteString(`,"id":`)
	if id == nil {
		id = json.RawMessage("null")
	}
	f.buffer.Write(id)
	var err error
	if o.fail != nil {
		f.buffer.WriteString(`,"error":`)
		err = f.value(mcp.JSONRPCErrorDetails{Code: o.fail.Code, Message: o.fail.Message, Data: o.fail.Data})
	} else {
		f.buffer.WriteString(`,"result":`)
		err = f.value(o.result)
	}
	if err != nil {
		return nil, err
	}
	f.close()
	return f, nil
}

// withModernFields adds what every result has from 2026-07-28 on: resultType, and the server's name in _meta.
func (s *Server) withModernFields(result any) (json.RawMessage, error) {
	text, err := json.Marshal(result)
	if err != nil || len(text) == 0 || text[0] != '{' {
		return text, err
	}
	var out bytes.Buffer
	typed, named := false, s.info == nil
	jsonwalk.Object(text, func(key, value []byte) {
		typed = typed || string(key) == "resultType"
		if string(key) == "_meta" && !named {
			value, named = s.withServerInfo(value), true
		}
		member(&out, string(key), value)
	})
	if !typed {
		member(&out, "resultType", []byte(`"complete"`))
	}
	if !named {
		member(&out, "_meta", s.withServerInfo(nil))
	}
	return append(out.Bytes(), '}'), nil
}

// withServerInfo returns the _meta object with the server's name.
func (s *Server) withServerInfo(object json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	has := false
	jsonwalk.Object(object, func(key, value []byte) {
		has = has || string(key) == mcp.MetaKeyServerInfo
		member(&out, string(key), value)
	})
	if has {
		return object
	}
	member(&out, mcp.MetaKeyServerInfo, s.info)
	return append(out.Bytes(), '}')
}

func member(out *bytes.Buffer, key string, value []byte) {
	if out.Len() == 0 {
		out.WriteByte('{')
	} else {
		out.WriteByte(',')
	}
	name, _ := json.Marshal(key)
	out.Write(name)
	out.WriteByte(':')
	out.Write(value)
}
