package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/web"
)

// routes returns the handler of all paths. Each path has its own checks of the caller: most need a token, a few are
// public.
func (s *serveChecked) routes(entrance *auth.Middleware, tools http.Handler, runtime *host.Server) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(host.MCPPath, aboutMCP(entrance.Public(aboutPage(s.publicURL)), entrance.Wrap(tools)))
	api := entrance.Wrap(runtime.Metrics.Requests(runtime.FaultyReaders(runtime.API)))
	mux.Handle("/v1/", api)
	mux.Handle("/v1", api) // else the mux would redirect to a path whose slash is trimmed
	mux.Handle("/openapi.json", entrance.Wrap(runtime.API))
	for path, dialect := range runtime.Dialects {
		served := runtime.Metrics.Requests(door.Compressed(dialect))
		if checks := entrance.Refusing(dialect.Refuse); path == host.AgentCard && s.wantsToken() {
			mux.Handle(path, checks.Public(withoutScopes(served)))
		} else {
			mux.Handle(path, checks.Wrap(served))
		}
	}
	mux.Handle("POST /schedules", entrance.Wrap(runtime.Schedules()))
	mux.Handle("POST /webhooks", entrance.Wrap(adminsOnly(runtime.Webhooks())))
	mux.Handle("POST /faults", entrance.Wrap(adminsOnly(runtime.Faults())))
	mux.Handle("GET /metrics", entrance.Wrap(adminsOnly(runtime.Metrics)))
	for _, path := range []string{"/healthz", "/livez"} {
		mux.Handle("GET "+path, entrance.Public(says("ok\n")))
	}
	mux.Handle("GET /readyz", entrance.Public(ready(runtime)))
	page := entrance.Public(web.Handler(s.wantsToken() && s.proxy == nil)) // the proxy signs people in
	for _, path := range web.Paths() {
		mux.Handle(path, page)
	}
	if s.wantsToken() {
		var servers []string
		if s.jwt != nil {
			servers = []string{s.issuer.Issuer}
		}
		about := auth.ResourceMetadata(s.resource(), servers, []auth.Scope{auth.ReadRuns, auth.WriteRuns, auth.AnswerRuns})
		for _, path := range []string{auth.MetadataPath(s.resource()), auth.MetadataPath("/")} {
			mux.Handle(path, entrance.Public(about))
		}
	}
	return mux
}

// aboutMCP answers browsers with a page, because people open the agents' address in them. It passes all other requests
// on.
func aboutMCP(page, door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasPrefix(r.Header.Get("Accept"), "text/html") {
			page.ServeHTTP(w, r)
			return
		}
		door.ServeHTTP(w, r)
	})
}

// aboutPage returns a page that explains the address. url is the address that clients use, if there is a proxy.
func aboutPage(url string) http.Handler {
	const text = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>lastword for agents</title>
<h1>This address is for agents</h1>
<p>Agents call lastword's jobs here as MCP tools (streamable HTTP). In Claude Code, for example:</p>
<pre>claude mcp add --transport http lastword %s</pre>
<p><code>lastword mcp --print-config HOST</code> prints the settings of other hosts.</p>
<p><a href="/">The page for people</a> shows the runs.</p>
`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		_, _ = fmt.Fprintf(w, text, html.EscapeString(cmp.Or(url, "http://"+r.Host+host.MCPPath))) // the caller may have left
	})
}

// adminsOnly requires the scope admin, if the server needs tokens.
func adminsOnly(door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := auth.Require(r.Context(), auth.Admin); err != nil {
			w.Header().Set("WWW-Authenticate", auth.Challenge(r.Context(), auth.Admin))
			auth.Refuse(w, err)
			return
		}
		door.ServeHTTP(w, r)
	})
}

// withoutScopes makes the door treat every caller as one without scopes.
func withoutScopes(door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		door.ServeHTTP(w, r.WithContext(auth.With(r.Context(), auth.Principal{Name: "anybody"})))
	})
}

// ready answers 503 while the server accepts no runs.
func ready(runtime *host.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unready := runtime.Ready()
		select {
		case <-auth.Draining(r.Context()):
			unready = errors.New("stopping")
		default:
		}
		if unready == nil {
			says("ready\n").ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, unready)
	})
}

// says answers with a text.
func says(words string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, words) // the caller may have left
	})
}

// profiles serves the profiles of the Go runtime to callers and pages on this machine, at the paths that "go tool
// pprof" uses. net/http/pprof does the same, but makes the binary 300 kB larger.
func profiles(address string) (http.Handler, error) {
	entrance, err := auth.New(auth.Config{Listen: address})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "profile?seconds=30\ntrace?seconds=1")
		for _, p := range pprof.Profiles() {
			fmt.Fprintf(w, "%s?debug=1\n", p.Name())
		}
	})
	mux.HandleFunc("GET /debug/pprof/{name}", func(w http.ResponseWriter, r *http.Request) {
		if err := profile(w, r, r.PathValue("name")); err != nil {
			auth.Refuse(w, err)
		}
	})
	return entrance.Public(mux), nil
}

// profile writes the profile called name: one that the runtime keeps, or one that is recorded for some seconds.
func profile(w http.ResponseWriter, r *http.Request, name string) error {
	debug, _ := strconv.Atoi(r.FormValue("debug"))
	seconds, _ := strconv.Atoi(r.FormValue("seconds"))
	if debug == 0 {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	record := func(start func(io.Writer) error, stop func(), usual int) error {
		if err := start(w); err != nil {
			return auth.NewProblem(auth.CodeBadRequest, err.Error()) // another caller is recording
		}
		defer stop()
		select {
		case <-time.After(time.Duration(cmp.Or(max(seconds, 0), usual)) * time.Second):
		case <-r.Context().Done():
		}
		return nil
	}
	switch name {
	case "profile":
		return record(pprof.StartCPUProfile, pprof.StopCPUProfile, 30)
	case "trace":
		return record(trace.Start, trace.Stop, 1)
	}
	recorded := pprof.Lookup(name)
	if recorded == nil {
		http.NotFound(w, r)
		return nil
	}
	return recorded.WriteTo(w, debug)
}

// serveBeside serves the door at another address, if that is not "", until stop is called.
func serveBeside(runtime *host.Server, address string, door http.Handler) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, errListen(err)
	}
	return host.RunBeside(func(ctx context.Context) {
		if err := server.Serve(ctx, listener, door, server.Limits{Drain: time.Second, Log: runtime.Slog()}); err != nil {
			runtime.Log.Warn(address, zap.Error(err))
		}
	}), nil
}

// The errors of Windows sockets are not syscall's.
const wsaInUse, wsaRefused = syscall.Errno(10048), syscall.Errno(10061)

// errListen adds to the error what to do if the address is not available.
func errListen(err error) error {
	err = fmt.Errorf("cannot listen: %w", err)
	if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, wsaInUse) {
		err = fmt.Errorf("%w\nanother program is there, perhaps a server: lastword ui shows it; --http 127.0.0.1:0 takes a free port", err)
	}
	return exit.Misconfigured(err)
}

// listenOn listens at the address. It first removes a socket that a killed server has left.
func listenOn(network, address string) (net.Listener, error) {
	listener, err := net.Listen(network, address)
	if network != "unix" || !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, wsaInUse) {
		return listener, err
	}
	socket, statErr := os.Lstat(address)
	c, dialErr := net.Dial(network, address)
	if dialErr == nil {
		c.Close()
	}
	if statErr != nil || socket.Mode().Type() != fs.ModeSocket ||
		!errors.Is(dialErr, syscall.ECONNREFUSED) && !errors.Is(dialErr, wsaRefused) {
		return nil, err
	}
	if err := os.Remove(address); err != nil {
		return nil, err
	}
	return net.Listen(network, address)
}
