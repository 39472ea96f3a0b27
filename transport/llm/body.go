package llm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/internal/sse"
)

// body reads the body of one response: bytes become server-sent events, and events become chunks. go-openai, which has
// sent the request, only closes it. It belongs to the goroutine of the attempt.
type body struct {
	exchange *exchange
	source   io.ReadCloser
	events   *sse.Reader
	framed   bool // HTTP marks the end of the body
	stream   bool // the Content-Type says event stream

	taken    int64  // bytes read from source
	head     []byte // beginning of source, until the first frame
	frames   int    // number of frames so far
	document bool   // source begins with {
	chosen   bool   // a frame had choices
	chunk    chunk  // the last chunk
}

// errPage means that a proxy or a web server has answered instead of the model.
var errPage = errors.New("the answer is an HTML page")

// next returns the next chunk. At the end of the answer it returns nil; the evidence then says how the answer ended.
func (b *body) next() *chunk {
	x := b.exchange
	for x.evidence.Failure == nil && !x.evidence.Done {
		event, err := b.events.Next()
		if err != nil {
			b.finish(err)
			break
		}
		frame := bytes.TrimSpace(event.Data)
		switch {
		case isFailure(event.Name): // a failure, whatever its data
		case string(frame) == "[DONE]":
			x.evidence.Done = true
			continue
		case len(frame) == 0, string(frame) == "null", frame[0] == ':':
			continue // heartbeats that a proxy has turned into data
		}
		if b.frame(event.Name, frame) {
			x.watch.data()
			return &b.chunk
		}
	}
	return nil
}

// frame parses a frame into b.chunk. It reports whether the frame is part of the answer. If not, the evidence says what
// it is.
func (b *body) frame(name string, frame []byte) bool {
	x, c := b.exchange, &b.chunk
	b.frames++
	b.head = nil
	*c = chunk{raw: unwrapped(frame)}
	c.whole = jsonwalk.Object(c.raw, c.member)
	failed, choices := isFailure(name) || c.failed && c.whole || c.kind == "error", !empty(c.choices)
	if x.ollama && !failed {
		x.evidence.Done = c.readOllama()
		choices = choices || c.message != nil
	}
	protocol := ""
	if c.whole && !failed && !b.chosen && !choices {
		protocol = protocolOf(name, c.raw)
	}
	b.chosen = b.chosen || choices
	switch {
	case protocol != "":
		x.evidence.Failure = &model.Failure{Code: "protocol", Message: "the server speaks " + protocol +
			", not OpenAI's chat completions; set the base URL of its OpenAI-compatible API"}
	case failed, b.document && c.kind != "chat.completion.chunk" && c.message == nil, c.whole && !choices && looksFailed(c.raw):
		x.evidence.Failure = b.failure(c.raw, failed || !b.document)
	case !c.whole:
		x.evidence.Broken++
	default:
		return true
	}
	return false
}

// isFailure reports whether an event name stands for a failure, such as error, exception and response.failed.
func isFailure(event string) bool {
	event = strings.ToLower(event)
	return strings.Contains(event, "error") || strings.Contains(event, "exception") || strings.Contains(event, "fail")
}

// failure returns the failure in a frame, or in a document that came instead of a stream. said says that the server
// marked it as an error.
func (b *body) failure(frame []byte, said bool) *model.Failure {
	f := b.exchange.client.failureIn(frame)
	if said {
		f.Message = cmp.Or(f.Message, "the server sent an error without a message")
		return f
	}
	return &model.Failure{Code: "json", Message: excerpt("a document instead of a stream: " + f.Message)}
}

// finish records why the frames have ended.
func (b *body) finish(err error) {
	x := b.exchange
	long, tooLong := errors.AsType[*sse.TooLongError](err)
	exceeded, tooMuch := errors.AsType[*limitError](err)
	switch {
	case tooLong:
		x.exceeded = &limitError{"a frame of the answer is larger than " + words.Limit(int64(long.Limit))}
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

// page reads an HTML page up to the end of its title.
func (b *body) page() *model.Failure {
	more := make([]byte, headBytes)
	for len(b.head) < headBytes && !bytes.Contains(b.head, []byte("</title")) {
		if _, err := b.Read(more); err != nil {
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

// Read reads from source. It counts the bytes, informs the watchdog, and examines the beginning of the answer.
func (b *body) Read(p []byte) (int, error) {
	x := b.exchange
	most := x.client.limits.ResponseBytes
	if b.taken >= most {
		return 0, &limitError{"the answer is larger than " + words.Limit(most)}
	}
	x.watch.wait()
	n, err := b.source.Read(p[:min(int64(len(p)), most-b.taken)])
	x.watch.waited(n)
	b.taken += int64(n)
	if b.frames == 0 && n > 0 && len(b.head) < headBytes {
		return b.begin(p[:n], err)
	}
	return n, err
}

// begin examines the beginning of the answer: a JSON document, an HTML page, or frames.
func (b *body) begin(p []byte, err error) (int, error) {
	fresh := len(bytes.TrimLeft(b.head, " \t\r\n\xef\xbb\xbf")) == 0
	b.head = append(b.head, p[:min(len(p), headBytes-len(b.head))]...)
	if start := bytes.TrimLeft(b.head, " \t\r\n\xef\xbb\xbf"); fresh && len(start) > 0 {
		b.document = start[0] == '{'
		if start[0] == '<' {
			return 0, errPage
		}
	}
	return len(p), err
}
