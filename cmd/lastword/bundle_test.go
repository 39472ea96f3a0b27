package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// unpacked are the files of a bundle by their names.
func unpacked(t *testing.T, name string) map[string]string {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	zip, err := gzip.NewReader(f)
	must(t, err)
	files := map[string]string{}
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		must(t, err)
		text, err := io.ReadAll(in)
		must(t, err)
		files[strings.TrimPrefix(h.Name, "lastword-bundle/")] = string(text)
	}
}

// Secrets lie in the settings, the environment, the log, and in what somebody said in a run: none is in the bundle, and
// all that a report needs is.
func TestBundleTellsNoSecret(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	token := tokenFor(t, dir, "mia", "--scope", "run:read,run:write,admin")
	secrets := map[string]string{"token": token, "key": "k3y-in-a-file-of-mine", "proxy": "pr0xy-passw0rd", "nats": "n4ts-passw0rd", "model": "m0del-passw0rd",
		"header": "he4der-of-the-collector", "said": "AKIA" + "IOSFODNN7EXAMPLQ", "hook": "whsec_" + "c2VjcmV0LW9mLXRoZS1ob29r", "logged": "gh" + "p_" + strings.Repeat("aB3d", 9)}
	write(t, at("token"), token+"\n")
	write(t, at("key"), secrets["key"]+"\n")
	write(t, at("config.yaml"), "runs: {token-file: "+at("token")+"}\nprompt: {base-url: \"http://me:"+secrets["model"]+"@127.0.0.1:1/v1\", key-file: "+at("key")+
		"}\nserve: {nats: \"nats://me:"+secrets["nats"]+"@n1:4222,nats://n2:4222\"}\n")
	write(t, at("log.txt"), "asked with "+secrets["key"]+" and "+secrets["logged"]+" at https://me:"+secrets["nats"]+"@example.com/\n")
	m := testkit.NewModel(t)
	m.Always(testkit.Text("You said "+secrets["said"]), testkit.Finish("stop"), testkit.Done())
	s := serveHTTP(t, dir, "--tokens", "tokens", "--state", "kept", "--base-url", m.URL(), "--admin", "127.0.0.1:0")
	client, err := api.New(s.base(), token)
	must(t, err)
	id, err := client.Submit(t.Context(), messages.Request{Job: "prompt", Input: []byte(`{"text":"I have ` + secrets["said"] + " and " + secrets["key"] + `"}`)})
	must(t, err)
	ended(t.Context(), t, client, id)
	env := []string{"LASTWORD_WEBHOOK_SECRETS=" + secrets["hook"], "HTTPS_PROXY=http://me:" + secrets["proxy"] + "@127.0.0.1:1",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=" + secrets["header"]}
	got := run(t, env, "bundle", at("b.tar.gz"), "--config", at("config.yaml"), "--server", s.base(), "--run", "last", "--log", at("log.txt"), "--admin", "127.0.0.1:1")
	if got.code != exit.Completed {
		t.Fatalf("%+v", got)
	}
	files := unpacked(t, at("b.tar.gz"))
	for name, want := range map[string]string{
		"about.json": `"LASTWORD_WEBHOOK_SECRETS"`, "settings.json": `"nats://[`, "doctor.txt": "PASS  serve-token   yours has the scopes admin",
		"server/readyz.txt": "200 OK\nready", "server/metrics.txt": "\nlastword_ready 1\n", "server/goroutines.txt": "cannot be had: ", "log.txt": "asked with [key]",
		"runs/" + string(id) + ".jsonl": `"type":"run.completed"`,
	} {
		if !strings.Contains(files[name], want) || !strings.Contains(got.stdout, name) {
			t.Errorf("%s has not %q: %.2000s", name, want, files[name])
		}
	}
	if code, text := s.get("/v1/runs/"+string(id), "Authorization", "Bearer "+token); code != http.StatusOK || !strings.Contains(text, secrets["said"]) {
		t.Errorf("nobody said the secret: %d %s", code, text)
	}
	for name, text := range files {
		for kind, secret := range secrets {
			if strings.Contains(text, secret[:len(secret)*2/3]) {
				t.Errorf("%s tells the %s", name, kind)
			}
		}
	}
	if info, err := os.Stat(at("b.tar.gz")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if again := run(t, env, "bundle", at("b.tar.gz")); again.code != exit.Configuration {
		t.Errorf("it writes over another file: %+v", again)
	}
	if none := run(t, nil, "bundle", at("c.tar.gz"), "--run", "r_none", "--state", at("nowhere")); none.code != exit.Completed ||
		!strings.Contains(unpacked(t, at("c.tar.gz"))["runs/r_none.jsonl"], "cannot be had: there is no journal in") {
		t.Errorf("of a run that is not there: %+v", none)
	}
}
