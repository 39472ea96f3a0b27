package wire

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

const (
	methodInitialize = string(mcp.MethodInitialize)
	methodCancelled  = string(mcp.MethodNotificationCancelled)
)

// ServeHTTP serves streamable HTTP.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)); {
	case ambiguous(r.Header):
		refuse(w, http.StatusBadRequest, nil, errorf(mcp.HEADER_MISMATCH,
			"a header that routes messages is repeated: send it once"))
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

// ambiguous reports whether a header that routes the request is repeated: a proxy may have read another value.
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

// refuse answers with a status and a JSON-RPC error with the request's id, or null.
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
	if session := s.sessions.find(r.Header.Get(mcp.HeaderSessionID), auth.From(r.Context())); session.takesBatch(text) {
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

// unsupported reports an unknown protocol version. Clients of 2025-03-26 send none.
func unsupported(r *http.Request) bool {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	return version != "" && !mcp.IsValidProtocolVersion(version)
}

// respond makes the response the exchange's stream. session, if not empty, goes into its header.
func (x *Exchange) respond(w http.ResponseWriter, r *http.Request, session string) {
	p := &response{eventStream: x.server.newEventStream(w, r), x: x, takes: accepts(r), keepAlive: x.server.config.KeepAlive}
	p.session = session
	x.out = p
}

// serve runs the exchange on its response.
func (x *Exchange) serve(r *http.Request) {
	p := x.out.(*response)
	defer p.end()
	defer context.AfterFunc(r.Context(), func() { x.responseEnded(r.Context()) })()
	p.watch()
	x.run()
	p.timer.Stop()
	if !p.complete && !p.started {
		p.w.WriteHeader(http.StatusAccepted)
	}
}

// responseEnded is called when the response's context is done. Without another cause the client has disconnected; a
// client whose token was revoked is treated the same.
func (x *Exchange) responseEnded(r context.Context) {
	if cause := context.Cause(r); !errors.Is(cause, context.Canceled) && !errors.Is(cause, auth.ErrRevoked) {
		x.stop(cause)
		return
	}
	x.abandon()
}

// handleNotification passes a notification to mcp-go.
func (s *Server) handleNotification(ctx context.Context, m message) {
	defer s.logPanic(m.method)
	s.mcp.HandleMessage(ctx, m.text)
}

const (
	// preallocated is the longest body that memory is allocated for in advance.
	preallocated = 64 << 10
	// longMessages is how many messages of the maximum size fit into memory at a time.
	longMessages = 16
)

var errFull = errors.New("too many long messages are in flight: try again later")

// body reads a request's message. It counts the bytes of a long one until the request is answered.
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
	case n < 0 || n > preallocated:
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
		return nil, http.StatusBadRequest, errorf(mcp.PARSE_ERROR, "the message was cut short: send it again")
	}
	return text, 0, nil
}

// Read counts what it reads. It returns errFull if there is no room.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.held += int64(n)
	if b.server.messageBytes.Add(int64(n)) > longMessages*b.server.config.Message {
		return n, errFull
	}
	return n, err
}

func (b *body) release() {
	if b.held > 0 {
		b.server.messageBytes.Add(-b.held)
	}
}
