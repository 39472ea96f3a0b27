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
	// keptFrame is the most bytes of a buffer that is kept for the next message.
	keptFrame = 64 << 10
)

// frame is a message on its way out, built once in the middle of what either transport puts around it.
type frame struct {
	buffer  bytes.Buffer
	encoder *json.Encoder
	held    bool // it may still be read: HTTP/2 gives up writes that are under way
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

// value appends the value as JSON on one line, whatever its marshaler wrote. That a marshaler panics is an error here,
// as it may be called where nobody recovers.
func (f *frame) value(v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its JSON cannot be made: panic: %v", p)
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

// event is the message as an event of a stream, line with a newline behind it, json by itself.
func (f *frame) event() []byte { return f.buffer.Bytes() }
func (f *frame) line() []byte  { return f.buffer.Bytes()[len(eventHead) : f.buffer.Len()-1] }
func (f *frame) json() []byte {
	return f.buffer.Bytes()[len(eventHead) : f.buffer.Len()-len(eventTail)]
}

// clean takes out of a message what no client is to read.
func (s *Server) clean(f *frame) {
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

// callFrame is a request of ours, or without an id a notification.
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

// answerFrame is the answer to the request of the id: an error, else the result.
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

// decorated is a Method's result with what clients from 2026-07-28 on find in every result.
func (s *Server) decorated(result any) (json.RawMessage, error) {
	text, err := json.Marshal(result)
	if err != nil || len(text) == 0 || text[0] != '{' {
		return text, err
	}
	var out bytes.Buffer
	typed, named := false, s.info == nil
	jsonwalk.Object(text, func(key, value []byte) {
		typed = typed || string(key) == "resultType"
		if string(key) == "_meta" && !named {
			value, named = s.named(value), true
		}
		member(&out, string(key), value)
	})
	if !typed {
		member(&out, "resultType", []byte(`"complete"`))
	}
	if !named {
		member(&out, "_meta", s.named(nil))
	}
	return append(out.Bytes(), '}'), nil
}

// named is the _meta object with the server's name in it.
func (s *Server) named(object json.RawMessage) json.RawMessage {
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
