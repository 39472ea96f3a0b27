package gate

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/inflight"
)

// Limits bound a server; a zero field takes its default. There is no limit to the time of an answer, as streams have
// none: a door sets deadlines for its writes.
type Limits struct {
	Header      time.Duration // to receive a request's header: 10 s
	Body        time.Duration // to receive a request with its body: 1 min
	Idle        time.Duration // between two requests of a connection: 2 min
	Drain       time.Duration // to end what is under way when the server stops: 30 s
	HeaderBytes int           // of a request's header: 64 KiB
	Connections int           // open at a time; more wait until one is closed: 10,000
	// Log is told of panics and broken connections; nil is silent.
	Log *slog.Logger
}

func (l Limits) withDefaults() Limits {
	fill(&l.Header, 10*time.Second)
	fill(&l.Body, time.Minute)
	fill(&l.Idle, 2*time.Minute)
	fill(&l.Drain, 30*time.Second)
	fill(&l.HeaderBytes, 64<<10)
	fill(&l.Connections, 10_000)
	return l
}

func fill[N int | int64 | time.Duration](field *N, value N) {
	if *field <= 0 {
		*field = value
	}
}

const (
	// lastPart is how long a request that has begun to come when the server stops has for what is missing of it.
	lastPart = time.Second
	// afterCut is how long handlers have to return once their connections are cut.
	afterCut = time.Second
)

// Serve serves HTTP/1.1 at the listener, which it closes, until ctx is done; TLS ends before it. Then it accepts no
// more, tells the handlers so by [Draining], and waits for them; their contexts end when the time to drain is over,
// not with ctx. What is missing of a request then has one more second to come; reading it fails after that.
// Serve returns nil if all ended by themselves. Errors: shutdown, where connections had to be cut; transport_closed,
// where the listener failed.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, limits Limits) error {
	limits = limits.withDefaults()
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	base, end := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), drainKey{}, stopping.Done()))
	defer end(messages.Errorf(messages.Code(messages.CauseShutdown), "the server has ended"))
	s := &server{limits: limits, listener: newBounded(listener, limits.Connections)}
	s.http = http.Server{
		Handler:           s.attend(handler),
		ReadHeaderTimeout: limits.Header,
		ReadTimeout:       limits.Body, // ends with the body: the server takes the deadline away when it was read
		IdleTimeout:       limits.Idle,
		MaxHeaderBytes:    limits.HeaderBytes,
		ErrorLog:          errorLog(limits.Log),
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnState:         s.listener.changed,
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
		return messages.Errorf(messages.Code(messages.CauseTransportClosed), "the server stopped accepting: %v", failed)
	}
	return err
}

type drainKey struct{}

// Draining returns a channel that is closed when the server of a request's context stops: time for a stream without end
// to say so and end. It is nil, which is never ready, where the request is not of [Serve].
func Draining(ctx context.Context) <-chan struct{} {
	ch, _ := ctx.Value(drainKey{}).(<-chan struct{})
	return ch
}

func errorLog(to *slog.Logger) *log.Logger {
	if to == nil {
		return log.New(io.Discard, "", 0)
	}
	return slog.NewLogLogger(to.Handler(), slog.LevelWarn)
}

type server struct {
	http     http.Server
	listener *bounded
	limits   Limits
	handlers inflight.Count
}

// attend counts the requests that are being handled.
func (s *server) attend(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handlers.Begin(0)
		defer s.handlers.End()
		handler.ServeHTTP(w, r)
	})
}

// drain waits for the connections and then for the handlers, as some of them may have taken their connections over.
func (s *server) drain(end context.CancelCauseFunc) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.limits.Drain)
	defer cancel()
	s.listener.hurry(time.Now().Add(lastPart))
	_ = s.http.Shutdown(ctx) // its errors are ctx's, and that of a listener that is closed already
	if s.handlers.Wait(ctx); ctx.Err() == nil {
		return nil
	}
	cut := messages.Errorf(messages.Code(messages.CauseShutdown),
		"what was under way did not end within %v; its connections were cut", s.limits.Drain)
	end(cut)
	_ = s.http.Close()
	last, cancelLast := context.WithTimeout(context.Background(), afterCut)
	defer cancelLast()
	s.handlers.Wait(last)
	return cut
}

// CheckBind refuses to listen where others than this machine can reach a server that asks for no token. addr is what
// net.Listen is given, or the address of the listener, which says more: localhost is believed to be loopback, and any
// other name is not. Errors: invalid_input, saying what to do.
func CheckBind(addr string, authenticated bool) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return invalid("%.100q is not an address to listen at; write host:port, for example 127.0.0.1:7878", addr)
	}
	if authenticated || isLoopbackBind(addr) {
		return nil
	}
	return invalid("refused to listen at %.100s without authentication: whoever reaches it could start runs and read "+
		"all; listen at a loopback address such as 127.0.0.1:7878, or give a file of tokens", addr)
}

func isLoopbackBind(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
