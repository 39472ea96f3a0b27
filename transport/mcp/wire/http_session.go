package wire

import (
	"crypto/rand"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/gate"
)

// lost answers that there is no such session. The body is no JSON-RPC: where it is, the official Go client takes it for
// the answer to one request and goes on in the session that ended.
func lost(w http.ResponseWriter) {
	http.Error(w, "there is no such session: initialize a new one", http.StatusNotFound)
}

// sessionOf returns the session that the request names and its principal has, or answers that there is none. A token of
// the same principal with other scopes is another caller's: in the session it could answer and cancel, or listen.
func (s *Server) sessionOf(w http.ResponseWriter, r *http.Request, id []byte) *Session {
	name := r.Header.Get(mcp.HeaderSessionID)
	if name == "" {
		refuse(w, http.StatusBadRequest, id, errorf(codeSession,
			"the Mcp-Session-Id header is missing: send the one that initialize was answered with"))
		return nil
	}
	session := s.sessions.find(name, gate.From(r.Context()))
	if session == nil {
		lost(w)
	}
	return session
}

func (s *Server) initialize(w http.ResponseWriter, r *http.Request, m message) {
	session := s.newSession(rand.Text(), gate.From(r.Context()))
	if err := s.sessions.add(session); err != nil {
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, m.id, errorf(codeBusy, "%v", err))
		return
	}
	session.request(w, r, m)
	if !session.initialized.Load() {
		s.sessions.drop(session)
		return
	}
	session.begin(r.Context())
}

// post takes a message that came in the session.
func (s *Session) post(w http.ResponseWriter, r *http.Request, m message) {
	s.touch()
	switch {
	case m.answer():
		s.answered(m)
	case m.method == methodCancelled:
		s.cancel(m.params)
	case m.notification():
		s.server.notified(s.server.mcp.WithContext(r.Context(), (*listener)(s)), m)
	default:
		s.request(w, r, m)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (s *Session) request(w http.ResponseWriter, r *http.Request, m message) {
	defer s.touch()
	x := s.server.newExchange(r.Context(), m, s, &s.inflight)
	x.key, x.name = string(m.id), s.id
	session := ""
	if m.method == methodInitialize {
		session = s.id
	}
	x.respond(w, r, session)
	switch err := x.group.add(x.key, x, s.server.config.Requests); err {
	case nil:
		x.serve(r)
	case errClosed:
		lost(w)
	case errBusy:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, m.id, errorf(codeBusy, "%v", err))
	default:
		refuse(w, http.StatusBadRequest, m.id, errorf(mcp.INVALID_REQUEST, "%v", err))
	}
}
