package auth

import "net/http"

// SessionCookie is the cookie with a browser's token: EventSource and WebSocket cannot set header fields. Browsers
// send it with requests of this server's own pages only.
const SessionCookie = "lastword_session"

// OpenSession answers a request with a token by setting the cookie, which is valid as long as the token. secure
// limits the cookie to https. Errors: invalid_input if the server asks for no token.
func OpenSession(w http.ResponseWriter, r *http.Request, secure bool) error {
	p, ok := r.Context().Value(grantKey{}).(*grant)
	if !ok {
		return invalid("this server asks for no token; call without a session")
	}
	setSession(w, http.Cookie{Value: p.secret, Secure: secure})
	return nil
}

// CloseSession deletes the browser's cookie.
func CloseSession(w http.ResponseWriter) { setSession(w, http.Cookie{MaxAge: -1}) }

func setSession(w http.ResponseWriter, c http.Cookie) {
	c.Name, c.Path, c.HttpOnly, c.SameSite = SessionCookie, "/", true, http.SameSiteStrictMode
	http.SetCookie(w, &c)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// ofSession returns the token of the request's cookie. It ignores requests from other sites: older browsers do not
// know SameSite.
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
