package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

// login is what the file Server.Login holds: tokens of OAuth, bound to the server's URL and to their issuer.
type login struct {
	Resource string           `json:"resource"`
	Issuer   string           `json:"issuer"`
	Metadata string           `json:"metadata,omitempty"` // where the server says who issues its tokens, if it named a place
	Origin   string           `json:"origin,omitempty"`   // the server's, if only that has metadata
	ID       string           `json:"client_id"`
	Secret   string           `json:"client_secret,omitempty"`
	Method   string           `json:"auth_method,omitempty"`
	Token    *transport.Token `json:"token"`
}

// readLogin returns the login for the server, or nil if there is none.
func (s *Server) readLogin() (*login, error) {
	if s.Login == "" {
		return nil, nil
	}
	text, err := regular.Read(s.Login, regular.Small)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var l login
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil || l.Resource != s.URL || l.Token == nil {
		return nil, err
	}
	return &l, nil
}

// tokens is the store of a server's tokens for mcp-go's handler of OAuth.
type tokens struct {
	server  Server
	handler *transport.OAuthHandler
	login   login // without its token
}

// GetToken implements transport.TokenStore. A token that has to be refreshed counts only while the server names the issuer
// that gave it: no other one gets the refresh token.
func (s *tokens) GetToken(ctx context.Context) (*transport.Token, error) {
	l, err := s.server.readLogin()
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, transport.ErrNoToken
	}
	if l.Token.IsExpired() {
		now, err := s.handler.GetServerMetadata(ctx)
		if err != nil {
			return nil, err
		}
		if now.Issuer != l.Issuer || guarded(now) != nil {
			return nil, transport.ErrNoToken
		}
	}
	return l.Token, nil
}

// SaveToken implements transport.TokenStore.
func (s *tokens) SaveToken(_ context.Context, token *transport.Token) error {
	l := s.login
	l.Token = token
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return confined.WriteDurable(filepath.Dir(s.server.Login), filepath.Base(s.server.Login), 0o600, string(text))
}

// authorized returns the option that sends the tokens of a login, or none. Anyone who writes an Authorization header into
// the settings wants that one.
func (s *Server) authorized(client *http.Client) (*tokens, []transport.StreamableHTTPCOption, error) {
	l, err := s.readLogin()
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			l = nil
		}
	}
	if l == nil || err != nil {
		return nil, nil, err
	}
	store := &tokens{server: *s, login: *l}
	return store, []transport.StreamableHTTPCOption{transport.WithHTTPOAuth(transport.OAuthConfig{ClientID: l.ID, ClientSecret: l.Secret,
		TokenEndpointAuthMethod: l.Method, ProtectedResourceMetadataURL: l.Metadata, TokenStore: store, PKCEEnabled: true,
		HTTPClient: client})}, nil
}

// Client is how a program is known to an authorization server. Without an ID it registers itself. Without Scopes it asks
// for those that the server names.
type Client struct {
	ID, Secret string
	Scopes     []string
}

// The members of WWW-Authenticate that say where a server names its issuer, and which scopes it wants.
var (
	resourceMetadata = regexp.MustCompile(`resource_metadata="([^"]+)"`)
	wantedScopes     = regexp.MustCompile(`\bscope="([^"]+)"`)
)

// LogIn gets tokens for a server with a URL, by OAuth with PKCE, and keeps them in its file Login. open shows a person the
// page of the authorization server, which then sends the browser to a loopback address of this program. Errors:
// invalid_input; that of ctx.
func LogIn(ctx context.Context, s Server, c Client, open func(page string)) error {
	client := newClient()
	defer client.CloseIdleConnections()
	lacking := &loginTransport{RoundTripper: client.Transport}
	client.Transport = lacking
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	back := "http://" + listener.Addr().String() + "/callback"
	store := &tokens{server: s}
	place, origin, scopes, err := metadataOf(ctx, client, s.URL)
	if err != nil {
		return err
	}
	if c.Scopes != nil {
		scopes = c.Scopes
	}
	config := transport.OAuthConfig{ClientID: c.ID, ClientSecret: c.Secret, Scopes: scopes, RedirectURI: back, TokenStore: store, PKCEEnabled: true,
		HTTPClient: client, ProtectedResourceMetadataURL: place}
	wrong := func(err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return messages.InvalidInput("the MCP server %s: no login at its authorization server: %v", s.Name, err)
	}
	t, err := transport.NewStreamableHTTP(s.URL, transport.WithHTTPBasicClient(client), transport.WithHTTPOAuth(config))
	if err != nil {
		return wrong(err)
	}
	if store.handler = t.GetOAuthHandler(); origin != "" {
		store.handler.SetBaseURL(origin)
	}
	found, err := store.handler.GetServerMetadata(ctx)
	if err == nil {
		err = guarded(found)
	}
	if err == nil && c.ID == "" {
		if found.RegistrationEndpoint == "" {
			err = errors.New("it registers no clients; register one there, and name it with --client-id")
		} else {
			err = store.handler.RegisterClient(ctx, "lastword")
		}
	}
	if err != nil {
		return wrong(err)
	}
	verifier, err1 := transport.GenerateCodeVerifier()
	state, err2 := transport.GenerateState()
	page, err := store.handler.GetAuthorizationURL(ctx, state, transport.GenerateCodeChallenge(verifier))
	if err = cmp.Or(err, err1, err2); err != nil {
		return wrong(err)
	}
	got, err := callback(ctx, listener, state, func() { open(page) })
	if err != nil {
		return err
	}
	switch issuer := got.Get("iss"); {
	case issuer == "" && lacking.names:
		return wrong(errors.New("its answer does not name the issuer"))
	case issuer != "" && issuer != found.Issuer:
		return wrong(errors.New("another issuer, " + issuer + ", has answered"))
	case got.Get("code") == "":
		return wrong(errors.New(cmp.Or(got.Get("error_description"), got.Get("error"), "it sent no code")))
	}
	store.login = login{Resource: s.URL, Issuer: found.Issuer, Metadata: place, Origin: origin, ID: store.handler.GetClientID(),
		Secret: store.handler.GetClientSecret(), Method: store.handler.GetTokenEndpointAuthMethod()}
	if err := store.handler.ProcessAuthorizationResponse(ctx, got.Get("code"), got.Get("state"), verifier); err != nil {
		return wrong(err)
	}
	return nil
}

// callback serves the page /callback, calls ask, and returns what the authorization server tells that page. The error is
// ctx's cause.
func callback(ctx context.Context, listener net.Listener, state string, ask func()) (url.Values, error) {
	answer := make(chan url.Values, 1)
	serving := &http.Server{ReadTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/callback" || r.FormValue("state") != state { // only who saw the page knows the state
			http.NotFound(w, r)
			return
		}
		select {
		case answer <- r.Form:
		default:
		}
		_, _ = w.Write([]byte("lastword has its answer. You may close this page.\n"))
	})}
	go func() { _ = serving.Serve(listener) }()
	defer serving.Shutdown(context.WithoutCancel(ctx)) // after the browser has its page
	ask()
	select {
	case got := <-answer:
		return got, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// loginTransport does what mcp-go's handler of OAuth leaves out.
type loginTransport struct {
	http.RoundTripper
	names bool // the authorization server names itself in its answers
}

// RoundTrip implements http.RoundTripper. A program that registers itself says that it is one, not a web page.
func (t *loginTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var all map[string]any
	if r.Body != nil && r.Header.Get("Content-Type") == "application/json" {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if json.Unmarshal(text, &all) == nil && all["client_name"] != nil {
			all["application_type"] = "native"
			text, _ = json.Marshal(all) // it was JSON
		}
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	}
	answer, err := t.RoundTripper.RoundTrip(r)
	if err == nil && r.Method == http.MethodGet && answer.StatusCode == http.StatusOK {
		text, err := io.ReadAll(answer.Body) // bounded by the client
		answer.Body.Close()
		if err != nil {
			return nil, err
		}
		var metadata struct {
			Names bool `json:"authorization_response_iss_parameter_supported"`
		}
		t.names = json.Unmarshal(text, &metadata) == nil && metadata.Names || t.names
		answer.Body = io.NopCloser(bytes.NewReader(text))
	}
	return answer, err
}

// metadataOf asks the server without a token. place is where its own host says who issues its tokens, if it names that;
// origin is the server's, if its URL has no metadata of its own; scopes are those that it wants. Errors: invalid_input
// if it needs no token.
func metadataOf(ctx context.Context, client *http.Client, server string) (place, origin string, scopes []string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return "", "", nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := client.Do(r)
	if err != nil {
		return "", "", nil, messages.InvalidInput("%s does not answer: %v", server, err)
	}
	answer.Body.Close()
	if answer.StatusCode/100 == 2 {
		return "", "", nil, messages.InvalidInput("%s asks for no authorization", server)
	}
	said := answer.Header.Get("WWW-Authenticate")
	if found := resourceMetadata.FindStringSubmatch(said); found != nil {
		if at, err := url.Parse(found[1]); err == nil && at.Scheme == r.URL.Scheme && at.Host == r.URL.Host {
			place = found[1]
		}
	}
	const known = "/.well-known/oauth-protected-resource"
	base := r.URL.Scheme + "://" + r.URL.Host
	wants, has := named(ctx, client, cmp.Or(place, base+known+strings.TrimSuffix(r.URL.EscapedPath(), "/")))
	if !has && place == "" {
		origin = base
		wants, _ = named(ctx, client, base+known)
	}
	if found := wantedScopes.FindStringSubmatch(said); found != nil {
		wants = strings.Fields(found[1])
	}
	return place, origin, wants, nil
}

// named returns the scopes that metadata of a server name, if there are metadata at the place.
func named(ctx context.Context, client *http.Client, place string) (scopes []string, has bool) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, false
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, false
	}
	defer answer.Body.Close()
	var metadata struct {
		Scopes []string `json:"scopes_supported"`
	}
	has = answer.StatusCode == http.StatusOK && json.NewDecoder(answer.Body).Decode(&metadata) == nil
	return metadata.Scopes, has
}

// guarded returns an error if codes or tokens would travel in the clear.
func guarded(m *transport.AuthServerMetadata) error {
	for _, address := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.RegistrationEndpoint} {
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		ip, _ := netip.ParseAddr(u.Hostname())
		if address != "" && u.Scheme != "https" && u.Hostname() != "localhost" && !ip.IsLoopback() {
			return errors.New(address + " is not https")
		}
	}
	return nil
}
