package standin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answerWriter writes one answer.
type answerWriter struct {
	conn     *modelConn
	exchange *Exchange
	chunks   chunkWriter
	status   int
	header   http.Header
	framing  Framing // empty until one is chosen
	length   int     // declared; negative for the true length
	split    int

	headed bool // the header is written
	over   bool // nothing more can be written
	ended  bool // with its framing
	closes bool // the connection closes after it
}

// newAnswerWriter returns the writer of the answer to the request of x.
func newAnswerWriter(c *modelConn, x *Exchange) *answerWriter {
	w := &answerWriter{conn: c, exchange: x, status: http.StatusOK, length: -1,
		header: http.Header{"Content-Type": {"text/event-stream"}}, closes: x.request.close}
	w.chunks = chunkWriter{model: cmp.Or(x.request.Chat.Model, anyModel), id: fmt.Sprintf("chatcmpl-%d", x.request.Number),
		reasoning: c.model.options.Dialect.reasoning()}
	if r := x.request; r.Path == chatPath && !r.Chat.Stream && !x.stepped {
		x.rest = w.chunks.whole(x.rest) // the client did not ask for a stream
	}
	return w
}

// play writes the pieces in order, until one fails or the client has left.
func (w *answerWriter) play(pieces ...Piece) error {
	for _, p := range pieces {
		if err := w.alive(); err != nil {
			return err
		}
		do := p.do
		if do == nil {
			do = func(w *answerWriter) error { return w.body(p.bytes(w.chunks)) }
		}
		if err := do(w); err != nil {
			w.over = true
			return err
		}
	}
	return nil
}

// alive returns an error if nothing can be sent any more.
func (w *answerWriter) alive() error {
	select {
	case <-w.exchange.gone:
		return ErrClientGone
	case <-w.conn.dead:
		return ErrClientGone
	case <-w.conn.model.closing.Done():
		return errModelClosed
	default:
	}
	if w.over {
		return fmt.Errorf("the answer has ended")
	}
	return nil
}

// whole writes an answer with its own status. Without Framed it declares the length.
func (w *answerWriter) whole(code int, contentType, body string) error {
	w.status = code
	if contentType != "" {
		w.header.Set("Content-Type", contentType)
	}
	if w.framing == "" && contentType != "text/event-stream" {
		w.framing, w.length = ContentLength, len(body)
	}
	if body == "" {
		return nil
	}
	return w.body(body)
}

// until waits for the gate. The error says that the client has left, or the model closed.
func until[T any](w *answerWriter, gate <-chan T) error {
	select {
	case <-gate:
		return nil
	case <-w.conn.dead:
		return ErrClientGone
	case <-w.conn.model.closing.Done():
		return errModelClosed
	}
}

// pace calls do n times, or forever if n is negative, each time after a pause.
func (w *answerWriter) pace(n int, every time.Duration, do func(i int) error) error {
	ticks := make(<-chan time.Time)
	if every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		ticks = t.C
	}
	for i := 0; i != n; i++ {
		if every > 0 {
			if err := until(w, ticks); err != nil {
				return err
			}
		}
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// takeHead returns the status line and the headers once, then "". They wait for the first piece of the body, because
// pieces before it may still change them.
func (w *answerWriter) takeHead() string {
	if w.headed {
		return ""
	}
	w.headed, w.framing = true, cmp.Or(w.framing, Chunked)
	version := "1.1"
	switch w.framing {
	case HTTP10:
		version, w.closes = "1.0", true
	case CloseDelimited:
		w.closes = true
	case ContentLength:
		w.header.Set("Content-Length", strconv.Itoa(w.declared()))
	default:
		w.header.Set("Transfer-Encoding", "chunked")
	}
	if w.closes {
		w.header.Set("Connection", "close")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/%s %d %s\r\n", version, w.status, http.StatusText(w.status))
	_ = w.header.Write(&b)
	b.WriteString("\r\n")
	return b.String()
}

// declared returns the length for the header.
func (w *answerWriter) declared() int {
	if w.length >= 0 {
		return w.length
	}
	n := 0
	for _, p := range w.exchange.script {
		if p.bytes != nil {
			n += len(p.bytes(w.chunks))
		}
	}
	return n
}

// body writes bytes of the body with its framing.
func (w *answerWriter) body(s string) error {
	head := w.takeHead()
	if w.framing != Chunked {
		return w.write(head + s)
	}
	for piece := range w.pieces(s) {
		if err := w.write(fmt.Sprintf("%s%x\r\n%s\r\n", head, len(piece), piece)); err != nil {
			return err
		}
		head = ""
	}
	return nil
}

// end ends the answer with its framing.
func (w *answerWriter) end() error {
	if w.over {
		return nil
	}
	last := w.takeHead()
	if w.framing == Chunked {
		last += "0\r\n\r\n"
	}
	w.over, w.ended = true, true
	return w.write(last)
}

// pieces yields the parts that are written separately.
func (w *answerWriter) pieces(s string) iter.Seq[[]byte] {
	size := w.split
	if size <= 0 {
		size = max(len(s), 1)
	}
	return slices.Chunk([]byte(s), size)
}

// write writes to the connection as many bytes at a time as the script says.
func (w *answerWriter) write(s string) error {
	for piece := range w.pieces(s) {
		if _, err := w.conn.conn.Write(piece); err != nil {
			w.over = true
			return fmt.Errorf("%w: %w", ErrClientGone, err)
		}
	}
	return nil
}

// chunkWriter renders pieces as a stream or as one object.
type chunkWriter struct {
	id, model string
	reasoning string // the field of a thought
}

// quote returns a JSON string. Like the servers, and unlike encoding/json, it leaves <, > and & as they are.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

func frame(data string) string { return "data: " + data + "\n\n" }

func (c chunkWriter) open(object string) string {
	return `"id":` + quote(c.id) + `,"object":"` + object + `","created":1700000000,"model":` + quote(c.model)
}

func (c chunkWriter) delta(delta, finish string) string {
	return frame(`{` + c.open("chat.completion.chunk") + `,"choices":[{"index":0,"delta":` + delta +
		`,"logprobs":null,"finish_reason":` + finish + `}]}`)
}

// whole joins chunks into one object. It changes no other pieces, and no answer with its own status or frame.
func (c chunkWriter) whole(pieces []Piece) []Piece {
	m := message{finish: "null", usage: "null"}
	var out []Piece
	chunks := 0
	for _, p := range pieces {
		switch {
		case p.kind == "status", p.kind == "frame" && p.text != doneData:
			return pieces
		case p.kind == "named":
			c.model = p.text
		case p.join != nil:
			p.join(&m)
			chunks++
		case p.kind != "frame":
			out = append(out, p)
		}
	}
	if chunks == 0 {
		return pieces
	}
	choice := fmt.Sprintf(`{"index":0,"message":{%s},"logprobs":null,"finish_reason":%s}`, m.fields(c.reasoning), m.finish)
	body := fmt.Sprintf(`{%s,"choices":[%s],"usage":%s}`, c.open("chat.completion"), choice, m.usage)
	return append(out, JSON(200, body))
}

// message collects chunks; finish and usage are JSON.
type message struct {
	text, thought, finish, usage string
	calls                        []toolCall
}

// toolCall is a piece of a call, or all of it.
type toolCall struct {
	index               int
	id, name, arguments string
}

// json returns the piece in the form of OpenAI. Later pieces of a call have neither id nor name.
func (t toolCall) json() string {
	var id, name string
	if t.id != "" {
		id = `,"id":` + quote(t.id) + `,"type":"function"`
	}
	if t.name != "" {
		name = `"name":` + quote(t.name) + `,`
	}
	return fmt.Sprintf(`{"index":%d%s,"function":{%s"arguments":%s}}`, t.index, id, name, quote(t.arguments))
}

// call adds a piece to the call with its index.
func (m *message) call(piece toolCall) {
	for i := range m.calls {
		if m.calls[i].index == piece.index {
			m.calls[i].arguments += piece.arguments
			return
		}
	}
	m.calls = append(m.calls, piece)
}

// fields returns the members of the message in JSON, without braces. reasoning is the name of the thought.
func (m *message) fields(reasoning string) string {
	out := `"role":"assistant","content":` + quote(m.text)
	if m.thought != "" {
		out += `,` + quote(reasoning) + `:` + quote(m.thought)
	}
	var calls []string
	for _, c := range m.calls {
		calls = append(calls, c.json())
	}
	if len(calls) > 0 {
		out += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return out
}

// errorBody is an error in OpenAI's form.
func errorBody(message, kind, code string) string {
	c := "null"
	if code != "" {
		c = quote(code)
	}
	return `{"error":{"message":` + quote(message) + `,"type":` + quote(kind) + `,"param":null,"code":` + c + `}}`
}
