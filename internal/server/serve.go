package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Limits bound a server. Fields that are zero take the defaults. There is no limit for a response, because streams take
// any time: doors set their own write deadlines.
type Limits struct {
	Header      time.Duration // time to receive the header of a request; default 10 s
	Body        time.Duration // time to receive a request with its body; default 1 min
	Idle        time.Duration // time between two requests on a connection; default 2 min
	Drain       time.Duration // time to finish requests when the server stops; default 30 s
	HeaderBytes int           // maximum size of a request's header; default 64 KiB
	// Connections is the maximum number of open connections; default 10,000. A further one replaces a connection
	// without a request in flight, or is answered with 503.
	Connections int
	// Log gets panics and broken connections; nil discards them.
	Log *slog.Logger
}

// withDefaults replaces the limits that are not set.
func (l Limits) withDefaults() Limits {
	l.Header = cmp.Or(max(l.Header, 0), 10*time.Second)
	l.Body = cmp.Or(max(l.Body, 0), time.Minute)
	l.Idle = cmp.Or(max(l.Idle, 0), 2*time.Minute)
	l.Drain = cmp.Or(max(l.Drain, 0), 30*time.Second)
	l.HeaderBytes = cmp.Or(max(l.HeaderBytes, 0), 64<<10)
	l.Connections = cmp.Or(max(l.Connections, 0), 10_000)
	return l
}

const (
	// lastPart is how long the rest of a request may take to arrive after the server began to stop.
	lastPart = time.Second
	// afterCut is how long handlers may take to return after their connections were cut.
	afterCut = time.Second
)

// Serve serves HTTP/1.1 without TLS on the listener until ctx is done. Then it closes the listener and auth.Draining,
// and waits for the handlers, at most limits.Drain. Only then do their contexts end. Requests that have partly arrived
// get one more second. Serve returns nil if all handlers returned in time. Errors: shutdown if it had to cut
// connections; transport_closed if the listener failed.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, limits Limits) error {
	limits = limits.withDefaults()
	errorLog := log.New(io.Discard, "", 0)
	if limits.Log != nil {
		errorLog = slog.NewLogLogger(limits.Log.Handler(), slog.LevelWarn)
	}
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	base, end := context.WithCancelCause(auth.WithDrain(context.WithoutCancel(ctx), stopping.Done()))
	defer end(messages.Errorf(messages.CauseShutdown, "the server has ended"))
	s := &server{limits: limits, listener: newLimitedListener(listener, limits.Connections)}
	s.http = http.Server{
		Handler:           s.attend(handler),
		ReadHeaderTimeout: limits.Header,
		ReadTimeout:       limits.Body, // covers the body; the server clears the deadline after reading it
		IdleTimeout:       limits.Idle,
		MaxHeaderBytes:    limits.HeaderBytes,
		ErrorLog:          errorLog,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnState:         s.listener.connState,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listener) }()
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-served:
		served <- failed
		stop()
	}
	err := s.drain(end)
	if failed = <-served; !errors.Is(failed, http.ErrServerClosed) {
		return messages.Errorf(messages.CauseTransportClosed, "the server stopped accepting: %v", failed)
	}
	return err
}

// connKey is the context key of a request's *limitedConn.
type connKey struct{}

// server is what Serve keeps while it runs.
type server struct {
	http     http.Server
	listener *limitedListener
	limits   Limits
	handlers Count
}

// attend counts the requests in flight.
func (s *server) attend(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handlers.Begin(0)
		defer s.handlers.End()
		c := r.Context().Value(connKey{}).(*limitedConn)
		c.requests.Add(1)
		defer c.requests.Add(-1)
		if len(r.TransferEncoding) > 0 { // a proxy may have used a Content-Length that net/http dropped: do not reuse the connection
			w.Header().Set("Connection", "close")
		}
		trim(r.URL)
		handler.ServeHTTP(w, r)
	})
}

// trim removes the slash that many clients append to a path. One that is escaped belongs to a name.
func trim(u *url.URL) {
	if path, found := strings.CutSuffix(u.EscapedPath(), "/"); found && path != "" && !strings.HasSuffix(path, "/") {
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	}
}

// drain waits for the connections, and then for handlers that took over theirs. It calls end when the time is over.
func (s *server) drain(end context.CancelCauseFunc) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.limits.Drain)
	defer cancel()
	s.listener.limitReads(time.Now().Add(lastPart))
	_ = s.http.Shutdown(ctx) // its errors: ctx's, and a listener that is closed already
	if s.handlers.Wait(ctx); ctx.Err() == nil {
		return nil
	}
	cut := messages.Errorf(messages.CauseShutdown, "requests did not end within %v; their connections were cut", s.limits.Drain)
	end(cut)
	_ = s.http.Close()
	last, cancelLast := context.WithTimeout(context.Background(), afterCut)
	defer cancelLast()
	s.handlers.Wait(last)
	return cut
}
