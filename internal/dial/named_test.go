package dial_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/dial"
)

// Neither a token nor a body reaches another origin, not even another port of the host; the same origin gets both.
func TestNothingCrossesOrigins(t *testing.T) {
	for what, client := range map[string]*http.Client{
		"a named server": dial.Named(dial.NewTransport()),
		"a policy":       dial.Policy{HTTP: true, Private: true}.Client(),
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if len(body) > 0 || r.Header.Get("Authorization")+r.Header.Get("X-Key") != "" || r.Method == http.MethodPost {
					t.Errorf("%s, %d: another origin gets %s with %q and %v", what, status, r.Method, body, r.Header)
				}
			}))
			got, to := "", other.URL
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/b" {
					body, _ := io.ReadAll(r.Body)
					got = string(body) + r.Header.Get("Authorization")
					return
				}
				http.Redirect(w, r, to, status)
			}))
			post := func() error {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader("text "))
				must(t, err)
				r.Header.Set("Authorization", "Bearer x")
				r.Header.Set("X-Key", "x")
				response, err := client.Do(r)
				if err == nil {
					err = response.Body.Close()
				}
				return err
			}
			if err := post(); status >= 307 || what == "a named server" {
				expectRefusal(t, err, "redirects elsewhere", "nothing is sent there")
			}
			if to = "/b"; status >= 307 {
				if must(t, post()); got != "text Bearer x" {
					t.Errorf("%s, %d: the same origin gets %q", what, status, got)
				}
			}
			s.Close()
			other.Close()
		}
	}
}

// A proxy connects by itself, so the target is checked before the proxy hears of it.
func TestNoMetadataThroughAProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the proxy is asked for %s", r.URL) }))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	must(t, err)
	proxied := dial.NewTransport()
	proxied.Proxy = http.ProxyURL(at)
	direct := dial.NewTransport()
	direct.Proxy = nil
	for _, host := range []string{"169.254.169.254", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "100.100.100.200", "[fd00:ec2::254]",
		"metadata.google.internal", "Metadata.Google.Internal.", "2852039166", "0xA9FEA9FE", "169.254.43518"} {
		for _, scheme := range []string{"http://", "https://"} {
			_, err := dial.Named(proxied).Get(scheme + host + "/latest")
			expectRefusal(t, dial.Explain(t.Context(), host, err))
			_, _, err = get(t, dial.Policy{HTTP: true, Private: true}, scheme+host+"/latest")
			expectRefusal(t, err)
		}
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			_, err := dial.Named(direct).Get("http://" + host)
			expectRefusal(t, dial.Explain(t.Context(), host, err), "metadata")
		}
	}
}
