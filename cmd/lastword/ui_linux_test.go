package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
)

// desktop gives the command a desktop whose browser writes the address to the returned pipe.
func desktop(t *testing.T, cmd *exec.Cmd) (opened string) {
	t.Helper()
	bin := t.TempDir()
	opened = filepath.Join(bin, "opened")
	script := "#!/bin/sh\necho \"$1\" > " + opened + "\n"
	err := errors.Join(syscall.Mkfifo(opened, 0o600), os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o755))
	must(t, err)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, "DISPLAY=:9", "PATH="+os.Getenv("PATH"))
	return opened
}

// said is what the browser was told to open. It waits for the browser.
func said(t *testing.T, opened string) string {
	t.Helper()
	text, err := os.ReadFile(opened)
	must(t, err)
	return strings.TrimSpace(string(text))
}

func TestUIOpensThePageOfAServer(t *testing.T) {
	s := serveHTTP(t, t.TempDir())
	cmd := binary(t, t.TempDir(), "ui", "--server", s.base())
	opened := desktop(t, cmd)
	out, err := cmd.Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != s.base()+"/" {
		t.Errorf("it prints %q, %v, want %s/", got, err, s.base())
	}
	if got := said(t, opened); got != s.base()+"/" {
		t.Errorf("the browser opens %q", got)
	}
}

func TestUIStartsAServerWhereThereIsNone(t *testing.T) {
	cmd := binary(t, t.TempDir(), "ui")
	cmd.Env = append(cmd.Env, "LASTWORD_SERVE_HTTP=127.0.0.1:0")
	opened := desktop(t, cmd)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	s := serving(t, cmd)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != s.base()+"/" {
		t.Errorf("it prints %q, %v, and listens at %s", line, err, s.base())
	}
	if got := said(t, opened); got != s.base()+"/" {
		t.Errorf("the browser opens %q", got)
	}
	if code, body := s.get("/"); code != 200 || !strings.Contains(body, `<div id="page">`) {
		t.Errorf("the page is %d %s", code, body)
	}
	if code := s.ends(syscall.SIGINT); code != exit.Interrupted {
		t.Errorf("exit code %d", code)
	}
}

func TestUIWithoutAServer(t *testing.T) {
	for server, want := range map[string]int{"http://127.0.0.1:1": exit.Provider, "unix:/tmp/x": exit.Usage} {
		cmd := binary(t, t.TempDir(), "ui", "--server", server)
		_ = cmd.Run() // its error is the code
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: exit code %d, want %d", server, code, want)
		}
	}
}

func TestAddressesForBrowsers(t *testing.T) {
	for url, want := range map[string]string{"http://:7878": "http://127.0.0.1:7878", "http://[::]:80": "http://127.0.0.1:80",
		"http://0.0.0.0:7878": "http://127.0.0.1:7878", "https://runs.example.com/": "https://runs.example.com/",
		"http://10.0.0.0:80": "http://10.0.0.0:80", "unix:/run/lastword.sock": "unix:/run/lastword.sock"} {
		if got := host.Local(url); got != want {
			t.Errorf("%s is %s, want %s", url, got, want)
		}
	}
}
