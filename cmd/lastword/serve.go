package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/issuer"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// serveFlags holds the flags of serve.
type serveFlags struct {
	host.Flags
	program         *host.Program
	http, publicURL string
	unix, admin     string
	tokens          string
	issuer          issuer.Config
	auth            string
	peers           []string
	hosts, origins  []string
	maxBody         settings.ByteSize
	rate            int
	connections     int
	allowLocal      bool
}

// serveChecked is serve with flags that check has accepted.
type serveChecked struct {
	*serveFlags
	host  *host.Checked
	proxy *auth.Proxy    // what stands in front and names the callers, or nil
	jwt   *issuer.Issuer // whose tokens are taken, or nil
	hosts []string       // that clients may use
}

func serveCommand(p *host.Program) *cobra.Command {
	s := serveFlags{program: p}
	p.Serves = &s.Store
	cmd := &cobra.Command{
		Use:         "serve",
		Annotations: map[string]string{settings.ReadsCurrent: "always"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	flags := cmd.Flags()
	settings.Group(flags, "HTTP", func() { s.addHTTPFlags(flags) })
	s.Flags.AddFlags(cmd, flags, p)
	settings.Group(flags, "Runs", func() {
		s.AddWebhookFlags(flags)
		s.AddFaultFlags(flags)
		s.Store.AddAll(flags)
	})
	settings.Group(flags, "Repository", func() {
		s.Read.AddHTTPFlag(flags)
		s.Read.Fix()
		flags.BoolVar(&s.allowLocal, "allow-local", false, "let every caller read folders and archives of this machine")
		s.Read.AddDownloadFlag(flags)
	})
	settings.ByOperator(flags)
	return cmd
}

func (s *serveFlags) addHTTPFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.http, "http", "127.0.0.1:7878", "`address` to listen on; port 0 takes a free one")
	flags.StringVar(&s.unix, "unix", "", "`path` of a Unix socket to listen on instead")
	flags.StringVar(&s.admin, "admin", "", "loopback `address` for profiles (/debug/pprof)")
	flags.StringSliceVar(&s.Dialects, "dialects", nil,
		"`names` of other systems whose clients to serve: "+strings.Join(host.DialectNames(), ", "))
	flags.StringVar(&s.NanoListen, "nano", "", "second `address`, for NANO's own paths /mcp and /ws")
	flags.StringVar(&s.tokens, "tokens", "", "`file` of the callers' tokens; lastword token add writes it")
	flags.StringVar(&s.issuer.Issuer, "jwt-issuer", "", "`URL` of an authorization server whose access tokens (JWTs) are taken")
	flags.StringVar(&s.issuer.Audience, "jwt-audience", "", "`name` of this server in aud of these tokens")
	flags.StringSliceVar(&s.issuer.Scopes, "jwt-scope", nil,
		"`NAME=SCOPE` says what a scope of these tokens means here; without it run:read and run:write mean themselves, and others nothing")
	flags.StringVar(&s.auth, "auth", "", "proxy=`HEADER` takes the caller's name from a header field of the proxy in front")
	flags.StringSliceVar(&s.peers, "auth-peer", nil,
		"`addresses` that this proxy calls from, such as 127.0.0.1 or 10.1.0.0/16; unix is whoever opens the socket")
	flags.StringVar(&s.SessionKey, "session-key", "",
		"`file` with the key that seals sessions, the same for each server of --nats; two lines while you replace it")
	flags.StringVar(&s.publicURL, "public-url", "", "`URL` of /mcp for clients, if a proxy is in front")
	flags.StringSliceVar(&s.hosts, "host", nil, "host `names` that clients may use; others than this machine's need --tokens; * is any")
	flags.StringSliceVar(&s.origins, "allow-origin", nil, "`origins` of web pages that may call, such as https://app.example.com")
	flags.Var(&s.maxBody, "max-body", "maximum `bytes` of a request (default 16MiB)")
	flags.IntVar(&s.rate, "rate", 1000, "maximum `number` of requests per second and caller; -1 is no limit")
	flags.IntVar(&s.MaxRunsEach, "max-runs-each", 32, "maximum `number` of runs per caller at the same time")
	flags.Var(&s.MaxOutEach, "max-out-each", "maximum `bytes` of the files of one caller under --out (default 1GiB)")
	flags.Int64Var(&s.TokensPerDay, "model-tokens-per-day", 0,
		"maximum `number` of model tokens per caller and UTC day, at all servers of one store; 0 is no limit")
	flags.IntVar(&s.connections, "max-connections", 10_000, "maximum `number` of connections at the same time")
}

// run serves until a signal. Then it stops accepting, lets requests end, and stops the runs last.
func (s *serveFlags) run(cmd *cobra.Command) error {
	checked, err := s.check(cmd)
	if err != nil {
		return err
	}
	runtime, err := checked.host.Start(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	calls := &host.InFlight{Handler: runtime.Metrics.Requests(runtime.Handler)}
	runtime.WaitForAnswers = calls.Wait
	entrance, err := checked.entrance(runtime)
	if err != nil {
		return errors.Join(err, runtime.Close(cmd.Context()))
	}
	listener, err := s.listen()
	if err != nil {
		return errors.Join(errListen(err), runtime.Close(cmd.Context()))
	}
	defer listener.Close()
	admin, err := profiles(s.admin)
	if err != nil {
		return errors.Join(err, runtime.Close(cmd.Context()))
	}
	beside := map[string]http.Handler{s.admin: admin}
	if nano := runtime.Nano; nano != nil {
		beside[s.NanoListen] = entrance.Refusing(nano.Refuse).Wrap(runtime.Metrics.Requests(nano))
	}
	for address, door := range beside {
		stop, err := serveBeside(runtime, address, door)
		if err != nil {
			return errors.Join(err, runtime.Close(cmd.Context()))
		}
		defer stop()
	}
	return checked.serve(cmd, runtime, listener, checked.routes(entrance, calls, runtime))
}

// check checks the flags. A server that others can reach must have tokens.
func (s *serveFlags) check(cmd *cobra.Command) (*serveChecked, error) {
	checked := &serveChecked{serveFlags: s, hosts: s.hosts}
	web := host.Web{RemoteOnly: !s.allowLocal}
	if s.publicURL != "" {
		u, ok := webURL(s.publicURL)
		if !ok {
			return nil, exit.BadUsage(cmd, errors.New("--public-url needs a URL such as https://runs.example.com/mcp"), "")
		}
		checked.hosts = append(slices.Clip(s.hosts), u.Host)
		web.PublicURL, web.Secure = u.Scheme+"://"+u.Host, u.Scheme == "https"
	}
	switch {
	case s.rate == 0 || s.rate < -1:
		return nil, exit.BadUsage(cmd, errors.New("--rate must be positive, or -1 for no limit"), "")
	case s.TokensPerDay < 0:
		return nil, exit.BadUsage(cmd, errors.New("--model-tokens-per-day must be positive, or 0 for no limit"), "")
	case s.connections <= 0 || s.MaxRunsEach <= 0:
		return nil, exit.BadUsage(cmd, errors.New("--max-connections and --max-runs-each must be positive"), "")
	}
	if s.admin != "" {
		if err := auth.CheckBind(s.admin, false); err != nil {
			return nil, exit.BadUsage(cmd, fmt.Errorf("--admin: %w", err), "give a loopback address, such as 127.0.0.1:6060")
		}
	}
	err := auth.CheckBind(s.http, true)
	if err != nil {
		return nil, exit.BadUsage(cmd, err, "")
	}
	if checked.proxy, err = s.readProxy(); err != nil {
		return nil, exit.BadUsage(cmd, err, "for example: --auth proxy=X-Forwarded-User --auth-peer 127.0.0.1")
	}
	if checked.jwt, err = s.readIssuer(); err != nil {
		return nil, exit.BadUsage(cmd, err, "for example: --jwt-issuer https://login.example.com --jwt-audience https://runs.example.com")
	}
	err = auth.CheckHosts(checked.hosts, checked.authenticated())
	for _, address := range []string{s.http, cmp.Or(s.NanoListen, s.http)} {
		err = cmp.Or(err, auth.CheckBind(address, checked.authenticated()))
	}
	if err != nil {
		return nil, exit.BadUsage(cmd, err, "lastword token add --file FILE NAME makes a token, and --tokens FILE asks for it; "+
			"--auth proxy=HEADER --auth-peer ADDRESS has a proxy say who calls")
	}
	checked.host, err = s.Check(cmd, &web)
	return checked, err
}

// authenticated reports whether callers must say who they are.
func (s *serveChecked) authenticated() bool { return s.wantsToken() || s.proxy != nil }

// wantsToken reports whether callers need a token.
func (s *serveChecked) wantsToken() bool { return s.tokens != "" || s.jwt != nil }

// readIssuer reads --jwt-issuer, --jwt-audience and --jwt-scope.
func (s *serveFlags) readIssuer() (*issuer.Issuer, error) {
	if s.issuer.Issuer == "" {
		if s.issuer.Audience != "" || s.issuer.Scopes != nil {
			return nil, errors.New("--jwt-audience and --jwt-scope have no effect without --jwt-issuer URL")
		}
		return nil, nil
	}
	return issuer.New(s.issuer)
}

// readProxy reads --auth and --auth-peer.
func (s *serveFlags) readProxy() (*auth.Proxy, error) {
	header, is := strings.CutPrefix(s.auth, "proxy=")
	switch {
	case is:
		return auth.NewProxy(header, s.peers)
	case s.auth != "":
		return nil, fmt.Errorf("--auth %.100q: must be proxy=HEADER", s.auth)
	case s.peers != nil:
		return nil, errors.New("--auth-peer has no effect without --auth proxy=HEADER")
	}
	return nil, nil
}

// resource returns how clients name the MCP endpoint: its public URL or its path.
func (s *serveFlags) resource() string { return cmp.Or(s.publicURL, host.MCPPath) }

// entrance returns the checks of callers.
func (s *serveChecked) entrance(runtime *host.Server) (*auth.Middleware, error) {
	config := auth.Config{Proxy: s.proxy, Listen: s.http, Hosts: s.hosts, Origins: s.origins, MaxBody: int64(s.maxBody),
		Rate: float64(s.rate), Open: max(s.connections/2, 1), RunTokens: &runtime.RunTokens, Terminal: runtime.Terminal, Log: runtime.Slog()}
	config.Keys, config.Rows = runtime.Sealing()
	if s.tokens != "" {
		tokens, err := auth.LoadTokens(s.tokens)
		if err != nil {
			return nil, exit.Misconfigured(err)
		}
		config.Tokens = tokens
		config.Accepted = func(token string) { s.program.Secrets.Add("token", token) }
	}
	if s.jwt != nil {
		config.Issued = s.jwt.Check
	}
	if s.wantsToken() {
		config.Metadata = metadataOf(s.resource())
	}
	entrance, err := auth.New(config)
	return entrance, exit.Misconfigured(err)
}

// listen opens the address.
func (s *serveFlags) listen() (net.Listener, error) {
	if s.unix != "" {
		return listenOn("unix", s.unix)
	}
	return listenOn("tcp", s.http)
}

// metadataOf returns the URL of the resource's metadata.
func metadataOf(resource string) string {
	path := auth.MetadataPath(resource)
	if u, ok := webURL(resource); ok {
		return u.Scheme + "://" + u.Host + path
	}
	return path
}

// urlOf returns the value of --server that reaches the listener.
func urlOf(listener net.Listener) string {
	if listener.Addr().Network() == "unix" {
		return "unix:" + listener.Addr().String()
	}
	return "http://" + listener.Addr().String()
}

// announce prints where people, programs and agents find the server, and where runs are stored.
func (s *serveChecked) announce(stderr io.Writer, listener net.Listener) error {
	url := urlOf(listener)
	var lines strings.Builder
	fmt.Fprintf(&lines, "listening on %s\n", url)
	if listener.Addr().Network() != "unix" {
		lines.Reset()
		fmt.Fprintf(&lines, "listening on %s/ (the page; lastword ui opens it)\n", url)
		fmt.Fprintf(&lines, "  programs  %s/v1\n  agents    %s%s\n", url, url, host.MCPPath)
	}
	where := "in memory; they end with this process"
	switch folder := s.Store.Folder(s.Env()); {
	case folder != "":
		where = folder
	case s.Store.Durable():
		where = "in NATS"
	}
	switch {
	case s.wantsToken():
	case s.proxy != nil:
		fmt.Fprintf(&lines, "  callers   need no token: what calls from %s names them\n", strings.Join(s.peers, ", "))
	default:
		lines.WriteString("  callers   need no token: whoever reaches this server may do all; --tokens FILE asks for one\n")
	}
	fmt.Fprintf(&lines, "  runs      %s\n", words.Printable(where))
	_, err := io.WriteString(stderr, lines.String())
	return err
}

// notify reports the service's state to systemd (sd_notify), if systemd has started the process.
func notify(env environment.Variables, state string) {
	address := env.Get("NOTIFY_SOCKET")
	if address == "" {
		return
	}
	c, err := net.Dial("unixgram", address)
	if err != nil {
		return // nobody listens
	}
	defer c.Close()
	_, _ = io.WriteString(c, state)
}

// serve serves until the first signal. Then it ends the runs while their readers still follow, and finally closes
// endless streams.
func (s *serveChecked) serve(cmd *cobra.Command, runtime *host.Server, listener net.Listener, handler http.Handler) error {
	ctx := cmd.Context()
	attached, first := host.Interruptible(ctx, func() {}) // before anybody knows the server and may stop it
	if err := errors.Join(runtime.Announce(urlOf(listener)), s.announce(cmd.ErrOrStderr(), listener)); err != nil {
		first()
		return errors.Join(err, runtime.Close(ctx))
	}
	if s.program.Listening != nil {
		s.program.Listening(urlOf(listener))
	}
	notify(s.Env(), "READY=1")
	defer notify(s.Env(), "STOPPING=1")
	closed := make(chan error, 1)
	unasked := context.AfterFunc(attached, func() { closed <- runtime.Close(ctx) })
	limits := server.Limits{Drain: s.Drain + 2*host.AnswerTimeout, Connections: s.connections, Log: runtime.Slog()}
	served := server.Serve(attached, listener, handler, limits)
	if unasked() { // the listener has failed
		closed <- runtime.Close(ctx)
	}
	ended := errors.Join(served, <-closed)
	if by := first(); by != nil {
		if ended != nil {
			runtime.Log.Warn(strings.ReplaceAll(ended.Error(), "\n", "; "))
		}
		return &exit.Error{Code: exit.OfSignal(by)}
	}
	return ended
}
