package wire

import (
	"errors"
	"sync"
	"time"
)

var errSessions = errors.New("too many sessions are open: try again later")

// sessionTable are the sessions. One timer for all ends those over HTTP that are idle.
type sessionTable struct {
	limit int
	idle  time.Duration

	mu     sync.Mutex
	byID   map[string]*Session
	local  map[*Session]struct{} // on stdio: nobody finds them
	timer  *time.Timer           // while there is a session
	closed bool
}

// add refuses with errClosed or errSessions.
func (t *sessionTable) add(s *Session) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return errClosed
	case len(t.byID) >= t.limit:
		return errSessions
	case t.byID == nil:
		t.byID = map[string]*Session{}
	}
	t.byID[s.id] = s
	if t.timer == nil {
		t.timer = time.AfterFunc(t.every(), t.sweep)
	}
	return nil
}

// every is how long an idle session may outlive its time.
func (t *sessionTable) every() time.Duration { return max(t.idle/8, time.Millisecond) }

// find returns the principal's session. One of somebody else is not found, like one that never was.
func (t *sessionTable) find(id, principal string) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.byID[id]; s != nil && s.principal == principal {
		return s
	}
	return nil
}

// drop ends the session.
func (t *sessionTable) drop(s *Session) {
	t.mu.Lock()
	if delete(t.local, s); t.byID[s.id] == s {
		delete(t.byID, s.id)
	}
	t.mu.Unlock()
	s.end()
}

// addLocal refuses with errClosed.
func (t *sessionTable) addLocal(s *Session) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errClosed
	}
	if t.local == nil {
		t.local = map[*Session]struct{}{}
	}
	t.local[s] = struct{}{}
	return nil
}

func (t *sessionTable) sweep() {
	since := time.Now().Add(-t.idle)
	t.mu.Lock()
	var idle []*Session
	for id, s := range t.byID {
		if s.idle(since) {
			delete(t.byID, id)
			idle = append(idle, s)
		}
	}
	if t.timer = nil; len(t.byID) > 0 && !t.closed {
		t.timer = time.AfterFunc(t.every(), t.sweep)
	}
	t.mu.Unlock()
	for _, s := range idle {
		s.end()
	}
}

// close lets no session in any more and returns those that are, for the caller to end.
func (t *sessionTable) close() []*Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	var all []*Session
	for _, s := range t.byID {
		all = append(all, s)
	}
	for s := range t.local {
		all = append(all, s)
	}
	clear(t.byID)
	clear(t.local)
	return all
}
