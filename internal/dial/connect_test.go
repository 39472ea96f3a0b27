package dial_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

// What a name resolves to is judged, whatever the name looks like.
func TestDialContextChecksWhatNamesResolveTo(t *testing.T) {
	// Each row has an answer, where the zero Policy connects to or a part of its error, and the same with Policy.Private.
	for _, c := range fatal.Table[[][3]string](t, "testdata/answers.json") {
		_, resolver := serveNames(t, "some.test "+c[0])
		for policy, want := range map[dial.Policy]string{{}: c[1], {Private: true}: c[2]} {
			w := &wires{to: listener(t)}
			conn, err := policy.Over(resolver, w.connect).DialContext(t.Context(), "tcp", "some.test:443")
			if err == nil {
				_ = conn.Close()
			}
			connected := slices.Equal(w.dialed(), []string{want}) && err == nil
			refused := len(w.dialed()) == 0 && messages.CodeOf(err) == "invalid_input" && strings.Contains(err.Error(), want)
			if want != "" && !connected && !refused {
				t.Errorf("%s with Private %t: dialed %q, %v, want %q", c[0], policy.Private, w.dialed(), err, want)
			}
		}
	}
}

// A name that is public when it is checked and loopback a moment later gains nothing: there is no second question.
func TestDialContextWithstandsRebinding(t *testing.T) {
	n, resolver := serveNames(t, "rebind.test 93.184.215.14 127.0.0.1")
	w := &wires{to: listener(t)}
	p := dial.Policy{}.Over(resolver, w.connect)
	conn, err := p.DialContext(t.Context(), "tcp", "rebind.test:443")
	must(t, err)
	_ = conn.Close()
	if got := n.questions("rebind.test"); got != 1 {
		t.Errorf("one connection asked %d times", got)
	}
	if _, err := p.DialContext(t.Context(), "tcp", "rebind.test:443"); err == nil ||
		!strings.Contains(err.Error(), "loopback address 127.0.0.1") {
		t.Errorf("after the name was bound to loopback: %v", err)
	}
	if got := w.dialed(); !slices.Equal(got, []string{"93.184.215.14:443"}) {
		t.Errorf("dialed %q, want the checked address alone", got)
	}
}

func TestDialContextTriesTheNextAddress(t *testing.T) {
	_, resolver := serveNames(t, "two.test 93.184.215.14,93.184.215.15")
	to := listener(t)
	var dials []string
	p := dial.Policy{}.Over(resolver, func(ctx context.Context, network, address string) (net.Conn, error) {
		dials = append(dials, address)
		if len(dials) == 1 {
			return nil, syscall.ECONNREFUSED
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	})
	conn, err := p.DialContext(t.Context(), "tcp", "two.test:443")
	if err != nil || len(dials) != 2 || dials[0] == dials[1] {
		t.Fatalf("dialed %q: %v", dials, err)
	}
	_ = conn.Close()
}

// A family without a route costs one try, not eight.
func TestDialContextMixesFamiliesEarly(t *testing.T) {
	_, resolver := serveNames(t, "many.test 2606:4700::1,2606:4700::2,2606:4700::3,2606:4700::4,"+
		"93.184.215.1,93.184.215.2,93.184.215.3,93.184.215.4,93.184.215.5")
	var dials []string
	p := dial.Policy{}.Over(resolver, func(_ context.Context, _, address string) (net.Conn, error) {
		dials = append(dials, address)
		return nil, syscall.ENETUNREACH
	})
	_, err := p.DialContext(t.Context(), "tcp", "many.test:443")
	if len(dials) != 8 || strings.HasPrefix(dials[0], "[") == strings.HasPrefix(dials[1], "[") {
		t.Errorf("dialed %q", dials)
	}
	expectRetryable(t, err, true, "many.test", "unreachable")
}

func expectRetryable(t *testing.T, err error, retryable bool, parts ...string) {
	t.Helper()
	e, ok := errors.AsType[*messages.Error](err)
	if !ok || e.Code != "transport_closed" || e.Retryable != retryable {
		t.Errorf("got %#v, want transport_closed, retryable %t", err, retryable)
		return
	}
	fatal.IfLacking(t, e.Message, parts...)
}

func TestDialContextOfAClosedPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	_ = l.Close()
	_, err = dial.Policy{Private: true}.DialContext(t.Context(), "tcp", l.Addr().String())
	expectRetryable(t, err, true, "the connection to 127.0.0.1 failed")
}

func TestDialContextOfAnUnknownName(t *testing.T) {
	_, resolver := serveNames(t)
	_, err := dial.Policy{}.Over(resolver, nil).DialContext(t.Context(), "tcp", "nobody.test:443")
	if messages.CodeOf(err) != "transport_closed" || !strings.Contains(err.Error(), "there is no host nobody.test, or no network to ask") {
		t.Errorf("got %v", err)
	}
}

func TestDialContextWithoutANameServer(t *testing.T) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, syscall.ECONNREFUSED
	}}
	_, err := dial.Policy{}.Over(resolver, nil).DialContext(t.Context(), "tcp", "some.test:443")
	expectRetryable(t, err, true, "the name some.test could not be resolved")
}

func TestDialContextOfBadAddresses(t *testing.T) {
	for _, address := range []string{"", "host", "host:", ":443", "host:0", "host:https", "host:65536", "127.1:443",
		"[::1]:443", "127.0.0.1:443", "169.254.169.254:80", "a..b:443"} {
		if _, err := (dial.Policy{}).DialContext(t.Context(), "tcp", address); messages.CodeOf(err) != "invalid_input" {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// Anyone who cancels gets the word that he left, not the network's.
func TestDialContextEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	_, resolver := serveNames(t, "slow.test 93.184.215.14")
	p := dial.Policy{}.Over(resolver, func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel(gone)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if _, err := p.DialContext(ctx, "tcp", "slow.test:443"); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}
