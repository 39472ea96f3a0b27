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
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/inflight"
)

// Limits bound a server; zero fields take the defaults. An answer may take any time, as streams do: doors set their
// own write deadlines.
type Limits struct {
	Header      time.Duration // to receive a request's header: 10 s
	Body        time.Duration // to receive a request with its body: 1 min
	Idle        time.Duration // between two requests of a connection: 2 min
	Drain       time.Duration // to end what is under way when the server stops: 30 s
	HeaderBytes int           // of a request's header: 64 KiB
	// Connections is how many are open at a time: 10,000. One more takes the place of one without a request in hand, or
	// is answered 503.
	Connections int
	// Log gets panics and broken connections; nil discards.
	Log *slog.Logger
}

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
	// lastPart is how long the rest of a request may take to arrive when the server stops.
	lastPart = time.Second
	// afterCut is how long handlers may take to return after their connections were cut.
	afterCut = time.Second
)

// Serve serves HTTP/1.1, without TLS, at the listener until ctx is done, and closes the listener. Then it accepts no
// more connections, closes auth.Draining and waits for the handlers. Their contexts end when the drain time is over, not
// with ctx. Requests that have partly arrived get one more second. Serve returns nil if all handlers ended in time.
// Errors: shutdown if connections were cut; transport_closed if the listener failed.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, limits Limits) error {
	limits = limits.withDefaults()
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	base, end := context.WithCancelCause(auth.WithDrain(context.WithoutCancel(ctx), stopping.Done()))
	defer end(messages.Errorf(messages.CauseShutdown, "the server has ended"))
	s := &server{limits: limits, listener: newLimitedListener(listener, limits.Connections)}
	s.http = http.Server{
		Handler:           s.attend(handler),
		ReadHeaderTimeout: limits.Header,
		ReadTimeout:       limits.Body, // ends with the body: the server takes the deadline away when it was read
		IdleTimeout:       limits.Idle,
		MaxHeaderBytes:    limits.HeaderBytes,
		ErrorLog:          errorLog(limits.Log),
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

type connKey struct{}

func errorLog(to *slog.Logger) *log.Logger {
	if to == nil {
		return log.New(io.Discard, "", 0)
	}
	return slog.NewLogLogger(to.Handler(), slog.LevelWarn)
}

type server struct {
	http     http.Server
	listener *limitedListener
	limits   Limits
	handlers inflight.Count
}

// attend counts the requests in flight.
func (s *server) attend(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handlers.Begin(0)
		defer s.handlers.End()
		c := r.Context().Value(connKey{}).(*limitedConn)
		c.requests.Add(1)
		defer c.requests.Add(-1)
		if len(r.TransferEncoding) > 0 { // a proxy in front may have heeded a Content-Length that net/http has dropped
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}

// drain waits for the connections and then for the handlers, some of which may have hijacked theirs.
func (s *server) drain(end context.CancelCauseFunc) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.limits.Drain)
	defer cancel()
	s.listener.limitReads(time.Now().Add(lastPart))
	_ = s.http.Shutdown(ctx) // its errors are ctx's, and that of a listener that is closed already
	if s.handlers.Wait(ctx); ctx.Err() == nil {
		return nil
	}
	cut := messages.Errorf(messages.CauseShutdown,
		"requests did not end within %v; their connections were cut", s.limits.Drain)
	end(cut)
	_ = s.http.Close()
	last, cancelLast := context.WithTimeout(context.Background(), afterCut)
	defer cancelLast()
	s.handlers.Wait(last)
	return cut
}
