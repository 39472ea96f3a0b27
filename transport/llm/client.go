package llm

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Client calls one model server. It is safe for concurrent use.
type Client struct {
	config    Config
	limits    Limits
	base      *url.URL
	key       string
	secrets   *redact.Secrets
	transport http.RoundTripper
	drains    drains
	seen      atomic.Pointer[[]Info] // the last list of models
	thoughts  atomic.Pointer[string] // the member that had thoughts last
}

// New checks the Config and reads the files that it names. Errors: invalid_input.
func New(config Config) (*Client, error) {
	base, err := config.base()
	if err != nil {
		return nil, err
	}
	key, err := config.key()
	if err != nil {
		return nil, err
	}
	transport, err := config.RoundTripper()
	if err != nil {
		return nil, err
	}
	secrets := cmp.Or(config.Secrets, new(redact.Secrets))
	secrets.Add(keyMark, key)
	config.Retries = cmp.Or(config.Retries, 2)
	return &Client{config: config, limits: config.Limits.orDefault(), base: base, key: key, secrets: secrets, transport: transport}, nil
}

// Stream calls the model and yields the parts of its answer as they arrive. The last part is the only [model.End]. If
// the consumer stops early, the call is cancelled at once. No part contains a secret.
func (c *Client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		out := &redactor{secrets: c.secrets, text: c.secrets.Stream(), yield: yield,
			thoughts: map[int]*redact.Stream{}, arguments: map[int]*redact.Stream{}}
		request, amendment, err := c.request(r)
		if err != nil {
			e := model.Evidence{Stopped: messages.CauseInvalidInput, Read: err.Error()}
			end := model.End{Evidence: e, Verdict: model.Judge(model.Strict, e)}
			out.pass(end, end.Verdict.Err())
			return
		}
		call := &call{client: c, name: r.Model, bytes: model.Size(r.Messages), request: request, amendment: amendment, yield: out.pass,
			began: time.Now()}
		for _, t := range r.Tools {
			call.bytes += len(t.Description) + len(t.Parameters)
		}
		if r.MaxTokens == 0 {
			call.most = cmp.Or(c.info(ctx, r.Model, false).Context, c.limits.Tokens)
		}
		call.run(ctx)
	}
}

// Settle waits, for at most 50 ms, until finished calls have released their connections.
func (c *Client) Settle() { c.drains.wait() }

// Close closes idle connections. It first waits, for at most 50 ms, for connections that are about to become idle.
func (c *Client) Close() {
	c.Settle()
	(&http.Client{Transport: c.transport}).CloseIdleConnections()
}

// RoundTripper returns the transport of a Client with this Config. Several Clients can share its connections, by having
// it as Transport. It has no timeout for responses, because a model may think for a long time; the watchdog limits that.
// Errors: invalid_input.
func (c Config) RoundTripper() (http.RoundTripper, error) {
	if c.Transport != nil {
		return edge{c.Transport}, nil
	}
	proxy, err := c.proxy()
	if err != nil {
		return nil, err
	}
	trust, err := c.trust()
	if err != nil {
		return nil, err
	}
	t := dial.NewTransport()
	t.Proxy, t.DisableCompression, t.TLSClientConfig = proxy, true, &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12}
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxResponseHeaderBytes = 0, 256, 64<<10
	return edge{dial.NamedTransport{Transport: t}}, nil
}

// proxy returns the function that chooses the proxy of a request. It returns nil for direct connections.
func (c Config) proxy() (func(*http.Request) (*url.URL, error), error) {
	switch c.Proxy {
	case "":
		return http.ProxyFromEnvironment, nil
	case "none":
		return nil, nil
	}
	u, err := url.Parse(c.Proxy)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
		return nil, messages.InvalidInput("the model's proxy must be a URL like http://proxy:3128, or none")
	}
	return http.ProxyURL(u), nil
}

// trust returns the trusted certificates. It returns nil if those are the system's.
func (c Config) trust() (*x509.CertPool, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	pem, err := regular.Read(c.CAFile, regular.Large)
	if err != nil {
		return nil, messages.InvalidInput("cannot read the file with certificates: %v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, messages.InvalidInput("%s contains no PEM certificate", c.CAFile)
	}
	return pool, nil
}

// drains read the rest of complete answers in the background, so that connections can be reused. Each takes at most 50
// ms, and only the next call waits for them.
type drains struct {
	mu      sync.Mutex
	running map[chan struct{}]bool
}

// begin runs f in the background, and registers it.
func (d *drains) begin(f func()) {
	ended := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running == nil {
		d.running = map[chan struct{}]bool{}
	}
	d.running[ended] = true
	go func() {
		f()
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.running, ended)
		close(ended)
	}()
}

// wait waits for the drains that are running.
func (d *drains) wait() {
	d.mu.Lock()
	all := slices.Collect(maps.Keys(d.running))
	d.mu.Unlock()
	for _, ended := range all {
		<-ended
	}
}

// drain reads the rest of a body, so that its connection can be reused.
func drain(body io.ReadCloser) {
	timer := time.AfterFunc(drainTime, func() { body.Close() })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, drainBytes)
}
