package wire

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

var errSessions = errors.New("too many sessions are open: try again later")

// displacedShare: one of so many sessions is displaced at once when all are in use.
const displacedShare = 64

// sessionTable holds the sessions. One timer ends the idle HTTP sessions.
type sessionTable struct {
	limit int
	idle  time.Duration

	mu     sync.Mutex
	byID   map[string]*Session
	local  map[*Session]struct{} // on stdio, found by no id
	timer  *time.Timer           // while there is a session
	closed bool
}

// add adds the session and makes room if necessary. It returns errClosed or errSessions if it cannot.
func (t *sessionTable) add(s *Session) error {
	displaced, err := t.enter(s)
	for _, old := range displaced {
		old.end()
	}
	return err
}

func (t *sessionTable) enter(s *Session) (displaced []*Session, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errClosed
	}
	if len(t.byID) >= t.limit {
		if displaced = t.displace(s.principal.Name); displaced == nil {
			return nil, errSessions
		}
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

// displace removes the idle sessions that were unused the longest, of the principal that has the most. Some clients
// begin a session for each request and end none: they must keep out neither others nor themselves.
func (t *sessionTable) displace(newcomer string) []*Session {
	held := map[string]int{newcomer: 1}
	most := newcomer
	for _, s := range t.byID {
		if held[s.principal.Name]++; held[s.principal.Name] > held[most] {
			most = s.principal.Name
		}
	}
	var idle []*Session
	now := time.Now()
	for _, s := range t.byID {
		if s.principal.Name == most && s.idle(now) {
			idle = append(idle, s)
		}
	}
	slices.SortFunc(idle, func(a, b *Session) int { return cmp.Compare(a.touched.Load(), b.touched.Load()) })
	idle = idle[:min(len(idle), max(1, t.limit/displacedShare))]
	for _, s := range idle {
		delete(t.byID, s.id)
	}
	return idle
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
	if delete(t.local, s); t.byID[s.id] == s {
		delete(t.byID, s.id)
	}
	t.mu.Unlock()
	s.end()
}

// addLocal adds a session on stdio. It returns errClosed if it cannot.
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
		t.timer = time.AfterFunc(t.sweepInterval(), t.sweep)
	}
	t.mu.Unlock()
	for _, s := range idle {
		s.end()
	}
}

// close refuses sessions from now on and returns all there are, for the caller to end.
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
