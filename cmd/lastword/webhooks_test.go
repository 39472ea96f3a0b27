package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// received is a message as its receiver sees it.
type received struct {
	header http.Header
	body   []byte
}

// signed reports whether the key made the n-th signature.
func (r received) signed(n int, key string) bool {
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s.%s.%s", r.header.Get("webhook-id"), r.header.Get("webhook-timestamp"), r.body)
	all := strings.Fields(r.header.Get("webhook-signature"))
	return n < len(all) && all[n] == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// receiver answers with the status, and tells of each message.
func receiver(t *testing.T, status *atomic.Int64) (url string, messages <-chan received) {
	all := make(chan received, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(int(status.Load()))
		all <- received{r.Header, body}
	}))
	t.Cleanup(s.Close)
	return s.URL, all
}

const oldKey, newKey = "the key that was used so far....", "the key that is used from now on"

func secretOf(key string) string { return "whsec_" + base64.StdEncoding.EncodeToString([]byte(key)) }

// A delivery is work in the journal: what was not delivered when the server was killed is delivered by the next.
func TestDeliveriesSurviveAKill(t *testing.T) {
	var status atomic.Int64
	status.Store(http.StatusServiceUnavailable)
	url, got := receiver(t, &status)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "jobs.yaml"), "jobs:\n  hello: {command: [echo, hello]}\n")
	put(t, filepath.Join(dir, "hooks.yaml"), fmt.Sprintf("webhooks:\n  - {name: ours, url: %q, allow_private: true, secret: [%s, %s]}\n",
		url, secretOf(oldKey), secretOf(newKey)))
	args := []string{"--jobs", "jobs.yaml", "--webhooks", "hooks.yaml", "--state", filepath.Join(dir, "state")}
	s := serveHTTP(t, dir, args...)
	c, err := api.New(s.base(), "")
	must(t, err)
	id, err := c.Submit(t.Context(), messages.Request{Job: "plan", Input: json.RawMessage(`{"plan":{"name":"hail","steps":[{"name":"a","job":"hello"}]}}`)})
	must(t, err)
	first := <-got
	s.ends(syscall.SIGKILL)
	status.Store(http.StatusNoContent)
	s = serveHTTP(t, dir, args...)
	second := <-got
	if second.header.Get("webhook-id") != first.header.Get("webhook-id") {
		t.Errorf("delivered with %s, and before the kill with %s", second.header, first.header)
	}
	for n, key := range []string{oldKey, newKey} {
		if !first.signed(n, key) || !second.signed(n, key) {
			t.Errorf("signature %d was not made with its key: %s", n, second.header)
		}
	}
	var body struct {
		Type messages.Kind
		Data struct {
			RunID      messages.RunID `json:"run_id"`
			Job, Title string
			Payload    messages.RunCompleted
		}
	}
	if err := json.Unmarshal(second.body, &body); err != nil || body.Type != messages.KindRunCompleted || body.Data.RunID != id || body.Data.Job+body.Data.Title != "planhail" {
		t.Errorf("the body is %s, %v", second.body, err)
	}
	for _, c := range []struct{ command, want string }{
		{"ls", "ours     http://127.0.0.1"}, {"test ours", "ours has taken it"}, {"resend " + string(id) + " --to ours", "ours     http://127.0.0.1"},
	} {
		got := run(t, nil, append([]string{"webhooks", "--server", s.base()}, strings.Fields(c.command)...)...)
		if got.code != exit.Completed || !strings.Contains(got.stdout, c.want) {
			t.Errorf("webhooks %s: %+v", c.command, got)
		}
	}
	if test := <-got; !strings.HasPrefix(test.header.Get("webhook-id"), "test_") || !test.signed(1, newKey) {
		t.Errorf("the test is %s %s", test.header, test.body)
	}
	if again := <-got; again.header.Get("webhook-id") != first.header.Get("webhook-id") {
		t.Errorf("sent again under another id: %s", again.header)
	}
	s.ends(syscall.SIGTERM)
	for len(got) > 0 {
		if r := <-got; r.header.Get("webhook-id") != first.header.Get("webhook-id") {
			t.Errorf("also delivered: %s", r.body)
		}
	}
}
