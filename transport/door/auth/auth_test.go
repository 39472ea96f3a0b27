package auth_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

const (
	invalidInput  = messages.CauseInvalidInput
	limitExceeded = messages.CauseLimitExceeded
)

// wantRefusal holds an answer to the shape of every refusal.
func wantRefusal(t testing.TB, a answer, status int, code messages.Code) {
	t.Helper()
	if a.StatusCode != status || a.Error.Code != string(code) || a.Error.Status != status || a.Error.Detail == "" {
		t.Errorf("%s %s, want %d and the code %s", a.Status, a.body, status, code)
	}
	h := a.Header
	if h.Get("Content-Type") != "application/problem+json" || h.Get("Cache-Control") != "no-store" ||
		h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers of a refusal: %v", h)
	}
	if status == http.StatusForbidden && code == auth.CodeForbidden && h.Get("Access-Control-Allow-Origin") == "null" {
		t.Errorf("a page without an origin may read the refusal: %v", h)
	}
}

func TestNewSaysWhatIsNoGood(t *testing.T) {
	_, line := newLine(t, "mia", auth.Admin)
	tokens := load(t, tokenFile(t, line))
	for _, c := range []struct {
		config auth.Config
		want   string // "" where it is good
	}{
		{auth.Config{}, ""},
		{auth.Config{Listen: "127.0.0.1:7878"}, ""},
		{auth.Config{Listen: "0.0.0.0:7878"}, "without tokens"},
		{auth.Config{Listen: "0.0.0.0:7878", Hosts: []string{"a.example"}}, "without tokens"},
		{auth.Config{Listen: "0.0.0.0:7878", Tokens: tokens}, "name them"},
		{auth.Config{Listen: "0.0.0.0:7878", Tokens: tokens, Hosts: []string{"a.example"}}, ""},
		{auth.Config{Listen: "0.0.0.0:7878", Tokens: tokens, Hosts: []string{"*"}}, ""},
		{auth.Config{Hosts: []string{"*"}}, "without tokens"},
		{auth.Config{Hosts: []string{"localhost", "a.example"}}, "refused to answer for a.example without tokens"},
		{auth.Config{Hosts: []string{"10.1.2.3:80"}}, "without tokens"},
		{auth.Config{Hosts: []string{"localhost:80", "127.0.0.1", "::1"}}, ""},
		{auth.Config{Hosts: []string{"https://a.example"}}, "is not a host"},
		{auth.Config{Hosts: []string{"a.example/x"}}, "is not a host"},
		{auth.Config{Hosts: []string{"*.example"}}, "is not a host"},
		{auth.Config{Hosts: []string{"fe80::1%eth0"}}, "is not a host"},
		{auth.Config{Hosts: []string{""}}, "is not a host"},
		{auth.Config{Origins: []string{"*"}}, "is not an origin"},
		{auth.Config{Origins: []string{"null"}}, "is not an origin"},
		{auth.Config{Origins: []string{"a.example"}}, "is not an origin"},
		{auth.Config{Origins: []string{"https://a.example/"}}, "is not an origin"},
		{auth.Config{Origins: []string{"https://*.example"}}, "is not an origin"},
		{auth.Config{Origins: []string{"https://a.example:x"}}, "is not an origin"},
		{auth.Config{Metadata: `https://a.example/"x`}, "metadata"},
		{auth.Config{Metadata: "https://a.example/\r\nx"}, "metadata"},
		{auth.Config{Rate: math.NaN()}, "not a number"},
	} {
		switch _, err := auth.New(c.config); {
		case c.want != "":
			wantCode(t, err, invalidInput, c.want)
		case err != nil:
			t.Errorf("%+v: %v", c.config, err)
		}
	}
}

// DESIGN 9: "Loopback by default; a non-loopback bind without authentication is refused."
func TestCheckBind(t *testing.T) {
	for _, addr := range []string{
		"127.0.0.1:7878", "127.1.2.3:0", "[::1]:7878", "localhost:7878", "LOCALHOST:80", "[::ffff:127.0.0.1]:1",
	} {
		for _, authenticated := range []bool{false, true} {
			if err := auth.CheckBind(addr, authenticated); err != nil {
				t.Errorf("%s: %v", addr, err)
			}
		}
	}
	for _, addr := range []string{
		":7878", "0.0.0.0:7878", "[::]:7878", "10.0.0.1:7878", "[fe80::1%eth0]:7878", "example.com:80",
		"localhost.evil.com:80", "2130706433:80", "127.1:80",
	} {
		wantCode(t, auth.CheckBind(addr, false), invalidInput, addr, "127.0.0.1:7878", "tokens")
		if err := auth.CheckBind(addr, true); err != nil {
			t.Errorf("%s with authentication: %v", addr, err)
		}
	}
	for _, addr := range []string{"", "127.0.0.1", "::1", "localhost"} {
		wantCode(t, auth.CheckBind(addr, true), invalidInput, "host:port")
	}
}

// DESIGN 9: "Every limit has a default, a flag and a typed error"; DESIGN 10: "message 16 MiB".
func TestBodyTooLargeIsRefusedAtOnce(t *testing.T) {
	addr := serve(t, newMiddleware(t, auth.Config{}).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	post := []string{"POST /mcp HTTP/1.1", "Host: localhost"}
	small := serve(t, newMiddleware(t, auth.Config{MaxBody: 4}).Wrap(door()))
	for size, to := range map[int]string{16<<20 + 1: addr, 5: small} {
		a := send(t, to, append(post, fmt.Sprint("Content-Length: ", size))...) // none of it is sent
		wantRefusal(t, a, http.StatusRequestEntityTooLarge, auth.CodeTooLarge)
		if !a.Close {
			t.Error("the connection is to be used again, with a body still to come")
		}
	}
	a := send(t, addr, append(post, "Expect: 100-continue", fmt.Sprint("Content-Length: ", 16<<20))...)
	if a.StatusCode != http.StatusOK {
		t.Errorf("a body of 16 MiB: %s", a.Status)
	}
}

func TestBodyOfUnknownLengthIsBounded(t *testing.T) {
	addr := serve(t, newMiddleware(t, auth.Config{MaxBody: 4}).Wrap(door()))
	for body, want := range map[string]string{"4\r\nfour\r\n0": "", "5\r\nfives\r\n0": "http: request body too large"} {
		a := send(t, addr, "POST / HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked", "", body)
		if a.StatusCode != http.StatusOK || a.Seen.Body != want {
			t.Errorf("%q: %s, the door's error %q, want %q", body, a.Status, a.Seen.Body, want)
		}
	}
}

// call is a request from an address, with a token if there is one; it returns the status and the Retry-After field.
func call(h http.Handler, from, token string) (status int, retry string) {
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	r.RemoteAddr = from
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Header().Get("Retry-After")
}

func wantStatus(t *testing.T, h http.Handler, from, token string, want int, what string) {
	t.Helper()
	if status, _ := call(h, from, token); status != want {
		t.Errorf("%s: %d, want %d", what, status, want)
	}
}

func wantCalls(t *testing.T, h http.Handler, from, token string, n int) {
	t.Helper()
	for i := range n {
		if status, _ := call(h, from, token); status != http.StatusOK {
			t.Fatalf("call %d of %d: %d", i+1, n, status)
		}
	}
	if status, retry := call(h, from, token); status != http.StatusTooManyRequests || retry != "1" {
		t.Fatalf("call %d: %d, Retry-After %q, want 429 and 1", n+1, status, retry)
	}
}

func TestRateOfAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newMiddleware(t, auth.Config{}).Wrap(door())
		wantCalls(t, h, "10.0.0.1:1", "", 2000) // the defaults: 2,000 at once, 1,000 a second
		wantCalls(t, h, "10.0.0.2:1", "", 2000)
		time.Sleep(5 * time.Millisecond)
		wantCalls(t, h, "10.0.0.1:2", "", 5)
		time.Sleep(time.Hour)
		wantCalls(t, h, "[::ffff:10.0.0.1]:2", "", 2000)
		wantStatus(t, h, "10.0.0.1:1", "", http.StatusTooManyRequests, "the same address in another spelling")
		wantCalls(t, h, "[2001:db8::1]:1", "", 2000)
		wantStatus(t, h, "[2001:db8::ffff]:1", "", http.StatusTooManyRequests, "another address of the same network")
		wantCalls(t, h, "[2001:db8:0:1::1]:1", "", 2000)
		wantCalls(t, h, "@", "", 2000) // a Unix socket
		unlimited := newMiddleware(t, auth.Config{Rate: -1}).Wrap(door())
		for range 5000 {
			wantStatus(t, unlimited, "10.0.0.1:1", "", http.StatusOK, "without a rate")
		}
	})
}

func TestRateOfPrincipals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mia, miaLine := newLine(t, "mia", auth.Admin)
		laptop, laptopLine := newLine(t, "mia", auth.ReadRuns)
		tom, tomLine := newLine(t, "tom", auth.Admin)
		tokens := load(t, tokenFile(t, miaLine, laptopLine, tomLine))
		h := newMiddleware(t, auth.Config{Tokens: tokens, Rate: 0.5, Burst: 3}).Wrap(door())
		for range 3 {
			if status, _ := call(h, "10.0.0.1:1", mia); status != http.StatusOK {
				t.Fatal(status)
			}
		}
		if status, retry := call(h, "10.0.0.9:1", laptop); status != http.StatusTooManyRequests || retry != "2" {
			t.Errorf("the same principal with another token from elsewhere: %d, Retry-After %q", status, retry)
		}
		wantStatus(t, h, "10.0.0.1:1", tom, http.StatusOK, "another principal at the same address")
		time.Sleep(2 * time.Second)
		wantStatus(t, h, "10.0.0.1:1", mia, http.StatusOK, "after Retry-After")
	})
}

func TestRateLimitHasATypedError(t *testing.T) {
	addr := serve(t, newMiddleware(t, auth.Config{Rate: 1e-9, Burst: 1}).Wrap(door()))
	send(t, addr, "GET / HTTP/1.1", "Host: localhost")
	a := send(t, addr, "GET / HTTP/1.1", "Host: localhost")
	wantRefusal(t, a, http.StatusTooManyRequests, limitExceeded)
	if !a.Error.Retryable || !strings.Contains(a.Error.Detail, a.Header.Get("Retry-After")) {
		t.Errorf("%s, Retry-After %q", a.body, a.Header.Get("Retry-After"))
	}
}

// The memory for callers is bounded, and what is idle is dropped.
func TestBucketsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newMiddleware(t, auth.Config{Rate: 1, Burst: 1})
		h := g.Wrap(door())
		call(h, "192.0.2.1:1", "")
		for i := range 12_000 {
			call(h, fmt.Sprintf("10.%d.%d.1:1", i/250, i%250), "")
			if status, _ := call(h, "192.0.2.1:1", ""); status != http.StatusTooManyRequests {
				t.Fatalf("an address that calls all the time was forgotten after %d others", i)
			}
		}
		if n := g.Buckets(); n != 10_000 {
			t.Errorf("%d buckets after 12,000 addresses, want 10,000", n)
		}
		wantStatus(t, h, "10.47.249.1:1", "", http.StatusTooManyRequests, "the latest address was forgotten")
		time.Sleep(time.Hour)
		for range 6000 {
			call(h, "10.0.0.1:1", "")
		}
		if n := g.Buckets(); n != 1 {
			t.Errorf("%d buckets after an hour with one address, want 1", n)
		}
	})
}

// A bomb is small until it is unpacked.
func TestCompressedBodiesAreRefused(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 32<<20)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	read := false
	addr := serve(t, newMiddleware(t, auth.Config{}).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { read = true })))
	for _, coding := range []string{"gzip", "br", "gzip, gzip"} {
		a := send(t, addr, "POST / HTTP/1.1", "Host: localhost", "Content-Encoding: "+coding,
			fmt.Sprintf("Content-Length: %d", bomb.Len()), "", bomb.String())
		wantRefusal(t, a, http.StatusUnsupportedMediaType, "unsupported_media_type")
	}
	if read {
		t.Error("a door got a compressed body")
	}
}

// A client that asks before it sends is refused before it sends.
func TestRefusalComesBeforeTheBodyThatWasAskedFor(t *testing.T) {
	_, line := newLine(t, "mia", auth.Admin)
	addr := serve(t, newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, line))}).Wrap(door()))
	for _, length := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
		a := send(t, addr, "POST / HTTP/1.1", "Host: localhost", length, "Expect: 100-continue")
		wantRefusal(t, a, http.StatusUnauthorized, "unauthorized")
	}
}

// The connection still knows how to end an answer before the request was read whole: its client receives it, whether it
// waits with half of its body sent, or reads only after it has sent all of it.
func TestRefusalArrivesAfterABodyThatIsTooLarge(t *testing.T) {
	_, line := newLine(t, "mia", auth.Admin)
	for _, test := range []struct {
		config     auth.Config
		sent, want int
	}{
		{auth.Config{MaxBody: 1 << 10}, 64 << 10, http.StatusRequestEntityTooLarge},
		{auth.Config{}, 17 << 20, http.StatusRequestEntityTooLarge},
		{auth.Config{MaxBody: 32 << 20, Tokens: load(t, tokenFile(t, line))}, 17 << 20, http.StatusUnauthorized},
	} {
		c, err := net.Dial("tcp", serve(t, newMiddleware(t, test.config).Wrap(door())))
		must(t, err)
		defer func() { _ = c.Close() }()
		_, err = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", 17<<20)
		must(t, err)
		_, err = c.Write(make([]byte, test.sent))
		must(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		must(t, err)
		if _, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != test.want {
			t.Errorf("%s instead of %d, %v", resp.Status, test.want, err)
		}
	}
}
