package source_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// guardedServer is an MCP server and its authorization server at one address. Each access token counts once it was given,
// and only the newest refresh token is taken.
type guardedServer struct {
	*httptest.Server
	issuer, challenge, resource string
	given, refreshed            int
	expires                     int
}

func (g *guardedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	say := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/mcp":
		if r.Header.Get("Authorization") != fmt.Sprintf("Bearer access-%d", g.given) || g.given == 0 {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.URL+`/places/mcp"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.Header.Set("Authorization", "Bearer k1")
		(&remote{}).ServeHTTP(w, r)
	case "/places/mcp":
		say(map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{g.issuer}})
	case "/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/other":
		say(map[string]any{"issuer": g.issuer, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token",
			"registration_endpoint": g.URL + "/register", "response_types_supported": []string{"code"}})
	case "/register":
		w.WriteHeader(http.StatusCreated)
		say(map[string]any{"client_id": "c1", "token_endpoint_auth_method": "none"})
	case "/authorize":
		g.challenge, g.resource = r.Form.Get("code_challenge"), r.Form.Get("resource")
		back := url.Values{"code": {"k"}, "state": {r.Form.Get("state")}, "iss": {g.issuer}}
		http.Redirect(w, r, r.Form.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	case "/token":
		digest := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		proven := base64.RawURLEncoding.EncodeToString(digest[:]) == g.challenge && r.Form.Get("code") == "k"
		if refresh := r.Form.Get("refresh_token"); !proven && refresh != fmt.Sprintf("refresh-%d", g.given) || r.Form.Get("client_id") != "c1" ||
			r.Form.Get("resource") != g.URL+"/mcp" {
			w.WriteHeader(http.StatusBadRequest)
			return
		} else if refresh != "" {
			g.refreshed++
		}
		g.given++
		say(map[string]any{"access_token": fmt.Sprint("access-", g.given), "refresh_token": fmt.Sprint("refresh-", g.given),
			"token_type": "bearer", "expires_in": g.expires})
	}
}

// "tokens are bound to issuer and resource": a login serves its server, is refreshed, and no other issuer gets the refresh
// token.
func TestLogin(t *testing.T) {
	g := &guardedServer{expires: 3600}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	g.issuer = g.URL
	s := source.Server{Name: "tracker", URL: g.URL + "/mcp", Login: filepath.Join(t.TempDir(), "login.json"), StartTimeout: time.Minute}
	tools := func() error {
		src := source.New([]source.Server{s}, "1", nil)
		defer src.Close()
		_, err := src.Tools(t.Context())
		return err
	}
	browser := func(page string) {
		u, _ := url.Parse(page)
		forged, err := http.Get(u.Query().Get("redirect_uri") + "?state=x&code=k")
		if err != nil || forged.StatusCode != http.StatusNotFound {
			t.Errorf("another state is taken: %v", err)
		}
		forged.Body.Close()
		got, err := http.Get(page)
		if err != nil {
			t.Error(err)
			return
		}
		got.Body.Close()
	}
	wants := func(refused bool, refreshed int) {
		t.Helper()
		if err := tools(); (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "run lastword mcp login tracker") {
			t.Errorf("refused %t: %v", refused, err)
		}
		if g.refreshed != refreshed {
			t.Errorf("%d refreshes", g.refreshed)
		}
	}
	wants(true, 0)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	must(t, source.LogIn(ctx, s, source.Client{}, browser))
	if g.resource != s.URL {
		t.Errorf("the token is for %q", g.resource)
	}
	wants(false, 0)
	age(t, s.Login)
	wants(false, 1)
	age(t, s.Login)
	g.issuer += "/other"
	wants(true, 1)
	s.URL = g.URL + "/mcp?other"
	g.issuer = g.URL
	wants(true, 1)
	if info, err := os.Stat(s.Login); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// age makes the token of a login expire.
func age(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	var l map[string]any
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err == nil {
		l["token"].(map[string]any)["expires_at"] = time.Now().Add(-time.Hour)
		text, err = json.Marshal(l)
	}
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	must(t, err)
}
