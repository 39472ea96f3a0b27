package wire

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// sessionNotFound answers that the session does not exist. The body is not JSON-RPC: the official Go client would take
// that for the answer to one request, and continue to use the ended session.
func sessionNotFound(w http.ResponseWriter) {
	http.Error(w, "there is no such session: initialize a new one", http.StatusNotFound)
}

// sessionOf returns the session that the request names, or answers that it does not exist.
func (s *Server) sessionOf(w http.ResponseWriter, r *http.Request) *Session {
	session, err := s.find(r)
	if session == nil {
		s.noSession(w, r, nil, err)
	}
	return session
}

// noSession answers a request for which find has returned no session.
func (s *Server) noSession(w http.ResponseWriter, r *http.Request, id []byte, err error) {
	switch {
	case err != nil:
		s.notNow(w, id, err)
	case r.Header.Get(mcp.HeaderSessionID) == "":
		refuse(w, http.StatusBadRequest, id, errorf(codeSession,
			"the Mcp-Session-Id header is missing: send the one from the answer to initialize"))
	default:
		sessionNotFound(w)
	}
}

// notNow answers that the server cannot tell now whether there is such a session, or cannot begin another one. The
// client keeps its session.
func (s *Server) notNow(w http.ResponseWriter, id []byte, err error) {
	s.log.Warn("a session cannot be used", zap.Error(err))
	w.Header().Set("Retry-After", "10")
	refuse(w, http.StatusServiceUnavailable, id, errorf(codeBusy, "the session cannot be used now: %v; try again", err))
}

// initialize starts a session with its first request.
func (s *Server) initialize(w http.ResponseWriter, r *http.Request, m message) {
	session, err := s.sessions.add(s.newSession(rand.Text(), auth.From(r.Context())))
	if err != nil {
		s.notNow(w, m.id, err)
		return
	}
	session.request(w, r, m)
	if !session.initialized.Load() {
		s.sessions.drop(session)
	}
}

// leave ends a session permanently.
func (s *Session) leave(w http.ResponseWriter, r *http.Request) {
	if err := s.change(r.Context(), func(saved *row) { saved.Closed = true }); err != nil {
		s.server.notNow(w, nil, err)
		return
	}
	s.server.sessions.drop(s)
	s.ended(r.Context(), nil, ErrDisconnected)
	w.WriteHeader(http.StatusOK)
}

// post handles a message of the session.
func (s *Session) post(w http.ResponseWriter, r *http.Request, m message) {
	s.touch()
	for _, one := range m.unanswered() {
		s.take(r.Context(), one)
	}
	if !m.wantsAnswer() {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.request(w, r, m)
}

// take handles a notification or an answer.
func (s *Session) take(ctx context.Context, m message) {
	switch {
	case m.answer():
		s.resolve(m)
	case m.method == methodCancelled:
		s.cancel(ctx, m.params)
	default:
		defer func() {
			if v := recover(); v != nil {
				s.server.log.Error("a handler crashed", zap.String("method", m.method), zap.Any("panic", v), zap.Stack("stack"))
			}
		}()
		s.server.mcp.HandleMessage(s.server.mcp.WithContext(ctx, clientSession{&Exchange{server: s.server, session: s, name: s.id}}), m.text)
	}
}

// request handles a request of the session.
func (s *Session) request(w http.ResponseWriter, r *http.Request, m message) {
	x := s.server.newExchange(r.Context(), m, s, &s.requestTable)
	p := x.respond(w, r)
	switch err := x.table.add(x, s.server.config.Requests); err {
	case nil:
		p.serve(r)
	case errClosed: // it ended just now, and will be restored unless its client has closed it
		s.server.notNow(w, m.id, err)
	case errBusy:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, m.id, err)
	default:
		refuse(w, http.StatusBadRequest, m.id, err)
	}
}

// serveGet opens a session's stream for messages that belong to no request, or resumes a stream that broke.
func (s *Server) serveGet(w http.ResponseWriter, r *http.Request) {
	if len(r.Header["Accept"]) == 0 || !accepts(r, typeEvents) {
		refuse(w, http.StatusNotAcceptable, nil,
			errorf(mcp.INVALID_REQUEST, "a client that opens a stream must accept text/event-stream: add it to Accept"))
		return
	}
	if unsupported(r) {
		refuse(w, http.StatusBadRequest, nil, versionError(r.Header.Get(mcp.HeaderProtocolVersion)))
		return
	}
	if last := r.Header.Get(mcp.HeaderLastEventID); last != "" && s.config.Resume != nil {
		s.resume(w, r, last)
		return
	}
	session := s.sessionOf(w, r)
	if session == nil {
		return
	}
	w.Header().Set(mcp.HeaderSessionID, r.Header.Get(mcp.HeaderSessionID))
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	stream := s.config.Door.Stream(w, typeEvents)
	beats := s.config.Door.Heartbeats(r.Context(), stream, func() { _, _ = stream.WriteString(comment) }, func(error) { leave() })
	defer beats.Stop()
	p := &sessionStream{leave: leave, write: func(message []byte) error {
		return beats.Do(func() (bool, error) {
			appendMessage(stream, "", message)
			return false, nil
		})
	}}
	if !session.attach(p) {
		s.notNow(w, nil, errClosed)
		return
	}
	defer session.detach(p)
	if beats.Do(func() (bool, error) { return false, nil }) != nil {
		return
	}
	if uris := session.wake(); len(uris) > 0 && s.config.Restored != nil {
		s.config.Restored(r.Context(), session, uris)
	}
	select {
	case <-ctx.Done(): // the client disconnected, or its token was revoked
	case <-session.life.Done():
	}
}
