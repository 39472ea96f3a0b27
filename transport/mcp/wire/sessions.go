package wire

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// errSessions means that the table is full and no session is idle.
var errSessions = errors.New("too many sessions are open: try again later")

// sessionTable holds all sessions of a server. One timer ends the idle ones. mu guards the fields below it.
type sessionTable struct {
	limit int
	idle  time.Duration

	mu     sync.Mutex
	byID   map[string]*Session
	timer  *time.Timer // runs while there are sessions
	closed bool
}

// add adds a session, and removes an idle one if necessary. Errors: errClosed, errSessions.
func (t *sessionTable) add(s *Session) error {
	displaced, err := t.enter(s)
	if displaced != nil {
		displaced.end()
	}
	return err
}

// enter adds a session while it holds the lock. The caller ends the displaced session afterwards.
func (t *sessionTable) enter(s *Session) (displaced *Session, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errClosed
	}
	if len(t.byID) >= t.limit {
		if displaced = t.displaced(s.principal.Name); displaced == nil {
			return nil, errSessions
		}
		delete(t.byID, displaced.id)
	}
	if t.byID == nil {
		t.byID = map[string]*Session{}
	}
	t.byID[s.id] = s
	if t.timer == nil {
		t.timer = time.AfterFunc(t.sweepInterval(), t.sweep)
	}
	return displaced, nil
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
		if s.principal.Name == most && s.idle(now) &&
			(oldest == nil || cmp.Less(s.touched.Load(), oldest.touched.Load())) {
			oldest = s
		}
	}
	return oldest
}

// sweepInterval is how much later than Idle an idle session may end.
func (t *sessionTable) sweepInterval() time.Duration { return max(t.idle/8, time.Millisecond) }

// find returns the session. It returns nil if it belongs to another principal.
func (t *sessionTable) find(id string, principal auth.Principal) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.byID[id]; s != nil && s.principal.Same(principal) {
		return s
	}
	return nil
}

// drop removes and ends the session.
func (t *sessionTable) drop(s *Session) {
	t.mu.Lock()
	if t.byID[s.id] == s {
		delete(t.byID, s.id)
	}
	t.mu.Unlock()
	s.end()
}

// sweep ends the sessions that have been idle for too long.
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
		t.timer = time.AfterFunc(t.sweepInterval(), t.sweep)
	}
	t.mu.Unlock()
	for _, s := range idle {
		s.end()
	}
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
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	t.mu.Unlock()
	for _, s := range t.all() {
		t.drop(s)
	}
}
