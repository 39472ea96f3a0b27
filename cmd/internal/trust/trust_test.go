package trust_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/fatal"
)

var must = fatal.IfError

// named returns an environment with a home elsewhere, which names the folder.
func named(t *testing.T, dir string) environment.Variables {
	return environment.Variables{"HOME=" + t.TempDir(), settings.Trust + "=" + dir}
}

// The folder of trust is the user's alone, and in no project: not behind a link, and not beside the current folder in
// its work tree. The home of the user is no project.
func TestFolderIsTheUsers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes do not tell")
	}
	project, outside := t.TempDir(), t.TempDir()
	shared := filepath.Join(outside, "shared")
	must(t, errors.Join(os.MkdirAll(filepath.Join(project, "sub"), 0o755), os.Mkdir(filepath.Join(project, ".git"), 0o755),
		os.Mkdir(shared, 0o700), os.Chmod(shared, 0o770), os.Symlink(project, filepath.Join(outside, "link"))))
	t.Chdir(filepath.Join(project, "sub"))
	for dir, says := range map[string]string{"t": "is in the project", project + "/t": "is in the project",
		outside + "/link/t": "is in the project", shared: "others may write"} {
		if _, err := trust.Open(named(t, dir)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := os.Lstat(project + "/t"); err == nil {
		t.Error("a folder that was refused is made")
	}
	for _, env := range []environment.Variables{named(t, outside+"/new"), {"HOME=" + project}} {
		f, err := trust.Open(env)
		must(t, err)
		if info, err := os.Stat(string(f)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info, err)
		}
		if err := f.Apart(env, filepath.Dir(string(f))); err == nil {
			t.Error("it may be in a folder of data")
		}
	}
	if _, err := trust.Open(environment.Variables{"HOME=" + os.DevNull}); !errors.Is(err, trust.ErrNowhere) {
		t.Error(err)
	}
}

// A key signs until there is another, and none that cannot be published takes its place.
func TestKey(t *testing.T) {
	f, err := trust.Open(named(t, filepath.Join(t.TempDir(), "t")))
	must(t, err)
	first, err := f.Key(nil)
	must(t, err)
	if _, err := f.Key(func(ed25519.PublicKey) error { return errors.ErrUnsupported }); err == nil {
		t.Error("it is published nowhere")
	}
	if again, err := f.Key(nil); err != nil || !again.Equal(first) {
		t.Errorf("another key signs, %v", err)
	}
	var public ed25519.PublicKey
	_, err = f.Key(func(p ed25519.PublicKey) error { public = p; return nil })
	must(t, err)
	if next, err := f.Key(nil); err != nil || !public.Equal(next.Public()) {
		t.Errorf("the new key does not sign, %v", err)
	}
	old, err := f.Public()
	if want := []string{base64.StdEncoding.EncodeToString(public), base64.StdEncoding.EncodeToString(first.Public().(ed25519.PublicKey))}; err != nil || !slices.Equal(old, want) {
		t.Errorf("the public halves are %q, %v, want %q", old, err, want)
	}
	sealing, err := f.Sealing()
	must(t, err)
	if again, err := f.Sealing(); err != nil || string(again) != string(sealing) || string(sealing) == string(first.Seed()) {
		t.Errorf("the key that seals does not stay, %v", err)
	}
}

// A helper is the user's program: the current folder and what PATH has of it offer none.
func TestCommandsAreNotOfTheProject(t *testing.T) {
	project, outside := t.TempDir(), t.TempDir()
	for _, dir := range []string{project, outside} {
		must(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "bin", "tool.exe"), nil, 0o755))
	}
	t.Chdir(project)
	all := []string{"", ".", "bin", filepath.Join(project, "bin"), filepath.Join(outside, "bin")}
	path := trust.Path(strings.Join(all, string(os.PathListSeparator)), environment.Variables{"HOME=" + t.TempDir()})
	if path != all[4] {
		t.Errorf("PATH is %q", path)
	}
	for name, want := range map[string]string{"tool.exe": filepath.Join(all[4], "tool.exe"), "none": "none",
		"./tool.exe": filepath.Join(outside, "tool.exe"), filepath.Join(project, "tool.exe"): filepath.Join(project, "tool.exe")} {
		if got := trust.Command(name, outside, path); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
}

func TestRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("server.py", nil, 0o644))
	for _, c := range []struct{ command, argument string }{{"node", "./x"}, {"node", "../x"}, {"node", "dist/index.js"}, {"node", "."},
		{"python3", "server.py"}, {"node", "--dir=data/x"}, {"node", ".hidden/x"}, {"docker", "./x"}} {
		if trust.Relative(c.command, []string{"-y", c.argument}) != c.argument {
			t.Errorf("%s is not relative", c)
		}
	}
	for _, c := range []struct{ command, argument string }{{"npx", "@scope/server"}, {"npx", "server@1"}, {"node", "/srv/x.js"},
		{"uvx", "git+https://example.com/a/b"}, {"python3", "demo"}, {"docker", "mcp/time"}, {"go", "github.com/a/b@latest"},
		{"node", "--url=https://example.com/x"}, {"node", `{"a":"b/c"}`}, {"podman", "ghcr.io/a/b:1"}} {
		if trust.Relative(c.command, []string{"-y", c.argument}) != "" {
			t.Errorf("%s is relative", c)
		}
	}
}
