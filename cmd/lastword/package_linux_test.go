package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/testkit"
)

// The package of Debian installs in an empty Debian without systemd, serves as its unit says, goes through the tutorial,
// keeps settings at an upgrade, and what it has when it is removed. Purged, it leaves nothing. make package-test gives the
// two archives.
func TestPackage(t *testing.T) {
	archive, base := os.Getenv("LASTWORD_PACKAGE"), os.Getenv("LASTWORD_DEBIAN")
	if archive == "" || base == "" {
		t.Skip("make package-test installs the package in an empty Debian")
	}
	t.Run("unit", func(t *testing.T) { verifyUnit(t, archive) })
	d := debian{t: t, root: t.TempDir()}
	if out, err := exec.Command("tar", "-C", d.root, "-xf", base).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before := d.all()
	data, err := os.ReadFile(archive)
	must(t, err)
	put(t, filepath.Join(d.root, "tmp/lastword.deb"), string(data))
	d.run("dpkg", "-i", "/tmp/lastword.deb")
	if got := d.run("lastword", "version"); !strings.HasPrefix(got, "lastword ") {
		t.Errorf("the version is %q", got)
	}
	t.Run("serve", func(t *testing.T) { debian{t, d.root}.serve() })
	t.Run("tutorial", func(t *testing.T) { tutorial(t, d.root) })
	config := filepath.Join(d.root, "etc/lastword/config.yaml")
	mine, err := os.ReadFile(config)
	must(t, err)
	d.run("dpkg", "-i", "/tmp/lastword.deb") // an upgrade
	if now, err := os.ReadFile(config); err != nil || string(now) != string(mine) {
		t.Errorf("the upgrade changed the settings to %s, %v", now, err)
	}
	d.run("dpkg", "-r", "lastword")
	for _, kept := range []string{"var/lib/lastword/journal.db", "etc/lastword/config.yaml", "etc/lastword/tokens"} {
		if _, err := os.Stat(filepath.Join(d.root, kept)); err != nil {
			t.Error(err)
		}
	}
	d.run("dpkg", "-P", "lastword")
	after := d.all()
	for name, text := range after {
		if was, ok := before[name]; !ok || was != text {
			t.Errorf("%s is left", name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			t.Errorf("%s is gone, and was there before", name)
		}
	}
}

// debian is an empty Debian in a folder.
type debian struct {
	t    *testing.T
	root string
}

// command returns a command that root runs in that Debian.
func (d debian) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "/usr/bin/env", args...) // which looks for the program there
	c.Dir, c.SysProcAttr = "/", &syscall.SysProcAttr{Chroot: d.root}
	c.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	return c
}

func (d debian) run(args ...string) string {
	d.t.Helper()
	out, err := d.command(d.t.Context(), args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// all returns the names of all files, with the text of those that list users. It passes over what this test and dpkg
// write, and the copies that useradd makes.
func (d debian) all() map[string]string {
	files := map[string]string{}
	passed := regexp.MustCompile(`^(tmp|var/lib/dpkg|var/log)/|^etc/.*-$`)
	err := fs.WalkDir(os.DirFS(d.root), ".", func(name string, _ fs.DirEntry, err error) error {
		if passed.MatchString(name) {
			return nil
		}
		files[name] = ""
		return err
	})
	for _, name := range []string{"etc/passwd", "etc/shadow", "etc/group", "etc/gshadow"} {
		text, readErr := os.ReadFile(filepath.Join(d.root, name))
		files[name], err = string(text), errors.Join(err, readErr)
	}
	must(d.t, err)
	return files
}

// serve starts the server as the unit says, does a run there, and stops the server.
func (d debian) serve() {
	m := testkit.NewModel(d.t)
	m.Always(testkit.Text("It grows things."), testkit.Finish("stop"), testkit.Done())
	at, config := freeAddress(d.t), filepath.Join(d.root, "etc/lastword/config.yaml")
	settings, err := os.ReadFile(config)
	must(d.t, err)
	put(d.t, config, strings.Replace(string(settings), "127.0.0.1:7878", at, 1))
	d.run("sh", "-c", "lastword token add --file /etc/lastword/tokens mia >/tmp/token && chmod 600 /tmp/token")

	ready, err := net.ListenPacket("unixgram", filepath.Join(d.root, "tmp/notify"))
	must(d.t, err)
	defer ready.Close()
	must(d.t, os.Chmod(filepath.Join(d.root, "tmp/notify"), 0o666))
	ctx, stop := context.WithTimeout(d.t.Context(), patience)
	defer stop()
	server := d.asUnit(ctx)
	server.Env = append(server.Env, "NOTIFY_SOCKET=/tmp/notify", "LASTWORD_BASE_URL="+m.URL())
	var said strings.Builder
	server.Stderr = &said
	must(d.t, server.Start())
	context.AfterFunc(ctx, func() { ready.Close() })
	if _, _, err := ready.ReadFrom(make([]byte, 64)); err != nil {
		d.t.Fatalf("the server is not ready: %v\n%s", err, &said)
	}
	answer := d.run("lastword", "prompt", "What does it do?", "--server", "http://"+at, "--token-file", "/tmp/token")
	if !strings.Contains(answer, "It grows things.") {
		d.t.Errorf("the answer is %q", answer)
	}
	must(d.t, server.Process.Signal(syscall.SIGTERM))
	if _ = server.Wait(); server.ProcessState.ExitCode() != exit.Terminated {
		d.t.Errorf("the server ended with %v\n%s", server.ProcessState, &said)
	}
}

// asUnit returns the command of the package's unit, with its user and its variables, as systemd starts it.
func (d debian) asUnit(ctx context.Context) *exec.Cmd {
	unit := map[string]string{}
	text, err := os.ReadFile(filepath.Join(d.root, "usr/lib/systemd/system/lastword.service"))
	must(d.t, err)
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		unit[key] = value
	}
	c := d.command(ctx, strings.Fields(unit["ExecStart"])...)
	state, _, _ := strings.Cut(unit["StateDirectory"], " ")
	c.Env = append(strings.Fields(unit["Environment"]), "STATE_DIRECTORY=/var/lib/"+state)
	user, err := strconv.ParseUint(strings.TrimSpace(d.run("id", "-u", unit["User"])), 10, 32)
	must(d.t, err)
	group, err := strconv.ParseUint(strings.TrimSpace(d.run("id", "-g", unit["User"])), 10, 32)
	must(d.t, err)
	c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(user), Gid: uint32(group)}
	return c
}

// verifyUnit has systemd read the unit beside its own, where systemd is installed.
func verifyUnit(t *testing.T, archive string) {
	root := t.TempDir()
	if out, err := exec.Command("dpkg-deb", "-x", archive, root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command("cp", "-r", "/usr/lib/systemd/system", filepath.Join(root, "usr/lib/systemd")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", "--root="+root, "lastword.service").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// Root removes a token, and the server, which is another user, can still read the file.
func TestTokenFileKeepsItsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const server = 12345
	file := filepath.Join(t.TempDir(), "tokens")
	for _, name := range []string{"mia", "bob"} {
		if got := run(t, nil, "token", "add", "--file", file, name); got.code != exit.Completed {
			t.Fatalf("%+v", got)
		}
	}
	must(t, os.Chown(file, server, server))
	if got := run(t, nil, "token", "remove", "--file", file, "bob"); got.code != exit.Completed {
		t.Fatalf("%+v", got)
	}
	info, err := os.Stat(file)
	must(t, err)
	if of := info.Sys().(*syscall.Stat_t); of.Uid != server || of.Gid != server {
		t.Errorf("the file is of user %d and group %d", of.Uid, of.Gid)
	}
}
