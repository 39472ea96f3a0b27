package wire

import (
	"mime"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

const (
	methodInitialize = string(mcp.MethodInitialize)
	methodCancelled  = string(mcp.MethodNotificationCancelled)
)

// ServeHTTP serves the streamable HTTP transport.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	routing := []string{mcp.HeaderSessionID, mcp.HeaderProtocolVersion, mcp.HeaderMethod, mcp.HeaderName}
	modern, methods := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)), "POST, GET, DELETE"
	if modern {
		methods = "POST"
	}
	switch {
	case slices.ContainsFunc(routing, func(name string) bool { return len(r.Header.Values(name)) > 1 }):
		// A proxy may have used the other value.
		refuse(w, http.StatusBadRequest, nil, errorf(mcp.HEADER_MISMATCH, "a header that routes messages is repeated: send it once"))
	case r.Method == http.MethodPost:
		s.servePost(w, r)
	case modern || r.Method != http.MethodGet && r.Method != http.MethodDelete:
		w.Header().Set("Allow", methods)
		refuse(w, http.StatusMethodNotAllowed, nil, errorf(mcp.INVALID_REQUEST,
			"%s is not a method of this endpoint: POST a message", r.Method))
	case r.Method == http.MethodGet:
		s.serveGet(w, r)
	default: // a client ends its session
		if session := s.sessionOf(w, r); session != nil {
			session.leave(w, r)
		}
	}
}

// refuse answers with a status and a JSON-RPC error that has the request's id, or null.
func refuse(w http.ResponseWriter, status int, id []byte, e *Error) {
	message, _ := encodeAnswer(id, outcome{fail: e}) // an error can always be encoded
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(status)
	_, _ = w.Write(message) // a client that left needs no answer
}

// servePost handles a message, of either kind of protocol version.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != typeJSON {
		refuse(w, http.StatusUnsupportedMediaType, nil, errorf(mcp.INVALID_REQUEST, "the Content-Type must be application/json"))
		return
	}
	text, err := s.readBody(w, r)
	if err != nil {
		p := auth.ProblemOf(err)
		refuse(w, p.Status, nil, errorf(mcp.PARSE_ERROR, "%s", p.Detail))
		return
	}
	session, err := s.find(r)
	m, fail := session.read(text)
	switch {
	case fail != nil:
		refuse(w, http.StatusBadRequest, m.id, fail)
	case m.batch != nil || m.others != nil:
		session.post(w, r, m)
	case m.modern() || mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)):
		s.postModern(w, r, m)
	case m.method != methodInitialize && unsupported(r):
		refuse(w, http.StatusBadRequest, m.id, versionError(r.Header.Get(mcp.HeaderProtocolVersion)))
	case m.method == methodInitialize && m.id != nil:
		s.initialize(w, r, m)
	case session != nil:
		session.post(w, r, m)
	default:
		s.noSession(w, r, m.id, err)
	}
}

// unsupported reports whether the request names an unknown protocol version. Clients of 2025-03-26 name none.
func unsupported(r *http.Request) bool {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	return version != "" && !mcp.IsValidProtocolVersion(version)
}

// readBody reads a message, with a limit for its size. Package auth limits the total size of all bodies.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if limit := s.config.Message; r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	r.Body = http.MaxBytesReader(w, r.Body, s.config.Message)
	return door.Read(r)
}
