package auth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// SessionCookie is the prefix of the name of the cookie that holds a browser's session; the called port follows.
// Browsers need it because EventSource and WebSocket cannot set header fields.
const SessionCookie = "lastword_session_"

// What cookies are sealed for: the session of a token, and the page of a server without tokens.
const (
	sessionUse = "page session"
	pageUse    = "page"
)

const (
	mostStates = 16 << 10        // sessions whose state is in memory
	rowTime    = 5 * time.Second // maximum time to read or write a row
)

// session is what a browser's cookie seals: any process with the key knows which token opened the session. The session
// ends when it is closed, when its token ends, or [seal.Life] after its last request.
type session struct {
	Name   string `json:"n"`
	Token  []byte `json:"t"` // digest of the token
	Used   int64  `json:"a"`
	Secure bool   `json:"s,omitempty"` // browsers send the cookie over https alone
	// Until is when the token of an issuer ends, and Principal and Scopes are what it says. For other tokens a file has them.
	Until     int64   `json:"u,omitempty"`
	Principal string  `json:"p,omitempty"`
	Scopes    []Scope `json:"c,omitempty"`
}

// sessions tells which browser sessions are closed. Rows keep it, and the states that were read lately are in memory. mu
// guards these.
type sessions struct {
	keys   seal.Keys
	rows   seal.Rows
	mu     sync.Mutex
	states map[string]sessionState // by the session's name
}

type sessionState struct {
	closed bool
	read   time.Time
}

// cookie returns the session's cookie as of now.
func (s *sessions) cookie(of session) http.Cookie {
	of.Used = time.Now().Unix()
	plain, _ := json.Marshal(of) // it has strings and numbers
	return http.Cookie{Value: s.keys.Seal(sessionUse, plain), Secure: of.Secure}
}

// find returns the session of a cookie. ok is false if it is not open.
func (s *sessions) find(cookie string) (of *session, ok bool) {
	plain, ok := s.keys.Open(sessionUse, cookie)
	if !ok || json.Unmarshal(plain, &of) != nil || time.Since(time.Unix(of.Used, 0)) > seal.Life {
		return nil, false
	}
	return of, s.open(of.Name)
}

// open reports whether nobody has closed the session. If its row cannot be read, it is what it was.
func (s *sessions) open(name string) bool {
	s.mu.Lock()
	state, known := s.states[name]
	s.mu.Unlock()
	if known && (state.closed || !s.rows.Shared || time.Since(state.read) < seal.Recheck) {
		return !state.closed
	}
	ctx, stop := context.WithTimeout(context.Background(), rowTime)
	defer stop()
	row, _, err := s.rows.Get(ctx, rowOf(name))
	if err != nil {
		return known
	}
	return !s.learn(name, len(row) > 0)
}

// learn notes whether a session is closed, and returns it: one that was closed stays so.
func (s *sessions) learn(name string, closed bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if closed = closed || s.states[name].closed; s.states == nil || len(s.states) >= mostStates {
		s.states = map[string]sessionState{} // they are read again
	}
	s.states[name] = sessionState{closed, time.Now()}
	return closed
}

// close ends a session here at once, and at other nodes within [seal.Recheck].
func (s *sessions) close(name string) error {
	s.learn(name, true)
	ctx, stop := context.WithTimeout(context.Background(), rowTime)
	defer stop()
	err := s.rows.Set(ctx, rowOf(name), []byte("{}"), 0)
	if messages.CodeOf(err) == messages.CodeConflict {
		return nil // another request has closed it
	}
	return err
}

// rowOf returns the name of the row that a closed session has.
func rowOf(name string) string { return "page-" + name }

// OpenSession answers a request that has a token with the cookie of a new session. secure limits the cookie to https.
// Errors: invalid_input if the server needs no token; its page has a session without asking.
func OpenSession(w http.ResponseWriter, r *http.Request, secure bool) error {
	p, ok := r.Context().Value(grantKey{}).(*grant)
	if !ok {
		return messages.InvalidInput("this server asks for no token; call without a session")
	}
	s := session{Name: rand.Text(), Token: p.token.digest[:], Secure: secure}
	if !p.token.until.IsZero() {
		s.Until, s.Principal, s.Scopes = p.token.until.Unix(), p.token.principal.Name, p.token.principal.Scopes
	}
	setSession(w, r, p.checks.sessions.cookie(s))
	return nil
}

// CloseSession ends the session of the request and deletes the browser's cookie. Streams that use the session end too.
// An error means that the session may go on after a restart.
func CloseSession(w http.ResponseWriter, r *http.Request) error {
	if p, ok := r.Context().Value(grantKey{}).(*grant); ok && p.session != nil {
		if err := p.checks.sessions.close(p.session.Name); err != nil {
			return err
		}
	}
	setSession(w, r, http.Cookie{MaxAge: -1})
	return nil
}

// setSession answers with the cookie.
func setSession(w http.ResponseWriter, r *http.Request, c http.Cookie) {
	w.Header().Del("Set-Cookie") // the session that is closed may just have been renewed
	http.SetCookie(w, sessionCookie(r, c))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// ofSession returns the cookie of the request's session. ok is false unless a page of this server sent the request,
// according to the browser. weak says that the browser does not tell.
func ofSession(r *http.Request) (cookie string, weak, ok bool) {
	c, err := r.Cookie(sessionCookie(r, http.Cookie{}).Name) // the port, because browsers send cookies to all ports of a host
	if err != nil {
		return "", false, false
	}
	own, told := fromPage(r)
	return c.Value, !told, own
}
