package auth_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// "A name that a client keeps works after a restart, on another node, and after a night's sleep": the cookie of a page
// does, with the key, until the session is closed anywhere, its token is gone or a day has passed without a request.
func TestPageSessionOutlivesItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token, line := newLine(t, "ann", auth.ReadRuns)
		keys, rows := seal.New(nil), seal.NewRows(seal.Rows{})
		rows.Shared = true
		node := func(c auth.Config) *auth.Middleware {
			c.Tokens, c.Rows = load(t, tokenFile(t, line)), rows
			return newMiddleware(t, c)
		}
		call := func(m *auth.Middleware, cookie *http.Cookie, do http.HandlerFunc) *httptest.ResponseRecorder {
			r, w := httptest.NewRequest(http.MethodGet, "http://localhost/", nil), httptest.NewRecorder()
			if r.Header.Set("Sec-Fetch-Site", "same-origin"); cookie != nil {
				r.AddCookie(cookie)
			} else {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			m.Wrap(do).ServeHTTP(w, r)
			return w
		}
		first, second, stranger := node(auth.Config{Keys: keys}), node(auth.Config{Keys: keys}), node(auth.Config{})
		_, other := newLine(t, "ann", auth.ReadRuns)
		without := newMiddleware(t, auth.Config{Keys: keys, Tokens: load(t, tokenFile(t, other))})
		open := func() *http.Cookie {
			w := call(first, nil, func(w http.ResponseWriter, r *http.Request) { must(t, auth.OpenSession(w, r, true)) })
			return w.Result().Cookies()[0]
		}
		wants := func(what string, m *auth.Middleware, cookie *http.Cookie, want int) *httptest.ResponseRecorder {
			w := call(m, cookie, func(w http.ResponseWriter, r *http.Request) {})
			if w.Code != want {
				t.Errorf("%s: %d, want %d", what, w.Code, want)
			}
			return w
		}
		cookie := open()
		wants("another node", second, cookie, 200)
		wants("a node with another key", stranger, cookie, 401)
		wants("a node that has no such token", without, cookie, 401)
		time.Sleep(8 * time.Hour)
		renewed := wants("a night later", second, cookie, 200).Result().Cookies()
		if len(renewed) != 1 || !renewed[0].Secure || !renewed[0].HttpOnly {
			t.Fatalf("the session is not renewed as it was: %v", renewed)
		}
		time.Sleep(17 * time.Hour)
		wants("the first cookie after a day", second, cookie, 401)
		if again := wants("the renewed one", first, renewed[0], 200); len(again.Result().Cookies()) != 1 {
			t.Error("it is not renewed again")
		}
		closed := call(first, renewed[0], func(w http.ResponseWriter, r *http.Request) { must(t, auth.CloseSession(w, r)) })
		if got := closed.Result().Cookies(); len(got) != 1 || got[0].MaxAge >= 0 {
			t.Errorf("who signs out gets %v", got)
		}
		wants("after it was closed", first, renewed[0], 401)
		time.Sleep(seal.Recheck)
		wants("after it was closed elsewhere", second, renewed[0], 401)
		wants("after it was closed, and a restart", node(auth.Config{Keys: keys}), renewed[0], 401)
		wants("another session of the same token", second, open(), 200)

		at, free := auth.Place(""), func() *auth.Middleware { return newMiddleware(t, auth.Config{Keys: keys}) }
		see := func(w http.ResponseWriter, r *http.Request) { at = auth.At(r.Context()) }
		page := call(free(), cookie, see).Result().Cookies()
		if len(page) != 1 || at == auth.Page {
			t.Fatalf("a server without tokens gives its page %v, which is %q before", page, at)
		}
		if call(free(), page[0], see); at != auth.Page {
			t.Errorf("after a restart the page of a server without tokens is %q", at)
		}
		wants("the page's cookie where tokens are needed", first, page[0], 401)
	})
}
