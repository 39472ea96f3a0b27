package wire

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/gate"
)

const (
	methodInitialize = string(mcp.MethodInitialize)
	methodCancelled  = string(mcp.MethodNotificationCancelled)
)

// ServeHTTP is the endpoint of streamable HTTP.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)); {
	case ambiguous(r.Header):
		refuse(w, http.StatusBadRequest, nil, errorf(mcp.HEADER_MISMATCH,
			"a header that messages are routed by is there twice: send it once"))
	case r.Method == http.MethodPost:
		s.servePost(w, r)
	case modern || r.Method != http.MethodGet && r.Method != http.MethodDelete:
		w.Header().Set("Allow", allowed(modern))
		refuse(w, http.StatusMethodNotAllowed, nil, errorf(mcp.INVALID_REQUEST,
			"%s is not a method of this endpoint: POST a message", r.Method))
	case r.Method == http.MethodGet:
		s.serveGet(w, r)
	default:
		s.serveDelete(w, r)
	}
}

// ambiguous reports a header of which whoever routed the request may have read another value than is read here.
func ambiguous(h http.Header) bool {
	for _, name := range []string{mcp.HeaderSessionID, mcp.HeaderProtocolVersion, mcp.HeaderMethod, mcp.HeaderName} {
		if len(h.Values(name)) > 1 {
			return true
		}
	}
	return false
}

func allowed(modern bool) string {
	if modern {
		return "POST"
	}
	return "POST, GET, DELETE"
}

// refuse answers with an error and a status. The error has the id of the request that it answers, or null.
func refuse(w http.ResponseWriter, status int, id []byte, e *Error) {
	f, err := answerFrame(id, outcome{fail: e})
	if err != nil {
		http.Error(w, e.Message, status)
		return
	}
	defer f.free()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(f.json())
	f.held = err != nil
}

func (s *Server) servePost(w http.ResponseWriter, r *http.Request) {
	if !isJSON(r.Header.Get("Content-Type")) {
		refuse(w, http.StatusUnsupportedMediaType, nil,
			errorf(mcp.INVALID_REQUEST, "the Content-Type must be application/json"))
		return
	}
	b := body{server: s}
	defer b.release()
	text, status, fail := b.read(w, r)
	if fail != nil {
		refuse(w, status, nil, fail)
		return
	}
	if session := s.sessions.find(r.Header.Get(mcp.HeaderSessionID), gate.From(r.Context())); session.takesBatch(text) {
		session.postBatch(w, r, text)
		return
	}
	m, fail := parse(text)
	switch {
	case fail != nil:
		refuse(w, http.StatusBadRequest, m.id, fail)
	case m.modern() || mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)):
		s.postModern(w, r, m)
	case m.method != methodInitialize && unsupported(r):
		refuse(w, http.StatusBadRequest, m.id, versionError(r.Header.Get(mcp.HeaderProtocolVersion)))
	case m.method == methodInitialize && m.id != nil:
		s.initialize(w, r, m)
	default:
		if session := s.sessionOf(w, r, m.id); session != nil {
			session.post(w, r, m)
		}
	}
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}

// unsupported reports a version that nobody knows; clients of 2025-03-26 send none.
func unsupported(r *http.Request) bool {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	return version != "" && !mcp.IsValidProtocolVersion(version)
}

// respond has the exchange answer on the response. The session, unless "", is told to the client.
func (x *Exchange) respond(w http.ResponseWriter, r *http.Request, session string) {
	p := &post{events: x.server.newEvents(w, r), x: x, takes: accepts(r), keepAlive: x.server.config.KeepAlive}
	p.session = session
	x.out = p
}

// serve answers the request on its response.
func (x *Exchange) serve(r *http.Request) {
	p := x.out.(*post)
	defer p.end()
	defer context.AfterFunc(r.Context(), func() { x.dropped(r.Context()) })()
	p.watch()
	x.run()
	p.timer.Stop()
	if !p.complete && !p.started {
		p.w.WriteHeader(http.StatusAccepted)
	}
}

// dropped is called when the response's context is done: if no other cause is given, because the client is gone. A client
// whose token was revoked is as good as gone.
func (x *Exchange) dropped(r context.Context) {
	if cause := context.Cause(r); !errors.Is(cause, context.Canceled) && !errors.Is(cause, gate.ErrRevoked) {
		x.stop(cause)
		return
	}
	x.drop()
}

// notified has mcp-go handle a notification.
func (s *Server) notified(ctx context.Context, m message) {
	defer s.survive(m.method)
	s.mcp.HandleMessage(ctx, m.text)
}

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
