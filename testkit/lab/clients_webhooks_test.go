package lab_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// TestWebhookClients: the receiver of docs/webhooks.md, with the npm library of Standard Webhooks, takes a delivery of a real
// server, and refuses one that nobody has signed.
func TestWebhookClients(t *testing.T) {
	if os.Getenv("LASTWORD_CLIENTS") == "" {
		t.Skip("make clients runs this")
	}
	page := string(readFile(t, filepath.Join(root, "docs", "webhooks.md")))
	code := regexp.MustCompile("(?s)<!-- file: receiver.mjs -->\n```js\n(.*?)```").FindStringSubmatch(page)
	if code == nil {
		t.Fatal("docs/webhooks.md has no receiver")
	}
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	receiver := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", code[1])
	receiver.Dir = npmInstall(t, "webhooks")
	receiver.Env = append(os.Environ(), "PORT=0", "WEBHOOK_SECRET="+secret)
	out, err := receiver.StdoutPipe()
	must(t, err)
	receiver.Stderr = os.Stderr
	must(t, receiver.Start())
	t.Cleanup(func() { _ = receiver.Wait() }) // the end of the test's context has killed it
	lines := bufio.NewScanner(out)
	said := func(want string) string {
		t.Helper()
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Fatalf("the receiver says %q, not %q", lines.Text(), want)
		}
		return strings.TrimPrefix(lines.Text(), want)
	}
	url := "http://127.0.0.1:" + said("listening ")

	folder := t.TempDir()
	jobs, hooks := filepath.Join(folder, "jobs.yaml"), filepath.Join(folder, "webhooks.yaml")
	writeFile(t, jobs, []byte("jobs:\n  hello: {command: [echo, hello]}\n"))
	writeFile(t, hooks, fmt.Appendf(nil, "webhooks: [{name: node, url: %q, secret: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx, %s], allow_private: true}]\n", url, secret))
	c, err := api.New(serve(t, "--ephemeral", "--jobs", jobs, "--webhooks", hooks), "")
	must(t, err)
	id, err := c.Submit(t.Context(), messages.Request{Job: "hello", Input: json.RawMessage(`{}`)})
	must(t, err)
	said("run.completed " + string(id))

	forged, err := http.Post(url, "application/json", strings.NewReader(`{"type":"run.completed"}`))
	must(t, err)
	forged.Body.Close()
	if said("refused "); forged.StatusCode != http.StatusBadRequest {
		t.Errorf("a forged message gets %s", forged.Status)
	}
}
