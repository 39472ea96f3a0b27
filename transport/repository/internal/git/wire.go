package git

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// maxRefsBytes is the maximum size of a list of refs, enough for some 600,000.
const maxRefsBytes = 48 << 20

// session is a conversation with git-upload-pack. go-git's sessions and sshSession implement it.
type session interface {
	AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error)
	UploadPack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
}

// wire is a source that reads a repository over the network.
type wire struct {
	session session
	host    string
	meter   *meter
	limits  Limits
	closing func() // closes the connection
}

func (w *wire) close() { w.closing() }

func (w *wire) refs(ctx context.Context) (*refs, error) {
	adv, err := w.advertised(ctx)
	if err != nil {
		return nil, err
	}
	return advertised(adv), nil
}

// advertised requests the refs, under their own limit.
func (w *wire) advertised(ctx context.Context) (*packp.AdvRefs, error) {
	w.meter.refs = maxRefsBytes
	defer func() { w.meter.refs = 0 }()
	adv, err := w.session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, explain(ctx, w.host, w.meter, err)
	}
	return adv, nil
}

// objects first requests the refs, because the server's capabilities come with them.
func (w *wire) objects(ctx context.Context, commit plumbing.Hash) (objects, error) {
	adv, err := w.advertised(ctx)
	if err != nil {
		return nil, err
	}
	request := wanting(commit, adv.Capabilities)
	answer, err := w.session.UploadPack(ctx, request)
	if err != nil {
		return nil, w.explainWant(ctx, adv, commit, err)
	}
	defer answer.Close()
	p, err := receive(ctx, packOf(answer, request.Capabilities), w.limits)
	w.meter.flush()
	if err != nil {
		return nil, w.explainPack(ctx, err)
	}
	return p, nil
}

// wanting returns the request for one commit, without its history if the server supports that. It requests nothing that
// needs state on the server.
func wanting(commit plumbing.Hash, offered *capability.List) *packp.UploadPackRequest {
	request := packp.NewUploadPackRequest()
	request.Wants = []plumbing.Hash{commit}
	wish := func(c capability.Capability, values ...string) bool {
		return offered.Supports(c) && request.Capabilities.Set(c, values...) == nil
	}
	if !wish(capability.Sideband64k) {
		wish(capability.Sideband)
	}
	if wish(capability.Shallow) {
		request.Depth = packp.DepthCommits(1)
	}
	wish(capability.OFSDelta)
	wish(capability.NoProgress)
	wish(capability.Agent, "lastword")
	return request
}

// packOf returns the pack in the response, which may be multiplexed with progress messages.
func packOf(answer io.Reader, agreed *capability.List) io.Reader {
	switch {
	case agreed.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, answer)
	case agreed.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, answer)
	}
	return answer
}

// explainWant blames the commit if no ref points to it: few servers send such commits, and go-git reports only the text
// of the refusal.
func (w *wire) explainWant(ctx context.Context, adv *packp.AdvRefs, commit plumbing.Hash, err error) error {
	explained := explain(ctx, w.host, w.meter, err)
	if ctx.Err() != nil || w.meter.err != nil || advertised(adv).has(commit) {
		return explained
	}
	_, said := errors.AsType[*pktline.ErrorLine](err)
	if !said && (messages.CodeOf(explained) != messages.CauseTransportClosed || unwrap(err) != nil) {
		return explained
	}
	return messages.InvalidInput("%s does not give out the commit %s, which is not the head of a branch or tag; name one that is: %s",
		w.host, commit, oneLine(err.Error()))
}

// has reports whether a ref points to the commit.
func (r *refs) has(commit plumbing.Hash) bool {
	all := slices.AppendSeq([]plumbing.Hash{r.head}, maps.Values(r.names))
	return slices.Contains(slices.AppendSeq(all, maps.Values(r.peeled)), commit)
}

// explainPack tells a broken connection from an invalid pack.
func (w *wire) explainPack(ctx context.Context, err error) error {
	known := messages.CodeOf(err) != ""
	if ctx.Err() != nil || w.meter.err != nil || known {
		return explain(ctx, w.host, w.meter, err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return undelivered("%s closed the connection before all was sent; try again", w.host)
	}
	return undelivered("the pack from %s is damaged: %s; try again", w.host, oneLine(err.Error()))
}

// reportEvery is the number of bytes between two reports of progress.
const reportEvery = 64 << 10

// meter counts and limits what a source receives in all its responses. It keeps the first error, because go-git may
// keep only the text.
type meter struct {
	limit, done, reported int64
	refs                  int64 // limit while refs are received, because names are kept in memory; 0 means limit applies
	progress              func(done, total int64)
	err                   error // the limit's error, or a read's
}

// metered is a reader whose bytes a meter counts.
type metered struct {
	io.ReadCloser
	meter *meter
}

// Read fails at the limit. It remembers the connection's error, which go-git hides behind its own.
func (r metered) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if over := r.meter.count(int64(n)); over != nil {
		return 0, over
	}
	if err != nil && !errors.Is(err, io.EOF) && r.meter.err == nil {
		r.meter.err = err
	}
	return n, err
}

// count adds received bytes, checks the limits and reports progress from time to time.
func (m *meter) count(n int64) error {
	m.done += n
	switch {
	case m.refs > 0 && m.done > m.refs:
		m.err = messages.LimitExceeded("the names of branches and tags alone take more than %s; this cannot be read", words.Limit(m.refs))
		return m.err
	case m.done > m.limit:
		m.err = messages.LimitExceeded("the repository is larger than %s; raise --max-download", words.Limit(m.limit))
		return m.err
	}
	if m.done-m.reported >= reportEvery {
		m.flush()
	}
	return nil
}

func (m *meter) flush() {
	m.reported = m.done
	m.progress(m.done, 0)
}

// openHTTP returns a source. It does not connect yet.
func openHTTP(u *url.URL, o Options, m *meter) (source, error) {
	client := o.Allow.Client()
	guarded := &http.Client{Transport: &meteredTransport{base: client.Transport, meter: m},
		CheckRedirect: client.CheckRedirect}
	s, err := githttp.NewClient(guarded).NewUploadPackSession(endpoint(u), credentials(u, o))
	if err != nil {
		return nil, messages.InvalidInput("%s cannot be read: %s", u.Hostname(), oneLine(err.Error()))
	}
	return &wire{session: s, host: u.Hostname(), meter: m, limits: o.Limits,
		closing: client.CloseIdleConnections}, nil
}

// endpoint converts a URL for go-git, whose own parser accepts more than URLs.
func endpoint(u *url.URL) *transport.Endpoint {
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port, _ := strconv.Atoi(u.Port()) // the policy has checked it
	path := strings.TrimRight(u.EscapedPath(), "/")
	return &transport.Endpoint{Protocol: strings.ToLower(u.Scheme), Host: host, Port: port, Path: path}
}

// credentials returns the token for the host. Without one it returns an untyped nil, as go-git requires.
func credentials(u *url.URL, o Options) transport.AuthMethod {
	host := strings.ToLower(u.Hostname())
	if o.Token == nil || !strings.EqualFold(u.Scheme, "https") && !isThisMachine(host) {
		return nil
	}
	token := o.Token(host)
	if token == "" {
		return nil
	}
	o.Secrets.Add("token", token)
	return &githttp.BasicAuth{Username: cmp.Or(o.User, userFor(host)), Password: token}
}

// isThisMachine reports whether the host is this machine.
func isThisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// userFor returns the user name that goes with a token. Most hosts check only the token.
func userFor(host string) string {
	switch {
	case strings.Contains(host, "gitlab"):
		return "oauth2"
	case strings.Contains(host, "bitbucket"):
		return "x-token-auth"
	}
	return "x-access-token"
}

// meteredTransport counts received bytes, and drops the bodies of error responses, which go-git would read without a
// limit.
type meteredTransport struct {
	base  http.RoundTripper
	meter *meter
}

// RoundTrip implements http.RoundTripper.
func (t *meteredTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		_ = resp.Body.Close()
		resp.Body = http.NoBody
		return resp, nil
	}
	resp.Body = metered{resp.Body, t.meter}
	return resp, nil
}
