package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
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
	"unsafe"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/terminaltest"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/testkit"
)

func ioctl(f *os.File, request uintptr, argument unsafe.Pointer) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}

// openTerminal returns the two ends of a pseudo-terminal of the kernel's.
func openTerminal(t *testing.T, columns, rows uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { master.Close() })
	var number, unlock int32
	err = errors.Join(ioctl(master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock)),
		ioctl(master, syscall.TIOCGPTN, unsafe.Pointer(&number)))
	must(t, err)
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { slave.Close() })
	size := [4]uint16{rows, columns}
	must(t, ioctl(slave, syscall.TIOCSWINSZ, unsafe.Pointer(&size)))
	return master, slave
}

// session is a program whose terminal is the kernel's, shown on one of the test's.
type session struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	screen *terminaltest.Terminal
	raw    bytes.Buffer
	over   bool     // the program has ended, and what it wrote has been read
	seen   *os.File // closed when what the program wrote has been read
	drawn  bool     // by a program that says to a terminal what the test's does not know
}

// leader is the shell that the program is started by. When the leader of a session ends, the kernel throws away what
// its terminal has not yet shown: this one says by a bell that the program has ended, and outlives the reading.
const leader = `trap : INT; "$@"; code=$?; printf '\a'; read _ <&3; exit $code`

// start runs the program with its own terminal, in the environment and what is given here.
func start(t *testing.T, env []string, args ...string) *session {
	t.Helper()
	return startIn(t, "", t.TempDir(), env, args...)
}

// startIn starts the program in a folder of that root, or of this one.
func startIn(t *testing.T, root, folder string, env []string, args ...string) *session {
	t.Helper()
	master, slave := openTerminal(t, 80, 24)
	s := &session{t: t, cmd: exec.Command("sh", append([]string{"-c", leader, "sh"}, args...)...), master: master,
		screen: terminaltest.New(t, 80, 24, terminal.RuneWidth)}
	s.screen.Wraps = true
	s.cmd.Dir = folder
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "TERM=xterm", "HARD=1h",
		"GOCOVERDIR=" + t.TempDir()}, env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Chroot: root}
	wait, read, err := os.Pipe()
	must(t, err)
	s.cmd.ExtraFiles, s.seen = []*os.File{wait}, read
	err = s.cmd.Start()
	wait.Close()
	slave.Close()
	must(t, err)
	t.Cleanup(func() {
		s.seen.Close()
		s.kill()
		s.cmd.Wait()
	})
	return s
}

// kill ends the leader, and with it the terminal and all that it was the terminal of.
func (s *session) kill() { s.cmd.Process.Kill() }

// read goes on until the terminal shows the words so many times.
func (s *session) read(words string, times int) {
	s.t.Helper()
	if !s.until(func() bool { return strings.Count(s.screen.Text(), words) >= times }) {
		s.t.Fatalf("the terminal never shows %q %d times but\n%s", words, times, s.screen.Text())
	}
}

// until reads until it is done, or until the program has ended: then it returns false.
func (s *session) until(done func() bool) bool {
	deadline := time.AfterFunc(patience, s.kill)
	defer deadline.Stop()
	buffer := make([]byte, 4096)
	for !done() {
		if s.over {
			return false
		}
		n, err := s.master.Read(buffer)
		words, last := bytes.CutSuffix(buffer[:n], []byte("\a"))
		s.raw.Write(words)
		if !s.drawn {
			s.screen.Write(words)
		}
		s.over = last || err != nil
	}
	return true
}

// keys types on the terminal.
func (s *session) keys(keys string) {
	s.t.Helper()
	_, err := s.master.WriteString(keys)
	must(s.t, err)
}

// ends reads to the end and checks the exit code and the cursor.
func (s *session) ends(code int) {
	s.t.Helper()
	s.until(func() bool { return false })
	s.seen.Close()
	s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d; the terminal shows\n%s", got, code, s.screen.Text())
	}
	if s.screen.Hidden {
		s.t.Errorf("the cursor is hidden at the end; the terminal shows\n%s", s.screen.Text())
	}
}

func garden(t *testing.T) string {
	t.Helper()
	dir := t.TempDir() + "/garden"
	readme := []byte("# Garden\n\nGrows things.\n")
	must(t, errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(dir+"/README.md", readme, 0o644)))
	return dir
}

func TestTerminalOfTheKernel(t *testing.T) {
	s := start(t, []string{"CI=true"}, "lastword", "generate", garden(t), "--progress", "tty")
	s.ends(exit.Completed)
	text := s.screen.Text()
	fatal.IfLacking(t, text, "✓  fetch", "✓  write", "\ncompleted in ", "\n  Garden\n", "artifacts/local/garden/llms.txt\n")
	if strings.Contains(text, "run.queued") {
		t.Errorf("the terminal shows lines as well:\n%s", text)
	}
}

// TestTerminalAfterCtrlZ: the shell gets the terminal with its cursor, and what is shown goes on after fg.
func TestTerminalAfterCtrlZ(t *testing.T) {
	s := start(t, []string{"FAULT=block:write"}, "sh", "-mc", `lastword-faulty generate "$0"; echo stopped; fg`, garden(t))
	s.read("  write ", 1)
	if !s.screen.Hidden {
		t.Error("the cursor is not hidden while the run is shown")
	}
	s.keys("\x1a")
	s.read("stopped", 1)
	s.read("  write ", 2)
	s.keys("\x03")
	s.read("Ctrl-C leaves at once", 1)
	s.keys("\x03")
	s.ends(exit.Interrupted)
	if n := strings.Count(s.raw.String(), "\x1b[?25h"); n != 2 {
		t.Errorf("the cursor is given back %d times, want 2", n)
	}
}

func TestTerminalThatIsNoPlaceForABlock(t *testing.T) {
	for _, c := range []struct {
		env, flags []string
		shell      string
	}{
		{shell: `"$@" & wait $!`}, // in the background
		{env: []string{"TERM=dumb"}},
		{env: []string{"TERM=dumb"}, flags: []string{"--progress", "tty"}},
		{env: []string{"CI=true"}},
		{flags: []string{"--progress", "plain"}},
		{env: []string{"LASTWORD_PROGRESS=plain"}},
		{flags: []string{"--jsonl"}},
	} {
		s := start(t, c.env, append([]string{"sh", "-mc", cmp.Or(c.shell, `"$@"`), "sh", "lastword", "generate", garden(t)}, c.flags...)...)
		s.ends(exit.Completed)
		if !strings.Contains(s.screen.Text(), "run.queued        ") || strings.Contains(s.raw.String(), "\x1b[?25l") {
			t.Errorf("%v: the terminal does not show lines but\n%s", c, s.screen.Text())
		}
	}
}

func TestTerminalColour(t *testing.T) {
	for _, c := range []struct {
		env, flags []string
		want       bool
	}{
		{want: true},
		{env: []string{"NO_COLOR=1"}},
		{env: []string{"NO_COLOR=", "CI=1"}, want: true},
		{env: []string{"NO_COLOR=1", "CLICOLOR_FORCE=1"}},
		{env: []string{"TERM=dumb"}},
		{env: []string{"TERM=dumb", "CLICOLOR_FORCE=1"}, want: true},
		{flags: []string{"--no-color"}},
		{env: []string{"CLICOLOR_FORCE=1"}, flags: []string{"--no-color"}},
	} {
		s := start(t, c.env, append([]string{"lastword", "generate", garden(t)}, c.flags...)...)
		s.ends(exit.Completed)
		if got := strings.Contains(s.raw.String(), "m"+"completed\x1b[0m"); got != c.want {
			t.Errorf("%v: in colour: %t, want %t:\n%q", c, got, c.want, s.raw.String())
		}
	}
}

func TestDoctorOnATerminal(t *testing.T) {
	s := start(t, []string{"LASTWORD_BASE_URL=http://127.0.0.1:1/v1"}, "lastword", "doctor")
	s.ends(exit.Completed)
	if text := s.screen.Text(); !strings.Contains(text, "a run is shown in place, in colour") {
		t.Errorf("the terminal shows\n%s", text)
	}
	if raw := s.raw.String(); !strings.Contains(raw, "\x1b[32mPASS\x1b[0m  version") {
		t.Errorf("the terminal is told\n%q", raw)
	}
}

// A plan that asks does so on the terminal, its sub-plans too, until the answer fits. Ctrl-C at a question cancels it.
func TestPlanAsks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.yaml")
	put(t, file, asksTwice)
	s := start(t, nil, "lastword", "plan", "run", file)
	s.drawn = true
	for _, turn := range [][2]string{{"? Publish? (y or n)", "perhaps\r"}, {"answer y or n", "y\r"}, {"? How many?", "12\r"},
		{"write 9 or less", "3\r"}} {
		s.shows(turn[0])
		s.keys(turn[1])
	}
	s.shows("3 copies")
	s.ends(exit.Completed)

	s = start(t, nil, "lastword", "plan", "run", file)
	s.drawn = true
	s.shows("? Publish? (y or n)")
	s.keys("\x03")
	s.ends(exit.Interrupted)
}

// gated lets part of an answer through, and the rest when the gate opens.
type gated struct {
	http.ResponseWriter
	part int
	gate <-chan struct{}
}

func (g *gated) Write(p []byte) (int, error) {
	first := min(g.part, len(p))
	n, err := g.ResponseWriter.Write(p[:first])
	if g.part -= n; err != nil || first == len(p) {
		return n, err
	}
	http.NewResponseController(g.ResponseWriter).Flush()
	<-g.gate
	rest, err := g.ResponseWriter.Write(p[first:])
	return n + rest, err
}

// orchard is a repository that no compression makes smaller, served as X.git and as X.tar.
func orchard(t *testing.T, gate <-chan struct{}) (url string) {
	t.Helper()
	root := t.TempDir()
	noise := make([]byte, 2<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for name, text := range map[string][]byte{"README.md": []byte("# Orchard\n\nGrows apples.\n"), "apple.bin": noise} {
		must(t, os.WriteFile(filepath.Join(root, name), text, 0o644))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "README.md", "apple.bin"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"},
		{"clone", "-q", "--bare", ".", "orchard.git"}, {"archive", "-o", "orchard.tar", "HEAD"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	handler, err := repositories(root)
	must(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(&gated{w, 1 << 20, gate}, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestTerminalShowsWhatIsReceived: while a repository comes, the bytes are counted, of their total where that is
// known.
func TestTerminalShowsWhatIsReceived(t *testing.T) {
	for name, like := range map[string]string{
		"/orchard.git": `fetch +[0-9.]+ s  [0-9]+\.[0-9] (k|M)B\n`,
		"/orchard.tar": `fetch +[0-9.]+ s  [0-9]+\.[0-9] (k|M)B of 2\.1 MB\n`,
	} {
		gate := make(chan struct{})
		s := start(t, nil, "lastword", "generate", orchard(t, gate)+name, "--allow-http", "--allow-private", "--no-cache")
		shown := regexp.MustCompile(like)
		if !s.until(func() bool { return shown.MatchString(s.screen.Text()) }) {
			t.Errorf("%s: the terminal never shows what came but\n%s", name, s.screen.Text())
		}
		close(gate)
		s.ends(exit.Completed)
	}
}

// Who watches sees the thought, dim, and then the answer, as they come; Ctrl-C ends both.
func TestPromptOnATerminal(t *testing.T) {
	m := testkit.NewModel(t)
	read := make(chan struct{})
	x := m.Answer(testkit.Thought("Hm, "), testkit.Thought("well."), testkit.Until(read),
		testkit.Text("Hello\x1b[2J"), testkit.Stall())
	s := start(t, []string{"LASTWORD_BASE_URL=" + m.URL()}, "lastword", "prompt", "--model", "scripted", "Hi")
	s.read("\nHm, well.", 1)
	close(read)
	s.read("\nHello", 1)
	s.keys("\x03")
	s.ends(exit.Interrupted)
	if !within(x.Gone()) {
		t.Error("the server does not see that the connection was closed")
	}
	text := s.screen.Text()
	if strings.Contains(text, "run.queued") || !strings.Contains(text, "at once\n\ncanceled after ") {
		t.Errorf("the terminal shows\n%s", text)
	}
	if raw := s.raw.String(); !strings.Contains(raw, "\x1b[2mHm,") || strings.Contains(raw, "\x1b[2J") {
		t.Errorf("the terminal is told\n%q", raw)
	}
}

// JSON steers no terminal either: what could is escaped there.
func TestJSONOnATerminal(t *testing.T) {
	for _, flag := range []string{"--jsonl", "--json"} {
		m := testkit.NewModel(t)
		m.Answer(testkit.Text("a\u009b2Jb\u202ec"), testkit.Finish("stop"), testkit.Done())
		s := start(t, []string{"LASTWORD_BASE_URL=" + m.URL()}, "lastword", "prompt", "--model", "scripted", flag, "Hi")
		s.ends(0)
		if raw := s.raw.String(); !strings.Contains(raw, `a\u009b2Jb\u202ec`) || strings.ContainsAny(raw, "\u009b\u202e") {
			t.Errorf("%s: the terminal is told\n%q", flag, raw)
		}
	}
}

func TestPromptAsksForATextOnATerminal(t *testing.T) {
	s := start(t, nil, "lastword", "prompt")
	s.ends(exit.Usage)
	if !strings.Contains(s.screen.Text(), "prompt needs a text") {
		t.Errorf("the terminal shows\n%s", s.screen.Text())
	}
}
