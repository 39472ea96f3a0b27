package lab_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// TestBusyClients is the part of make clients in which a client sends a second message while the first is answered:
// both turns complete, and the model gets both messages in order.
func TestBusyClients(t *testing.T) {
	if os.Getenv("LASTWORD_CLIENTS") == "" {
		t.Skip("make clients runs this")
	}
	for _, c := range []struct{ name, folder, path string }{{"ai", "fronts", ""}, {"agui", "fronts", ""}, {"http", "clients", "/mcp"}} {
		t.Run(c.name, func(t *testing.T) {
			asked := make(chan []byte, 9)
			model := httptest.NewServer(slowWords(asked))
			t.Cleanup(model.Close)
			server := serve(t, "--dialects", "ai-sdk,ag-ui", "--base-url", model.URL+"/v1", "--model", "scripted", "--state", t.TempDir())
			args := []string{filepath.Join(npmInstall(t, c.folder), "busy.mjs"), server, c.name}
			if c.path != "" {
				args = append(args[:1], c.name, server+c.path)
			}
			out, err := exec.CommandContext(t.Context(), "node", args...).CombinedOutput()
			if err != nil || string(bytes.TrimSpace(out)) != "[]" {
				t.Errorf("%v: the client says %s", err, out)
			}
			answer, err := http.Get(server + "/v1/runs")
			must(t, err)
			defer answer.Body.Close()
			var list struct{ Runs []messages.Summary }
			must(t, json.NewDecoder(answer.Body).Decode(&list))
			ended := 0
			for _, r := range list.Runs {
				if r.Status == messages.Completed {
					ended++
				}
			}
			if ended != 2 || len(list.Runs) != 2 || len(asked) != 2 {
				t.Fatalf("%d of %d runs completed with %d requests", ended, len(list.Runs), len(asked))
			}
			if a, b := list.Runs[0], list.Runs[1]; a.QueuedAt.After(b.UpdatedAt) || b.QueuedAt.After(a.UpdatedAt) {
				t.Fatal("the second message came after the first answer")
			}
			<-asked
			last := <-asked
			first, second := bytes.Index(last, []byte(`"first"`)), bytes.Index(last, []byte(`"second"`))
			if first < 0 || second < first {
				t.Errorf("the second request was %s", last)
			}
		})
	}
	t.Run("acpx", acpxBusy)
}

// acpxBusy has acpx take a second message while lastword acp answers the first. acpx itself keeps it until then.
func acpxBusy(t *testing.T) {
	asked := make(chan []byte, 9)
	model := httptest.NewServer(slowWords(asked))
	t.Cleanup(model.Close)
	script, agent, folder, env := filepath.Join(npmInstall(t, "acp"), "node_modules", ".bin", "acpx"), buildBinary(t), t.TempDir(), atHome(t)
	acpx := func(words ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "node", append([]string{script, "--cwd", folder, "--ttl", "1", "--approve-all", "--agent",
			agent + " acp --base-url " + model.URL + "/v1 --model scripted"}, words...)...)
		cmd.Env = env
		return cmd
	}
	out, err := acpx("sessions", "new").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	first := acpx("first")
	must(t, first.Start())
	<-asked
	if out, err = acpx("prompt", "--no-wait", "second").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("[queued]")) {
		t.Errorf("%v: %s", err, out)
	}
	must(t, first.Wait())
	last := <-asked
	answer, second := bytes.Index(last, []byte("word word")), bytes.Index(last, []byte(`"second"`))
	if began := bytes.Index(last, []byte(`"first"`)); began < 0 || answer < began || second < answer {
		t.Errorf("the second request was %s", last)
	}
}

// slowWords is a model whose answers take two seconds.
func slowWords(asked chan<- []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			fmt.Fprint(w, `{"data":[{"id":"scripted","object":"model"}]}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		asked <- body
		w.Header().Set("Content-Type", "text/event-stream")
		for range 40 {
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Millisecond)
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
}
