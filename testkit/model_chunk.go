package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// chunkWriter renders pieces as the body of a stream, or of an answer that is none.
type chunkWriter struct {
	id, model string
	reasoning string // the field of a thought
}

// quote is a JSON string. Like the servers, and unlike encoding/json, it leaves <, > and & as they are.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// render is the piece's bytes in the body of a stream; empty for a piece that has none.
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

// whole turns an answer in chunks into one that is no stream. What is no chunk stays as it is, and so does an answer
// that has a status or a frame of its own.
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

// message gathers chunks.
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
