package wire

import (
	"errors"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// announced is the most bytes of a body that memory is taken for before they have come.
	announced = 64 << 10
	// longest is how many messages of the most bytes there may be at a time.
	longest = 16
)

var errFull = errors.New("too many long messages are in flight: try again later")

// body reads a request's message, and counts its bytes while it is answered: of one that is longer than announced, or
// may be.
type body struct {
	server *Server
	from   io.Reader
	held   int64
}

func (b *body) read(w http.ResponseWriter, r *http.Request) (text []byte, status int, fail *Error) {
	limit := b.server.config.Message
	b.from = http.MaxBytesReader(w, r.Body, limit)
	var err error
	switch n := r.ContentLength; {
	case n > limit:
		err = &http.MaxBytesError{Limit: limit}
	case n < 0 || n > announced:
		text, err = io.ReadAll(b)
	default:
		text = make([]byte, n)
		_, err = io.ReadFull(b.from, text)
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, http.StatusRequestEntityTooLarge,
			errorf(mcp.INVALID_REQUEST, "the message is longer than %d bytes", limit)
	}
	if errors.Is(err, errFull) {
		w.Header().Set("Retry-After", "1")
		return nil, http.StatusServiceUnavailable, errorf(codeBusy, "%v", err)
	}
	if err != nil {
		return nil, http.StatusBadRequest, errorf(mcp.PARSE_ERROR, "the message did not come whole")
	}
	return text, 0, nil
}

// Read reads and counts. It fails with errFull where there is no more room.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.held += int64(n)
	if b.server.held.Add(int64(n)) > longest*b.server.config.Message {
		return n, errFull
	}
	return n, err
}

func (b *body) release() {
	if b.held > 0 {
		b.server.held.Add(-b.held)
	}
}
