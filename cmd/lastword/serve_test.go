package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// served is lastword serve on a free port.
type served struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string // of /mcp
	said   string // after its first line
	stderr chan string
}

func serveHTTP(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	return serving(t, binary(t, dir, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...))
}

// serving starts the command of a server.
func serving(t *testing.T, cmd *exec.Cmd) *served {
	t.Helper()
	s := &served{t: t, cmd: cmd, stderr: make(chan string, 1)}
	stderr, err := s.cmd.StderrPipe()
	must(t, err)
	must(t, s.cmd.Start())
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	lines := bufio.NewReader(stderr)
	var before strings.Builder // what it logs of the runs that it found
	for listening := false; !listening; {
		line, err := lines.ReadString('\n')
		if s.url, listening = strings.CutPrefix(strings.TrimSpace(line), "listening on "); !listening {
			before.WriteString(line)
		}
		if page, _, found := strings.Cut(s.url, "/ (the page"); found {
			s.url = page + host.MCPPath
		}
		for more := true; listening && more; { // where else, up to where the runs are
			about, err := lines.ReadString('\n')
			s.said += about
			more = err == nil && !strings.HasPrefix(about, "  runs ")
		}
		if err != nil {
			t.Fatalf("it does not listen: %s", before.String())
		}
	}
	go func() {
		rest, _ := io.ReadAll(lines)
		s.stderr <- before.String() + string(rest)
	}()
	return s
}

func (s *served) base() string { return strings.TrimSuffix(s.url, host.MCPPath) }

// ends sends the signal and returns the exit code.
func (s *served) ends(sig syscall.Signal) int {
	s.t.Helper()
	must(s.t, s.cmd.Process.Signal(sig))
	return exitCode(s.t, s.cmd)
}

// get returns the status and the body.
func (s *served) get(path string, header ...string) (int, string) {
	s.t.Helper()
	resp := testkit.OpenURL(s.t.Context(), s.t, http.MethodGet, s.base()+path, "", header...)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(s.t, err)
	if challenge := resp.Header.Get("WWW-Authenticate"); challenge != "" {
		body = append(body, challenge...)
	}
	return resp.StatusCode, string(body)
}

// post asks as clients since 2026-07-28 do.
func (s *served) post(token, method, name, params string) *http.Response {
	s.t.Helper()
	resp, err := http.DefaultClient.Do(s.request(token, method, name, params))
	must(s.t, err)
	return resp
}

func (s *served) request(token, method, name, params string) *http.Request {
	s.t.Helper()
	const meta = `"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,%s}}`, method, params, meta)
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url, strings.NewReader(body))
	must(s.t, err)
	for key, value := range map[string]string{"Content-Type": "application/json", "Mcp-Method": method, "Mcp-Name": name,
		"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"} {
		req.Header.Set(key, value)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req
}

// asked calls a tool on its own connection. It returns once a handler reads the request, before the answer: a
// server that stops closes the connections whose requests it has not read.
func (s *served) asked(tool, arguments string) (answer func() []byte) {
	s.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.base(), "http://"))
	must(s.t, err)
	s.t.Cleanup(func() { conn.Close() })
	req := s.request("", "tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
	req.Header.Set("Expect", "100-continue")
	must(s.t, req.Write(conn))
	answers := bufio.NewReader(conn)
	if begun, err := http.ReadResponse(answers, req); err != nil || begun.StatusCode != http.StatusContinue {
		s.t.Fatalf("%+v, %v", begun, err)
	}
	return func() []byte {
		resp, err := http.ReadResponse(answers, req)
		must(s.t, err)
		body, err := io.ReadAll(resp.Body)
		must(s.t, err)
		return body
	}
}

// call calls a tool and waits for its result.
func (s *served) call(token, tool, arguments string) answered {
	s.t.Helper()
	resp := s.post(token, "tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s, %v", resp.Status, body, err)
	}
	return lastAnswer(s.t, body)
}

// lastAnswer is the result, alone or at the end of a stream.
func lastAnswer(t *testing.T, body []byte) answered {
	t.Helper()
	var last message
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:")))
		if bytes.HasPrefix(line, []byte("{")) {
			last = message{}
			if err := json.Unmarshal(line, &last); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
		}
	}
	if last.Result == nil {
		t.Fatalf("there is no result: %s", body)
	}
	return answerOf(t, last.Result, nil)
}

// tokenFor makes a token as an operator does.
func tokenFor(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := binary(t, dir, append([]string{"token", "add", "--file", "tokens"}, args...)...)
	out, err := cmd.Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

func TestServeAnswersWhereItSays(t *testing.T) {
	s := serveHTTP(t, t.TempDir())
	for path, want := range map[string]string{"/healthz": "200 ok\n", "/mcp/x": "404 404 page not found\n", "/x": "404 404 page not found\n",
		"/.well-known/oauth-protected-resource": "404 404 page not found\n"} {
		if code, body := s.get(path); fmt.Sprintf("%d %s", code, body) != want {
			t.Errorf("%s: %d %q, want %q", path, code, body, want)
		}
	}
	for _, path := range []string{"/", "/runs", "/runs/r_x?seq=7"} {
		if code, body := s.get(path); code != http.StatusOK || !strings.Contains(body, `<div id="page">`) {
			t.Errorf("%s: %d %q, want the page", path, code, body)
		}
	}
	for _, header := range [][]string{{"Host", "evil.example"}, {"Origin", "https://evil.example"}} {
		for _, path := range []string{"/mcp", "/healthz", "/"} {
			if code, body := s.get(path, header...); code != http.StatusForbidden {
				t.Errorf("%s of %v: %d %s", path, header, code, body)
			}
		}
	}
	if code := s.ends(syscall.SIGTERM); code != exit.Terminated {
		t.Errorf("exit code %d", code)
	}
	if rest := <-s.stderr; rest != "" {
		t.Errorf("stderr %q", rest)
	}
}

// A session of MCP goes on after a kill, with the key in the folder of trust, and at another server with the same --session-key.
func TestSessionsOutliveServers(t *testing.T) {
	dir, own := t.TempDir(), filepath.Join(t.TempDir(), "trust")
	key := filepath.Join(dir, "key")
	must(t, os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n"), 0o600))
	post := func(s *served, session, body string) *http.Response {
		r, err := http.NewRequest(http.MethodPost, s.url, strings.NewReader(body))
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := http.DefaultClient.Do(r)
		must(t, err)
		must(t, answer.Body.Close())
		return answer
	}
	for _, c := range []struct {
		first, second []string
		want          int
	}{
		{[]string{"--state", "a", "--trust", own}, []string{"--state", "a", "--trust", own}, 200},
		{[]string{"--state", "b", "--session-key", key}, []string{"--state", "c", "--session-key", key}, 200},
		{[]string{"--state", "d"}, []string{"--state", "d"}, 404}, // each has its own folder
	} {
		s := serveHTTP(t, dir, c.first...)
		session := post(s, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
			`"clientInfo":{"name":"x","version":"1"}}}`).Header.Get("Mcp-Session-Id")
		s.ends(syscall.SIGKILL)
		again := serveHTTP(t, dir, c.second...)
		if got := post(again, session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); session == "" || got.StatusCode != c.want {
			t.Errorf("%v after %v: %s", c.second, c.first, got.Status)
		}
		again.ends(syscall.SIGKILL)
	}
}

func TestServeReadsNothingOfItsMachine(t *testing.T) {
	dir := plant(t, gardenText)
	s := serveHTTP(t, dir)
	for _, repository := range []string{"garden", filepath.Join(dir, "garden"), "file://" + dir + "/garden",
		"https://127.0.0.1:1/x.zip", "http://example.com/x.zip", "ssh://git@127.0.0.1/x.git"} {
		a := s.call("", "generate", fmt.Sprintf(`{"repository":%q}`, repository))
		if !a.IsError || a.code() != messages.CauseInvalidInput {
			t.Errorf("%s: %+v", repository, a.Structured)
		}
		if text := a.Content[0].Text; strings.Contains(text, "--allow-private") || strings.Contains(text, "--allow-ssh") {
			t.Errorf("%s: serve advises a flag that it lacks: %s", repository, text)
		}
	}
	s.ends(syscall.SIGTERM)
	s = serveHTTP(t, dir, "--allow-local")
	if a := s.call("", "generate", `{"repository":"garden"}`); a.IsError {
		t.Errorf("%+v", a)
	}
	s.ends(syscall.SIGTERM)
}

func TestServeKeepsPrincipalsApart(t *testing.T) {
	dir := plant(t, gardenText)
	mia, bob, eve := tokenFor(t, dir, "mia"), tokenFor(t, dir, "bob"), tokenFor(t, dir, "--scope", "run:read", "eve")
	s := serveHTTP(t, dir, "--tokens", "tokens", "--allow-local")
	a := s.call(mia, "generate", `{"repository":"garden","full":"none"}`)
	if a.IsError {
		t.Fatalf("%+v", a)
	}
	const want = "mia/local/garden/llms.json mia/local/garden/llms.txt"
	if got := filesIn(t, filepath.Join(dir, "artifacts")); got != want {
		t.Errorf("it wrote %q, want %q", got, want)
	}
	for who, token := range map[string]string{"mia": mia, "bob": bob, "eve": eve} {
		list := s.call(token, "run_list", `{}`).Structured.Runs
		got := s.call(token, "run_get", fmt.Sprintf(`{"run_id":%q}`, a.Structured.RunID))
		mine := who == "mia"
		if (len(list) == 1) != mine || got.IsError == mine || !mine && got.code() != messages.CodeNotFound {
			t.Errorf("%s sees %v, and of the run %+v", who, list, got.Structured)
		}
		resp := s.post(token, "resources/read", a.uri(), fmt.Sprintf(`"uri":%q`, a.uri()))
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if bytes.Contains(body, []byte("# Garden")) != mine {
			t.Errorf("%s reads %s", who, body)
		}
	}
	resp := s.post(eve, "tools/call", "generate", `"name":"generate","arguments":{"repository":"garden"}`)
	resp.Body.Close()
	challenge := resp.Header.Get("WWW-Authenticate")
	if resp.StatusCode != http.StatusForbidden ||
		!strings.HasSuffix(challenge, `, error="insufficient_scope", scope="run:write"`) {
		t.Errorf("who may only read starts a run: %s, %s", resp.Status, challenge)
	}
	s.ends(syscall.SIGTERM)
}

// What one caller's runs write under --out is bounded, and the error says what to do.
func TestServeBoundsFiles(t *testing.T) {
	dir := plant(t, gardenText)
	mia := tokenFor(t, dir, "mia")
	s := serveHTTP(t, dir, "--tokens", "tokens", "--allow-local", "--max-out-each", "20")
	a := s.call(mia, "generate", `{"repository":"garden"}`)
	if !a.IsError || a.code() != messages.CauseLimitExceeded ||
		!strings.Contains(fmt.Sprint(a.Structured.Error), "--max-out-each") {
		t.Errorf("%+v", a)
	}
	if got := filesIn(t, filepath.Join(dir, "artifacts")); got != "" {
		t.Errorf("it wrote %q", got)
	}
	s.ends(syscall.SIGTERM)
}

// A caller sees what is left of the own day, and an operator everybody's.
func TestServeShowsWhatIsLeft(t *testing.T) {
	dir := plant(t, gardenText)
	mia, ops := tokenFor(t, dir, "mia"), tokenFor(t, dir, "--scope", "admin", "ops")
	s := serveHTTP(t, dir, "--tokens", "tokens", "--allow-local", "--model-tokens-per-day", "1600")
	if a := s.call(mia, "generate", `{"repository":"garden","full":"none"}`); a.IsError {
		t.Fatalf("%+v", a)
	}
	shown := func(token string, flags ...string) string {
		must(t, os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600))
		return run(t, nil, append([]string{"budget", "--server", s.base(), "--token-file", filepath.Join(dir, "token")}, flags...)...).stdout
	}
	const table = `PRINCIPAL +DAY +TOKENS +DRAWN +LEFT\n`
	for _, c := range []struct{ got, want string }{
		{shown(mia), `\n\n` + table + `mia +\d{4}-\d\d-\d\d +1600 +200 +1600\n$`},
		{shown(ops), `^` + table + `mia .*\nops +\S+ +1600 +0 +1600\n$`},
		{shown(mia, "--json"), `\n\{"today":\{"principal":"mia","day":"[-\d]+","ceiling":1600,"drawn":200,"left":1600\}\}\n$`},
	} {
		if !regexp.MustCompile(c.want).MatchString(c.got) {
			t.Errorf("it shows\n%s, and not %s", c.got, c.want)
		}
	}
	s.ends(syscall.SIGTERM)
}

func TestServeAsksForTokens(t *testing.T) {
	dir := t.TempDir()
	tokenFor(t, dir, "mia")
	s := serveHTTP(t, dir, "--tokens", "tokens", "--public-url", "https://runs.example.com/mcp", "--dialects", "a2a")
	const about = "/.well-known/oauth-protected-resource"
	for _, token := range []string{"", "lw_wrong"} {
		resp := s.post(token, "tools/list", "", `"cursor":""`)
		resp.Body.Close()
		challenge := resp.Header.Get("WWW-Authenticate")
		if resp.StatusCode != http.StatusUnauthorized ||
			!strings.Contains(challenge, `resource_metadata="https://runs.example.com`+about+`/mcp"`) {
			t.Errorf("%q: %s, %s", token, resp.Status, challenge)
		}
	}
	for _, path := range []string{about, about + "/mcp"} {
		code, body := s.get(path, "Host", "runs.example.com")
		if code != http.StatusOK || !strings.Contains(body, `"resource":"https://runs.example.com/mcp"`) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, card := s.get("/.well-known/agent-card.json", "Host", "runs.example.com"); code != http.StatusOK || strings.Contains(card, `"id":"generate"`) ||
		!strings.Contains(card, `"url":"https://runs.example.com/a2a"`) || !strings.Contains(card, `"id":"chat"`) {
		t.Errorf("the card of the agent: %d %s", code, card)
	}
	if code, _, err := testkit.ReadURL(t, http.MethodPost, s.base()+"/a2a", "{}"); err != nil || code != http.StatusUnauthorized {
		t.Errorf("a call of the agent: %d, %v", code, err)
	}
	if code, _ := s.get("/healthz"); code != http.StatusOK {
		t.Errorf("the sign of life: %d", code)
	}
	s.ends(syscall.SIGTERM)
}

func TestServeListensNowhereElse(t *testing.T) {
	dir := t.TempDir()
	tokenFor(t, dir, "mia")
	put(t, filepath.Join(dir, "open"), "")
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer busy.Close()
	codes := map[string]int{"usage": exit.Usage, "configuration": exit.Configuration}
	taken := []string{"configuration", "--http 127.0.0.1:0 takes a free port", "--http " + busy.Addr().String()}
	for _, c := range append(fatal.Rows(t, "testdata/nowhere.tsv"), taken) {
		code, says, args := codes[c[0]], c[1], strings.Fields(c[2])
		cmd := binary(t, dir, append([]string{"serve"}, args...)...)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), says) {
			t.Errorf("%v: exit code %d, %s; want %d, %q", args, got, out, code, says)
		}
	}
}

// The first signal ends the run's readers with its last word, and takes no new run; the second leaves at once.
func TestServeDrains(t *testing.T) {
	m := testkit.NewModel(t)
	dir := plant(t, gardenText)
	flags := []string{"--allow-local", "--base-url", m.URL(), "--model", "scripted", "--drain", "1h"}
	s := serveHTTP(t, dir, flags...)
	x := m.Step(testkit.Role(), testkit.Text(description), testkit.Finish("stop"), testkit.Done())
	resp := s.post("", "tools/call", "generate", `"name":"generate","arguments":{"repository":"garden","no_cache":true,"model":"auto"}`)
	defer resp.Body.Close()
	<-x.Started()
	must(t, s.cmd.Process.Signal(syscall.SIGTERM))
	s.untilClosed()
	must(t, x.Rest())
	body, err := io.ReadAll(resp.Body)
	if a := lastAnswer(t, body); err != nil || a.Structured.Status != "completed" {
		t.Errorf("%+v, %v", a.Structured, err)
	}
	if code := exitCode(t, s.cmd); code != exit.Terminated {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(dir, "artifacts", "local", "garden", "llms.txt")); err != nil {
		t.Error(err)
	}

	s = serveHTTP(t, dir, flags...)
	x = m.Step(testkit.Role(), testkit.Text(description))
	again := s.post("", "tools/call", "generate", `"name":"generate","arguments":{"repository":"garden","no_cache":true,"model":"auto"}`)
	defer again.Body.Close()
	<-x.Started()
	must(t, s.cmd.Process.Signal(syscall.SIGINT))
	s.untilClosed()
	if code := s.ends(syscall.SIGINT); code != exit.Interrupted {
		t.Errorf("exit code %d", code)
	}
}

// Nobody can answer a server that takes no more calls: a run that waits for an answer holds it up no longer than
// those that work, and ends like any that is cut short, once.
func TestServeDoesNotWaitForAnswers(t *testing.T) {
	m := testkit.NewModel(t)
	s := serveHTTP(t, t.TempDir(), "--tools", "plan", "--base-url", m.URL(), "--model", "scripted", "--drain", "1h", "--ephemeral")
	begun := func(start string) string {
		return fmt.Sprintf(`"run_id":%q`, s.call("", "run_start", start).Structured.RunID)
	}
	x := m.Step(testkit.Role(), testkit.Text("It is done."), testkit.Finish("stop"), testkit.Done())
	asks, works := begun(askingPlan), begun(`{"job":"prompt","input":{"text":"Work."}}`)
	<-x.Started()
	if a := s.call("", "run_wait", `{`+asks+`}`); a.Structured.Status != "waiting" {
		t.Fatalf("%+v", a)
	}
	question := s.call("", "run_events", `{`+asks+`}`).Structured.Next // the number of its event
	ended := s.asked("run_events", fmt.Sprintf(`{%s,"after":%d,"wait_ms":50000}`, asks, question))
	done := s.asked("run_wait", `{`+works+`,"wait_ms":50000}`)
	must(t, s.cmd.Process.Signal(syscall.SIGTERM))
	s.untilClosed()
	time.Sleep(time.Second) // in which it could take the runs for stuck
	must(t, x.Rest())
	if code := exitCode(t, s.cmd); code != exit.Terminated {
		t.Errorf("exit code %d", code)
	}
	body := ended()
	if bytes.Count(body, []byte(`"type":"run.failed"`)) != 1 || !bytes.Contains(body, []byte(`"cause":"shutdown"`)) {
		t.Errorf("%s", body)
	}
	if a := lastAnswer(t, done()); a.Structured.Status != "completed" {
		t.Errorf("%+v", a.Structured)
	}
}

// Streams without an end are ended, and hold nobody up.
func TestServeEndsStreamsWithoutAnEnd(t *testing.T) {
	s := serveHTTP(t, t.TempDir())
	resp := s.post("", "subscriptions/listen", "", `"notifications":{"resourcesListChanged":true}`)
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if first, err := lines.ReadString('\n'); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", resp.Status, first, err)
	}
	if code := s.ends(syscall.SIGTERM); code != exit.Terminated {
		t.Errorf("exit code %d", code)
	}
	if rest := <-s.stderr; rest != "" {
		t.Errorf("stderr %q", rest)
	}
}

// untilClosed waits until nobody listens any more, which is after the signal was heard.
func (s *served) untilClosed() {
	s.t.Helper()
	for {
		conn, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.base(), "http://"))
		if err != nil {
			return
		}
		conn.Close()
	}
}

// systemd hears that the server is ready, and that it stops.
func TestNotifySystemd(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenPacket("unixgram", socket)
	must(t, err)
	defer c.Close()
	notify(environment.Variables{"NOTIFY_SOCKET=" + socket}, "READY=1")
	text := make([]byte, 64)
	if n, _, err := c.ReadFrom(text); err != nil || string(text[:n]) != "READY=1" {
		t.Errorf("systemd heard %q, %v", text[:n], err)
	}
	notify(nil, "READY=1")
}

func TestServeTellsHowItIs(t *testing.T) {
	s := serveHTTP(t, t.TempDir(), "--admin", "127.0.0.1:0")
	for path, want := range map[string]string{"/livez": "ok\n", "/readyz": "ready\n", "/metrics": "lastword_runs_active 0\n"} {
		if code, body := s.get(path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	for path, route := range map[string]string{
		"/v1/runs/r_a/artifacts/x": `method="GET",route="/v1/runs/{id}/artifacts/{name}"`, "/v1/odd": `method="other",route="other"`,
	} {
		s.get(path)
		if _, body := s.get("/metrics"); !strings.Contains(body, `lastword_http_requests_total{`+route+`,status="404"} 1`+"\n") {
			t.Errorf("%s is not counted as %s: %s", path, route, body)
		}
	}
}

// A web site whose name leads to this machine reads no profile.
func TestProfilesCheckTheHost(t *testing.T) {
	door, err := profiles("127.0.0.1:6060")
	must(t, err)
	for host, want := range map[string]int{"127.0.0.1:6060": http.StatusOK, "localhost:6060": http.StatusOK,
		"evil.example:6060": http.StatusForbidden} {
		r, w := httptest.NewRequest(http.MethodGet, "/debug/pprof/goroutine", nil), httptest.NewRecorder()
		r.Host = host
		if door.ServeHTTP(w, r); w.Code != want {
			t.Errorf("the host %s gets %d, want %d", host, w.Code, want)
		}
	}
}

// Programs on this machine reach the server over a socket that only its folder's readers can open.
func TestServeOnASocket(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	cmd := binary(t, dir, "serve", "--unix", socket)
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(stderr).ReadString('\n'); err != nil || line != "listening on unix:"+socket+"\n" {
		t.Fatalf("%q, %v", line, err)
	}
	out, err := binary(t, dir, "runs", "ls", "--server", "unix:"+socket).CombinedOutput()
	if err != nil || string(out) != "there is no run yet\n" {
		t.Errorf("runs ls: %v\n%s", err, out)
	}
	second := binary(t, dir, "serve", "--unix", socket)
	if out, _ := second.CombinedOutput(); second.ProcessState.ExitCode() != exit.Configuration || !strings.Contains(string(out), "address already in use") {
		t.Errorf("a second server on the socket of one that lives: %s", out)
	}
	_, _ = cmd.Process.Kill(), cmd.Wait()
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("a killed server leaves its socket: %v", err)
	}
	next := serving(t, binary(t, dir, "serve", "--unix", socket))
	if code := next.ends(syscall.SIGTERM); next.url != "unix:"+socket || code != exit.Terminated {
		t.Errorf("after a killed server the next listens on %s, and ends with %d", next.url, code)
	}
}

// A person who opens the address of agents is told what it is; agents are not.
func TestAddressOfAgents(t *testing.T) {
	s := serveHTTP(t, t.TempDir())
	for accept, want := range map[string]string{"text/html,application/xhtml+xml": "lastword " + s.url, "application/json": ""} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url, nil)
		must(t, err)
		r.Header.Set("Accept", accept)
		got, err := http.DefaultClient.Do(r)
		must(t, err)
		body, err := io.ReadAll(got.Body)
		got.Body.Close()
		page := strings.Contains(string(body), "This address is for agents")
		if err != nil || !strings.Contains(string(body), want) || page != (want != "") {
			t.Errorf("%s: %v, %s", accept, err, body)
		}
	}
	fatal.IfLacking(t, s.said, "programs  "+strings.TrimSuffix(s.url, host.MCPPath)+"/v1\n", "agents    "+s.url+"\n", "callers   need no token: ", "runs      ")
}
