package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/messages"
)

// link is a connection to a server, made of mcp-go's transports. It adds what those lack: limits, errors that say why a
// server ended, and unparsed results.
type link interface {
	transport.BidirectionalInterface
	// lost reports whether the server has ended.
	lost() bool
}

// request is a request to a server. The context passes it through mcp-go's client. The goroutine that sends the request
// owns it.
type request struct {
	ctx    context.Context
	call   *pending        // the call of a tool that the request makes, or nil
	result json.RawMessage // the result of the last response
	// refused is the JSON-RPC error of the last response.
	refused *rpcError
	// again, if not nil, answers the next request, which was made already.
	again *transport.JSONRPCResponse
	long  atomic.Bool // a message of the server was too long
	taken atomic.Bool // it was sent, and not refused
	// task is what the server has made of the call, and answered what it has asked.
	task     string
	answered map[string]bool
	// more are members for the parameters of the first request that mcp-go's client would leave out.
	more map[string]json.RawMessage
	// valid has the tools of the last page whose headers mcp-go understands; nil if it does not understand the page.
	valid *mcp.ListToolsResult
	// scopes are those that a refusal wants.
	scopes atomic.Pointer[string]
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// keep stores the unparsed result. mcp-go's own parser refuses a whole result if one part has an unknown type.
func keep(ctx context.Context, answer *transport.JSONRPCResponse) {
	if r := requestOf(ctx); r != nil && answer != nil {
		r.result, r.refused = bytes.ToValidUTF8(answer.Result, []byte("\ufffd")), nil
		if answer.Error != nil {
			r.result, r.refused = nil, refusedBy(answer.Error)
		}
	}
}

// checked sends a request and checks what the answer says of versions. mcp-go takes any answer to server/discover for
// that of a server of 2026-07-28, so one that names no such version becomes a refusal. A refusal that names the version
// of the request is asked again: nothing was done.
func checked(ctx context.Context, r transport.JSONRPCRequest, send sender) (*transport.JSONRPCResponse, error) {
	if ours := requestOf(ctx); ours != nil && ours.again != nil {
		answer := ours.again
		ours.again = nil
		return answer, nil
	}
	if ours := requestOf(ctx); ours != nil && len(ours.more) > 0 {
		fields := map[string]any{}
		text, err := json.Marshal(r.Params)
		if err = cmp.Or(err, json.Unmarshal(text, &fields)); err != nil {
			return nil, err
		}
		for name, value := range ours.more {
			fields[name] = value
		}
		r.Params, ours.more = fields, nil
	}
	answer, err := followed(ctx, r, send)
	if err == nil && answer != nil && answer.Error != nil {
		refused, is := errors.AsType[mcp.UnsupportedProtocolVersionError](answer.Error.AsError())
		if is && slices.Contains(refused.Supported, versionOf(r)) {
			answer, err = send(ctx, r)
		}
	}
	if err == nil && answer != nil && answer.Error == nil && r.Method == string(mcp.MethodServerDiscover) {
		var found mcp.DiscoverResult
		if json.Unmarshal(answer.Result, &found) != nil || !slices.Contains(found.SupportedVersions, versionOf(r)) {
			return transport.NewJSONRPCErrorResponse(r.ID, mcp.METHOD_NOT_FOUND, "it does not support the version", nil), nil
		}
	}
	return answer, err
}

type sender = func(context.Context, transport.JSONRPCRequest) (*transport.JSONRPCResponse, error)

// versionOf returns the version that a request declares.
func versionOf(r transport.JSONRPCRequest) string {
	var params struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	text, err := json.Marshal(r.Params)
	if err == nil {
		_ = json.Unmarshal(text, &params) // older versions declare none
	}
	return params.Meta.Version
}

// dial connects to the server: it starts the command, or opens an HTTP client.
func (c *connection) dial() error {
	s := c.server
	var err error
	switch {
	case s.Local != nil:
		c.link = newLocal(c)
	case s.Command == "":
		c.link, err = c.dialHTTP()
	default:
		var p *process
		if p, err = start(s.life, s.Server); err == nil {
			c.link = &stdioLink{Stdio: transport.NewIO(p, p, nil), process: p, conn: c}
		}
	}
	return err
}

// answering returns the handler of the server's requests. It refuses those that the client has not declared, and passes the
// client's own refusals on: mcp-go would make internal errors of both.
func (c *connection) answering(handle transport.RequestHandler) transport.RequestHandler {
	can := c.server.asks
	declared := map[mcp.MCPMethod]bool{mcp.MethodPing: true, mcp.MethodElicitationCreate: can.Elicitation != nil,
		mcp.MethodSamplingCreateMessage: can.Sampling != nil, mcp.MethodListRoots: can.Roots != nil}
	return func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		if !declared[mcp.MCPMethod(r.Method)] {
			return transport.NewJSONRPCErrorResponse(r.ID, mcp.METHOD_NOT_FOUND, "the client has not declared "+r.Method, nil), nil
		}
		answer, err := handle(ctx, r)
		if refused, is := errors.AsType[*rpcError](err); is {
			return transport.NewJSONRPCErrorResponse(r.ID, refused.Code, refused.Message, refused.Data), nil
		}
		return answer, err
	}
}

// stdioLink is a link to a process that this program has started.
type stdioLink struct {
	*transport.Stdio
	process *process
	conn    *connection
}

// SetRequestHandler implements [transport.BidirectionalInterface].
func (l *stdioLink) SetRequestHandler(handle transport.RequestHandler) {
	l.Stdio.SetRequestHandler(l.conn.answering(handle))
}

// SendRequest sends a request. If the process has ended, the error quotes its last output.
func (l *stdioLink) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	answer, err := checked(ctx, r, l.Stdio.SendRequest)
	keep(ctx, answer)
	if l.process.long.Load() {
		l.process.end()
		return nil, errLong
	}
	if errors.Is(err, transport.ErrTransportClosed) || err != nil && l.lost() {
		return nil, messages.Errorf(messages.CauseTransportClosed, "the server ended: %s", l.process.why())
	}
	return answer, err
}

// Close returns after the process has ended.
func (l *stdioLink) Close() error {
	err := l.Stdio.Close()
	<-l.process.ended
	return err
}

func (l *stdioLink) lost() bool {
	select {
	case <-l.process.ended:
		return true
	default:
		return false
	}
}

// httpLink is a link to a server at a URL.
type httpLink struct {
	*transport.StreamableHTTP
	conn    *connection
	server  Server
	client  *http.Client
	version string // the protocol version
}

// dialHTTP prepares a connection to a server. It sends nothing before the first request. With a session it also listens
// for what the server says outside of calls' streams.
func (c *connection) dialHTTP() (link, error) {
	s := c.server.Server
	client := newClient()
	store, options, err := s.authorized(client)
	if err != nil {
		return nil, err
	}
	options = append(options, transport.WithHTTPBasicClient(client), transport.WithHTTPHeaders(s.Headers),
		transport.WithHTTPHeaderFunc(func(ctx context.Context) map[string]string { return messages.TraceOf(ctx).Fields() }),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)),
		//lint:ignore SA1019 servers of older versions need it
		transport.WithContinuousListening())
	t, err := transport.NewStreamableHTTP(s.URL, options...)
	if err != nil {
		return nil, err
	}
	if store != nil {
		if store.handler = t.GetOAuthHandler(); store.login.Origin != "" {
			store.handler.SetBaseURL(store.login.Origin)
		}
	}
	return &httpLink{StreamableHTTP: t, conn: c, server: s, client: client}, nil
}

func newClient() *http.Client {
	own := dial.NewTransport()
	client := dial.Named(own)
	client.Transport = boundedTransport{dial.NamedTransport{Transport: own}}
	return client
}

const mostRefusal = 4 << 10 // bytes of a refusal that are searched for the word session

// boundedTransport limits the size of responses, and of single events in streams.
type boundedTransport struct{ dial.NamedTransport }

// RoundTrip implements http.RoundTripper. It tells the request in the context when a message is too long. A server that
// refuses GET in another way than the protocol wants is not asked again each second. If it no longer knows the stream of a
// call, mcp-go must not take that for the end of the session: the call would be made again.
func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ours := requestOf(r.Context())
	answer, err := t.NamedTransport.RoundTrip(r)
	if ours != nil && r.Method == http.MethodPost && (err == nil && answer.StatusCode == http.StatusOK || err != nil && messages.CodeOf(err) == "") {
		ours.taken.Store(true) // an error of dialling has a code
	}
	if err == nil && answer.StatusCode == http.StatusBadRequest && r.Header.Get(transport.HeaderKeySessionID) != "" {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, mostRefusal)) // what was read counts
		if bytes.Contains(bytes.ToLower(said), []byte("session")) {
			answer.StatusCode = http.StatusNotFound // what the protocol wants of a server that has forgotten a session
		}
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(said), answer.Body), answer.Body}
	}
	if err == nil && r.Method == http.MethodGet && (answer.StatusCode == http.StatusBadRequest || answer.StatusCode == http.StatusForbidden ||
		answer.StatusCode == http.StatusNotAcceptable || answer.StatusCode == http.StatusNotImplemented ||
		answer.StatusCode == http.StatusNotFound && r.Header.Get("Last-Event-ID") != "") {
		answer.StatusCode = http.StatusMethodNotAllowed
	}
	if err == nil && ours != nil && answer.StatusCode == http.StatusForbidden {
		if wants := wantedScopes.FindStringSubmatch(answer.Header.Get("WWW-Authenticate")); wants != nil {
			ours.scopes.Store(&wants[1])
		}
	}
	if err == nil {
		kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
		body := &bounded{ReadCloser: answer.Body, ends: withAll}
		if kind == "text/event-stream" {
			body.ends = withEvent
		}
		if ours != nil {
			body.long = func() { ours.long.Store(true) }
		}
		answer.Body = body
	}
	return answer, err
}

func (l *httpLink) SetProtocolVersion(version string) {
	l.version = version
	l.StreamableHTTP.SetProtocolVersion(version)
}

// ask sends a request. It takes no answer to another one: mcp-go takes any that comes.
func (l *httpLink) ask(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	answer, err := l.StreamableHTTP.SendRequest(ctx, r)
	if err == nil && answer != nil && answer.Error == nil && answer.ID.String() != r.ID.String() {
		return nil, errors.New("it answered another request")
	}
	return answer, err
}

// SendRequest also notifies a server with sessions when a request is cancelled. Closing the connection would not tell
// it.
func (l *httpLink) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if requestOf(ctx) == nil {
		ctx = context.WithValue(ctx, requestKey{}, &request{ctx: ctx})
	}
	requestOf(ctx).taken.Store(false)
	answer, err := checked(ctx, r, l.ask)
	keep(ctx, answer)
	switch {
	case err != nil && ctx.Err() != nil && l.GetSessionId() != "" && r.Method != string(mcp.MethodInitialize):
		go l.conn.cancelRequest(context.WithoutCancel(ctx), r.ID, ctx.Err().Error())
	case err != nil && requestOf(ctx).long.Load():
		err = errLong // mcp-go hides this error
	case errors.Is(err, transport.ErrAuthorizationRequired), errors.Is(err, transport.ErrOAuthAuthorizationRequired):
		err = messages.InvalidInput("the server asks for authorization; run lastword mcp login %s, or put an Authorization header into its settings", l.server.Name)
	case err != nil && ctx.Err() == nil && requestOf(ctx).taken.Load() && !errors.Is(err, transport.ErrSessionTerminated):
		err = messages.Errorf(messages.CauseTransportClosed, "the server's answer broke off: %v", err)
	}
	if wants := requestOf(ctx).scopes.Swap(nil); wants != nil && ctx.Err() == nil {
		answer, err = nil, messages.InvalidInput("the server asks for more; run lastword mcp login %s --scope %s", l.server.Name,
			strings.Join(strings.Fields(*wants), ","))
	}
	return answer, err
}

// replyTimeout limits the sending of an answer to a request of the server.
const replyTimeout = 5 * time.Second

// SetRequestHandler gives people enough time to answer. mcp-go allows a handler 30 seconds and then sends no answer at
// all.
func (l *httpLink) SetRequestHandler(handle transport.RequestHandler) {
	handle = l.conn.answering(handle)
	l.StreamableHTTP.SetRequestHandler(func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		lasting := context.WithoutCancel(ctx)
		if ours := requestOf(ctx); ours != nil {
			lasting = context.WithValue(ours.ctx, requestKey{}, ours)
		}
		go func() {
			answer, err := handle(lasting, r)
			if err != nil {
				answer = transport.NewJSONRPCErrorResponse(r.ID, mcp.INTERNAL_ERROR, err.Error(), nil)
			}
			l.reply(context.WithoutCancel(ctx), answer)
		}()
		return nil, nil
	})
}

// reply sends the answer to a request of the server. If that fails, the call runs into its timeout.
func (l *httpLink) reply(ctx context.Context, answer *transport.JSONRPCResponse) {
	body, err := json.Marshal(answer)
	if err != nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, replyTimeout)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.server.URL, bytes.NewReader(body))
	if err != nil {
		return
	}
	for name, value := range l.server.Headers {
		r.Header.Set(name, value)
	}
	if h := l.GetOAuthHandler(); h != nil {
		if token, err := h.GetAuthorizationHeader(ctx); err == nil {
			r.Header.Set("Authorization", token)
		}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session := l.GetSessionId(); session != "" {
		r.Header.Set(transport.HeaderKeySessionID, session)
	}
	r.Header.Set(transport.HeaderKeyProtocolVersion, l.version)
	if done, err := l.client.Do(r); err == nil {
		done.Body.Close()
	}
}

// Close also closes idle connections.
func (l *httpLink) Close() error {
	err := l.StreamableHTTP.Close()
	l.client.CloseIdleConnections()
	return err
}

func (*httpLink) lost() bool { return false }

// RequiresLegacyProtocol reports that 2026-07-28 is spoken too: mcp-go opens the stream of GET with older servers alone.
func (*httpLink) RequiresLegacyProtocol() bool { return false }
