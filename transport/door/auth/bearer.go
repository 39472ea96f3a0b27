package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// grant is the authorization of a request with a valid token. The request's context holds it.
type grant struct {
	checks  *Middleware
	request *http.Request
	token   entry
	session *session                // the browser session that stands for the token; nil if there is none
	weak    bool                    // nothing says that a page of this server sent the session, so it may read at most
	checked atomic.Pointer[[]entry] // the list of tokens that the token was last found in
}

type grantKey struct{}

// ErrRevoked is the cause with which the context of a request ends after its token was revoked, at most 2 s later, or has
// expired.
var ErrRevoked = messages.Errorf(CodeUnauthorized, "the token was revoked or has expired; go on with a new one")

// Expires returns when the token of the request in ctx ends. ok is false if it has no end.
func Expires(ctx context.Context) (when time.Time, ok bool) {
	p, _ := ctx.Value(grantKey{}).(*grant)
	if p == nil || p.token.until.IsZero() {
		return when, false
	}
	return p.token.until, true
}

// revocationCheck is how often a request in flight checks whether its token is still valid.
const revocationCheck = 500 * time.Millisecond

// valid reports whether the token still exists, with the same principal and scopes.
func (p *grant) valid() bool {
	if p.token.principal.Inside != nil {
		_, live := p.checks.config.RunTokens.lookup(p.token.digest)
		return live
	}
	if p.session != nil && !p.checks.sessions.open(p.session.Name) {
		return false
	}
	if !p.token.until.IsZero() {
		return time.Now().Before(p.token.until)
	}
	tokens := p.checks.config.Tokens
	tokens.refresh(p.checks.config.Log, true)
	known := tokens.known.Load()
	if known == p.checked.Load() {
		return true
	}
	now, found := tokens.lookup(p.token.digest)
	valid := found && now.principal.Same(p.token.principal)
	if valid {
		p.checked.Store(known)
	}
	return valid
}

// context returns the request's context, which is canceled when the token is revoked. The caller must call stop at the
// end of the request.
func (p *grant) context() (_ context.Context, stop func()) {
	who := p.token.principal
	if p.weak {
		who = who.reader()
	}
	ctx := With(context.WithValue(p.request.Context(), grantKey{}, p), who)
	ctx, cancel := context.WithCancelCause(ctx)
	var timer *time.Timer
	timer = time.AfterFunc(math.MaxInt64, func() {
		switch {
		case ctx.Err() != nil:
		case !p.valid():
			cancel(ErrRevoked)
		default:
			timer.Reset(revocationCheck)
		}
	})
	timer.Reset(revocationCheck)
	return ctx, func() {
		cancel(nil)
		timer.Stop()
	}
}

// authenticate returns the caller's grant. If the request has no valid token, it answers the request and returns false.
func (m *Middleware) authenticate(w http.ResponseWriter, r *http.Request) (*grant, bool) {
	if m.config.Tokens != nil {
		m.config.Tokens.refresh(m.config.Log, false)
	}
	sent := r.Header["Authorization"]
	if len(sent) > 1 {
		m.refuse(w, messages.Errorf(CodeBadRequest, "the request has %d Authorization fields; send one", len(sent)))
		return nil, false
	}
	p, token, sends, known := &grant{checks: m, request: r}, "", false, false
	wrong := messages.Errorf(CodeUnauthorized, "the token is unknown or was revoked; ask for a new one")
	if len(sent) == 1 {
		scheme, after, _ := strings.Cut(sent[0], " ")
		token, sends = strings.Trim(after, " "), strings.EqualFold(scheme, "Bearer")
		if sends && len(token) >= minToken {
			// SHA-256 needs no salt or stretching here, because nobody can guess or tabulate 256 random bits.
			p.token, known = m.lookup(sha256.Sum256([]byte(token)))
		}
		if sends && !known && m.config.Issued != nil && strings.Count(token, ".") == 2 {
			var err error
			p.token, err = m.issue(r.Context(), token)
			if refused, ok := errors.AsType[*messages.Error](err); ok && refused.Code == CodeUnauthorized {
				wrong = refused
			} else if err != nil {
				m.refuse(w, err)
				return nil, false
			}
			known = err == nil
		}
	} else if cookie, weak, is := ofSession(r); is {
		p.weak, sends = weak, true
		if p.session, known = m.sessions.find(cookie); known {
			p.token, known = m.opened(p.session)
		}
		if known && !weak && time.Since(time.Unix(p.session.Used, 0)) > seal.Renewal {
			renewed := m.sessions.cookie(*p.session)
			http.SetCookie(w, sessionCookie(r, renewed))
		}
	}
	switch {
	case known && m.config.Accepted != nil && p.session == nil && p.token.principal.Inside == nil && p.token.until.IsZero():
		m.config.Accepted(token)
	case known:
	case sends:
		// Only the rate of these answers is limited. The address is not locked out, because callers behind one proxy share
		// it, and nobody can guess 256 random bits.
		if wait := m.failures.take(remote(r)); wait > 0 {
			m.tooMany(w, wait, "too many wrong tokens from this address")
			break
		}
		m.config.Log.Warn("refused a wrong token", "remote", r.RemoteAddr)
		m.unauthenticated(w, r, wrong, `error="invalid_token"`)
	case m.within(w, m.byAddr.take(remote(r))):
		m.unauthenticated(w, r, messages.Errorf(CodeUnauthorized, "a token is needed: send Authorization: Bearer TOKEN"))
	}
	return p, known
}

// opened returns the token that opened the session. ok is false if it is not valid any more.
func (m *Middleware) opened(s *session) (e entry, ok bool) {
	copy(e.digest[:], s.Token)
	switch {
	case s.Until != 0:
		e.principal, e.until = Principal{Name: s.Principal, Scopes: s.Scopes}, time.Unix(s.Until, 0)
		return e, m.config.Issued != nil && time.Now().Before(e.until)
	case m.config.Tokens == nil:
		return e, false
	}
	return m.config.Tokens.lookup(e.digest)
}

// issue checks a token of an issuer.
func (m *Middleware) issue(ctx context.Context, token string) (e entry, err error) {
	e.digest = sha256.Sum256([]byte(token))
	e.principal, e.until, err = m.config.Issued(ctx, token)
	return e, err
}

// checkQuery refuses a token in the URL, because browser histories, logs and Referer fields would keep it.
func (m *Middleware) checkQuery(w http.ResponseWriter, r *http.Request) bool {
	for pair := range strings.FieldsFuncSeq(r.URL.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		key, value, _ := strings.Cut(pair, "=")
		if strings.EqualFold(unescape(key), "access_token") || looksLikeToken(unescape(value)) {
			m.refuse(w, messages.Errorf(CodeBadRequest,
				"a token in the URL is seen by others; revoke it, and send the new one as Authorization: Bearer TOKEN"))
			return false
		}
	}
	return true
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// looksLikeToken reports whether the value contains a token in the form of [NewToken].
func looksLikeToken(value string) bool {
	_, secret, found := strings.Cut(value, tokenPrefix)
	if !found || len(secret) < base64.RawURLEncoding.EncodedLen(sha256.Size) {
		return false
	}
	_, err := base64.RawURLEncoding.DecodeString(secret[:base64.RawURLEncoding.EncodedLen(sha256.Size)])
	return err == nil
}
