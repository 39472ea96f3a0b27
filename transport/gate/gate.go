package gate

import (
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages/words"
)

// Config says what a gate lets through. The zero Config is that of a server on loopback without tokens.
type Config struct {
	// Tokens are who may call; nil asks for no token.
	Tokens *Tokens
	// Listen is the address that the server listens at, host:port. Where it is not loopback, New asks for Tokens and
	// Hosts; "" stands for a loopback one.
	Listen string
	// Hosts are the names that clients call the server by, with or without a port, besides localhost, 127.0.0.0/8 and
	// [::1]. "*" is every host, with Tokens only: a site that has its name resolve to this machine could call otherwise.
	Hosts []string
	// Origins are whose pages may call besides loopback's and the called host's own, as scheme://host[:port].
	Origins []string
	// MaxBody bounds a request's body in bytes: 16 MiB.
	MaxBody int64
	// Rate is the number of requests a second that each principal may make, and without a token each remote address (an
	// IPv6 network of 64 bits): 1,000; a negative one is no limit. Burst is how many at once: twice the rate.
	Rate  float64
	Burst int
	// Metadata is the URL of the protected resource's metadata (RFC 9728) that clients without a good token are told, or
	// its path on the called host. Behind a proxy that speaks TLS it must be a URL.
	Metadata string
	// Accepted, which may be nil, is told each good token that a request showed: no output should repeat it.
	Accepted func(token string)
	// Log is told of refused tokens and of changes to the file of tokens; nil is silent.
	Log *slog.Logger
}

const (
	// failureRate is how many wrong tokens a second each remote address is told of.
	failureRate  = 10
	failureBurst = 10
)

// Gate checks requests before a door sees them. It is safe for concurrent use.
type Gate struct {
	tokens   *Tokens
	hosts    hosts
	origins  origins
	maxBody  int64
	metadata string
	accepted func(token string)
	log      *slog.Logger

	byName   *buckets[string]
	byAddr   *buckets[netip.Addr]
	failures *buckets[netip.Addr]

	// Values of header fields that most answers have, made once. Nobody writes to them: adding to one copies it.
	nosniff, vary, exposed []string
}

// New returns a gate. Errors (invalid_input) say which field is no good and what to write.
func New(c Config) (*Gate, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	hosts, err := newHosts(c.Hosts)
	if err != nil {
		return nil, err
	}
	if hosts.any && c.Tokens == nil {
		return nil, invalid("every host (*) is allowed with tokens only; name the hosts that clients call")
	}
	origins, err := newOrigins(c.Origins)
	if err != nil {
		return nil, err
	}
	return &Gate{
		tokens: c.Tokens, hosts: hosts, origins: origins, maxBody: c.MaxBody, metadata: c.Metadata, accepted: c.Accepted,
		log:      c.Log,
		byName:   newBuckets[string](c.Rate, c.Burst),
		byAddr:   newBuckets[netip.Addr](c.Rate, c.Burst),
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
		return invalid("a server at %s must know by which names it is called; name the hosts, or * for every one", c.Listen)
	}
	return nil
}

func (c Config) withDefaults() Config {
	fill(&c.MaxBody, 16<<20)
	if c.Rate == 0 {
		c.Rate = 1000
	}
	fill(&c.Burst, int(min(max(2*c.Rate, 1), 1_000_000)))
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Wrap puts a door behind the gate. Behind it the context names who calls ([From]), and the request has no
// Authorization field any more, so that no door can log a token or pass it on.
func (g *Gate) Wrap(door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, ok := g.admit(w, r)
		if !ok {
			return
		}
		if g.tokens == nil {
			r.Header.Del("Authorization")
			g.meter(w, r, door)
			return
		}
		p, ok := g.authenticate(w, r)
		if !ok || !within(w, g.byName.take(p.token.principal.Name)) {
			return
		}
		r.Header.Del("Authorization")
		ctx, stop := p.context()
		defer stop()
		door.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Public is Wrap for what asks for no token, such as the metadata of the resource and the signs of life.
func (g *Gate) Public(door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r, ok := g.admit(w, r); ok {
			g.meter(w, r, door)
		}
	})
}

// admit is what every request must pass, whoever calls. It returns the request with its body bounded.
func (g *Gate) admit(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	h := w.Header()
	h["X-Content-Type-Options"] = g.nosniff
	h["Vary"] = g.vary
	host, ok := parseEndpoint(r.Host)
	if !ok || !g.hosts.allow(host) {
		g.log.Debug("refused a request for its Host", "host", words.Clip(r.Host, 100), "remote", r.RemoteAddr)
		Refuse(w, http.StatusForbidden, forbidden(
			"this server is not called %.100q; call it localhost, or ask its operator to name this host", r.Host))
		return nil, false
	}
	if !g.checkOrigin(w, r, host) || !checkQuery(w, r) {
		return nil, false
	}
	return g.bound(w, r)
}

func (g *Gate) meter(w http.ResponseWriter, r *http.Request, door http.Handler) {
	if within(w, g.byAddr.take(remote(r))) {
		door.ServeHTTP(w, r)
	}
}

// bound limits the body. One of a known length needs no reader that counts: the server gives no more than was
// announced.
func (g *Gate) bound(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	if r.ContentLength > g.maxBody {
		w.Header().Set("Connection", "close") // else the server would read what is left of the body
		Refuse(w, http.StatusRequestEntityTooLarge,
			exceeded("the body has %d bytes, more than the limit of %d", r.ContentLength, g.maxBody))
		return nil, false
	}
	if r.ContentLength < 0 {
		r = withBody(r, http.MaxBytesReader(w, r.Body, g.maxBody))
	}
	return r, true
}

// withBody returns a copy of the request with another body: what the server does with the rest of a body that nobody
// reads depends on the one in its own request.
func withBody(r *http.Request, body io.ReadCloser) *http.Request {
	r = r.WithContext(r.Context())
	r.Body = body
	return r
}

// within answers a caller that must wait, and reports whether there was nothing to wait for.
func within(w http.ResponseWriter, wait time.Duration) bool {
	if wait == 0 {
		return true
	}
	tooMany(w, wait, "too many requests")
	return false
}

// remote is the address that the connection comes from. A host has a whole IPv6 network of 64 bits to call from.
func remote(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
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
