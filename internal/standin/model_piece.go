package standin

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Piece is one step of a [Model]'s answer. The functions below make pieces, which can be reused.
type Piece struct {
	kind, text string
	// do plays a piece that is more than bytes of the body, and bytes are those that it has in a stream. Either may be nil.
	do    func(w *answerWriter) error
	bytes func(c chunkWriter) string
	// join adds a chunk of a completion to the one object that a client gets who did not ask for a stream.
	join func(m *message)
}

// String describes the piece.
func (p Piece) String() string {
	if p.text == "" {
		return p.kind
	}
	return fmt.Sprintf("%s %.40q", p.kind, p.text)
}

func step(kind, text string, do func(w *answerWriter) error) Piece {
	return Piece{kind: kind, text: text, do: do}
}

// setting is a step that only changes what follows.
func setting(kind, text string, set func(w *answerWriter)) Piece {
	return step(kind, text, func(w *answerWriter) error {
		set(w)
		return nil
	})
}

// raw has the same bytes in every answer.
func raw(kind, text, bytes string) Piece {
	return Piece{kind: kind, text: text, bytes: func(chunkWriter) string { return bytes }}
}

// chunk is a chunk of a completion with the fields of a delta.
func chunk(kind, text string, delta func(c chunkWriter) string, join func(m *message)) Piece {
	return Piece{kind: kind, text: text, join: join, bytes: func(c chunkWriter) string { return c.delta(delta(c), "null") }}
}

// Role is the first chunk of most servers, with the role and empty content.
func Role() Piece {
	return chunk("role", "", func(chunkWriter) string { return `{"role":"assistant","content":""}` }, func(*message) {})
}

// Text is a chunk with a piece of the answer.
func Text(s string) Piece {
	return chunk("text", s, func(chunkWriter) string { return `{"content":` + quote(s) + `}` }, func(m *message) { m.text += s })
}

// Thought is a chunk with a piece of a thought, in the field of the dialect: reasoning for Ollama and vLLM,
// reasoning_content for the others.
func Thought(s string) Piece {
	return chunk("thought", s, func(c chunkWriter) string { return `{` + quote(c.reasoning) + `:` + quote(s) + `}` },
		func(m *message) { m.thought += s })
}

// Call is a chunk with a piece of the tool call with that index, from 0. It omits an empty id or name.
func Call(index int, id, name, arguments string) Piece {
	one := toolCall{index, id, name, arguments}
	return chunk("call", arguments, func(chunkWriter) string { return `{"tool_calls":[` + one.json() + `]}` },
		func(m *message) { m.call(one) })
}

// Finish is a chunk with a finish_reason and no content.
func Finish(reason string) Piece {
	return Piece{kind: "finish", text: reason, bytes: func(c chunkWriter) string { return c.delta(`{}`, quote(reason)) },
		join: func(m *message) { m.finish = quote(reason) }}
}

// Usage is a chunk with no choices and the tokens of the prompt and of the answer.
func Usage(prompt, completion int) Piece {
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, prompt, completion, prompt+completion)
	return Piece{kind: "usage", join: func(m *message) { m.usage = usage }, bytes: func(c chunkWriter) string {
		return frame(fmt.Sprintf(`{%s,"choices":[],"usage":%s}`, c.open("chat.completion.chunk"), usage))
	}}
}

// Done is the terminator "data: [DONE]".
func Done() Piece { return Frame(doneData) }

const doneData = "[DONE]"

// Frame is an event with the data, JSON or not.
func Frame(data string) Piece { return raw("frame", data, frame(data)) }

// Event is an event with a name, such as "error".
func Event(name, data string) Piece { return raw("event", data, "event: "+name+"\n"+frame(data)) }

// Comment is a comment line, as servers send to keep a connection alive.
func Comment(text string) Piece { return raw("comment", text, ": "+text+"\n\n") }

// ErrorFrame is an event with an error in OpenAI's form.
func ErrorFrame(message string) Piece { return Frame(errorBody(message, "server_error", "")) }

// Send writes raw bytes into the body.
func Send(bytes string) Piece { return raw("send", bytes, bytes) }

// Wire writes raw bytes to the connection, outside of header, chunks and lengths.
func Wire(bytes string) Piece {
	return step("wire", bytes, func(w *answerWriter) error { return w.write(bytes) })
}

// Named makes the following chunks name that model instead of the requested one.
func Named(model string) Piece {
	return setting("named", model, func(w *answerWriter) { w.chunks.model = model })
}

// Tokens are n chunks of text, "t0 ", "t1 " and so on, at an interval, for benchmarks. With an interval of 0 they
// come at once.
func Tokens(n int, every time.Duration) Piece {
	token := func(i int) Piece { return Text("t" + strconv.Itoa(i) + " ") }
	return Piece{kind: "tokens",
		do: func(w *answerWriter) error {
			return w.pace(n, every, func(i int) error { return w.body(token(i).bytes(w.chunks)) })
		},
		bytes: func(c chunkWriter) string {
			var b strings.Builder
			for i := range n {
				b.WriteString(token(i).bytes(c))
			}
			return b.String()
		},
		join: func(m *message) {
			for i := range n {
				token(i).join(m)
			}
		}}
}

// Ticks are Tokens whose text is the time of writing: Unix nanoseconds and a space.
func Ticks(n int, every time.Duration) Piece {
	return step("ticks", "", func(w *answerWriter) error {
		return w.pace(n, every, func(int) error {
			return w.body(Text(strconv.FormatInt(time.Now().UnixNano(), 10) + " ").bytes(w.chunks))
		})
	})
}

// Head writes the status line and the header now. Without it they come with the first bytes of the body.
func Head() Piece {
	return step("head", "", func(w *answerWriter) error { return w.write(w.takeHead()) })
}

// Status answers with a status, a content type and, without Framed, a body of declared length.
func Status(code int, contentType, body string) Piece {
	p := raw("status", body, body)
	p.do = func(w *answerWriter) error { return w.whole(code, contentType, body) }
	return p
}

// JSON is Status with the content type application/json.
func JSON(code int, body string) Piece { return Status(code, "application/json", body) }

// Header sets a field of the header.
func Header(name, value string) Piece {
	return setting("header", value, func(w *answerWriter) { w.header.Set(name, value) })
}

// Framing says how a body ends.
type Framing string

const (
	Chunked        Framing = "chunked"         // by a last chunk
	ContentLength  Framing = "content-length"  // by the length of the scripted body
	CloseDelimited Framing = "close-delimited" // by the end of the connection
	HTTP10         Framing = "http/1.0"        // likewise, from an HTTP/1.0 server
)

// Framed chooses the framing; the default is Chunked.
func Framed(f Framing) Piece {
	return setting("framed", string(f), func(w *answerWriter) { w.framing = f })
}

// Length declares a Content-Length, true or not.
func Length(n int) Piece {
	return setting("length", "", func(w *answerWriter) { w.framing, w.length = ContentLength, n })
}

// Split limits every following write to n bytes, including the header and the framing, and every chunk to n bytes of
// the body. 0 removes the limit.
func Split(n int) Piece { return setting("split", "", func(w *answerWriter) { w.split = n }) }

// Pace waits for a time, for benchmarks and for people. Tests wait with Until or [Model.Step].
func Pace(d time.Duration) Piece {
	return step("pace", "", func(w *answerWriter) error { return w.pace(1, d, func(int) error { return nil }) })
}

// Until waits until the gate is closed or the client leaves.
func Until(gate <-chan struct{}) Piece {
	return step("until", "", func(w *answerWriter) error { return until(w, gate) })
}

// Stall sends nothing more, and keeps the connection open until the client leaves.
func Stall() Piece {
	return step("stall", "", func(w *answerWriter) error { return until[struct{}](w, nil) })
}

// Comments sends a comment at an interval until the client leaves.
func Comments(every time.Duration) Piece {
	return step("comments", "", func(w *answerWriter) error {
		return w.pace(-1, every, func(int) error { return w.body(": keep-alive\n\n") })
	})
}

// Cut closes the connection with a FIN, without a last chunk or the rest of a declared length.
func Cut() Piece {
	return setting("cut", "", func(w *answerWriter) {
		w.over = true
		w.conn.hangUp()
	})
}

// Reset ends the connection with an RST. On Linux the client gets all earlier bytes; elsewhere the RST may overtake
// them.
func Reset() Piece {
	return setting("reset", "", func(w *answerWriter) {
		w.over = true
		w.conn.reset()
	})
}

// HangUp completes the answer and then closes the connection, although the header promised to keep it.
func HangUp() Piece {
	return step("hang up", "", func(w *answerWriter) error {
		w.closes = true
		return w.end()
	})
}

var curlExit = regexp.MustCompile(`\[curl exit \d+\]\n?$`)

// Recorded makes an answer of a [Model] from the output of "curl -i -N": the same status, header and body. The
// connection is closed after it if the header says so.
func Recorded(transcript string) ([]Piece, error) {
	head, body, _ := strings.Cut(transcript, "\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(head+"\r\n\r\n")), nil)
	if err != nil {
		return nil, fmt.Errorf("the transcript is no answer of HTTP: %w", err)
	}
	defer r.Body.Close()
	body = curlExit.ReplaceAllString(body, "")
	framing := ContentLength
	if slices.Contains(r.TransferEncoding, "chunked") {
		framing = Chunked
	}
	pieces := []Piece{Framed(framing)}
	for name, values := range r.Header {
		pieces = append(pieces, Header(name, values[0]))
	}
	pieces = append(pieces, Status(r.StatusCode, "", body))
	if r.Close {
		pieces = append(pieces, HangUp())
	}
	return pieces, nil
}

// NewRecordedModel starts a [Model] that answers each path 50 times as a server did. paths maps a path to a
// transcript in the folder, without its extension txt. edits are pairs: in all transcripts the first of a pair is
// replaced by the second.
func NewRecordedModel(t testing.TB, folder string, paths map[string]string, edits ...string) *Model {
	t.Helper()
	m := NewModel(t)
	for path, name := range paths {
		text, err := os.ReadFile(filepath.Join(folder, name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := Recorded(strings.NewReplacer(edits...).Replace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			m.AnswerTo(path, pieces...)
		}
	}
	return m
}
