package wire

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// serveGet opens the stream of a session for what belongs to no request. There is one at a time: clients open a new one
// when theirs ends, so that two that replaced each other would never come to rest.
func (s *Server) serveGet(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(strings.Join(r.Header["Accept"], ","), "text/event-stream") {
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
	e := s.newEvents(w, r)
	e.session = session.id
	p := newPush(func(f *frame) error {
		if err := e.put(f.event()); err != nil {
			return err
		}
		return e.flush()
	})
	if !session.attach(p) {
		refuse(w, http.StatusConflict, nil, errorf(mcp.INVALID_REQUEST, "the session has a stream open already"))
		return
	}
	session.pump(r.Context(), p, &e, s.config.KeepAlive)
}

// pump writes to the stream until the client or the session is gone. Nobody writes to it after that.
func (s *Session) pump(ctx context.Context, p *push, e *events, keepAlive time.Duration) {
	defer e.end()
	defer context.AfterFunc(ctx, func() { s.hurry(p, e) })()
	defer p.close()
	defer s.detach()
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
