package llm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/internal/sse"
)

// body presents the body of an answer in the form that go-openai reads correctly: one data line for each JSON frame.
// It always ends with errEnded; the evidence says how the answer ended.
type body struct {
	exchange *exchange
	source   io.ReadCloser
	events   *sse.Reader
	framed   bool
	stream   bool // by its Content-Type

	taken    int64  // bytes read of the source
	head     []byte // of the source, before the first frame
	frames   int
	document bool // the source begins with {
	chosen   bool // a frame had choices

	line  []byte // for go-openai
	out   []byte // the rest of line
	ended bool
}

var (
	errEnded = errors.New("the answer has ended")
	errPage  = errors.New("the answer is an HTML page")
)

// Read gives go-openai one line at a time.
func (b *body) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.ended {
			return 0, errEnded
		}
		b.out = b.next()
		b.ended = b.ended || b.out == nil
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// next returns the line of the next frame, nil at the end of the answer.
func (b *body) next() []byte {
	for {
		event, err := b.events.Next()
		if err != nil {
			b.finish(err)
			return nil
		}
		frame := bytes.TrimSpace(event.Data)
		switch {
		case isFailure(event.Name): // whatever its data
		case string(frame) == "[DONE]":
			b.exchange.evidence.Done, b.ended = true, true
			return []byte("data: [DONE]\n")
		case len(frame) == 0, string(frame) == "null", frame[0] == ':':
			continue // keep-alives that a proxy turned into data
		}
		if line, ends := b.frame(event.Name, frame); line != nil || ends {
			return line
		}
	}
}

// frame returns the line for go-openai, nil if the frame is not JSON or ends the answer.
func (b *body) frame(name string, frame []byte) (line []byte, ends bool) {
	x := b.exchange
	b.frames++
	b.head = nil
	frame = unwrapped(frame)
	seen := inspect(frame)
	failed := isFailure(name) || seen.failed || seen.kind == "error"
	protocol := ""
	if seen.whole && !failed && !b.chosen && !seen.choices {
		protocol = protocolOf(name, frame)
	}
	b.chosen = b.chosen || seen.choices
	switch {
	case protocol != "":
		x.evidence.Failure = &model.Failure{Code: "protocol", Message: "the server speaks " + protocol +
			", not OpenAI's chat completions; set the base URL of its OpenAI-compatible API"}
		return nil, true
	case failed, b.document && seen.kind != "chat.completion.chunk", seen.whole && !seen.choices && looksFailed(frame):
		x.evidence.Failure = b.failure(frame, failed || !b.document)
		return nil, true
	case !seen.whole:
		x.evidence.Broken++
		return nil, false
	}
	x.watch.data()
	return b.data(frame), false
}

// isFailure recognizes the names of failure events, such as error, exception and response.failed.
func isFailure(event string) bool {
	event = strings.ToLower(event)
	return strings.Contains(event, "error") || strings.Contains(event, "exception") || strings.Contains(event, "fail")
}

// failure is the error in a frame, or in a document that came instead of a stream.
func (b *body) failure(frame []byte, said bool) *model.Failure {
	f := b.exchange.client.failureIn(frame)
	if said {
		f.Message = cmp.Or(f.Message, "the server sent an error without a message")
		return f
	}
	return &model.Failure{Code: "json", Message: excerpt("a document instead of a stream: " + f.Message)}
}

// data returns a line without what go-openai misreads: line ends, and a leading "error" member, even null.
func (b *body) data(frame []byte) []byte {
	b.line = append(b.line[:0], "data: "...)
	if bytes.HasPrefix(frame, []byte(`{"error"`)) {
		b.line = append(b.line, "{ "...)
		frame = frame[1:]
	}
	at := len(b.line)
	b.line = append(b.line, frame...)
	for i := bytes.IndexByte(b.line[at:], '\n'); i >= 0; i = bytes.IndexByte(b.line[at:], '\n') {
		at += i
		b.line[at] = ' '
	}
	b.line = append(b.line, '\n')
	return b.line
}

// finish notes why the frames ended.
func (b *body) finish(err error) {
	x := b.exchange
	long, tooLong := errors.AsType[*sse.TooLongError](err)
	exceeded, tooMuch := errors.AsType[*limitError](err)
	switch {
	case tooLong:
		x.exceeded = &limitError{"a frame of the answer is larger than " + size(int64(long.Limit))}
	case tooMuch:
		x.exceeded = exceeded
	case errors.Is(err, gzip.ErrHeader):
		x.evidence.Failure = &model.Failure{Code: "encoding", Message: "the answer is marked as gzip, but is not"}
	case err == errPage:
		x.evidence.Failure = b.page()
	case err == io.EOF, err == sse.ErrCut:
		x.evidence.Framed, x.evidence.Cut = b.framed, err == sse.ErrCut
		if b.frames == 0 && !b.stream && b.framed && len(bytes.TrimSpace(b.head)) > 0 {
			words := excerpt(x.client.redact(string(b.head)))
			x.evidence.Failure = &model.Failure{Code: "text", Message: "not a stream: " + words}
		}
	default:
		x.evidence.Read = err.Error()
	}
}

// page reads on to the title of an HTML page.
func (b *body) page() *model.Failure {
	more := make([]byte, headBytes)
	for len(b.head) < headBytes && !bytes.Contains(b.head, []byte("</title")) {
		if _, err := (*tap)(b).Read(more); err != nil {
			break
		}
	}
	return b.exchange.client.failureIn(b.head)
}

// Close closes the body. After [DONE] it first reads the rest, so that the connection can be reused.
func (b *body) Close() error {
	if b.exchange.evidence.Done {
		drain(b.source)
	}
	return b.source.Close()
}

// tap reads the source for the event reader.
type tap body

// Read counts the bytes, runs the watchdog, and examines how the body begins.
func (t *tap) Read(p []byte) (int, error) {
	x := t.exchange
	most := x.client.limits.ResponseBytes
	if t.taken >= most {
		return 0, &limitError{"the answer is larger than " + size(most)}
	}
	x.watch.wait()
	n, err := t.source.Read(p[:min(int64(len(p)), most-t.taken)])
	x.watch.waited(n)
	t.taken += int64(n)
	if t.frames == 0 && n > 0 && len(t.head) < headBytes {
		return t.begin(p[:n], err)
	}
	return n, err
}

func (t *tap) begin(p []byte, err error) (int, error) {
	fresh := len(bytes.TrimLeft(t.head, " \t\r\n\xef\xbb\xbf")) == 0
	t.head = append(t.head, p[:min(len(p), headBytes-len(t.head))]...)
	if start := bytes.TrimLeft(t.head, " \t\r\n\xef\xbb\xbf"); fresh && len(start) > 0 {
		t.document = start[0] == '{'
		if start[0] == '<' {
			return 0, errPage
		}
	}
	return len(p), err
}

func size(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
