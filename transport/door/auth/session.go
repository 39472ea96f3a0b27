package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"slices"
	"sync"

	"github.com/seed889630bf/lastword/messages"
)

// SessionCookie is the prefix of the name of the cookie that holds a browser's session; the called port follows.
// Browsers need it because EventSource and WebSocket cannot set header fields.
const SessionCookie = "lastword_session_"

// mostSessions is the maximum number of sessions of a principal, and mostOfAll that of all. One more ends the oldest.
const (
	mostSessions = 64
	mostOfAll    = 16 << 10
)

// sessions holds the open browser sessions, by the digests of their ids. A session ends when it is closed, when its
// token is revoked, or when the server ends. mu guards the maps.
type sessions struct {
	mu     sync.Mutex
	tokens map[digest]entry    // the token that opened each session
	of     map[string][]digest // session keys by principal, the oldest first
	all    []digest            // those and some that are closed, the oldest first
}

type digest = [sha256.Size]byte

// open opens a session for a token and returns its id.
func (s *sessions) open(by entry) (id string) {
	id = rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil {
		s.tokens, s.of = map[digest]entry{}, map[string][]digest{}
	}
	name := by.principal.Name
	if list := s.of[name]; len(list) == mostSessions {
		delete(s.tokens, list[0])
		s.of[name] = slices.Delete(list, 0, 1)
	}
	key := sha256.Sum256([]byte(id))
	s.tokens[key], s.of[name] = by, append(s.of[name], key)
	if s.all = append(s.all, key); len(s.tokens) > mostOfAll || len(s.all) > 2*mostOfAll {
		s.all = slices.DeleteFunc(s.all, func(k digest) bool { _, open := s.tokens[k]; return !open })
	}
	if len(s.tokens) > mostOfAll {
		s.forget(s.all[0])
	}
	return id
}

// token returns the token that opened a session. ok is false if the session is not open.
func (s *sessions) token(key digest) (of entry, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, ok = s.tokens[key]
	return of, ok
}

// close forgets a session. It also removes it from the list of its caller.
func (s *sessions) close(key digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(key)
}

// forget is close. mu must be held.
func (s *sessions) forget(key digest) {
	by, open := s.tokens[key]
	if !open {
		return
	}
	name := by.principal.Name
	delete(s.tokens, key)
	if s.of[name] = slices.DeleteFunc(s.of[name], func(k digest) bool { return k == key }); len(s.of[name]) == 0 {
		delete(s.of, name)
	}
}

// OpenSession answers a request that has a token with the cookie of a new session. secure limits the cookie to https.
// Errors: invalid_input if the server needs no token; its page has a session without asking.
func OpenSession(w http.ResponseWriter, r *http.Request, secure bool) error {
	p, ok := r.Context().Value(grantKey{}).(*grant)
	if !ok {
		return messages.InvalidInput("this server asks for no token; call without a session")
	}
	setSession(w, r, http.Cookie{Value: p.checks.sessions.open(p.token), Secure: secure})
	return nil
}

// CloseSession ends the session of the request and deletes the browser's cookie. Streams that use the session end too.
func CloseSession(w http.ResponseWriter, r *http.Request) {
	if p, ok := r.Context().Value(grantKey{}).(*grant); ok && p.session != nil {
		p.checks.sessions.close(*p.session)
	}
	setSession(w, r, http.Cookie{MaxAge: -1})
}

// setSession answers with the cookie.
func setSession(w http.ResponseWriter, r *http.Request, c http.Cookie) {
	http.SetCookie(w, sessionCookie(r, c))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// ofSession returns the key of the request's session. ok is false unless a page of this server sent the request,
// according to the browser. weak says that the browser does not tell.
func ofSession(r *http.Request) (key digest, weak, ok bool) {
	c, err := r.Cookie(sessionCookie(r, http.Cookie{}).Name) // the port, because browsers send cookies to all ports of a host
	if err != nil {
		return key, false, false
	}
	own, told := fromPage(r)
	return sha256.Sum256([]byte(c.Value)), !told, own
}
