package testkit

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

func newAnswerWriter(c *modelConn, x *Exchange) *answerWriter {
	w := &answerWriter{conn: c, exchange: x, status: http.StatusOK, length: -1,
		header: http.Header{"Content-Type": {"text/event-stream"}}, closes: x.request.close}
	w.chunks = chunkWriter{model: cmp.Or(x.request.Chat.Model, anyModel), id: fmt.Sprintf("chatcmpl-%d", x.request.Number),
		reasoning: c.model.options.Dialect.reasoning()}
	x.rest = w.prepare(x.rest)
	return w
}

// prepare joins chunks into one object if the client did not ask for a stream.
func (w *answerWriter) prepare(pieces []Piece) []Piece {
	if r := w.exchange.request; r.Path == chatPath && !r.Chat.Stream && !w.exchange.stepped {
		return w.chunks.whole(pieces)
	}
	return pieces
}

// play writes the pieces in order, until one fails or the client is gone.
func (w *answerWriter) play(pieces ...Piece) error {
	for _, p := range pieces {
		if err := w.alive(); err != nil {
			return err
		}
		if err := w.do(p); err != nil {
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

func (w *answerWriter) do(p Piece) error {
	switch p.do {
	case actHead:
		return w.head()
	case actStatus:
		return w.whole(p)
	case actHeader:
		w.header.Set(p.name, p.text)
	case actFramed:
		w.framing = Framing(p.text)
	case actLength:
		w.framing, w.length = ContentLength, p.first
	case actSplit:
		w.split = p.first
	case actCut, actReset, actHangUp:
		return w.stop(p.do)
	case actPace, actUntil, actStall, actComments, actTokens, actTicks:
		return w.wait(p)
	case actThen:
		p.then()
	case actNamed:
		w.chunks.model = p.text
	case actWire:
		return w.write(p.text)
	default:
		return w.body(w.chunks.render(p))
	}
	return nil
}

// whole writes an answer with its own status. Without Framed it declares the length.
func (w *answerWriter) whole(p Piece) error {
	w.status = p.first
	if p.name != "" {
		w.header.Set("Content-Type", p.name)
	}
	if w.framing == "" && p.name != "text/event-stream" {
		w.framing, w.length = ContentLength, len(p.text)
	}
	if p.text == "" {
		return nil
	}
	return w.body(p.text)
}

// stop ends the answer early: after it, in the middle, or with a reset.
func (w *answerWriter) stop(how act) error {
	switch how {
	case actHangUp:
		w.closes = true
		return w.end()
	case actReset:
		w.conn.reset()
	default:
		w.conn.hangUp()
	}
	w.over = true
	return nil
}

// wait plays a piece that takes time. It ends early if the client is gone.
func (w *answerWriter) wait(p Piece) error {
	switch p.do {
	case actPace:
		return w.pace(1, p.every, func(int) error { return nil })
	case actUntil:
		return until(w, p.gate)
	case actStall:
		return until[struct{}](w, nil)
	case actComments:
		return w.pace(-1, p.every, func(int) error { return w.body(": keep-alive\n\n") })
	case actTicks:
		return w.pace(p.far, p.every, func(int) error {
			return w.body(w.chunks.render(Text(strconv.FormatInt(time.Now().UnixNano(), 10) + " ")))
		})
	}
	return w.pace(p.far, p.every, func(i int) error { return w.body(w.chunks.render(Text(token(i)))) })
}

func token(i int) string { return "t" + strconv.Itoa(i) + " " }

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

// head writes the status line and the header.
func (w *answerWriter) head() error {
	if w.headed {
		return nil
	}
	return w.write(w.takeHead())
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
		n += len(w.chunks.render(p))
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

// render returns the bytes of the piece in a stream, or "" if it has none.
func (c chunkWriter) render(p Piece) string {
	switch p.do {
	case actRole:
		return c.delta(`{"role":"assistant","content":""}`, "null")
	case actText:
		return c.delta(`{"content":`+quote(p.text)+`}`, "null")
	case actThought:
		return c.delta(`{`+quote(c.reasoning)+`:`+quote(p.text)+`}`, "null")
	case actCall:
		return c.delta(`{"tool_calls":[`+call(p)+`]}`, "null")
	case actFinish:
		return c.delta(`{}`, quote(p.text))
	case actUsage:
		return frame(fmt.Sprintf(`{%s,"choices":[],"usage":%s}`, c.open("chat.completion.chunk"), usage(p)))
	case actFrame:
		return frame(p.text)
	case actEvent:
		return "event: " + p.name + "\n" + frame(p.text)
	case actComment:
		return ": " + p.text + "\n\n"
	case actSend, actStatus:
		return p.text
	case actTokens:
		var b strings.Builder
		for i := range p.far {
			b.WriteString(c.render(Text(token(i))))
		}
		return b.String()
	}
	return ""
}

func frame(data string) string { return "data: " + data + "\n\n" }

func (c chunkWriter) open(object string) string {
	return `"id":` + quote(c.id) + `,"object":"` + object + `","created":1700000000,"model":` + quote(c.model)
}

func (c chunkWriter) delta(delta, finish string) string {
	return frame(`{` + c.open("chat.completion.chunk") + `,"choices":[{"index":0,"delta":` + delta +
		`,"logprobs":null,"finish_reason":` + finish + `}]}`)
}

func call(p Piece) string {
	var id, name string
	if p.id != "" {
		id = `,"id":` + quote(p.id) + `,"type":"function"`
	}
	if p.name != "" {
		name = `"name":` + quote(p.name) + `,`
	}
	return fmt.Sprintf(`{"index":%d%s,"function":{%s"arguments":%s}}`, p.first, id, name, quote(p.text))
}

func usage(p Piece) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, p.first, p.far, p.first+p.far)
}

// whole joins chunks into one object. It changes no other pieces, and no answer with a status or a frame of its own.
func (c chunkWriter) whole(pieces []Piece) []Piece {
	m := message{finish: "null", usage: "null", calls: map[int]*Piece{}}
	var out []Piece
	chunks := 0
	for _, p := range pieces {
		switch {
		case p.do == actStatus, p.do == actFrame && p.text != doneData:
			return pieces
		case p.do == actNamed:
			c.model = p.text
		case m.add(p):
			chunks++
		case p.do != actFrame:
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

// message collects chunks.
type message struct {
	text, thought strings.Builder
	finish, usage string
	calls         map[int]*Piece
	order         []int
}

// add reports whether the piece is a chunk.
func (m *message) add(p Piece) bool {
	switch p.do {
	case actRole:
	case actText:
		m.text.WriteString(p.text)
	case actThought:
		m.thought.WriteString(p.text)
	case actTokens:
		for i := range p.far {
			m.text.WriteString(token(i))
		}
	case actCall:
		if m.calls[p.first] == nil {
			m.calls[p.first] = &Piece{first: p.first, id: p.id, name: p.name}
			m.order = append(m.order, p.first)
		}
		m.calls[p.first].text += p.text
	case actFinish:
		m.finish = quote(p.text)
	case actUsage:
		m.usage = usage(p)
	default:
		return false
	}
	return true
}

func (m *message) fields(reasoning string) string {
	out := `"role":"assistant","content":` + quote(m.text.String())
	if m.thought.Len() > 0 {
		out += `,` + quote(reasoning) + `:` + quote(m.thought.String())
	}
	var calls []string
	for _, i := range m.order {
		calls = append(calls, call(*m.calls[i]))
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
