package testkit

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Piece is one step of a [Model]'s answer. The functions below make pieces, which are data and can be reused.
type Piece struct {
	do         act
	text       string
	name, id   string
	first, far int
	every      time.Duration
	gate       <-chan struct{}
	then       func()
}

// act names what a Piece does.
type act string

const (
	actRole     act = "role"
	actText     act = "text"
	actThought  act = "thought"
	actCall     act = "call"
	actFinish   act = "finish"
	actUsage    act = "usage"
	actFrame    act = "frame"
	actEvent    act = "event"
	actComment  act = "comment"
	actSend     act = "send"
	actTokens   act = "tokens"
	actTicks    act = "ticks"
	actHead     act = "head"
	actStatus   act = "status"
	actHeader   act = "header"
	actFramed   act = "framed"
	actLength   act = "length"
	actSplit    act = "split"
	actPace     act = "pace"
	actUntil    act = "until"
	actStall    act = "stall"
	actComments act = "comments"
	actCut      act = "cut"
	actReset    act = "reset"
	actHangUp   act = "hang up"
	actThen     act = "then"
	actNamed    act = "named"
	actWire     act = "wire"
)

// String describes the piece.
func (p Piece) String() string {
	if p.text == "" {
		return string(p.do)
	}
	return fmt.Sprintf("%s %.40q", p.do, p.text)
}

// Role is the first chunk of most servers, with the role and empty content.
func Role() Piece { return Piece{do: actRole} }

// Text is a chunk with a piece of the answer.
func Text(s string) Piece { return Piece{do: actText, text: s} }

// Thought is a chunk with a piece of a thought, in the field of the dialect: reasoning for Ollama and vLLM,
// reasoning_content for the others.
func Thought(s string) Piece { return Piece{do: actThought, text: s} }

// Call is a chunk with a piece of the tool call with that index, from 0. It omits an empty id or name.
func Call(index int, id, name, arguments string) Piece {
	return Piece{do: actCall, first: index, id: id, name: name, text: arguments}
}

// Finish is a chunk with a finish_reason and no content.
func Finish(reason string) Piece { return Piece{do: actFinish, text: reason} }

// Usage is a chunk with no choices and the tokens of the prompt and of the answer.
func Usage(prompt, completion int) Piece { return Piece{do: actUsage, first: prompt, far: completion} }

// Done is the terminator "data: [DONE]".
func Done() Piece { return Frame(doneData) }

const doneData = "[DONE]"

// Frame is an event with the data, JSON or not.
func Frame(data string) Piece { return Piece{do: actFrame, text: data} }

// Event is an event with a name, such as "error".
func Event(name, data string) Piece { return Piece{do: actEvent, name: name, text: data} }

// Comment is a comment line, as servers send to keep a connection alive.
func Comment(text string) Piece { return Piece{do: actComment, text: text} }

// ErrorFrame is an event with an error in OpenAI's form.
func ErrorFrame(message string) Piece { return Frame(errorBody(message, "server_error", "")) }

// Send writes raw bytes into the body.
func Send(bytes string) Piece { return Piece{do: actSend, text: bytes} }

// Wire writes raw bytes to the connection, outside of header, chunks and lengths.
func Wire(bytes string) Piece { return Piece{do: actWire, text: bytes} }

// Named makes the following chunks name that model instead of the requested one.
func Named(model string) Piece { return Piece{do: actNamed, text: model} }

// Tokens are n chunks of text, "t0 ", "t1 " and so on, at an interval, for benchmarks. With an interval of 0 they
// come at once.
func Tokens(n int, every time.Duration) Piece { return Piece{do: actTokens, far: n, every: every} }

// Ticks are Tokens whose text is the time of writing: Unix nanoseconds and a space.
func Ticks(n int, every time.Duration) Piece { return Piece{do: actTicks, far: n, every: every} }

// Head writes the status line and the header now. Without it they come with the first bytes of the body.
func Head() Piece { return Piece{do: actHead} }

// Status answers with a status, a content type and, without Framed, a body of declared length.
func Status(code int, contentType, body string) Piece {
	return Piece{do: actStatus, first: code, name: contentType, text: body}
}

// JSON is Status with the content type application/json.
func JSON(code int, body string) Piece { return Status(code, "application/json", body) }

// Header sets a field of the header.
func Header(name, value string) Piece { return Piece{do: actHeader, name: name, text: value} }

// Framing says how a body ends.
type Framing string

const (
	Chunked        Framing = "chunked"         // by a last chunk
	ContentLength  Framing = "content-length"  // by the length of the scripted body
	CloseDelimited Framing = "close-delimited" // by the end of the connection
	HTTP10         Framing = "http/1.0"        // likewise, from an HTTP/1.0 server
)

// Framed chooses the framing; the default is Chunked.
func Framed(f Framing) Piece { return Piece{do: actFramed, text: string(f)} }

// Length declares a Content-Length, true or not.
func Length(n int) Piece { return Piece{do: actLength, first: n} }

// Split limits every following write to n bytes, including the header and the framing, and every chunk to n bytes of
// the body. 0 removes the limit.
func Split(n int) Piece { return Piece{do: actSplit, first: n} }

// Pace waits for a time, for benchmarks and for people. Tests wait with Until or [Model.Step].
func Pace(d time.Duration) Piece { return Piece{do: actPace, every: d} }

// Until waits until the gate is closed or the client leaves.
func Until(gate <-chan struct{}) Piece { return Piece{do: actUntil, gate: gate} }

// Stall sends nothing more, and keeps the connection open until the client leaves.
func Stall() Piece { return Piece{do: actStall} }

// Comments sends a comment at an interval until the client leaves.
func Comments(every time.Duration) Piece { return Piece{do: actComments, every: every} }

// Cut closes the connection with a FIN, without a last chunk or the rest of a declared length.
func Cut() Piece { return Piece{do: actCut} }

// Reset ends the connection with an RST. On Linux the client gets all earlier bytes; elsewhere the RST may overtake
// them.
func Reset() Piece { return Piece{do: actReset} }

// HangUp completes the answer and then closes the connection, although the header promised to keep it.
func HangUp() Piece { return Piece{do: actHangUp} }

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
