package gate

import "net/http"

// SessionCookie is the cookie that stands for a token in browsers, whose EventSource and WebSocket cannot set header
// fields. Browsers send it with requests of this server's own pages alone.
const SessionCookie = "lastword_session"

// OpenSession answers a request that showed a token by giving the browser the cookie, which is as good as the token until
// the token is revoked. secure keeps the cookie to https. Errors: invalid_input where the server asks for no token.
func OpenSession(w http.ResponseWriter, r *http.Request, secure bool) error {
	p, ok := r.Context().Value(passKey{}).(*pass)
	if !ok {
		return invalid("this server asks for no token; call without a session")
	}
	setSession(w, http.Cookie{Value: p.secret, Secure: secure})
	return nil
}

// CloseSession has the browser forget the cookie.
func CloseSession(w http.ResponseWriter) { setSession(w, http.Cookie{MaxAge: -1}) }

func setSession(w http.ResponseWriter, c http.Cookie) {
	c.Name, c.Path, c.HttpOnly, c.SameSite = SessionCookie, "/", true, http.SameSiteStrictMode
	http.SetCookie(w, &c)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// ofSession returns the token that the request's cookie holds. A request that another site caused does not count: older
// browsers do not know SameSite.
func ofSession(r *http.Request) (token string, ok bool) {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return "", false
	}
	c, err := r.Cookie(SessionCookie)
	if err != nil {
		return "", false
	}
	return c.Value, true
}
