package send_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/webhook/send"
	"github.com/seed889630bf/lastword/messages"
)

// secret comes from the standard's own example.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestSend(t *testing.T) {
	var got *http.Request
	answers := map[string]func(http.ResponseWriter){
		"/ok": func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"/busy": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"/greedy": func(w http.ResponseWriter) { w.Header().Set("Retry-After", "999999"); w.WriteHeader(503) },
		"/gone":   func(w http.ResponseWriter) { w.WriteHeader(http.StatusGone) },
		"/moved":  func(w http.ResponseWriter) { w.Header().Set("Location", "/ok"); w.WriteHeader(http.StatusFound) },
		"/talks": func(w http.ResponseWriter) {
			w.WriteHeader(500)
			_, _ = w.Write([]byte(strings.Repeat("swordfish ", 1e5)))
		},
		"/nowhere": func(w http.ResponseWriter) { w.Header().Set("Location", "::"); w.WriteHeader(http.StatusFound) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		answers[r.URL.Path](w)
	}))
	defer server.Close()
	s := send.NewSender()
	defer s.Close()
	for _, c := range []struct {
		path  string
		pause time.Duration
		says  string // "" is success
		final bool
	}{
		{path: "/ok"},
		{path: "/busy", pause: 7 * time.Second, says: "429 Too Many Requests"},
		{path: "/greedy", pause: time.Hour, says: "503"},
		{path: "/gone", says: "410 Gone", final: true},
		{path: "/moved", says: "302 Found: a redirect is not followed"},
		{path: "/talks", says: "500"},
		{path: "/nowhere", says: "not a URL"},
	} {
		pause, err := s.Send(t.Context(), send.Endpoint{URL: server.URL + c.path, Secrets: []string{secret}, AllowPrivate: true}, "r_1:2", []byte("{}"))
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.path, err)
			}
			continue
		}
		e, _ := err.(*messages.Error)
		if pause != c.pause || e == nil || !strings.Contains(e.Message, c.says) || e.Retryable == c.final || strings.Contains(e.Message, "swordfish") {
			t.Errorf("%s: %v, %v", c.path, pause, err)
		}
		if got.URL.Path != c.path {
			t.Errorf("%s led to %s", c.path, got.URL.Path)
		}
	}
	if _, err := s.Send(t.Context(), send.Endpoint{URL: server.URL + "/ok", Secrets: []string{secret}}, "r_1:2", nil); err == nil || got.URL.Path == "/ok" {
		t.Errorf("a private address without allow_private: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Send(ended, send.Endpoint{URL: server.URL + "/ok", Secrets: []string{secret}, AllowPrivate: true}, "r_1:2", nil); err == nil {
		t.Error("sent after its end")
	}
}

func TestCheck(t *testing.T) {
	for url, says := range map[string]string{
		"https://example.com/hook":       "",
		"http://example.com/hook":        "allow_private: true",
		"https://127.0.0.1/hook":         "loopback",
		"https://10.0.0.1":               "private",
		"https://169.254.169.254/latest": "metadata",
		"https://user:pw@example.com":    "credentials",
		"ftp://example.com":              "ftp",
		"::":                             "not a URL",
	} {
		if err := (send.Endpoint{URL: url}).Check(); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", url, err, says)
		}
	}
	if err := (send.Endpoint{URL: "http://127.0.0.1:1/x", AllowPrivate: true}).Check(); err != nil {
		t.Error(err)
	}
	if err := (send.Endpoint{URL: "http://169.254.169.254/x", AllowPrivate: true}).Check(); err == nil {
		t.Error("a metadata service is allowed")
	}
	for _, wrong := range []string{"", "swordfish", "whsec_", "whsec_swordfish", "whsec_" + strings.Repeat("A", 100), "whsec_%%%"} {
		if err := send.CheckSecret(wrong); err == nil || wrong != "" && strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if err := send.CheckSecret(secret); err != nil {
		t.Error(err)
	}
}
