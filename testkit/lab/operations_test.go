//go:build unix

package lab_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/testkit"
)

const (
	operations = root + "/docs/operations/"
	public     = "runs.example.com" // the host in the samples
)

// behind is a server behind a proxy with TLS.
type behind struct {
	*testing.T
	dir, lastword, token string
	model                *testkit.Model
	backend              string // the port of the server
	front                string // the proxy's
	client               http.Client
}

// Through each proxy, as its sample has it, a run is watched by SSE, WebSocket and runs watch: what the model says arrives
// while it goes on.
func TestProxy(t *testing.T) {
	onlyBy(t, "proxy")
	dir, c := t.TempDir(), &cluster{TB: t}
	b := &behind{T: t, dir: dir, lastword: filepath.Join(dir, "lastword"), model: testkit.NewModel(t), backend: freePorts(t, 1)[0]}
	c.build(b.lastword, root, "./cmd/lastword")
	out, err := exec.Command(b.lastword, "token", "add", "--file", dir+"/tokens", "mia").Output()
	must(t, err)
	b.token = strings.TrimSpace(string(out))
	b.write("token", b.token)
	authority := b.certify()
	b.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+b.front)
		}}
	server := &process{TB: t, name: "lastword", args: []string{b.lastword, "serve", "--http", "127.0.0.1:" + b.backend, "--tokens", dir + "/tokens",
		"--public-url", "https://" + public + "/mcp", "--base-url", b.model.URL(), "--model", "scripted", "--ephemeral", "--out", dir + "/out"},
		env: []string{"HOME=" + dir}}
	server.start()
	for name, start := range map[string]func() []string{"nginx": b.nginx, "caddy": b.caddy} {
		t.Run(name, func(t *testing.T) {
			here := *b
			here.T, here.front = t, freePorts(t, 1)[0]
			b.front = here.front
			proxy := &process{TB: t, name: name, args: start(), env: []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir}}
			proxy.start()
			here.watch()
			proxy.terminate(10 * time.Second)
		})
	}
}

func (b *behind) write(name, text string) {
	b.Helper()
	must(b, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
}

// sample is a file of docs/operations with other words in place of some.
func (b *behind) sample(name string, words ...string) string {
	b.Helper()
	text, err := os.ReadFile(operations + name)
	must(b, err)
	for i := 0; i < len(words); i += 2 {
		if !strings.Contains(string(text), words[i]) {
			b.Errorf("%s has no %s", name, words[i])
		}
	}
	return strings.NewReplacer(words...).Replace(string(text))
}

func (b *behind) nginx() []string {
	text := b.sample("nginx.conf", "listen 443", "listen 127.0.0.1:"+b.front, "/etc/nginx/runs", b.dir+"/runs", "127.0.0.1:7878", "127.0.0.1:"+b.backend,
		"server_name "+public, "server_name "+public+" localhost")
	var folders strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&folders, "%s_temp_path %s/%[1]s;\n", kind, b.dir)
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n"
	}
	b.write("main.conf", user+"daemon off;\npid "+b.dir+"/pid;\nevents {}\nhttp {\naccess_log off;\n"+folders.String()+text+"}\n")
	return []string{"nginx", "-e", "stderr", "-p", b.dir, "-c", b.dir + "/main.conf"}
}

func (b *behind) caddy() []string {
	at := "https://" + public + ":" + b.front + ", https://localhost:" + b.front
	b.write("Caddyfile", "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"+b.sample("Caddyfile", public+" {", at+" {\n\ttls "+b.dir+"/runs.crt "+b.dir+"/runs.key",
		"127.0.0.1:7878 {", "127.0.0.1:"+b.backend+" {"))
	return []string{"caddy", "run", "--config", b.dir + "/Caddyfile"}
}

// certify makes an authority, ca.crt, and a certificate by it, runs.crt.
func (b *behind) certify() *x509.CertPool {
	b.Helper()
	make := func(name string, template, parent *x509.Certificate, signer *ecdsa.PrivateKey) *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(b, err)
		if signer == nil {
			signer = key
		}
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
		must(b, err)
		private, err := x509.MarshalPKCS8PrivateKey(key)
		must(b, err)
		b.write(name+".crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
		b.write(name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
		return key
	}
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	key := make("ca", authority, authority, nil)
	make("runs", &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{public, "localhost"}}, authority, key)
	text, err := os.ReadFile(b.dir + "/ca.crt")
	must(b, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

// ask sends a request to the proxy, and returns the answer's body by lines.
func (b *behind) ask(ctx context.Context, method, path, body string, header ...string) *bufio.Scanner {
	b.Helper()
	response := b.try(ctx, method, path, body, header...)
	if response == nil || response.StatusCode >= 300 {
		b.Fatalf("%s %s: %+v", method, path, response)
	}
	b.Cleanup(func() { _ = response.Body.Close() })
	return bufio.NewScanner(response.Body)
}

func (b *behind) try(ctx context.Context, method, path, body string, header ...string) *http.Response {
	b.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "https://"+public+path, strings.NewReader(body))
	must(b, err)
	r.Header.Set("Authorization", "Bearer "+b.token)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, _ := b.client.Do(r) // before the proxy listens there is none
	return response
}

// until reads lines up to one with the words.
func (b *behind) until(lines *bufio.Scanner, words string) {
	b.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), words) {
			return
		}
	}
	b.Fatalf("%s did not come: %v", words, lines.Err())
}

func (b *behind) watch() {
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	eventually(b, 20*time.Second, "the proxy answers", func() error {
		response := b.try(ctx, http.MethodGet, "/readyz", "")
		if response == nil {
			return fmt.Errorf("nobody answers")
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", response.StatusCode)
		}
		return nil
	})
	gate := make(chan struct{})
	b.model.Answer(testkit.Text("one "), testkit.Until(gate), testkit.Text("two"), testkit.Finish("stop"), testkit.Done())
	lines := b.ask(ctx, http.MethodPost, "/v1/runs", `{"job":"prompt","input":{"text":"Count."},"detached":true}`)
	var run struct {
		ID string `json:"run_id"`
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &run) != nil || run.ID == "" {
		b.Fatal(lines.Text(), lines.Err())
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, b.lastword, append(args, "--server", "https://localhost:"+b.front, "--token-file", b.dir+"/token")...)
		cmd.Env = []string{"HOME=" + b.dir, "SSL_CERT_FILE=" + b.dir + "/ca.crt"}
		cmd.Stderr = os.Stderr
		return cmd
	}
	watching := command("runs", "watch", run.ID, "--jsonl")
	said, err := watching.StdoutPipe()
	if err == nil {
		err = watching.Start()
	}
	must(b, err)
	socket, _, err := websocket.Dial(ctx, "wss://"+public+"/v1/ws", &websocket.DialOptions{HTTPClient: &b.client,
		HTTPHeader: http.Header{"Authorization": {"Bearer " + b.token}}})
	must(b, err)
	defer func() { _ = socket.CloseNow() }()
	must(b, socket.Write(ctx, websocket.MessageText, []byte(`{"op":"subscribe","id":"s","run":"`+run.ID+`"}`)))
	hear := func(words string) {
		b.Helper()
		for {
			_, text, err := socket.Read(ctx)
			if err != nil {
				b.Fatalf("%s did not come over the WebSocket: %v", words, err)
			}
			if strings.Contains(string(text), words) {
				return
			}
		}
	}
	shown := bufio.NewScanner(said)
	events := b.ask(ctx, http.MethodGet, "/v1/runs/"+run.ID+"/events", "", "Accept", "text/event-stream")
	b.until(events, `"one "`)
	b.until(shown, `"one "`)
	hear(`"one "`)
	close(gate) // until now the model has said no more
	b.until(events, "run.completed")
	b.until(shown, "run.completed")
	hear("run.completed")
	if err := watching.Wait(); err != nil {
		b.Errorf("runs watch: %v", err)
	}
	found, err := command("doctor", "--base-url", b.model.URL()).Output()
	if text := string(found); err != nil || !strings.Contains(text, "PASS  serve ") || !strings.Contains(text, "has the scopes run:read, run:write") {
		b.Errorf("doctor: %v\n%s", err, text)
	}
}

// promtool takes the alerts, their tests, the configuration, and every expression of the dashboard.
func TestAlerts(t *testing.T) {
	onlyBy(t, "proxy")
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(operations)))
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	text, err := os.ReadFile(operations + "dashboard.json")
	must(t, err)
	must(t, json.Unmarshal(text, &dashboard))
	var rules []any
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			rules = append(rules, map[string]string{"record": fmt.Sprint("r", len(rules)), "expr": strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")})
		}
	}
	asRules, err := json.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil || len(rules) < 20 {
		t.Fatal(len(rules), err)
	}
	for name, text := range map[string]string{"dashboard.yml": string(asRules), "lastword.token": "t"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yml", "dashboard.yml"}, {"check", "config", "prometheus.yml"}, {"test", "rules", "alerts.test.yml"}} {
		cmd := exec.Command("promtool", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args, err, out)
		}
	}
}
