package auth

import (
	"cmp"
	"context"
	"crypto/subtle"
	"net/http"
)

// Place is where a person calls from, as far as the server can tell.
type Place string

// The places.
const (
	Page     Place = "page"     // the page of this server, with its session
	Terminal Place = "terminal" // a command at a terminal of the user who runs the server
)

// terminalField is the header field in which a command sends [Config.Terminal].
const terminalField = "Lastword-Terminal"

type placeKey struct{}

// At returns where the caller is; "" is unknown.
func At(ctx context.Context) Place {
	place, _ := ctx.Value(placeKey{}).(Place)
	return place
}

// locate adds the place to the request's context. session says that the request has the session of a token. A server
// without tokens gives its page a cookie.
func (m *Middleware) locate(w http.ResponseWriter, r *http.Request, session bool) *http.Request {
	own, told := fromPage(r)
	sent := r.Header.Get(terminalField)
	r.Header.Del(terminalField)
	place := Place("")
	page := func() bool {
		cookie, _, ok := ofSession(r)
		if ok {
			_, ok = m.sessions.keys.Open(pageUse, cookie)
		}
		return ok
	}
	switch {
	case m.config.Terminal != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(m.config.Terminal)) == 1:
		place = Terminal
	case !own || !told:
	case session, m.config.Tokens == nil && page():
		place = Page
	case m.config.Tokens == nil:
		http.SetCookie(w, sessionCookie(r, http.Cookie{Value: m.sessions.keys.Seal(pageUse, nil)}))
	}
	return r.WithContext(context.WithValue(r.Context(), placeKey{}, place))
}

// fromPage reports whether a page of this server sent the request, according to the browser. told is false if the
// browser does not say.
func fromPage(r *http.Request) (own, told bool) {
	switch origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site"); {
	case origin != "":
		host, _ := parseEndpoint(r.Host)
		page, samePort, isWeb := pageOf(origin, host)
		return isWeb && samePort && page.sameHost(host), true
	case site == "":
		// Older browsers on plain http do not tell; such a request may only read, because a page of another origin cannot
		// see the response. It may ask for a WebSocket, whose messages can do more.
		return r.Method == http.MethodGet || r.Method == http.MethodHead, false
	default:
		return site == "same-origin" || site == "none", true
	}
}

// sessionCookie completes the cookie. Scripts cannot read it, and browsers send it to this site only.
func sessionCookie(r *http.Request, c http.Cookie) *http.Cookie {
	host, _ := parseEndpoint(r.Host)
	c.Name, c.Path, c.HttpOnly, c.SameSite = SessionCookie+cmp.Or(host.port, "80"), "/", true, http.SameSiteStrictMode
	return &c
}
