package wire

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

var (
	// errSessions means that the table is full and no session is idle.
	errSessions = errors.New("too many sessions are open: try again later")
	errClosing  = errors.New("the server is closing")
)

// sessionTable holds all sessions of a server. A timer of each ends it when it is idle. mu guards the fields below it.
type sessionTable struct {
	limit int
	idle  time.Duration

	mu     sync.Mutex
	byID   map[string]*Session
	closed bool
}

// add adds a session, unless there is one of its name, and removes an idle one if necessary. It returns the one in the
// table. Errors: errClosing, errSessions.
func (t *sessionTable) add(s *Session) (*Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errClosing
	}
	if now := t.byID[s.id]; now != nil { // two requests restore a session at once
		return now, nil
	}
	if len(t.byID) >= t.limit {
		displaced := t.displaced(s.principal.Name)
		if displaced == nil {
			return nil, errSessions
		}
		delete(t.byID, displaced.id)
		defer displaced.end()
	}
	if t.byID == nil {
		t.byID = map[string]*Session{}
	}
	t.byID[s.id] = s
	s.timer = time.AfterFunc(t.idle, func() { t.expire(s) })
	return s, nil
}

// displaced returns the session that should make room: of the principal with the most sessions, the one that was idle
// for the longest time. It returns nil if none is idle. Some clients begin a session for each request and never end it;
// they must not lock out others or themselves.
func (t *sessionTable) displaced(newcomer string) (oldest *Session) {
	held, most := map[string]int{newcomer: 1}, newcomer
	for _, s := range t.byID {
		if held[s.principal.Name]++; held[s.principal.Name] > held[most] {
			most = s.principal.Name
		}
	}
	now := time.Now()
	for _, s := range t.byID {
		if s.principal.Name == most && s.idle(now) && (oldest == nil || cmp.Less(s.touched.Load(), oldest.touched.Load())) {
			oldest = s
		}
	}
	return oldest
}

// find returns the session, or nil if it is not in the table.
func (t *sessionTable) find(name string) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byID[name]
	if s != nil {
		s.touch() // it must not expire before its request
	}
	return s
}

// drop removes and ends the session.
func (t *sessionTable) drop(s *Session) {
	t.mu.Lock()
	if t.byID[s.id] == s {
		delete(t.byID, s.id)
		s.timer.Stop()
	}
	t.mu.Unlock()
	s.end()
}

// expire ends the session if it has been idle for too long, or looks again when it may be. A later request restores it.
func (t *sessionTable) expire(s *Session) {
	if t.busy(s) {
		s.stay(context.Background())
	}
}

// busy is expire. It reports whether a request or a stream of the session is open.
func (t *sessionTable) busy(s *Session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	since := time.Now().Add(-t.idle)
	switch {
	case t.byID[s.id] != s:
	case s.idle(since):
		delete(t.byID, s.id)
		s.end()
	default:
		s.timer.Reset(max(time.Unix(0, s.touched.Load()).Sub(since), t.idle/8, time.Millisecond))
		return !s.idle(time.Now().Add(t.idle))
	}
	return false
}

func (t *sessionTable) all() []*Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.byID))
}

// close ends all sessions and refuses new ones.
func (t *sessionTable) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	for _, s := range t.all() {
		t.drop(s)
	}
}
