package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/testkit"
)

// fence is a block between fences, with the comment above it, its language and its text.
var fence = regexp.MustCompile("(?ms)(?:^<!-- ([^\n]*) -->\n)?^```(\\w*)\n(.*?)^```\n")

// A new user saves the files of the README and the tutorial, and types their commands, in an empty folder.
func TestReadme(t *testing.T) {
	u := newUser(t, "", "../../README.md")
	u.shown("completed in", ", chain ", "ran it ended after")
	for _, name := range []string{"jobs.yaml", "plan.yaml"} {
		kept, err := os.ReadFile("../../docs/demo/" + name)
		must(t, err)
		if !strings.Contains(u.page, "\n```yaml\n"+string(kept)+"```\n") {
			t.Errorf("docs/demo/%s is not what the README shows", name)
		}
	}
}

func TestTutorial(t *testing.T) { tutorial(t, "") }

// tutorial goes through the tutorial in that root, without Go, or in this one.
func tutorial(t *testing.T, root string) {
	t.Helper()
	u := newUser(t, root, "../../docs/tutorial.md")
	u.shown("# Garden", "- [Guide](guide.md)", "waiting", "lastword runs answer", "published", "It grows things.", "step 3 of 3", "4 garden/guide.md")
	if root == "" {
		u.shown("Hei, Ann", "ok  \tgreet")
	}
}

// user is somebody who works through a page in windows of a terminal, each with a shell.
type user struct {
	t            *testing.T
	page         string
	root, folder string
	env          []string
	windows      map[string]*session
	typed        map[*session]int // how many commands
}

// newUser goes through the page. All is as printed but the ports, which are free ones, lastword's module, which is this
// one, and how long a job rests. A fence is a file, is typed, has the language text, or is an example that another test holds.
// The shells keep no history: bash writes it when its terminal is gone, into a folder that the test removes then.
func newUser(t *testing.T, root, page string) *user {
	t.Helper()
	data, err := os.ReadFile(page)
	must(t, err)
	m := testkit.NewModel(t)
	m.Always(testkit.Text("It grows things."), testkit.Finish("stop"), testkit.Done())
	at, own := freeAddress(t), freeAddress(t)
	text := strings.NewReplacer("127.0.0.1:7878", at, "127.0.0.1:7879", own, "sleep 0.5", "sleep 0.1").Replace(string(data))
	if root != "" { // there is no Go
		text, _, _ = strings.Cut(text, "in Go (")
	}
	folder := t.TempDir()
	u := &user{t: t, page: string(data), root: root, folder: folder, windows: map[string]*session{}, typed: map[*session]int{},
		env: []string{"HOME=" + folder, "HISTFILE=", "GOPROXY=off", "GOSUMDB=off", "GOFLAGS=-trimpath", "CGO_ENABLED=0", "LASTWORD_SERVE_HTTP=" + at,
			"LASTWORD_SERVER=http://" + at, "LASTWORD_BASE_URL=" + m.URL()}}
	if root == "" { // this downloads what go mod tidy needs there, without a proxy
		must(t, exec.Command("go", "mod", "tidy", "-diff").Run())
	}
	for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOTOOLCHAIN"} {
		value, err := exec.Command("go", "env", name).Output()
		must(t, err)
		u.env = append(u.env, name+"="+strings.TrimSpace(string(value)))
	}
	must(t, os.MkdirAll(filepath.Join(root, folder), 0o755))
	for _, f := range fence.FindAllStringSubmatch(text, -1) {
		kind, what, _ := strings.Cut(f[1], ": ")
		switch {
		case kind == "file":
			put(t, filepath.Join(root, folder, what), f[3])
		case kind == "window":
			window, until, _ := strings.Cut(what, ", until: ")
			u.types(window, f[3], until)
		case f[2] == "sh":
			u.types("1", f[3], "")
		case f[2] != "text" && kind != "embed:begin":
			t.Errorf("%s: a fence neither runs nor has the language text:\n%s", page, f[3])
		}
		for after, meanwhile := range map[string]string{"go mod init": "go mod edit -replace github.com/seed889630bf/lastword=", "go get": "go work init . "} {
			if strings.Contains(f[3], after) { // a workspace takes what is compiled already
				u.types("1", meanwhile+mustAbs(t, "../..")+"\n", "")
			}
		}
	}
	for window := range u.windows {
		u.types(window, "for job in $(jobs -p); do kill -9 -- -$job 2>/dev/null || true; done; wait\n", "")
	}
	return u
}

// command is a line of a shell, with the lines that continue it.
var command = regexp.MustCompile(`(?m)(?:^.*\\\n)*^.*\n`)

const shellReady = "ready> "

// types types commands in a window, each when the one before has ended. The last one only has to show some words, if given.
func (u *user) types(window, commands, until string) {
	u.t.Helper()
	s := u.windows[window]
	if s == nil {
		s = startIn(u.t, u.root, u.folder, u.env, "bash", "--noprofile", "--norc", "--noediting", "-i")
		s.drawn, u.windows[window] = true, s
		s.keys("PS1='read''y> '; trap 'echo \"FAILED $BASH_COMMAND\"' ERR\n")
		u.typed[s] = 1
	}
	list := command.FindAllString(commands, -1)
	for i, line := range list {
		u.await(s, shellReady, u.typed[s])
		before := strings.Count(s.text(), until)
		s.keys(line)
		if u.typed[s]++; i < len(list)-1 || until == "" {
			u.await(s, shellReady, u.typed[s])
		} else {
			u.await(s, until, before+1)
		}
	}
}

// text is all that the terminal has shown.
func (s *session) text() string { return controls.ReplaceAllString(s.raw.String(), "") }

// failed is what a shell says of a command that fails, and of one in the background that takes the terminal.
var failed = regexp.MustCompile(`FAILED [^$]|Stopped`)

// await waits until the terminal has shown the words so many times, and no failure.
func (u *user) await(s *session, words string, times int) {
	u.t.Helper()
	if !s.until(func() bool { return strings.Count(s.text(), words) >= times }) || failed.MatchString(s.text()) {
		u.t.Fatalf("the terminal does not show %q %d times without a failure but\n%s", words, times, s.text())
	}
}

func (u *user) shown(words ...string) {
	u.t.Helper()
	var all strings.Builder
	for _, s := range u.windows {
		all.WriteString(s.text())
	}
	for _, want := range words {
		if !strings.Contains(all.String(), want) {
			u.t.Errorf("the terminal does not show %q but\n%s", want, all.String())
		}
	}
}

// The plans of docs/plans.md are right.
func TestPlansOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/plans.md")
	must(t, err)
	file, found := filepath.Join(t.TempDir(), "plan.yaml"), 0
	for _, f := range fence.FindAllStringSubmatch(string(text), -1) {
		if f[2] == "yaml" {
			found++
			put(t, file, f[3])
			if got := run(t, nil, "plan", "check", file); got.code != 0 {
				t.Errorf("%s\n%+v", f[3], got)
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
