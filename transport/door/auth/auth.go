package auth

import (
	"cmp"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
)

// Config configures a Middleware. The zero Config is for a server on loopback without tokens.
type Config struct {
	// Tokens are the valid tokens; nil asks for none.
	Tokens *Tokens
	// Listen is the server's address, host:port. If it is not loopback, New requires Tokens and Hosts; "" is
	// loopback.
	Listen string
	// Hosts are the host names that clients use, with or without a port, besides localhost, 127.0.0.0/8 and [::1].
	// "*" allows every host and requires Tokens: otherwise a web site whose name resolves to this machine could call.
	Hosts []string
	// Origins are the origins whose pages may call, as scheme://host[:port], besides the called host and, with Tokens,
	// loopback.
	Origins []string
	// MaxBody is the maximum size of a request's body in bytes: 16 MiB.
	MaxBody int64
	// Rate is the maximum number of requests per second of each principal, or without tokens of each remote address
	// (an IPv6 /64): 1,000. A negative one is no limit. Burst is how many may come at once: twice the rate.
	Rate  float64
	Burst int
	// Open is how many requests, streams and WebSockets of a caller are open at a time: 5,000.
	Open int
	// Bodies is the sum of the bytes of all requests' bodies and WebSocket messages in hand, of which a caller has half
	// at most: eight times MaxBody.
	Bodies int64
	// Metadata is where clients without a valid token find the resource's metadata (RFC 9728): a URL, or a path on
	// the called host. Behind a TLS proxy it must be a URL.
	Metadata string
	// Accepted, which may be nil, is called with each valid token of a request, to be kept out of all output.
	Accepted func(token string)
	// Log gets refused tokens and changes of the token file; nil discards.
	Log *slog.Logger
}

const (
	// failureRate is how many wrong tokens per second of an address get a 401; more get a 429.
	failureRate  = 10
	failureBurst = 10
)

// Middleware checks requests before a door sees them. It is safe for concurrent use.
type Middleware struct {
	tokens   *Tokens
	hosts    hosts
	origins  origins
	maxBody  int64
	metadata string
	accepted func(token string)
	refuse   func(http.ResponseWriter, error)
	log      *slog.Logger

	sessions *sessions
	shares   *shares
	byName   *buckets[string]
	byAddr   *buckets[netip.Addr]
	messages *buckets[string] // of WebSockets, by address
	failures *buckets[netip.Addr]

	// Header values that most answers have, made once and never written to: adding to one copies it.
	nosniff, vary, exposed []string
}

// New returns the checks. An error (invalid_input) says which field is wrong and what to write.
func New(c Config) (*Middleware, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	hosts, err := newHosts(c.Hosts)
	if err != nil {
		return nil, err
	}
	if hosts.any && c.Tokens == nil {
		return nil, invalid("every host (*) needs tokens; name the hosts that clients use")
	}
	origins, err := newOrigins(c.Origins)
	if err != nil {
		return nil, err
	}
	return &Middleware{
		tokens: c.Tokens, hosts: hosts, origins: origins, maxBody: c.MaxBody, metadata: c.Metadata, accepted: c.Accepted,
		refuse: Refuse, log: c.Log,
		sessions: new(sessions),
		shares:   newShares(c.Open, c.Bodies),
		byName:   newBuckets[string](c.Rate, c.Burst),
		byAddr:   newBuckets[netip.Addr](c.Rate, c.Burst),
		messages: newBuckets[string](c.Rate, c.Burst),
		failures: newBuckets[netip.Addr](failureRate, failureBurst),
		nosniff:  []string{"nosniff"}, vary: []string{"Origin"}, exposed: []string{corsExposed},
	}, nil
}

func (c Config) check() error {
	if math.IsNaN(c.Rate) {
		return invalid("the rate is not a number; write the requests a second that each caller may make")
	}
	if strings.ContainsFunc(c.Metadata, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' }) {
		return invalid("%.100q is not the URL or path of the resource's metadata", c.Metadata)
	}
	if c.Listen == "" {
		return nil
	}
	if err := CheckBind(c.Listen, c.Tokens != nil); err != nil {
		return err
	}
	if len(c.Hosts) == 0 && !isLoopbackBind(c.Listen) {
		return invalid("a server at %s needs the host names that clients use; name them, or * for every one", c.Listen)
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.MaxBody, c.Open, c.Rate = cmp.Or(max(c.MaxBody, 0), 16<<20), cmp.Or(max(c.Open, 0), 5_000), cmp.Or(c.Rate, 1000)
	c.Bodies, c.Burst = cmp.Or(max(c.Bodies, 0), 8*c.MaxBody), cmp.Or(max(c.Burst, 0), int(min(max(2*c.Rate, 1), 1_000_000)))
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}

// Refusing returns the same checks for a protocol that has errors in a form of its own.
func (m *Middleware) Refusing(refuse func(http.ResponseWriter, error)) *Middleware {
	protocol := *m
	protocol.refuse = refuse
	return &protocol
}

// Wrap puts a door behind the checks. The door finds its caller with [From], and the caller's trace in the context. The request it gets has no Authorization
// field, so that no door can log or forward a token.
func (m *Middleware) Wrap(door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, ok := m.admit(w, r)
		if !ok {
			return
		}
		r = r.WithContext(messages.WithTrace(r.Context(), messages.ReadTrace(func(name string) string {
			return strings.Join(r.Header.Values(name), ",")
		})))
		if m.tokens == nil {
			r.Header.Del("Authorization")
			m.meter(w, r, door)
			return
		}
		p, ok := m.authenticate(w, r)
		if !ok || !m.within(w, m.byName.take(p.token.principal.Name)) {
			return
		}
		r.Header.Del("Authorization")
		ctx, stop := p.context()
		defer stop()
		m.share(w, r.WithContext(ctx), p.token.principal.Name, door)
	})
}

// Public is Wrap without tokens, for metadata and health checks.
func (m *Middleware) Public(door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r, ok := m.admit(w, r); ok {
			m.meter(w, r, door)
		}
	})
}

// admit makes the checks that need no token. It returns the request with a limited body.
func (m *Middleware) admit(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	h := w.Header()
	h["X-Content-Type-Options"] = m.nosniff
	h["Vary"] = m.vary
	host, ok := parseEndpoint(r.Host)
	if !ok || !m.hosts.allow(host) {
		m.log.Debug("refused a request for its Host", "host", words.Clip(r.Host, 100), "remote", r.RemoteAddr)
		m.refuse(w, messages.Errorf(CodeForbidden,
			"this server does not answer for the host %.100q; use localhost, or ask its operator to allow the host", r.Host))
		return nil, false
	}
	if !m.checkOrigin(w, r, host) || !m.checkQuery(w, r) {
		return nil, false
	}
	return m.limitBody(w, r)
}

func (m *Middleware) meter(w http.ResponseWriter, r *http.Request, door http.Handler) {
	if from := remote(r); m.within(w, m.byAddr.take(from)) {
		m.share(w, r, from.String(), door)
	}
}

// limitBody limits the body. If the length is known, the server reads no more than that. A compressed body is refused:
// nobody could say how large it is.
func (m *Middleware) limitBody(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		w.Header().Set("Connection", "close")
		w.Header().Set("Accept-Encoding", "identity")
		m.refuse(w, messages.Errorf(CodeUnsupported, "the body has the encoding %.100q; send it without one", coding))
		return nil, false
	}
	if r.ContentLength > m.maxBody {
		w.Header().Set("Connection", "close") // else the server would read what is left of the body
		m.refuse(w, messages.Errorf(CodeTooLarge, "the body has %d bytes, more than the limit of %d", r.ContentLength, m.maxBody))
		return nil, false
	}
	if r.ContentLength < 0 {
		r = withBody(r, http.MaxBytesReader(w, r.Body, m.maxBody))
	}
	return r, true
}

// withBody returns a copy of the request with another body. The server's own request must keep its body: it decides
// what happens to unread bytes.
func withBody(r *http.Request, body io.ReadCloser) *http.Request {
	r = r.WithContext(r.Context())
	r.Body = body
	return r
}

// within answers a caller that must wait. It reports whether the caller need not.
func (m *Middleware) within(w http.ResponseWriter, wait time.Duration) bool {
	if wait == 0 {
		return true
	}
	m.tooMany(w, wait, "too many requests")
	return false
}

// remote returns the connection's address; for IPv6 its /64 network, as one host may use all of it.
func remote(r *http.Request) netip.Addr { return AddressOf(r.RemoteAddr) }

// AddressOf returns the address by which callers without a token are told apart.
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
