package llm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// heard is what a consumer got of one call.
type heard struct {
	parts   []model.Part
	text    string
	thought string
	ends    int
	end     model.End
	err     error
}

func (h *heard) String() string {
	return fmt.Sprintf("%q, thought %q, calls %q, %+v, %s, %v", h.text, h.thought, h.end.Calls, h.end.Verdict, h.end.Evidence, h.err)
}

func (h *heard) take(p model.Part, err error) {
	h.parts = append(h.parts, p)
	switch p := p.(type) {
	case model.Text:
		h.text += p.Text
	case model.Thought:
		h.thought += p.Text
	case model.End:
		h.ends++
		h.end, h.err = p, err
	}
}

func listen(ctx context.Context, c *llm.Client, r model.Request) *heard {
	h := &heard{}
	for part, err := range c.Stream(ctx, r) {
		h.take(part, err)
	}
	return h
}

// answered is what a client hears of a server that answers with the pieces.
func answered(t testing.TB, config llm.Config, pieces ...testkit.Piece) *heard {
	t.Helper()
	m := testkit.NewModel(t)
	m.Answer(pieces...)
	config.BaseURL = m.URL()
	return listen(t.Context(), client(t, config), hello())
}

func hello() model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "hello"}}}
}

func client(t testing.TB, config llm.Config) *llm.Client {
	t.Helper()
	if config.BaseURL == "" {
		config.BaseURL = "http://model.test/v1"
	}
	c, err := llm.New(config)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// played is a RoundTripper that answers without a network, its body in given pieces.
type played struct {
	fixtureResponse
	pieces []int // their lengths
}

func (p *played) RoundTrip(r *http.Request) (*http.Response, error) {
	out := &http.Response{StatusCode: p.Status, Status: http.StatusText(p.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {p.ContentType}}, ContentLength: -1, Request: r}
	switch p.Framing {
	case standin.Chunked:
		out.TransferEncoding = []string{"chunked"}
	case standin.ContentLength:
		out.ContentLength = int64(len(p.Body))
	}
	out.Body = &playing{played: p, rest: p.Body, pieces: slices.Clone(p.pieces), closed: make(chan struct{}), ctx: r.Context()}
	return out, nil
}

type playing struct {
	*played
	rest   string
	pieces []int
	closed chan struct{}
	ctx    context.Context
}

func (p *playing) Read(b []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, p.ctx.Err()
	}
	if p.rest == "" {
		return 0, p.ending()
	}
	n := copy(b, p.rest[:min(len(p.rest), p.pieces[0])])
	if p.pieces[0] -= n; p.pieces[0] == 0 {
		p.pieces = p.pieces[1:]
	}
	p.rest = p.rest[n:]
	return n, nil
}

func (p *playing) ending() error {
	switch p.End {
	case "fin":
		return io.ErrUnexpectedEOF
	case "rst":
		return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case "hang":
		select {
		case <-p.closed:
			return errors.New("closed")
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	}
	return io.EOF
}

func (p *playing) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

// cuts returns pieces of n bytes for a text.
func cuts(length, n int) []int { return slices.Repeat([]int{n}, length/n+1) }

var must = fatal.IfError
