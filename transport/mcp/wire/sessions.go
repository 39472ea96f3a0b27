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

var errSessions = errors.New("too many sessions are open: try again later")

// sessionTable holds the sessions. One timer ends the idle ones.
type sessionTable struct {
	limit int
	idle  time.Duration

	mu     sync.Mutex
	byID   map[string]*Session
	timer  *time.Timer // while there is a session
	closed bool
}

// add adds the session and makes room if necessary. It returns errClosed or errSessions if it cannot.
func (t *sessionTable) add(s *Session) error {
	displaced, err := t.enter(s)
	if displaced != nil {
		displaced.end()
	}
	return err
}

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

// displaced returns the idle session that was unused the longest, of the principal that has the most, or nil. Some
// clients begin a session for each request and end none: they must keep out neither others nor themselves.
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

// sweepInterval is how late an idle session may end.
func (t *sessionTable) sweepInterval() time.Duration { return max(t.idle/8, time.Millisecond) }

// find returns the principal's session, or nil, for another principal's session too.
func (t *sessionTable) find(id string, principal auth.Principal) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.byID[id]; s != nil && s.principal.Same(principal) {
		return s
	}
	return nil
}

// drop ends the session.
func (t *sessionTable) drop(s *Session) {
	t.mu.Lock()
	if t.byID[s.id] == s {
		delete(t.byID, s.id)
	}
	t.mu.Unlock()
	s.end()
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

// close ends all sessions, and refuses others from now on.
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
