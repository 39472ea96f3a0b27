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

// whole turns an answer in chunks into one that is no stream. What is no chunk stays as it is.
func (c chunkWriter) whole(pieces []Piece) []Piece {
	var out []Piece
	var text, thought strings.Builder
	calls, order := map[int]*Piece{}, []int(nil)
	finish, tokens, chunks := "null", "null", 0
	for _, p := range pieces {
		chunks++
		switch p.do {
		case actRole:
		case actText:
			text.WriteString(p.text)
		case actThought:
			thought.WriteString(p.text)
		case actTokens:
			for i := range p.far {
				text.WriteString(token(i))
			}
		case actCall:
			if calls[p.first] == nil {
				calls[p.first] = &Piece{do: actCall, first: p.first, id: p.id, name: p.name}
				order = append(order, p.first)
			}
			calls[p.first].text += p.text
		case actFinish:
			finish = quote(p.text)
		case actUsage:
			tokens = usage(p)
		default:
			chunks--
			if p.do != actFrame || p.text != "[DONE]" {
				out = append(out, p)
			}
		}
	}
	if chunks == 0 {
		return pieces
	}
	message := `"role":"assistant","content":` + quote(text.String())
	if thought.Len() > 0 {
		message += `,` + quote(c.reasoning) + `:` + quote(thought.String())
	}
	if len(order) > 0 {
		var list []string
		for _, i := range order {
			list = append(list, call(*calls[i]))
		}
		message += `,"tool_calls":[` + strings.Join(list, ",") + `]`
	}
	return append(out, JSON(200, fmt.Sprintf(`{%s,"choices":[{"index":0,"message":{%s},"logprobs":null,"finish_reason":%s}],"usage":%s}`,
		c.open("chat.completion"), message, finish, tokens)))
}

// errorBody is an error in OpenAI's form.
func errorBody(message, kind, code string) string {
	c := "null"
	if code != "" {
		c = quote(code)
	}
	return `{"error":{"message":` + quote(message) + `,"type":` + quote(kind) + `,"param":null,"code":` + c + `}}`
}
