package gate

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// pass is what a request with a good token has in its context.
type pass struct {
	gate    *Gate
	request *http.Request
	token   entry
	secret  string
}

type passKey struct{}

// Valid reports whether the token that the context's request came with is good still, for the same principal and
// scopes; a stream without end asks now and then. Where no token is asked for it is true.
func Valid(ctx context.Context) bool {
	p, ok := ctx.Value(passKey{}).(*pass)
	if !ok {
		return true
	}
	p.gate.tokens.refreshed(p.gate.log)
	now, known := p.gate.tokens.lookup(p.token.digest)
	return known && now.principal.Same(p.token.principal)
}

// authenticate returns the token of who calls, or answers that a good one is needed.
func (g *Gate) authenticate(w http.ResponseWriter, r *http.Request) (*pass, bool) {
	g.tokens.refresh(g.log)
	sent := r.Header["Authorization"]
	if len(sent) > 1 {
		Refuse(w, http.StatusBadRequest, invalid("the request has %d Authorization fields; send one", len(sent)))
		return nil, false
	}
	token, ok := "", false
	if len(sent) == 1 {
		token, ok = bearer(sent[0])
	} else {
		token, ok = ofSession(r)
	}
	if !ok {
		if !within(w, g.byAddr.take(remote(r))) {
			return nil, false
		}
		g.unauthenticated(w, r, unauthorized("a token is needed: send Authorization: Bearer TOKEN"))
		return nil, false
	}
	e, ok := g.tokens.find(token)
	switch {
	case !ok:
		g.wrongToken(w, r)
	case g.accepted != nil:
		g.accepted(token)
	}
	return &pass{gate: g, request: r, token: e, secret: token}, ok
}

// wrongToken: there is no end of wrong answers to wrong tokens, only a rate. A good token passes whatever others at the
// same address (of a proxy, say) have tried: 256 random bits are not found by trying, and wrong tokens must not lock
// their neighbours out.
func (g *Gate) wrongToken(w http.ResponseWriter, r *http.Request) {
	if wait := g.failures.take(remote(r)); wait > 0 {
		tooMany(w, wait, "too many wrong tokens")
		return
	}
	g.log.Warn("refused a wrong token", "remote", r.RemoteAddr)
	g.unauthenticated(w, r, unauthorized("the token is not known here, or was revoked; ask for a new one"),
		`error="invalid_token"`)
}

func bearer(field string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(field, " ")
	return strings.Trim(token, " "), strings.EqualFold(scheme, "Bearer")
}

// checkQuery refuses tokens in the URL, where histories, logs and Referer fields would keep them.
func checkQuery(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.RawQuery == "" || !holdsToken(r.URL.RawQuery) {
		return true
	}
	Refuse(w, http.StatusBadRequest, invalid("a token in the URL is seen by others; revoke it, and send the new one as "+
		"Authorization: Bearer TOKEN"))
	return false
}

func holdsToken(query string) bool {
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		key, value, _ := strings.Cut(pair, "=")
		if strings.EqualFold(unescape(key), "access_token") || looksLikeToken(unescape(value)) {
			return true
		}
	}
	return false
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// looksLikeToken reports whether a token that [NewToken] made is in the value.
func looksLikeToken(value string) bool {
	_, secret, found := strings.Cut(value, tokenPrefix)
	if !found || len(secret) < base64.RawURLEncoding.EncodedLen(sha256.Size) {
		return false
	}
	_, err := base64.RawURLEncoding.DecodeString(secret[:base64.RawURLEncoding.EncodedLen(sha256.Size)])
	return err == nil
}
