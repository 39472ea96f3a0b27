package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// mcpSession is lastword mcp as a client sees it.
type mcpSession struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	last   int // the id of the last request
}

// message is what comes, a line each.
type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// answered is what a call of a tool came to.
type answered struct {
	IsError bool `json:"isError"`
	Content []struct {
		Type, Text, URI string
	} `json:"content"`
	Structured struct {
		RunID     messages.RunID                `json:"run_id"`
		Status    string                        `json:"status"`
		Result    json.RawMessage               `json:"result"`
		Error     mcp.RunError                  `json:"error"`
		Artifacts []struct{ Name, Path string } `json:"artifacts"`
		Runs      []messages.Summary            `json:"runs"`
		Next      uint64                        `json:"next"`
	} `json:"structuredContent"`
	Meta struct {
		Error mcp.RunError `json:"io.github.seed889630bf.lastword/error"`
	} `json:"_meta"`

	events []messages.Event // that came before it
}

// uri is the resource of the result's first file.
func (a answered) uri() string {
	return mcp.ArtifactURI(messages.RunID(a.Structured.RunID), a.Structured.Artifacts[0].Name)
}

// code is the code of the run's failure, or else of the call's.
func (a answered) code() messages.Code { return cmp.Or(a.Structured.Error.Code, a.Meta.Error.Code) }

// binary starts lastword in the folder, with a home and its own cache.
func binary(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "lastword", args...)
	cmd.Dir = dir
	cmd.Env = append(env(), "XDG_CACHE_HOME="+t.TempDir(), "XDG_DATA_HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "GOCOVERDIR="+t.TempDir())
	return cmd
}

// speak starts lastword mcp and shakes hands as clients up to 2025-11-25 do.
func speak(t *testing.T, dir string, args ...string) *mcpSession {
	t.Helper()
	return speakTo(t, binary(t, dir, append([]string{"mcp"}, args...)...))
}

// speakTo does the same with another server.
func speakTo(t *testing.T, cmd *exec.Cmd) *mcpSession {
	t.Helper()
	s := &mcpSession{t: t, cmd: cmd}
	s.cmd.Stderr = &s.stderr
	var err error
	s.in, err = s.cmd.StdinPipe()
	must(t, err)
	out, err := s.cmd.StdoutPipe()
	must(t, err)
	s.out = bufio.NewReader(out)
	must(t, s.cmd.Start())
	s.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	s.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *mcpSession) say(line string) {
	s.t.Helper()
	_, err := io.WriteString(s.in, line+"\n")
	must(s.t, err)
}

// send asks and does not wait.
func (s *mcpSession) send(method, params string) (id int) {
	s.t.Helper()
	s.last++
	s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.last, method, params))
	return s.last
}

// next is the next message. Stdout is the protocol's alone.
func (s *mcpSession) next() message {
	s.t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatalf("%v; stderr: %s", err, s.stderr.String())
	}
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		s.t.Fatalf("%v: %s", err, line)
	}
	return m
}

// await reads up to the answer to the request; events are the events in its progress.
func (s *mcpSession) await(id int) (m message, events []messages.Event) {
	s.t.Helper()
	for {
		m := s.next()
		switch {
		case m.ID != nil && *m.ID == id:
			return m, events
		case m.Method == "notifications/progress":
			var p struct {
				Meta map[string]messages.Event `json:"_meta"`
			}
			must(s.t, json.Unmarshal(m.Params, &p))
			if e, ok := p.Meta["io.github.seed889630bf.lastword/event"]; ok {
				events = append(events, e)
			}
		}
	}
}

func (s *mcpSession) ask(method, params string) message {
	s.t.Helper()
	m, _ := s.await(s.send(method, params))
	return m
}

// call calls a tool, with a progress token.
func (s *mcpSession) call(tool, arguments string) answered {
	s.t.Helper()
	return s.answer(s.send("tools/call",
		fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"progressToken":"p%d"}}`, tool, arguments, s.last)))
}

func (s *mcpSession) answer(id int) answered {
	s.t.Helper()
	m, events := s.await(id)
	if m.Error != nil {
		s.t.Fatalf("the call failed: %s", m.Error)
	}
	return answerOf(s.t, m.Result, events)
}

func answerOf(t *testing.T, result json.RawMessage, events []messages.Event) answered {
	t.Helper()
	a := answered{events: events}
	if err := json.Unmarshal(result, &a); err != nil {
		t.Fatalf("%v: %s", err, result)
	}
	return a
}

// ends closes stdin, if it is still open, and returns the exit code.
func (s *mcpSession) ends() int {
	s.t.Helper()
	s.in.Close()
	return exitCode(s.t, s.cmd)
}

func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	killed := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer killed.Stop()
	_ = cmd.Wait() // its error is the code
	return cmd.ProcessState.ExitCode()
}

func (s *mcpSession) signal(sig syscall.Signal) {
	s.t.Helper()
	must(s.t, s.cmd.Process.Signal(sig))
}

// plant makes a folder to read.
func plant(t *testing.T, readme string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "garden", "README.md"), readme)
	return dir
}

func put(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
}

// filesIn lists the files below the folder.
func filesIn(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, name); err == nil && !d.IsDir() {
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}
