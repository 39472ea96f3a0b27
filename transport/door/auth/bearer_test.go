package auth_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// DESIGN 9: "Bearer tokens with scopes (run:read, run:write, admin) bound to a principal".
func TestTokenNamesThePrincipal(t *testing.T) {
	mia, miaLine := newLine(t, "mia", auth.ReadRuns, auth.WriteRuns)
	tom, tomLine := newLine(t, "tom", auth.Admin)
	addr := serve(t, newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, miaLine, tomLine))}).Wrap(door()))
	for field, want := range map[string]string{
		"Bearer " + mia: "mia", "Bearer " + tom: "tom", "bearer " + mia: "mia", "BEARER  " + tom: "tom",
	} {
		a := send(t, addr, "GET / HTTP/1.1", "Host: localhost", "Authorization: "+field)
		if a.StatusCode != http.StatusOK || a.Seen.Name != want {
			t.Errorf("%s: %s, the door saw %q, want %q", field, a.Status, a.Seen.Name, want)
		}
		if strings.Contains(a.body, "lw_") {
			t.Errorf("the door saw the token: %s", a.body)
		}
	}
}

func TestWithoutAGoodTokenNobodyCalls(t *testing.T) {
	token, line := newLine(t, "mia", auth.Admin)
	other, _ := auth.NewToken()
	addr := serve(t, newMiddleware(t, auth.Config{
		Tokens: load(t, tokenFile(t, line)), Metadata: "/.well-known/oauth-protected-resource/mcp",
	}).Wrap(door()))
	const metadata = `Bearer resource_metadata="http://localhost:7878/.well-known/oauth-protected-resource/mcp"`
	const scopes = `, scope="run:read run:write"`
	for _, c := range []struct{ field, challenge string }{
		{"", metadata + scopes},
		{"Authorization: Basic bWlhOnNlY3JldA==", metadata + scopes},
		{"Authorization: Bearerx " + token, metadata + scopes},
		{"Authorization: " + token, metadata + scopes},
		{"Authorization: Bearer", metadata + `, error="invalid_token"` + scopes},
		{"Authorization: Bearer " + other, metadata + `, error="invalid_token"` + scopes},
		{"Authorization: Bearer " + strings.Fields(line)[2], metadata + `, error="invalid_token"` + scopes}, // who reads the file cannot call
		{"Authorization: Bearer " + token + "x", metadata + `, error="invalid_token"` + scopes},
		{"Authorization: Bearer " + token[:45], metadata + `, error="invalid_token"` + scopes},
		{"Authorization: Bearer " + strings.ToUpper(token), metadata + `, error="invalid_token"` + scopes},
		{"Authorization: Bearer " + token + " " + token, metadata + `, error="invalid_token"` + scopes},
		{"Authorization: Bearer " + strings.Repeat("a", 5000), metadata + `, error="invalid_token"` + scopes},
		{"Cookie: access_token=" + token, metadata + scopes},
		{"X-Api-Key: " + token, metadata + scopes},
	} {
		lines := []string{"GET / HTTP/1.1", "Host: localhost:7878"}
		if c.field != "" {
			lines = append(lines, c.field)
		}
		a := send(t, addr, lines...)
		wantRefusal(t, a, http.StatusUnauthorized, "unauthorized")
		if got := a.Header.Get("WWW-Authenticate"); got != c.challenge {
			t.Errorf("%.60s: challenge %q, want %q", c.field, got, c.challenge)
		}
	}
	a := send(t, addr, "GET / HTTP/1.1", "Host: localhost", "Authorization: Bearer "+token, "Authorization: Bearer "+other)
	wantRefusal(t, a, http.StatusBadRequest, auth.CodeBadRequest)
}

// Where no token is asked for, one that is sent goes no further either.
func TestTokensThatNobodyAskedForAreTakenAway(t *testing.T) {
	addr := serve(t, newMiddleware(t, auth.Config{}).Wrap(door()))
	a := send(t, addr, "GET / HTTP/1.1", "Host: localhost", "Authorization: Bearer x")
	if a.StatusCode != http.StatusOK || a.Seen.Name != "" || a.Seen.Header.Get("Authorization") != "" {
		t.Errorf("%s, the door saw %+v", a.Status, a.Seen)
	}
}

// Who never sends a token is slowed down like a caller.
func TestRateWithoutTheTokenThatIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token, line := newLine(t, "mia", auth.Admin)
		h := newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, line)), Rate: 1, Burst: 1}).Wrap(door())
		for i, want := range []int{http.StatusUnauthorized, http.StatusTooManyRequests} {
			if status, _ := call(h, "10.0.0.1:1", ""); status != want {
				t.Errorf("request %d: %d, want %d", i, status, want)
			}
		}
		wantStatus(t, h, "10.0.0.1:1", token, http.StatusOK, "with a token from the same address")
	})
}

// A password would be found by trying, whatever digest stands in the file.
func TestShortSecretIsNoToken(t *testing.T) {
	line, err := auth.Line("mia", []auth.Scope{auth.Admin}, auth.Digest("correct horse"))
	must(t, err)
	h := newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, line))}).Wrap(door())
	wantStatus(t, h, "10.0.0.1:1", "correct horse", http.StatusUnauthorized, "a short secret")
}

func TestTokensInTheURLAreRefused(t *testing.T) {
	token, line := newLine(t, "mia", auth.Admin)
	addr := serve(t, newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, line))}).Wrap(door()))
	get := func(query string) answer {
		return send(t, addr, "GET /mcp?"+query+" HTTP/1.1", "Host: localhost", "Authorization: Bearer "+token)
	}
	for _, query := range []string{
		"access_token=x", "a=b&access_token=", "Access_Token=x", "access%5Ftoken=x", "a;access_token=x",
		"token=" + token, "x=" + url.QueryEscape("Bearer "+token), "t=l%77_" + token[3:], "t=%zz&" + token + "=1&k=" + token,
	} {
		a := get(query)
		wantRefusal(t, a, http.StatusBadRequest, auth.CodeBadRequest)
		if strings.Contains(a.body, token) || !strings.Contains(a.Error.Detail, "Authorization: Bearer") {
			t.Errorf("%s: %s", query, a.body)
		}
	}
	for _, query := range []string{"after=7&token=next", "page_token=lw_12", "q=lw_", "a=access_token", "=&&;%zz"} {
		if a := get(query); a.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", query, a.Status, a.body)
		}
	}
}

// Wrong tokens are answered, and logged, ten times a second for each address. Anyone who has a good one is not locked out
// by them, as all clients of a proxy have one address.
func TestWrongTokensAreSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		token, line := newLine(t, "mia", auth.Admin)
		wrong, _ := auth.NewToken()
		h := newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, line)), Log: log.logger()}).Wrap(door())
		for range 10 {
			if status, _ := call(h, "10.0.0.1:1", wrong); status != http.StatusUnauthorized {
				t.Fatal(status)
			}
		}
		for range 100 {
			if status, retry := call(h, "10.0.0.1:2", wrong); status != http.StatusTooManyRequests || retry != "1" {
				t.Fatal(status, retry)
			}
		}
		wantStatus(t, h, "10.0.0.1:3", token, http.StatusOK, "a good token at the same address")
		wantStatus(t, h, "10.0.0.2:1", wrong, http.StatusUnauthorized, "a wrong token at another address")
		time.Sleep(100 * time.Millisecond)
		wantStatus(t, h, "10.0.0.1:1", wrong, http.StatusUnauthorized, "a wrong token 100 ms later")
		if n := strings.Count(log.String(), "refused a wrong token"); n != 12 || strings.Contains(log.String(), wrong) {
			t.Errorf("%d lines about wrong tokens, want 12 without the token: %s", n, log.String())
		}
	})
}

// What each scope may do: the zero Principal, of a door that asks for no token, may do all.
func TestScopes(t *testing.T) {
	for _, c := range []struct {
		principal          auth.Principal
		read, write, admin bool
	}{
		{auth.Principal{}, true, true, true},
		{auth.Principal{Name: "mia"}, false, false, false},
		{auth.Principal{Name: "mia", Scopes: []auth.Scope{auth.ReadRuns}}, true, false, false},
		{auth.Principal{Name: "mia", Scopes: []auth.Scope{auth.WriteRuns}}, false, true, false},
		{auth.Principal{Name: "mia", Scopes: []auth.Scope{auth.ReadRuns, auth.WriteRuns}}, true, true, false},
		{auth.Principal{Name: "mia", Scopes: []auth.Scope{auth.Admin}}, true, true, true},
	} {
		ctx := auth.With(t.Context(), c.principal)
		for s, may := range map[auth.Scope]bool{auth.ReadRuns: c.read, auth.WriteRuns: c.write, auth.Admin: c.admin} {
			if err := auth.Require(ctx, s); may && err != nil {
				t.Errorf("%+v: %v", c.principal, err)
			} else if !may {
				wantCode(t, err, auth.CodeForbidden, string(s))
			}
		}
	}
}

func TestChallengeNamesTheScope(t *testing.T) {
	token, line := newLine(t, "mia", auth.ReadRuns)
	forbid := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if auth.Require(r.Context(), auth.WriteRuns) != nil {
			w.Header().Set("WWW-Authenticate", auth.Challenge(r.Context(), auth.WriteRuns))
			w.WriteHeader(http.StatusForbidden)
		}
	})
	g := newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, line)), Metadata: "https://mcp.example.com/meta"})
	a := send(t, serve(t, g.Wrap(forbid)), "POST / HTTP/1.1", "Host: localhost", "Authorization: Bearer "+token)
	want := `Bearer resource_metadata="https://mcp.example.com/meta", error="insufficient_scope", scope="run:write"`
	if got := a.Header.Get("WWW-Authenticate"); a.StatusCode != http.StatusForbidden || got != want {
		t.Errorf("%s, challenge %q, want %q", a.Status, got, want)
	}

	named := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := auth.With(context.WithoutCancel(r.Context()), auth.Principal{Name: "mia"})
		forbid(w, r.WithContext(ctx))
	})
	a = send(t, serve(t, named), "POST / HTTP/1.1", "Host: localhost") // behind no gate
	want = `Bearer realm="lastword", error="insufficient_scope", scope="run:write"`
	if got := a.Header.Get("WWW-Authenticate"); a.StatusCode != http.StatusForbidden || got != want {
		t.Errorf("%s, challenge %q, want %q", a.Status, got, want)
	}
}

// What must be read before there is a token asks for none; all else is checked.
func TestPublicAsksForNoToken(t *testing.T) {
	_, line := newLine(t, "mia", auth.Admin)
	g := newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, line)), Rate: 1, Burst: 4})
	addr := serve(t, g.Public(door()))
	for _, c := range []struct {
		host, more string
		status     int
	}{
		{"localhost", "X: y", http.StatusOK},
		{"evil.com", "X: y", http.StatusForbidden},
		{"localhost", "Origin: http://evil.com", http.StatusForbidden},
		{"localhost", "Content-Length: 99999999", http.StatusRequestEntityTooLarge},
	} {
		if a := send(t, addr, "GET / HTTP/1.1", "Host: "+c.host, c.more); a.StatusCode != c.status {
			t.Errorf("%+v: %s", c, a.Status)
		}
	}
	limited := false
	for range 20 {
		status, _ := call(g.Public(door()), "10.0.0.1:1", "")
		limited = limited || status == http.StatusTooManyRequests
	}
	if !limited {
		t.Error("20 requests at once with a burst of 4 all passed")
	}
}

// A caller who has all in hand that one may have leaves the others their share.
func TestShares(t *testing.T) {
	mia, miasLine := newLine(t, "mia", auth.Admin)
	bob, bobsLine := newLine(t, "bob", auth.Admin)
	held, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	m := newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, miasLine, bobsLine)), MaxBody: 1000, Bodies: 4000, Open: 3})
	addr := serve(t, m.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			auth.Refuse(w, err)
			return
		}
		if r.URL.Path == "/held" {
			held <- struct{}{}
			<-end
		}
	})))
	post := func(token string, length ...string) answer {
		return send(t, addr, append([]string{"POST / HTTP/1.1", "Host: localhost", "Authorization: Bearer " + token}, length...)...)
	}
	hold := func(bytes string) {
		c, err := net.Dial("tcp", addr)
		must(t, err)
		t.Cleanup(func() { c.Close() })
		_, err = io.WriteString(c, "POST /held HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+mia+
			"\r\nContent-Length: "+bytes+"\r\n\r\n")
		must(t, err)
	}
	hold("1000")
	hold("1000") // whose bodies do not come
	for a := post(mia, "Content-Length: 0"); ; a = post(mia, "Content-Length: 1", "", "x") {
		if a.StatusCode == http.StatusTooManyRequests { // both have been seen by now
			if a.Header.Get("Retry-After") == "" {
				t.Errorf("%v", a.Header)
			}
			break
		}
	}
	if a := post(mia, "Content-Length: 0"); a.StatusCode != http.StatusOK {
		t.Errorf("a request without a body: %s", a.Status)
	}
	hold("0")
	<-held
	if a := post(mia, "Content-Length: 0"); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a fourth request of three: %s", a.Status)
	}
	if a := post(bob, "Content-Length: 0"); a.StatusCode != http.StatusOK {
		t.Errorf("another caller: %s", a.Status)
	}
}

// Tokens of an issuer are taken beside a file's. A page's session that one opened ends with it. If nobody can tell
// whether a token is good, the caller may try again.
func TestIssuedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, line := newLine(t, "bob", auth.ReadRuns)
		issued, end := strings.Repeat("x", 32)+".y.z", time.Now().Add(time.Hour)
		answers := map[string]error{issued: nil,
			"2" + issued: messages.Errorf(messages.CodeUnavailable, "the keys cannot be had")}
		m := newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, line)),
			Issued: func(_ context.Context, token string) (auth.Principal, time.Time, error) {
				return auth.Principal{Name: "mia", Scopes: []auth.Scope{auth.ReadRuns}}, end, answers[token]
			}})
		ask := func(field, value string, door http.Handler) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
			r.Header.Set(field, value)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			w := httptest.NewRecorder()
			m.Wrap(door).ServeHTTP(w, r)
			return w
		}
		for token, want := range map[string]string{own: `"Name":"bob"`, issued: `"Name":"mia"`,
			"2" + issued: "the keys cannot be had", strings.Repeat("x", 40): "unknown or was revoked"} {
			if w := ask("Authorization", "Bearer "+token, door()); !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %d %s", token, w.Code, w.Body)
			}
		}
		answers[issued+"w"] = messages.Errorf(auth.CodeUnauthorized, "its aud does not name this server")
		if w := ask("Authorization", "Bearer "+issued+"w", door()); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "its aud") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		opened := ask("Authorization", "Bearer "+issued, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			must(t, auth.OpenSession(w, r, false))
		}))
		cookie := strings.Split(opened.Header().Get("Set-Cookie"), ";")[0]
		for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
			if w := ask("Cookie", cookie, door()); w.Code != want {
				t.Errorf("the page's session: %d, want %d", w.Code, want)
			}
			time.Sleep(time.Hour)
		}
	})
}

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
