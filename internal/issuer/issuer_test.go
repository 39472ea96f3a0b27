package issuer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/issuer"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

var must = fatal.IfError

const audience = "https://runs.example.com"

// server is an authorization server with a key, which tests may change.
type server struct {
	*httptest.Server
	keys  atomic.Pointer[jose.JSONWebKeySet]
	asked atomic.Int64 // requests for keys
	held  atomic.Pointer[chan struct{}]
	left  atomic.Bool // somebody did not wait until it was not held
}

func newServer(t *testing.T, keys ...jose.JSONWebKey) *server {
	s := &server{}
	s.keys.Store(&jose.JSONWebKeySet{Keys: keys})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server":
			fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, s.URL, s.URL+"/keys")
		case "/keys":
			s.asked.Add(1)
			if held := s.held.Load(); held != nil {
				select {
				case <-*held:
				case <-r.Context().Done():
					s.left.Store(true)
				}
			}
			_ = json.NewEncoder(w).Encode(s.keys.Load())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// sign makes a token; typ "" stands for an access token's.
func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, id, typ string, claims map[string]any, headers ...jose.HeaderKey) string {
	t.Helper()
	options := (&jose.SignerOptions{}).WithHeader("kid", id)
	if typ == "" {
		typ = "at+jwt"
	}
	for _, name := range headers {
		options = options.WithHeader(name, []string{"x"})
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, options.WithType(jose.ContentType(typ)))
	must(t, err)
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	must(t, err)
	return token
}

// Only what the issuer has signed for this server and for now is taken. The key alone says with which algorithm.
func TestCheck(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	public, err := ec.PublicKey.Bytes()
	must(t, err)
	stranger, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	must(t, err)
	strong, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	s := newServer(t, jose.JSONWebKey{Key: ec.Public(), KeyID: "ec"}, jose.JSONWebKey{Key: weak.Public(), KeyID: "weak"},
		jose.JSONWebKey{Key: strong.Public(), KeyID: "ps", Algorithm: "PS256"}, jose.JSONWebKey{Key: ec.Public(), KeyID: "enc", Use: "enc"})
	i, err := issuer.New(issuer.Config{Issuer: s.URL, Audience: audience, Scopes: []string{"https://x/confirm=run:answer", "root=admin"}})
	must(t, err)
	now := time.Now()
	with := func(name string, value any) map[string]any {
		all := map[string]any{"iss": s.URL, "aud": []string{"other", audience}, "sub": "mia", "iat": now.Unix(),
			"exp": now.Add(time.Hour).Unix(), "scope": "run:read openid admin run:answer"}
		if all[name] = value; value == nil {
			delete(all, name)
		}
		return all
	}
	good := with("", nil)
	for name, c := range map[string]struct{ token, want string }{
		"good":                {sign(t, jose.ES256, ec, "ec", "", good), "mia [run:read]"},
		"a long typ":          {sign(t, jose.ES256, ec, "ec", "application/AT+JWT", good), "mia [run:read]"},
		"mapped scopes":       {sign(t, jose.ES256, ec, "ec", "", with("scope", "root https://x/confirm")), "mia [admin run:answer]"},
		"no scope":            {sign(t, jose.ES256, ec, "ec", "", with("scope", nil)), "mia []"},
		"a strange sub":       {sign(t, jose.ES256, ec, "ec", "", with("sub", "auth0|7")), "sub-"},
		"a sub like a digest": {sign(t, jose.ES256, ec, "ec", "", with("sub", "sub-7")), "sub-"},
		"PS256":               {sign(t, jose.PS256, strong, "ps", "", good), "mia [run:read]"},
		"not the key's alg":   {sign(t, jose.RS256, strong, "ps", "", good), ""},
		"a weak key":          {sign(t, jose.RS256, weak, "weak", "", good), ""},
		"a key to encrypt":    {sign(t, jose.ES256, ec, "enc", "", good), ""},
		"a stranger's key":    {sign(t, jose.ES256, stranger, "ec", "", good), ""},
		"no such key":         {sign(t, jose.ES256, ec, "none", "", good), ""},
		"a shared secret":     {sign(t, jose.HS256, public, "ec", "", good), ""},
		"no signature":        {strings.Join([]string{"eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0", "e30", ""}, "."), ""},
		"a crit header":       {sign(t, jose.ES256, ec, "ec", "", good, "crit"), ""},
		"an id token":         {sign(t, jose.ES256, ec, "ec", "JWT", good), ""},
		"another issuer":      {sign(t, jose.ES256, ec, "ec", "", with("iss", s.URL+"/")), ""},
		"another audience":    {sign(t, jose.ES256, ec, "ec", "", with("aud", "other")), ""},
		"no audience":         {sign(t, jose.ES256, ec, "ec", "", with("aud", nil)), ""},
		"no end":              {sign(t, jose.ES256, ec, "ec", "", with("exp", nil)), ""},
		"expired":             {sign(t, jose.ES256, ec, "ec", "", with("exp", now.Unix())), ""},
		"too long":            {sign(t, jose.ES256, ec, "ec", "", with("exp", now.Add(25*time.Hour).Unix())), ""},
		"long from the past":  {sign(t, jose.ES256, ec, "ec", "", with("iat", now.Add(-24*time.Hour).Unix())), ""},
		"from the future":     {sign(t, jose.ES256, ec, "ec", "", with("iat", now.Add(5*time.Minute).Unix())), ""},
		"not yet":             {sign(t, jose.ES256, ec, "ec", "", with("nbf", now.Add(5*time.Minute).Unix())), ""},
		"nobody":              {sign(t, jose.ES256, ec, "ec", "", with("sub", nil)), ""},
	} {
		p, until, err := i.Check(t.Context(), c.token)
		got := fmt.Sprint(p.Name, " ", p.Scopes)
		switch {
		case c.want == "" && (messages.CodeOf(err) != auth.CodeUnauthorized || p.Name != ""):
			t.Errorf("%s: %s, %v", name, got, err)
		case c.want != "" && (err != nil || !strings.HasPrefix(got, c.want) || until.Unix() != now.Add(time.Hour).Unix()):
			t.Errorf("%s: %s until %s, %v", name, got, until, err)
		case c.want == "sub-" && (!auth.IsPrincipal(p.Name) || len(p.Name) != 36):
			t.Errorf("%s: %s", name, p.Name)
		}
	}
	if n := s.asked.Load(); n != 1 {
		t.Errorf("the keys were asked for %d times", n)
	}
}

// Keys are asked for anew before they are too old, and no call waits for that.
func TestNobodyWaitsForKnownKeys(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	s := newServer(t, jose.JSONWebKey{Key: ec.Public(), KeyID: "ec"})
	i, err := issuer.New(issuer.Config{Issuer: s.URL, Audience: audience})
	must(t, err)
	claims := map[string]any{"iss": s.URL, "aud": audience, "sub": "mia", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	check := func(key string) error {
		_, _, err := i.Check(t.Context(), sign(t, jose.ES256, ec, key, "", claims))
		return err
	}
	must(t, check("ec"))
	i.Age()
	held := make(chan struct{})
	s.held.Store(&held)
	s.keys.Store(&jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: ec.Public(), KeyID: "newer"}}})
	must(t, check("ec"))
	must(t, check("ec"))
	close(held)
	i.Settle()
	if err := check("newer"); err != nil || s.left.Load() || s.asked.Load() != 2 {
		t.Errorf("after %d requests: %v; a call has waited: %v", s.asked.Load(), err, s.left.Load())
	}
}

// The issuer is asked for an unknown key once a minute. Keys that are known stay in use while it does not answer; without
// any the token may be good, so nobody says no.
func TestKeys(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	s := newServer(t, jose.JSONWebKey{Key: ec.Public(), KeyID: "ec"})
	claims := map[string]any{"iss": s.URL, "aud": audience, "sub": "mia", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	token := sign(t, jose.ES256, ec, "ec", "", claims)
	check := func(i *issuer.Issuer) messages.Code {
		_, _, err := i.Check(t.Context(), token)
		return messages.CodeOf(err)
	}
	before, err := issuer.New(issuer.Config{Issuer: s.URL, Audience: audience})
	must(t, err)
	if code := check(before); code != "" {
		t.Error(code)
	}
	s.keys.Store(&jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: ec.Public(), KeyID: "newer"}}})
	token = sign(t, jose.ES256, ec, "newer", "", claims)
	for _, want := range []messages.Code{auth.CodeUnauthorized, ""} {
		if code := check(before); code != want {
			t.Errorf("a new key: %q, want %q", code, want)
		}
		before.Later()
	}
	s.Close()
	after, _ := issuer.New(issuer.Config{Issuer: s.URL, Audience: audience})
	for i, want := range map[*issuer.Issuer]messages.Code{before: "", after: messages.CodeUnavailable} {
		if code := check(i); code != want {
			t.Errorf("%q, want %q", code, want)
		}
	}
	if _, _, err := after.Check(t.Context(), token); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("within the minute nobody learns why: %v", err)
	}
	for _, c := range []issuer.Config{{Issuer: "http://login.example.com", Audience: audience}, {Issuer: "https://login.example.com"},
		{Issuer: "https://login.example.com", Audience: audience, Scopes: []string{"x=y"}}, {Issuer: "login", Audience: audience}} {
		if _, err := issuer.New(c); messages.CodeOf(err) != messages.CauseInvalidInput {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
