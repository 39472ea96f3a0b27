package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed889630bf/lastword/messages"
)

// A script's command
//
//	exits CODE [-nostdout] [-SIGNAL PATTERN]... PROGRAM [ARG]...
//
// runs the program and checks its exit code. Each signal, INT, TERM or KILL, is sent when a line of stderr past the
// one before matches the pattern; the code of a program that is killed is "killed". -nostdout gives it a stdout that
// nobody reads.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code [-nostdout] [-SIGNAL pattern]... program [arg]...")
	}
	p := process{dir: ts.MkAbs("."), env: []string{"PATH=" + os.Getenv("PATH")}}
	for _, name := range []string{"HOME", "FAULT", "HARD", "GOCOVERDIR", "XDG_CACHE_HOME", "SSL_CERT_FILE",
		"LASTWORD_GIT_TOKEN", "LASTWORD_GIT_TOKENS", "LASTWORD_GIT_TOKENS_FILE", "GH_TOKEN", "LASTWORD_BASE_URL", "OPENAI_BASE_URL", "LASTWORD_API_KEY", "OPENAI_API_KEY"} {
		p.env = append(p.env, name+"="+ts.Getenv(name))
	}
	want, args := args[0], args[1:]
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-nostdout" {
			p.nobody, args = true, args[1:]
			continue
		}
		p.at = append(p.at, milestone{signals[args[0][1:]], regexp.MustCompile(args[1])})
		args = args[2:]
	}
	code, err := p.run(args)
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), p.stdout.String())
	fmt.Fprint(ts.Stderr(), p.stderr.String())
	if code != want {
		ts.Fatalf("exit code %s, want %s; stderr:\n%s", code, want, p.stderr.String())
	}
	if len(p.at) > 0 {
		ts.Fatalf("no line was like %s; stderr:\n%s", p.at[0].line, p.stderr.String())
	}
}

var signals = map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}

// milestone is when a process gets a signal.
type milestone struct {
	signal syscall.Signal
	line   *regexp.Regexp
}

// process is a program to run; run takes what it reaches off at.
type process struct {
	dir            string
	env            []string
	nobody         bool // reads stdout
	at             []milestone
	stdout, stderr bytes.Buffer
}

// patience is how long a process may take before it is killed: far longer than any does.
const patience = 2 * time.Minute

// run returns the exit code, or "killed".
func (p *process) run(args []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout = p.dir, p.env, &p.stdout
	if p.nobody {
		r, w, err := os.Pipe()
		if err != nil {
			return "", err
		}
		defer w.Close()
		r.Close()
		cmd.Stdout = w
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if err := p.listen(cmd.Process, stderr); err != nil {
		return "", err
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return strconv.Itoa(code), nil
	}
	return "killed", nil
}

func (p *process) listen(to *os.Process, stderr io.Reader) error {
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		p.stderr.WriteString(line)
		if len(p.at) > 0 && p.at[0].line.MatchString(line) {
			if err := to.Signal(p.at[0].signal); err != nil {
				return err
			}
			p.at = p.at[1:]
		}
		if err != nil {
			return nil
		}
	}
}

// varying is what differs between two runs, or when the analysis learns something new.
var varying = []struct {
	like *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`(?m)^ *[0-9]+\.[0-9]{3} s  `), ""},
	{regexp.MustCompile(`[0-9]+\.[0-9]{3} s`), "N s"},
	{regexp.MustCompile(`r_[a-z0-9]{26}`), "r_ID"},
	{regexp.MustCompile(`[0-9]+ (links|sections|events|bytes)`), "N $1"},
	{regexp.MustCompile(` +[0-9.]+ k?M?B  `), "  N B  "},
	{regexp.MustCompile(`(?m)^  Garden: .*`), "  Garden: its summary"},
}

// plain prints the last stderr to stdout without what varies.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: plain")
	}
	text := ts.ReadFile("stderr")
	for _, v := range varying {
		text = v.like.ReplaceAllString(text, v.as)
	}
	fmt.Fprint(ts.Stdout(), text)
}

// fold reads the last stdout as events, adds them up, and checks that they end in the status, that the card on stderr
// says of the run what they say, and that the files are what they say.
//
//	fold STATUS OUT
func fold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fold status out")
	}
	state := apply(ts, ts.ReadFile("stdout"))
	if string(state.Status) != args[0] {
		ts.Fatalf("the events end in %s, want %s", state.Status, args[0])
	}
	said := ts.ReadFile("stderr")
	card := said[strings.LastIndex(said, "\n\n")+2:]
	if !strings.HasPrefix(card, string(state.Status)+" ") {
		ts.Fatalf("the card does not open with %s:\n%s", state.Status, card)
	}
	var want strings.Builder
	for _, a := range state.Artifacts {
		name := filepath.Join(args[1], filepath.FromSlash(a.Path))
		fmt.Fprintln(&want, name)
		data, err := os.ReadFile(ts.MkAbs(name))
		ts.Check(err)
		if sum := sha256.Sum256(data); a.Bytes != int64(len(data)) || a.SHA256 != hex.EncodeToString(sum[:]) {
			ts.Fatalf("%s has %d bytes and the digest %x, the event says %+v", name, len(data), sum, a)
		}
	}
	var got strings.Builder
	for _, line := range cardArtifact.FindAllStringSubmatch(card, -1) {
		fmt.Fprintln(&got, line[1])
	}
	if got.String() != want.String() {
		ts.Fatalf("the card lists\n%sthe events\n%s", got.String(), want.String())
	}
	if strings.Contains(card, string(state.RunID)) {
		ts.Fatalf("the card names a run that nobody can ask for:\n%s", card)
	}
}

var cardArtifact = regexp.MustCompile(`(?m)^ +[0-9.]+ k?M?B  (\S+)`)

func apply(ts *testscript.TestScript, lines string) messages.State {
	var state messages.State
	for line := range strings.Lines(lines) {
		var e messages.Event
		ts.Check(json.Unmarshal([]byte(line), &e))
		next, err := state.Apply(e)
		ts.Check(err)
		state = next
	}
	return state
}
