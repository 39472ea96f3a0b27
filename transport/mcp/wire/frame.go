package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
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
	head    int  // where the message begins
	held    bool // it may still be read: HTTP/2 abandons writes in progress
}

var frames = sync.Pool{New: func() any {
	f := new(frame)
	f.encoder = json.NewEncoder(&f.buffer)
	return f
}}

// newFrame begins a message. eventID is that of the event, or "".
func newFrame(eventID string) *frame {
	f := frames.Get().(*frame)
	f.buffer.Reset()
	if eventID != "" {
		f.buffer.WriteString("id: ")
		f.buffer.WriteString(eventID)
		f.buffer.WriteByte('\n')
	}
	f.buffer.WriteString(eventHead)
	f.head = f.buffer.Len()
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
func (f *frame) line() []byte  { return f.buffer.Bytes()[f.head : f.buffer.Len()-1] }
func (f *frame) json() []byte  { return f.buffer.Bytes()[f.head : f.buffer.Len()-len(eventTail)] }

// redact removes what no client may read.
func (s *Server) redact(f *frame) {
	if s.config.Redact == nil {
		return
	}
	message := f.json()
	if quiet := s.config.Redact(message); !bytes.Equal(quiet, message) {
		f.buffer.Truncate(f.head)
		f.buffer.Write(quiet)
		f.buffer.WriteString(eventTail)
	}
}

// callFrame returns a request of the server, or a notification if id is empty.
func callFrame(eventID, id, method string, params any) (*frame, error) {
	f := newFrame(eventID)
	if id != "" {
		f.buffer.WriteString(`,"id":`)
		f.buffer.WriteString(id)
	}
	f.buffer.WriteString(`,"method":"` + method + `"`)
	if params != nil {
		f.buffer.WriteString(`,"params":`)
		if err := f.value(params); err != nil {
			return nil, err
		}
	}
	f.close()
	return f, nil
}

// answerFrame returns the answer to the request with the id: its error, else its result.
func answerFrame(id json.RawMessage, o outcome) (*frame, error) {
	f := newFrame("")
	if o.batch != nil {
		f.buffer.Truncate(f.head)
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
