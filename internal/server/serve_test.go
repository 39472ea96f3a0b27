package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// pipes is a listener whose connections are within the process, so that a bubble's time passes over them.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// dial connects and writes without waiting for what is written to be read.
func (p *pipes) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	p.conns <- theirs
	go func() { _, _ = io.WriteString(ours, text) }()
	t.Cleanup(func() { _ = ours.Close() })
	return ours
}

type key struct{}

// server is a Serve in a bubble.
type running struct {
	*pipes
	stop   context.CancelFunc
	result chan error
}

func start(t *testing.T, limits server.Limits, handler http.HandlerFunc) *running {
	ctx, stop := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	s := &running{newPipes(), stop, make(chan error, 1)}
	go func() { s.result <- server.Serve(ctx, s.pipes, handler, limits) }()
	return s
}

// end stops the server and returns how long that took, and Serve's error.
func (s *running) end() (time.Duration, error) {
	began := time.Now()
	s.stop()
	err := <-s.result
	return time.Since(began), err
}

func wantEnd(t *testing.T, s *running) {
	t.Helper()
	if _, err := s.end(); err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// cutAfter returns how long the server keeps the connection.
func cutAfter(c net.Conn) time.Duration {
	began := time.Now()
	_, _ = io.Copy(io.Discard, c)
	return time.Since(began)
}

const get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

// DESIGN 9: "Every limit has a default". DESIGN 10: "drain 30 s".
func TestLimitsHaveDefaults(t *testing.T) {
	want := server.Limits{Header: 10 * time.Second, Body: time.Minute, Idle: 2 * time.Minute, Drain: 30 * time.Second,
		HeaderBytes: 64 << 10, Connections: 10_000}
	if got := server.Defaults(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Who asks for nothing, or sends half of a request, is waited for a bounded time. So is the body of a request that is refused
// unread.
func TestConnectionsAreCutInTime(t *testing.T) {
	for request, want := range map[string]time.Duration{"GET / HTTP/1.1\r\nHost: local": 10 * time.Second, get: 2 * time.Minute,
		"POST / HTTP/1.1\r\nHost: evil.com\r\nContent-Length: 100\r\n\r\nhalf": time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, server.Limits{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
			if got := cutAfter(s.dial(t, request)); got < want || got > want+time.Second {
				t.Errorf("after %q the connection was kept for %v, want %v", request, got, want)
			}
			wantEnd(t, s)
		})
	}
}

func TestBodiesMustArriveInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 2)
		s := start(t, server.Limits{}, func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			failed <- err
		})
		const post = "POST / HTTP/1.1\r\nHost: localhost\r\n"
		for _, half := range []string{"Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"} {
			if got := cutAfter(s.dial(t, post+half)); got < time.Minute || got > time.Minute+time.Second {
				t.Errorf("half a body was waited for %v, want 1 min", got)
			}
			if err, ok := errors.AsType[net.Error](<-failed); !ok || !err.Timeout() {
				t.Errorf("the handler got %v", err)
			}
		}
		wantEnd(t, s)
	})
}

// flaky fails to accept twice, as when the process has no file descriptor left for a moment.
type flaky struct {
	*pipes
	failures int
}

func (f *flaky) Accept() (net.Conn, error) {
	if f.failures++; f.failures <= 2 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return f.pipes.Accept()
}

func TestAcceptingThatFailsTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		s := &running{newPipes(), stop, make(chan error, 1)}
		go func() { s.result <- server.Serve(ctx, &flaky{pipes: s.pipes}, door(), server.Limits{Connections: 1}) }()
		if a := receive(t, s.dial(t, get)); a.StatusCode != http.StatusOK {
			t.Error(a.Status)
		}
		wantEnd(t, s)
	})
}

// A file goes over a real socket whole, by whatever way the system sends it.
func TestFilesArriveWhole(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 1<<16)
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	addr := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) }))
	if a := send(t, addr, "GET / HTTP/1.1", "Host: localhost"); a.body != text {
		t.Errorf("%d bytes of %d", len(a.body), len(text))
	}
}

// Many clients append a slash to an address. One that is escaped is a part of a name.
func TestSlashesAtTheEnd(t *testing.T) {
	addr := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }))
	for path, want := range map[string]string{"/": "/", "/a2a/": "/a2a", "/a/b/": "/a/b", "/a%2Fb/": "/a/b", "/a%2F": "/a/", "/a//": "/a//"} {
		response, err := http.Get("http://" + addr + path)
		must(t, err)
		if got, _ := io.ReadAll(response.Body); string(got) != want {
			t.Errorf("%s is served as %s, want %s", path, got, want)
		}
		response.Body.Close()
	}
}

// A proxy that heeds the Content-Length would take the rest of a chunked body for another request.
func TestChunkedRequestsEndTheirConnection(t *testing.T) {
	addr := serve(t, door())
	a := send(t, addr, "POST / HTTP/1.1", "Host: localhost", "Content-Length: 3", "Transfer-Encoding: chunked", "", "0")
	if !a.Close {
		t.Errorf("%s: %v", a.Status, a.Header)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	addr := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for size, want := range map[int]int{60 << 10: http.StatusOK, 70 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		a := send(t, addr, "GET / HTTP/1.1", "Host: localhost", "X: "+strings.Repeat("x", size))
		if a.StatusCode != want {
			t.Errorf("a header of %d bytes: %s, want %d", size, a.Status, want)
		}
	}
}

// The time of an answer has no limit: neither of a stream without a body nor of one that is asked for with a body.
func TestStreamsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, server.Limits{}, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			for i := range 24 {
				select {
				case <-time.After(time.Hour):
				case <-r.Context().Done():
					return
				}
				_, _ = fmt.Fprintln(w, i)
				_ = http.NewResponseController(w).Flush()
			}
		})
		for _, request := range []string{
			get, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nfour",
			"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\n\r\n",
		} {
			if a := receive(t, s.dial(t, request)); !strings.HasSuffix(a.body, "\n23\n") {
				t.Errorf("%.4s: the stream ended with %q", request, a.body)
			}
		}
		wantEnd(t, s)
	})
}

// Who holds connections without asking for anything keeps nobody out; requests in hand are not cut for others.
func TestConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, server.Limits{Connections: 2}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/own" {
				return
			}
			c, _, err := http.NewResponseController(w).Hijack() // as a WebSocket does
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Hour)
			_ = c.Close()
		})
		own := strings.Replace(get, "/", "/own", 1)
		s.dial(t, own)
		synctest.Wait()
		idle := s.dial(t, get)
		receive(t, idle)
		synctest.Wait()
		slow := s.dial(t, "GET / HT")
		synctest.Wait()
		if _, err := idle.Read(make([]byte, 1)); err == nil {
			t.Error("the idle connection is not closed")
		}
		s.dial(t, own)
		if _, err := slow.Read(make([]byte, 1)); err == nil {
			t.Error("the connection whose request does not come is not closed")
		}
		synctest.Wait()
		if a := receive(t, s.dial(t, "")); a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
			t.Errorf("beside two connections in use: %s %v", a.Status, a.Header)
		}
		s.stop()
		time.Sleep(time.Hour)
		<-s.result
	})
}

// A stream is told that the server stops, and says its last word.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, server.Limits{}, func(w http.ResponseWriter, r *http.Request) {
			if r.Context().Value(key{}) != "value" {
				t.Error("the context has not the values of Serve's")
			}
			_ = http.NewResponseController(w).Flush()
			<-auth.Draining(r.Context())
			time.Sleep(20 * time.Second)
			if err := r.Context().Err(); err != nil {
				t.Errorf("while it drains the request's context has ended: %v", context.Cause(r.Context()))
			}
			_, _ = io.WriteString(w, "event: server.draining\n\n")
		})
		idle := s.dial(t, get)
		c := s.dial(t, get)
		synctest.Wait()
		go func() { _, _ = io.Copy(io.Discard, idle) }()
		got := make(chan answer, 1)
		go func() { got <- receive(t, c) }()
		took, err := s.end()
		if err != nil || took < 20*time.Second || took > 21*time.Second {
			t.Errorf("drained in %v, %v", took, err)
		}
		if a := <-got; a.body != "event: server.draining\n\n" {
			t.Errorf("the stream ended with %q", a.body)
		}
		select {
		case <-s.done:
		default:
			t.Error("the listener is still open")
		}
	})
}

// What was not sent whole when the server stops does not keep it up: neither a header, nor a body, nor a connection
// over which nothing came.
func TestDrainDoesNotWaitForRequestsThatDoNotCome(t *testing.T) {
	const post = "POST / HTTP/1.1\r\nHost: localhost\r\n"
	for name, half := range map[string]string{
		"nothing": "", "half a header": post[:20], "half a body": post + "Content-Length: 100\r\n\r\nhalf",
		"half a chunked body":     post + "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
		"half a second header":    get + post[:20],
		"a body nobody asked for": post + "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, server.Limits{}, func(w http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) })
				c := s.dial(t, half)
				go func() { _, _ = io.Copy(io.Discard, c) }()
				synctest.Wait()
				if took, err := s.end(); took > 2*time.Second || err != nil {
					t.Errorf("drained in %v, %v", took, err)
				}
			})
		})
	}
}

// A request that is on its way when the server stops has a second to come whole, and then the time to drain.
func TestDrainServesRequestsOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, server.Limits{}, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			time.Sleep(20 * time.Second)
			_, _ = fmt.Fprintf(w, "%s %v %v", body, err, r.Context().Err())
		})
		c := s.dial(t, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\nhalf")
		go func() {
			time.Sleep(900 * time.Millisecond)
			_, _ = io.WriteString(c, "more")
		}()
		synctest.Wait()
		got := make(chan answer, 1)
		go func() { got <- receive(t, c) }()
		if took, err := s.end(); took < 20*time.Second || err != nil {
			t.Errorf("drained in %v, %v", took, err)
		}
		if a := <-got; a.body != "halfmore <nil> <nil>" {
			t.Errorf("the answer is %q", a.body)
		}
	})
}

// A connection that was taken over with a body that nobody read has not the body's deadline.
func TestConnectionsTakenOverHaveNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := make(chan error, 1)
		s := start(t, server.Limits{}, func(w http.ResponseWriter, r *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			_, err = c.Read(make([]byte, 1))
			read <- err
		})
		c := s.dial(t, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")
		synctest.Wait()
		time.Sleep(time.Hour)
		_, _ = io.WriteString(c, "x")
		must(t, <-read)
		wantEnd(t, s)
	})
}

// A connection that a handler took over is waited for like any other, and its deadlines are the handler's.
func TestDrainLeavesDeadlinesOfConnectionsTakenOver(t *testing.T) {
	for name, before := range map[string]bool{"taken over before": true, "taken over while it drains": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				read := make(chan error, 1)
				s := start(t, server.Limits{}, func(w http.ResponseWriter, r *http.Request) {
					draining := auth.Draining(r.Context())
					if !before {
						<-draining
						synctest.Wait()
					}
					c, _, err := http.NewResponseController(w).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					defer c.Close()
					_ = c.SetDeadline(time.Now().Add(10 * time.Second))
					<-draining
					_, err = c.Read(make([]byte, 1))
					read <- err
				})
				c := s.dial(t, get)
				synctest.Wait()
				go func() {
					time.Sleep(5 * time.Second)
					_, _ = io.WriteString(c, "x")
				}()
				if took, err := s.end(); took != 5*time.Second || err != nil {
					t.Errorf("%v, %v", took, err)
				}
				if err := <-read; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// DESIGN 10: "drain 30 s". What has not ended by then is cut, and its context says why.
func TestDrainHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := make(chan error, 1)
		s := start(t, server.Limits{}, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			cause <- context.Cause(r.Context())
		})
		c := s.dial(t, get)
		go func() { _, _ = io.Copy(io.Discard, c) }()
		synctest.Wait()
		took, err := s.end()
		if took != 30*time.Second {
			t.Errorf("took %v, want 30 s", took)
		}
		wantCode(t, err, messages.CauseShutdown, "30s")
		wantCode(t, <-cause, messages.CauseShutdown, "")
	})
}

// A handler that heeds nothing does not keep the server from ending.
func TestDrainGivesUpDeafHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := start(t, server.Limits{Drain: time.Minute}, func(http.ResponseWriter, *http.Request) { <-release })
		c := s.dial(t, get)
		synctest.Wait()
		took, err := s.end()
		if took != time.Minute+time.Second {
			t.Errorf("took %v, want the drain and 1 s", took)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("the connection was not cut")
		}
		wantCode(t, err, messages.CauseShutdown, "")
		close(release)
	})
}

func TestServeOfAContextThatIsDone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	must(t, server.Serve(ctx, l, door(), server.Limits{}))
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		_ = c.Close()
		t.Error("the listener is still open")
	}
}

// A listener that fails ends the server, and streams are told like at any end.
func TestServeOfAListenerThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := false
		s := start(t, server.Limits{}, func(w http.ResponseWriter, r *http.Request) {
			<-auth.Draining(r.Context())
			told = true
		})
		c := s.dial(t, get)
		go func() { _, _ = io.Copy(io.Discard, c) }()
		synctest.Wait()
		_ = s.Close()
		wantCode(t, <-s.result, messages.CauseTransportClosed, "closed")
		if !told {
			t.Error("the stream was not told")
		}
	})
}

func TestDrainingOutsideOfServe(t *testing.T) {
	if auth.Draining(t.Context()) != nil {
		t.Error("a context that is not of Serve drains")
	}
}

// DESIGN 8: "embedded in another daemon without globals, listeners or log output".
func TestPanicsOfHandlersGoToTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder // written to before the server ends
		for _, l := range []server.Limits{{}, {Log: slog.New(slog.NewTextHandler(&log, nil))}} {
			s := start(t, l, func(http.ResponseWriter, *http.Request) { panic("lost") })
			cutAfter(s.dial(t, get))
			wantEnd(t, s)
		}
		if n := strings.Count(log.String(), "panic serving"); n != 1 || !strings.Contains(log.String(), "lost") {
			t.Errorf("logged %q", log.String())
		}
	})
}

var must = fatal.IfError
