package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// The image of a release is under 45 MB; without root it makes a token in its volume, serves, and stops when told to.
func TestImageServes(t *testing.T) {
	out := os.Getenv("LASTWORD_RELEASE")
	if out == "" {
		t.Skip("make release-test gives a release")
	}
	archives, err := filepath.Glob(filepath.Join(out, "lastword-*-oci.tar"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("%q, %v", archives, err)
	}
	img := images(t, archives[0])[runtime.GOARCH]
	config, err := img.ConfigFile()
	must(t, err)
	root := t.TempDir()
	untar := exec.Command("tar", "-C", root, "-x")
	files := mutate.Extract(img)
	defer files.Close()
	untar.Stdin = files
	must(t, untar.Run())
	if info, err := os.Stat(filepath.Join(root, "usr/bin/lastword")); err != nil || info.Size() > 45_000_000 {
		t.Errorf("the program is %v, %v", info, err)
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), config.Config.Entrypoint[0], args...)
		c.Dir, c.Env = config.Config.WorkingDir, append(config.Config.Env, "LASTWORD_SERVE_HTTP=127.0.0.1:0")
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return c
	}
	if said, err := command("token", "add", "--file", "tokens", "mia").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	server := command(config.Config.Cmd...)
	stderr, err := server.StderrPipe()
	must(t, err)
	must(t, server.Start())
	line, err := bufio.NewReader(stderr).ReadString('\n')
	must(t, err)
	resp, err := http.Get(regexp.MustCompile(`http://[0-9.:]+`).FindString(line) + "/readyz")
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
	must(t, server.Process.Signal(syscall.SIGTERM))
	if _ = server.Wait(); server.ProcessState.ExitCode() != 143 {
		t.Error(server.ProcessState)
	}
}
