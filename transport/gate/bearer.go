package gate

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// authenticate returns who calls, or answers that a good token is needed.
func (g *Gate) authenticate(w http.ResponseWriter, r *http.Request) (Principal, bool) {
	g.tokens.refresh(g.log)
	sent := r.Header["Authorization"]
	if len(sent) > 1 {
		Refuse(w, http.StatusBadRequest, invalid("the request has %d Authorization fields; send one", len(sent)))
		return Principal{}, false
	}
	token, ok := "", false
	if len(sent) == 1 {
		token, ok = bearer(sent[0])
	}
	if !ok {
		if !within(w, g.byAddr.take(remote(r))) {
			return Principal{}, false
		}
		g.challenge(w, r)
		Refuse(w, http.StatusUnauthorized, unauthorized("a token is needed: send Authorization: Bearer TOKEN"))
		return Principal{}, false
	}
	p, ok := g.tokens.find(token)
	if !ok {
		g.wrongToken(w, r)
	}
	return p, ok
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
	g.challenge(w, r, `error="invalid_token"`)
	Refuse(w, http.StatusUnauthorized, unauthorized("the token is not known here, or was revoked; ask for a new one"))
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
