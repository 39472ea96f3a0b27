package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// What generate writes at a server comes to the same place as what it writes here, byte for byte.
func TestGenerateAtAServer(t *testing.T) {
	dir := plant(t, gardenText)
	s := serveHTTP(t, dir, "--allow-local")
	garden, here, there := filepath.Join(dir, "garden"), t.TempDir(), filepath.Join(t.TempDir(), "new")
	if got := run(t, nil, "generate", garden, "--out", here, "-q"); got.code != exit.Completed {
		t.Fatal(got)
	}
	got := run(t, nil, "generate", garden, "--out", there, "--server", s.base(), "--json")
	var sum struct{ Artifacts []messages.Artifact }
	if err := json.Unmarshal([]byte(got.stdout), &sum); got.code != exit.Completed || err != nil || len(sum.Artifacts) < 4 {
		t.Fatalf("%v %+v", err, got)
	}
	for _, a := range sum.Artifacts {
		below, err := filepath.Rel(there, a.Path)
		must(t, err)
		want, wantErr := os.ReadFile(filepath.Join(here, below))
		file, fileErr := os.ReadFile(a.Path)
		if wantErr != nil || fileErr != nil || filepath.Ext(a.Path) != ".json" && !bytes.Equal(file, want) {
			t.Errorf("%s: %v, %v, %d bytes, want %d", a.Name, wantErr, fileErr, len(file), len(want))
		}
	}
	if got := run(t, nil, "generate", garden, "--out", there, "--server", s.base(), "--explain", "-q"); got.code != exit.Completed ||
		!strings.Contains(got.stdout, "README.md") {
		t.Errorf("%+v", got)
	}
}

// The flags for files mean at a server what they mean here.
func TestFlagsReachTheServer(t *testing.T) {
	dir := plant(t, "# Garden\n\nGrows things.\n\nkey gh"+"p_0123456789abcdefghijABCDEFGHIJ456789\n"+strings.Repeat("Grows things in rows.\n", 400))
	put(t, filepath.Join(dir, "garden", "llms.txt"), "# Weeds\n\n> Weeds grow by themselves.\n\n## Docs\n\n- [Start](README.md): first\n")
	put(t, filepath.Join(dir, "garden", "docs", "beds.md"), "# Beds\n\n"+strings.Repeat("Beds are long and wide.\n", 400))
	s := serveHTTP(t, dir, "--allow-local")
	for _, c := range []struct {
		flags, file, holds string
		code               int
	}{
		{"--full all", "llms.txt", "# Weeds\n", exit.Completed},
		{"--fresh", "llms.txt", "# Garden\n", exit.Completed},
		{"--secrets off", "llms-full.txt", "key ghp_0123", exit.Completed},
		{"--secrets redact", "llms-full.txt", "key [redacted", exit.Completed},
		{"--count-tokens", "llms.json", `"tokens"`, exit.Completed},
		{"--secrets fail", "", "1 secret found", exit.Configuration},
		{"--token-budget 1000 --budget-fail", "", "over the budget", exit.Limit},
	} {
		out := t.TempDir()
		args := append([]string{"generate", filepath.Join(dir, "garden"), "--out", out, "--server", s.base()}, strings.Fields(c.flags)...)
		got := run(t, nil, args...)
		text := got.stderr
		if c.file != "" {
			file, err := os.ReadFile(filepath.Join(out, "local", "garden", c.file))
			if text = string(file); err != nil {
				t.Errorf("%s: %v", c.flags, err)
			}
		}
		if got.code != c.code || !strings.Contains(text, c.holds) {
			t.Errorf("%s: exit code %d without %q:\n%s", c.flags, got.code, c.holds, text)
		}
	}
}

func TestGenerateAtAServerFails(t *testing.T) {
	dir := plant(t, gardenText)
	s := serveHTTP(t, dir)
	garden := filepath.Join(dir, "garden")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exit.Usage, "reads no local folders", []string{"--server", s.base()}},
		{exit.Usage, "--base-url has no effect", []string{"--server", s.base(), "--base-url", "http://127.0.0.1:1"}},
		{exit.Usage, "--in-place has no effect", []string{"--server", s.base(), "--in-place"}},
		{exit.Usage, "--token-file needs --server", []string{"--token-file", "token"}},
		{exit.Configuration, "cannot read the token", []string{"--server", s.base(), "--token-file", "missing"}},
		{exit.Provider, "cannot reach the server", []string{"--server", "http://127.0.0.1:1"}},
	} {
		got := run(t, nil, append([]string{"generate", garden, "--out", filepath.Join(dir, "out")}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.says) {
			t.Errorf("%v: %+v, want %d, %q", c.args, got, c.code, c.says)
		}
	}
}

// A program that reads what watch prints knows from the exit code that it did not get all.
func TestWatchLosesStdout(t *testing.T) {
	dir := plant(t, gardenText)
	s := serveHTTP(t, dir, "--allow-local")
	got := run(t, nil, "generate", filepath.Join(dir, "garden"), "--out", t.TempDir(), "--server", s.base(), "--json")
	var sum struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &sum); err != nil {
		t.Fatalf("%v %+v", err, got)
	}
	unread, stdout := io.Pipe()
	unread.Close()
	var stderr bytes.Buffer
	p := host.Program{Args: []string{"runs", "watch", sum.RunID, "--server", s.base(), "--jsonl"},
		Env: []string{"HOME=" + dir}, Stdout: stdout, Stderr: &stderr, Commands: rootCommand}
	if code := p.Run(t.Context()); code != exit.Failed || !strings.Contains(stderr.String(), "cannot write to stdout") {
		t.Errorf("%d: %s", code, &stderr)
	}
}

// A file that a proxy changed is not kept.
func TestGenerateVerifiesWhatItDownloads(t *testing.T) {
	dir := plant(t, gardenText)
	s := serveHTTP(t, dir, "--allow-local")
	behind, err := url.Parse(s.base())
	must(t, err)
	honest := httputil.NewSingleHostReverseProxy(behind)
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/artifacts/") {
			_, _ = w.Write([]byte("# Weeds\n"))
			return
		}
		honest.ServeHTTP(w, r)
	}))
	defer liar.Close()
	out := t.TempDir()
	got := run(t, nil, "generate", filepath.Join(dir, "garden"), "--out", out, "--server", liar.URL)
	if got.code != exit.Failed || !strings.Contains(got.stderr, "another file") {
		t.Errorf("%+v", got)
	}
	if err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s is there", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// The first Ctrl-C cancels the run at the server.
func TestInterruptedGenerateAtAServer(t *testing.T) {
	dir := plant(t, gardenText)
	faulty := binary(t, dir, "serve", "--http", "127.0.0.1:0", "--allow-local")
	path, err := exec.LookPath("lastword-faulty")
	must(t, err)
	faulty.Path, faulty.Args[0] = path, path
	faulty.Env = append(faulty.Env, "FAULT=block:write", "HARD=20ms")
	s := serving(t, faulty)
	cmd := binary(t, dir, "generate", "garden", "--server", s.base(), "--jsonl")
	var out started
	out.when, out.then = `"task":"write"`, func() { _ = cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout = &out
	must(t, cmd.Start())
	if code := exitCode(t, cmd); code != exit.Interrupted || !strings.Contains(out.text.String(), `"type":"run.canceled"`) {
		t.Errorf("exit code %d, %s", code, out.text.String())
	}
	if _, list := s.get("/v1/runs"); !strings.Contains(list, `"status":"canceled"`) {
		t.Errorf("the server's runs are %s", list)
	}
	_ = s.ends(syscall.SIGTERM)
}

// started calls a function once it has been written what it waits for.
type started struct {
	text bytes.Buffer
	when string
	then func()
}

func (s *started) Write(p []byte) (int, error) {
	before := strings.Contains(s.text.String(), s.when)
	s.text.Write(p)
	if !before && strings.Contains(s.text.String(), s.when) {
		s.then()
	}
	return len(p), nil
}

// prompt and a turn of chat run at the server that the flag names, with its model; a variable does not send them there.
func TestAskAtAServer(t *testing.T) {
	m := testkit.NewModel(t)
	m.Always(testkit.Text("Hello"), testkit.Finish("stop"), testkit.Done())
	s := serveHTTP(t, t.TempDir(), "--base-url", m.URL())
	for _, args := range [][]string{{"prompt", "Hi there"}, {"chat", "-m", "Hi there"}} {
		got := run(t, nil, append(args, "--server", s.base())...)
		if got.code != exit.Completed || got.stdout != "Hello\n" {
			t.Errorf("%v: %+v", args, got)
		}
		got = run(t, []string{"LASTWORD_SERVER=" + s.base(), "LASTWORD_BASE_URL=" + nobody}, args...)
		if got.code != exit.Provider {
			t.Errorf("%v goes to the server of the variable: %+v", args, got)
		}
		got = run(t, nil, append(args, "--server", s.base(), "--base-url", m.URL())...)
		if got.code != exit.Usage || !strings.Contains(got.stderr, "--base-url has no effect at a server") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := run(t, nil, "chat", "--server", s.base(), "--resume"); got.code != exit.Usage {
		t.Errorf("%+v", got)
	}
}

// With --watch a change of a file is in llms.txt without another command, and what generate writes is no change.
func TestGenerateWatches(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("README.md", "# Garden\n\nA tool that grows things.\n")
	cmd := binary(t, dir, "generate", "--in-place", "--watch")
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines, runs := bufio.NewScanner(stderr), 0
	watching := func() {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), "run.queued") {
				runs++
			}
			if strings.HasPrefix(lines.Text(), "watching ") {
				return
			}
		}
		t.Fatal("it has ended")
	}
	watching()
	write("weeds.md", "# Weeds\n\nHow to love the weeds of a garden.\n")
	watching()
	if text, err := os.ReadFile(filepath.Join(dir, "llms.txt")); err != nil || !strings.Contains(string(text), "weeds.md") {
		t.Errorf("%s, %v", text, err)
	}
	must(t, cmd.Process.Signal(syscall.SIGINT))
	for lines.Scan() {
		if strings.Contains(lines.Text(), "run.queued") {
			runs++
		}
	}
	if code := exitCode(t, cmd); code != exit.Interrupted || runs != 2 {
		t.Errorf("exit code %d after %d runs", code, runs)
	}
}
