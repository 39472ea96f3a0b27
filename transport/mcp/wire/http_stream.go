package wire

import (
	"context"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/gate"
)

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
			if !gate.Valid(ctx) {
				return
			}
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
