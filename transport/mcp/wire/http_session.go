package wire

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

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
	if !m.answer() && !m.notification() {
		s.request(w, r, m)
		return
	}
	s.take(r.Context(), m)
	w.WriteHeader(http.StatusAccepted)
}

func (s *Session) postBatch(w http.ResponseWriter, r *http.Request, text []byte) {
	s.touch()
	requests, others, fail := unbatch(text)
	if fail != nil {
		refuse(w, http.StatusBadRequest, nil, fail)
		return
	}
	for _, m := range others {
		s.take(r.Context(), m)
	}
	if requests.batch == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.request(w, r, requests)
}

// take takes a message that is no request.
func (s *Session) take(ctx context.Context, m message) {
	switch {
	case m.answer():
		s.answered(m)
	case m.method == methodCancelled:
		s.cancel(m.params)
	default:
		s.server.notified(s.server.mcp.WithContext(ctx, &s.view), m)
	}
}

func (s *Session) request(w http.ResponseWriter, r *http.Request, m message) {
	defer s.touch()
	x := s.server.newExchange(r.Context(), m, s, &s.requestTable)
	x.key, x.name = s.server.key(m), s.id
	session := ""
	if m.method == methodInitialize {
		session = s.id
	}
	x.respond(w, r, session)
	switch err := x.table.add(x, s.server.config.Requests); err {
	case nil:
		x.serve(r)
	case errClosed:
		lost(w)
	case errBusy:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, m.id, err)
	default:
		refuse(w, http.StatusBadRequest, m.id, err)
	}
}

// serveGet opens a stream of a session for what belongs to no request.
func (s *Server) serveGet(w http.ResponseWriter, r *http.Request) {
	if len(r.Header["Accept"]) == 0 || !accepts(r).events {
		refuse(w, http.StatusNotAcceptable, nil,
			errorf(mcp.INVALID_REQUEST, "a client that opens a stream must accept text/event-stream"))
		return
	}
	if unsupported(r) {
		refuse(w, http.StatusBadRequest, nil, versionError(r.Header.Get(mcp.HeaderProtocolVersion)))
		return
	}
	session := s.sessionOf(w, r, nil)
	if session == nil {
		return
	}
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	e := s.newEvents(w, r)
	e.session = session.id
	p := newPush(leave, func(f *frame) error {
		s.clean(f)
		if err := e.put(f, f.event()); err != nil {
			return err
		}
		return e.flush()
	})
	if !session.attach(p) {
		lost(w)
		return
	}
	session.pump(ctx, p, &e, s.config.KeepAlive)
}

// pump writes to the stream until the client, its token or the session is gone. Nobody writes to it after that.
func (s *Session) pump(ctx context.Context, p *push, e *events, keepAlive time.Duration) {
	defer e.end()
	defer context.AfterFunc(ctx, func() { s.hurry(p, e) })()
	defer p.close()
	defer s.detach(p)
	p.mu.Lock()
	e.begin()
	err := e.flush()
	p.mu.Unlock()
	done := s.Done()
	timer := time.NewTimer(keepAlive)
	defer timer.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-done:
			return
		case n := <-p.broadcasts:
			err = p.forward(n)
		case <-timer.C:
			var next time.Duration
			p.mu.Lock()
			next, err = e.beat(keepAlive)
			p.mu.Unlock()
			timer.Reset(next)
		}
	}
}

// hurry ends a write that blocks on a client that is gone.
func (s *Session) hurry(p *push, e *events) {
	if p.mu.TryLock() {
		p.mu.Unlock()
		return
	}
	e.hurry()
}

func (s *Server) serveDelete(w http.ResponseWriter, r *http.Request) {
	if session := s.sessionOf(w, r, nil); session != nil {
		s.sessions.drop(session)
		w.WriteHeader(http.StatusOK)
	}
}
