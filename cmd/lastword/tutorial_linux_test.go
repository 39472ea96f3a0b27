package main

import (
	"context"
	"errors"
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

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door"
	api "github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/web"
)

// greet is a job: it looks up a greeting once, and says it.
func greet(lookUp func(language string) (string, error)) actors.Definition {
	return actors.Func("greet", func(ctx context.Context, t *actors.TaskContext, in greeting) (string, error) {
		hello, err := actors.Do(ctx, t, "look up", func(context.Context) (string, error) { return lookUp(in.Language) })
		if err != nil {
			return "", err
		}
		return hello + ", " + in.Name, t.AppendText("answer", hello+", "+in.Name)
	})
}

type greeting struct {
	Name     string `json:"name"`
	Language string `json:"language,omitempty"`
}

func TestGreetKeepsItsPromises(t *testing.T) {
	lookups := 0
	job := greet(func(string) (string, error) { lookups++; return "Hei", nil })
	testkit.Check(t, job, greeting{Name: "Ann"}, func() int { return lookups })
}

func TestGreetAgrees(t *testing.T) {
	testkit.Replay(t, "testdata/greet.jsonl", greet(func(string) (string, error) { return "", errors.New("nobody looks up") }))
}

func serveGreet(system *actors.System) (http.Handler, error) {
	tools := mcp.New(mcp.Config{Runs: system, Name: "greeter"})
	if err := tools.AddJob(mcp.JobTool{Job: "greet"}); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", api.New(door.New(door.Config{Runs: system, Jobs: system.Jobs()})))
	mux.Handle("/mcp", tools)
	for _, path := range web.Paths() {
		mux.Handle(path, web.Handler(false))
	}
	return mux, nil
}

// The job of the tutorial is there on the page, over HTTP and as a tool.
func TestGreetIsServed(t *testing.T) {
	system, err := actors.New(t.Context(), actors.Config{Jobs: []actors.Definition{greet(nil)}})
	must(t, err)
	defer system.Close(context.Background())
	handler, err := serveGreet(system)
	must(t, err)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	for _, c := range [][4]string{{"GET", "/", "", `<div id="page">`}, {"GET", "/v1/jobs", "", `"greet"`}, {"POST", "/mcp", list, `"greet"`}} {
		r := httptest.NewRequestWithContext(t.Context(), c[0], c[1], strings.NewReader(c[2]))
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/list")
		got := httptest.NewRecorder()
		if handler.ServeHTTP(got, r); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), c[3]) {
			t.Errorf("%s: %d %s", c[1], got.Code, got.Body)
		}
	}
}

// block is a piece of the tutorial: a file to write, commands to run, or code that is in this file.
var block = regexp.MustCompile("(?s)(?:<!-- (file|code)(?:: (\\S+))? -->\n)?```(\\w+)\n(.*?)```\n")

// The tutorial's commands run, in their order, and its code is the code that is tested.
func TestTutorial(t *testing.T) { tutorial(t, "") }

// tutorial runs the commands in that root, or in this one.
func tutorial(t *testing.T, root string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/tutorial.md")
	must(t, err)
	code, err := os.ReadFile("tutorial_linux_test.go")
	must(t, err)
	m := testkit.NewModel(t)
	m.Always(testkit.Text("It grows things."), testkit.Finish("stop"), testkit.Done())
	folder, script := t.TempDir(), "set -e\n"
	dir := filepath.Join(root, folder)
	for _, b := range block.FindAllStringSubmatch(string(text), -1) {
		switch {
		case b[1] == "file":
			put(t, filepath.Join(dir, b[2]), b[4])
		case b[1] == "code" && !strings.Contains(string(code), b[4]):
			t.Errorf("no test has the code\n%s", b[4])
		case b[3] == "sh":
			script += b[4]
		}
	}
	at := freeAddress(t)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	sh := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll(script, "127.0.0.1:7878", at))
	sh.Dir, sh.SysProcAttr, sh.WaitDelay = folder, &syscall.SysProcAttr{Setpgid: true, Chroot: root}, time.Second
	sh.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "GOCOVERDIR=" + t.TempDir(), "LASTWORD_SERVE_HTTP=" + at,
		"LASTWORD_SERVER=http://" + at, "LASTWORD_BASE_URL=" + m.URL()}
	out, err := sh.CombinedOutput()
	_ = syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) // the server
	if err != nil && !strings.Contains(err.Error(), "WaitDelay") {
		t.Errorf("%v:\n%s", err, out)
	}
	for _, want := range []string{"# Garden", "- [Guide](guide.md)", "waiting", "published", "It grows things.", "step 3 of 3", "4 garden/guide.md"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the tutorial does not show %q but\n%s", want, out)
		}
	}
}

// The plans of docs/plans.md are right.
func TestPlansOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/plans.md")
	must(t, err)
	file, found := filepath.Join(t.TempDir(), "plan.yaml"), 0
	for _, b := range block.FindAllStringSubmatch(string(text), -1) {
		if b[3] == "yaml" {
			found++
			put(t, file, b[4])
			if got := run(t, nil, "plan", "check", file); got.code != 0 {
				t.Errorf("%s\n%+v", b[4], got)
			}
		}
	}
	if found < 2 {
		t.Errorf("%d plans are found", found)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
