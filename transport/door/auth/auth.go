package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// Config configures a Middleware. The zero Config is for a server on loopback that needs no tokens.
type Config struct {
	// Tokens are the valid tokens. nil means that callers need none, unless Proxy names them.
	Tokens *Tokens
	// Issued, if not nil, checks tokens that an authorization server has issued (JWTs), and returns when each ends. Errors:
	// unauthorized, unavailable.
	Issued func(ctx context.Context, token string) (Principal, time.Time, error)
	// Proxy, if not nil, names the callers of the requests that it sends. Other requests need a token.
	Proxy *Proxy
	// RunTokens are tokens of programs inside runs; nil means none.
	RunTokens *RunTokens
	// Terminal is a secret that only commands at a terminal of the server's user send, in [TerminalField]; "" is none.
	Terminal string
	// Listen is the server's address, host:port; "" is loopback. If it is not loopback, New requires Hosts, and Tokens or a
	// Proxy.
	Listen string
	// Hosts are the host names that clients may use, with or without a port. Localhost, 127.0.0.0/8 and [::1] are
	// always allowed. Others, and "*" for every host, require Tokens or a Proxy: such a name belongs to something in
	// front, which lets others in, or of a web site whose name resolves to this machine.
	Hosts []string
	// Origins are the origins whose pages may call, as scheme://host[:port]. Pages of the called host are always
	// allowed, and with Tokens also loopback origins.
	Origins []string
	// MaxBody is the maximum size of a request body in bytes; 0 means 16 MiB.
	MaxBody int64
	// Rate is the maximum number of requests per second of each caller; 0 means 1,000, a negative value no limit. A
	// caller is a principal, or without tokens a remote address (an IPv6 /64). Burst is how many requests may come at
	// once; 0 means twice the rate.
	Rate  float64
	Burst int
	// Open is how many requests, streams and WebSockets of one caller may be open; 0 means 5,000.
	Open int
	// Bodies is the maximum total size, in bytes, of all request bodies and WebSocket messages that are being handled.
	// One caller may have half of that. 0 means eight times MaxBody.
	Bodies int64
	// Metadata is where clients without a valid token find the resource metadata (RFC 9728): a URL, or a path on the
	// called host. Behind a TLS proxy it must be a URL.
	Metadata string
	// Keys seal the sessions of browsers; nil means a random key, so that sessions end with the process. Rows keep which of
	// them were closed; without Get, memory does.
	Keys seal.Keys
	Rows seal.Rows
	// Accepted, if not nil, is called with each valid token, so that the token can be removed from all output.
	Accepted func(token string)
	// Log gets refused tokens and changes of the token file; nil discards them.
	Log *slog.Logger
}

const (
	// failureRate is how many wrong tokens per second from one address are answered with 401. More get 429.
	failureRate  = 10
	failureBurst = 10 // attempts before that rate applies
)

// Middleware checks requests before a door sees them. It is safe for concurrent use: its fields never change, and those
// behind pointers have their own locks.
type Middleware struct {
	config  Config
	hosts   hosts
	origins origins
	refuse  func(http.ResponseWriter, error)

	sessions *sessions
	shares   *shares
	byName   *buckets[string]     // limits callers with a token
	byAddr   *buckets[netip.Addr] // limits requests without a valid token, by address
	messages *buckets[string]     // by address; limits messages of WebSockets
	failures *buckets[netip.Addr] // limits attempts with wrong tokens, by address

	// Values of header fields that most responses have. They are shared and must not be changed: Header.Add copies
	// them.
	nosniff, vary, exposed []string
}

// New returns the Middleware. Errors: invalid_input, which says which field is wrong and what to write.
func New(c Config) (*Middleware, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.MaxBody, c.Open, c.Rate = cmp.Or(max(c.MaxBody, 0), 16<<20), cmp.Or(max(c.Open, 0), 5_000), cmp.Or(c.Rate, 1000)
	c.Bodies, c.Burst = cmp.Or(max(c.Bodies, 0), 8*c.MaxBody), cmp.Or(max(c.Burst, 0), int(min(max(2*c.Rate, 1), 1_000_000)))
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Issued != nil && c.Tokens == nil {
		c.Tokens = noTokens()
	}
	hosts, err := newHosts(c.Hosts)
	if err == nil {
		err = CheckHosts(c.Hosts, c.authenticated())
	}
	if err != nil {
		return nil, err
	}
	origins, err := newOrigins(c.Origins)
	if err != nil {
		return nil, err
	}
	return &Middleware{
		config: c, hosts: hosts, origins: origins, refuse: Refuse,
		sessions: &sessions{keys: seal.New(c.Keys), rows: seal.NewRows(c.Rows)},
		shares:   &shares{open: c.Open, bodies: c.Bodies, each: map[string]*share{}},
		byName:   newBuckets[string](c.Rate, c.Burst),
		byAddr:   newBuckets[netip.Addr](c.Rate, c.Burst),
		messages: newBuckets[string](c.Rate, c.Burst),
		failures: newBuckets[netip.Addr](failureRate, failureBurst),
		nosniff:  []string{"nosniff"}, vary: []string{"Origin"}, exposed: []string{corsExposed},
	}, nil
}

func (c Config) authenticated() bool { return c.Tokens != nil || c.Issued != nil || c.Proxy != nil }

// check refuses values that would make a header field invalid or a limit meaningless.
func (c Config) check() error {
	if math.IsNaN(c.Rate) {
		return messages.InvalidInput("the rate is not a number; write the requests a second that each caller may make")
	}
	if strings.ContainsFunc(c.Metadata, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' }) {
		return messages.InvalidInput("%.100q is not the URL or path of the resource's metadata", c.Metadata)
	}
	if c.Listen == "" {
		return nil
	}
	if err := CheckBind(c.Listen, c.authenticated()); err != nil {
		return err
	}
	if len(c.Hosts) == 0 && !isLoopbackBind(c.Listen) {
		return messages.InvalidInput("a server at %s needs the host names that clients use; name them, or * for every one", c.Listen)
	}
	return nil
}

// Refusing returns the same checks, for a protocol that answers errors in its own format.
func (m *Middleware) Refusing(refuse func(http.ResponseWriter, error)) *Middleware {
	protocol := *m
	protocol.refuse = refuse
	return &protocol
}

// Wrap puts a door behind the checks. The door finds its caller with [From], and the caller's trace in the context. The
// request has no Authorization field any more, so that no door can log or forward a token.
func (m *Middleware) Wrap(door http.Handler) http.Handler {
	return m.drained(func(w http.ResponseWriter, r *http.Request) { m.check(w, r, door) })
}

// check is apart from Wrap, because the compiler copies Wrap into its callers.
func (m *Middleware) check(w http.ResponseWriter, r *http.Request, door http.Handler) {
	r, ok := m.admit(w, r)
	if !ok {
		return
	}
	r = r.WithContext(messages.WithTrace(r.Context(), messages.ReadTrace(func(name string) string {
		return strings.Join(r.Header.Values(name), ",")
	})))
	switch name, _ := m.config.Proxy.caller(r); {
	case name != "" || m.config.Tokens == nil && m.config.Proxy != nil && !ofRun(r):
		m.enter(w, r, name, door)
		return
	case m.config.Tokens == nil && !ofRun(r):
		r.Header.Del("Authorization")
		m.meter(w, r, door)
		return
	}
	p, ok := m.authenticate(w, r)
	if !ok || !m.within(w, m.byName.take(p.token.principal.Name)) || !m.confined(w, r, p.token.principal) {
		return
	}
	p.request = m.locate(w, r, p.session != nil)
	r.Header.Del("Authorization")
	ctx, stop := p.context()
	defer stop()
	m.share(w, r.WithContext(ctx), p.token.principal.Name, door)
}

// Public is like Wrap, but needs no token. It is for metadata and health checks.
func (m *Middleware) Public(door http.Handler) http.Handler {
	return m.drained(func(w http.ResponseWriter, r *http.Request) {
		if r, ok := m.admit(w, r); ok {
			m.meter(w, r, door)
		}
	})
}

// Limits of what drained reads: less than smallRest bytes the HTTP server reads itself, more than drainBodies times the
// largest body nobody reads.
const (
	smallRest   = 256 << 10
	drainBodies = 4
	drainTime   = 10 * time.Second
)

// drained reads the rest of a body that nobody has read, after the answer. A client that is cut while it sends would
// not read the answer. One that asked before it sends (Expect) has the answer already.
func (m *Middleware) drained(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve(w, r)
		m.drain(w, r)
	})
}

func (m *Middleware) drain(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor != 1 || r.ContentLength >= 0 && r.ContentLength <= smallRest || r.Header.Get("Expect") != "" {
		return
	}
	c := http.NewResponseController(w)
	if c.Flush() == nil && c.SetReadDeadline(time.Now().Add(drainTime)) == nil {
		_, _ = io.CopyN(io.Discard, r.Body, drainBodies*m.config.MaxBody) // the answer is out: an error helps nobody
	}
}

// admit makes the checks that need no token. It returns the request with a limited body.
func (m *Middleware) admit(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	h := w.Header()
	h["X-Content-Type-Options"] = m.nosniff
	h["Vary"] = m.vary
	host, ok := parseEndpoint(r.Host)
	if !ok || !m.hosts.allow(host) {
		m.config.Log.Debug("refused a request for its Host", "host", words.Clip(r.Host, 100), "remote", r.RemoteAddr)
		m.refuse(w, messages.Errorf(CodeForbidden,
			"this server does not answer for the host %.100q; use localhost, or ask its operator to allow the host", r.Host))
		return nil, false
	}
	if !m.checkOrigin(w, r, host) || !m.checkQuery(w, r) {
		return nil, false
	}
	if _, err := m.config.Proxy.caller(r); err != nil {
		m.config.Log.Debug("refused a caller's name", "error", err)
		m.refuse(w, err)
		return nil, false
	}
	return m.limitBody(w, r)
}

// meter serves a request without a token, within the limits of its address.
func (m *Middleware) meter(w http.ResponseWriter, r *http.Request, door http.Handler) {
	if from := remote(r); m.within(w, m.byAddr.take(from)) {
		m.share(w, m.locate(w, r, false), from.String(), door)
	}
}

// limitBody limits the size of the body. If the length is known, the server reads no more than that. A compressed body
// is refused, because its real size is unknown.
func (m *Middleware) limitBody(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		w.Header().Set("Connection", "close")
		w.Header().Set("Accept-Encoding", "identity")
		m.refuse(w, messages.Errorf(codeUnsupported, "the body has the encoding %.100q; send it without one", coding))
		return nil, false
	}
	if r.ContentLength > m.config.MaxBody {
		w.Header().Set("Connection", "close") // else the server would read the rest of the body
		m.refuse(w, messages.Errorf(CodeTooLarge, "the body has %d bytes, more than the limit of %d", r.ContentLength, m.config.MaxBody))
		return nil, false
	}
	if r.ContentLength < 0 {
		// A copy: the server's own request must keep its body, because the server uses it to handle unread bytes.
		r = r.WithContext(r.Context())
		r.Body = http.MaxBytesReader(w, r.Body, m.config.MaxBody)
	}
	return r, true
}

// within answers a caller that must wait, and returns false. If wait is 0, it returns true.
func (m *Middleware) within(w http.ResponseWriter, wait time.Duration) bool {
	if wait == 0 {
		return true
	}
	m.tooMany(w, wait, "too many requests")
	return false
}

// remote returns the caller's address, see [AddressOf].
func remote(r *http.Request) netip.Addr { return AddressOf(r.RemoteAddr) }

// AddressOf returns the address that identifies a caller without a token. For IPv6 that is the /64 network, because one
// host may use all of it. For a Unix socket it is the zero Addr.
func AddressOf(text string) netip.Addr {
	from, err := netip.ParseAddrPort(text)
	if err != nil { // a Unix socket
		return netip.Addr{}
	}
	addr := from.Addr().Unmap().WithZone("")
	if addr.Is6() {
		network, _ := addr.Prefix(64) // no error: the address has 128 bits
		return network.Addr()
	}
	return addr
}

// wellKnown is the path of the metadata, as RFC 9728 defines it.
const wellKnown = "/.well-known/oauth-protected-resource"

// MetadataPath returns the path of a resource's metadata (RFC 9728, 3.1). resource is a URL or a path on this server.
func MetadataPath(resource string) string {
	u, err := url.Parse(resource)
	if err != nil {
		return wellKnown
	}
	return strings.TrimSuffix(wellKnown+"/"+strings.Trim(u.EscapedPath(), "/"), "/")
}

// ResourceMetadata serves the metadata of a protected resource (RFC 9728): its URL, the URLs of the authorization
// servers, and the scopes. servers is empty if an operator hands out the tokens. If resource is a path, its URL is on
// the called host. Put the handler behind [Middleware.Public], at [MetadataPath].
func ResourceMetadata(resource string, servers []string, scopes []Scope) http.Handler {
	type document struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers,omitempty"`
		Scopes   []Scope  `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			Refuse(w, messages.Errorf(CodeNotAllowed, "the metadata is read with GET"))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache")
		w.WriteHeader(http.StatusOK)
		_ = json.NewEncoder(w).Encode(document{absolute(r, resource), servers, scopes, []string{"header"}})
	})
}

// absolute returns the URL of target, which may be a path on the called host.
func absolute(r *http.Request, target string) string {
	if !strings.HasPrefix(target, "/") {
		return target
	}
	if r.TLS != nil {
		return "https://" + r.Host + target
	}
	return "http://" + r.Host + target
}
