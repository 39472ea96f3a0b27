package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Tokens of an issuer are taken beside a file's. A page's session that one opened ends with it. If nobody can tell
// whether a token is good, the caller may try again.
func TestIssuedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, line := newLine(t, "bob", auth.ReadRuns)
		issued := strings.Repeat("x", 32) + ".y.z"
		end := time.Now().Add(time.Hour)
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
