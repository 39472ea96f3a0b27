//go:build linux

package agent_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
)

// replayed names the recording that this test binary replays, as the agent's program.
// The recording is below the folder that data names.
const replayed, data = "AGENT_RECORDING", "AGENT_DATA"

func TestMain(m *testing.M) {
	if name := os.Getenv(replayed); name != "" {
		replay(name)
		return
	}
	os.Exit(m.Run())
}

// step is a line of a recording of ACP: who said what.
type step struct {
	Fixture string          `json:"fixture"`
	From    string          `json:"from"`
	Msg     json.RawMessage `json:"msg"`
}

// wire is what the replay looks at in a message.
type wire struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// recording returns the steps of a recording. A line of a headless recording is a step of nobody.
func recording(kind, name string) (steps []step, lines []string) {
	who, _, _ := strings.Cut(name, "-")
	text, err := os.ReadFile(filepath.Join(os.Getenv(data), "testdata", kind+"-"+who+".jsonl"))
	if err != nil {
		panic(err)
	}
	here := false
	for line := range strings.Lines(string(text)) {
		var s step
		_ = json.Unmarshal([]byte(line), &s)
		if s.Fixture != "" {
			here = s.Fixture == name
		} else if here {
			steps, lines = append(steps, s), append(lines, line)
		}
	}
	return steps, lines
}

// names lists the recordings.
func names(t *testing.T, kind string) (all []string) {
	files, _ := filepath.Glob("testdata/" + kind + "-*.jsonl")
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for line := range strings.Lines(string(text)) {
			var s step
			if json.Unmarshal([]byte(line), &s) == nil && s.Fixture != "" {
				all = append(all, s.Fixture)
			}
		}
	}
	return all
}

// double replays one recording to a client. Requests that the recording has and the client does not send are skipped.
type double struct {
	in      *bufio.Reader
	answers map[string]string // the client's IDs by the recording's
	prompt  string            // ID of the prompt
	over    bool              // the prompt was answered
}

func replay(name string) {
	steps, _ := recording("acp", name)
	d := &double{in: bufio.NewReaderSize(os.Stdin, 1<<20), answers: map[string]string{}}
	prompts := 0
	for _, s := range steps {
		var m wire
		_ = json.Unmarshal(s.Msg, &m)
		switch {
		case s.From == "driver":
			d.driver(string(s.Msg))
		case s.From == "agent":
			d.say(m)
		case m.Method == "session/prompt":
			if prompts++; prompts == 1 {
				d.prompt = string(m.ID)
				d.hear(m)
			}
		case m.Method == "initialize", m.Method == "session/new", m.Method == "session/load":
			d.hear(m)
		case m.Method == "session/cancel" && !d.over:
			fmt.Fprintln(os.Stderr, "cancel now")
			d.hear(m)
		case m.Method == "" && m.Error == nil && !d.over:
			d.hear(m)
		}
	}
}

func (d *double) driver(does string) {
	switch {
	case does == `"close stdin"` && d.over, strings.HasPrefix(does, `"no answer`):
		_, _ = io.Copy(io.Discard, d.in)
	case does == `"SIGKILL"`:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case strings.HasPrefix(does, `"exit `):
		code, _ := strconv.Atoi(strings.Trim(does, `"exit -`))
		os.Exit(code)
	}
}

// say writes a message of the recording.
func (d *double) say(m wire) {
	if m.Method == "" {
		own, asked := d.answers[string(m.ID)]
		if !asked {
			return
		}
		d.over = d.over || d.prompt == string(m.ID)
		m.ID = json.RawMessage(own)
	}
	line, _ := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		wire
	}{"2.0", m})
	os.Stdout.Write(append(line, '\n'))
}

// hear waits for the message of the recording, and answers others with nothing.
func (d *double) hear(want wire) {
	for {
		line, err := d.in.ReadBytes('\n')
		if err != nil {
			os.Exit(9)
		}
		var m wire
		_ = json.Unmarshal(line, &m)
		if m.Method == want.Method && (m.Method != "" || bytes.Equal(m.ID, want.ID)) {
			d.answers[string(want.ID)] = string(m.ID)
			return
		}
		if m.Method != "" && m.ID != nil {
			d.answers["own"] = string(m.ID)
			d.say(wire{ID: json.RawMessage("own"), Result: json.RawMessage("{}")})
		}
	}
}

// replays is a configuration whose agent replays a recording.
func replays(t *testing.T, name, root string) agent.Config {
	t.Helper()
	here, err := os.Getwd()
	must(t, err)
	who, _, _ := strings.Cut(name, "-")
	return agent.Config{Agents: map[string]command.Agent{who: {Command: []string{os.Args[0]}, Env: []string{replayed + "=" + name, data + "=" + here}, Roots: []string{root}}}}
}

// runOf runs an agent in a folder to its end. each sees every event.
func runOf(t *testing.T, in agent.Input, line []string, config agent.Config, each func(*actors.System, messages.RunID, messages.Event)) messages.State {
	t.Helper()
	config.Command.Environ = append(os.Environ(), config.Command.Environ...)
	config.Command.Inherit = true
	job, err := agent.Job(in, line, config)
	must(t, err)
	return follow(t, job, "", each)
}

func follow(t *testing.T, job actors.Job, principal string, each func(*actors.System, messages.RunID, messages.Event)) (state messages.State) {
	t.Helper()
	s := faultplan.Open(t, actors.Config{})
	limits := messages.Limits{WallClockMS: time.Hour.Milliseconds(), StallMS: time.Hour.Milliseconds(), Budget: messages.Budget{Output: 4000, Cost: messages.Cost{Amount: float64(strings.Count(t.Name(), "_cost"))}}}
	run, err := s.Start(t.Context(), job, actors.Options{Limits: limits, Principal: principal})
	must(t, err)
	for e, err := range run.Events(t.Context(), 0) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(t, err)
		if each != nil {
			each(s, run.ID(), e)
		}
	}
	return state
}

// headless runs a program that prints JSON lines as one of the agents does.
func headless(t *testing.T, name string, c command.Command, allowDenied bool) messages.State {
	t.Helper()
	read, err := agent.Headless(name, allowDenied)
	must(t, err)
	job, err := command.Job(command.Program{Line: command.Line{Command: c.Command}, Idle: c.Idle}, command.Config{Environ: os.Environ(), Inherit: true, Speak: read, NoStdin: true})
	must(t, err)
	return follow(t, job, "", nil)
}

// outcome is how a run ended, in one word, or "cause code".
func outcome(s messages.State) string {
	switch {
	case s.End == nil || s.Status != messages.Failed:
		return string(s.Status)
	case s.End.Error.Code != s.End.Cause:
		return string(s.End.Cause) + " " + string(s.End.Error.Code)
	}
	return string(s.End.Cause)
}

// answer is the run's last text.
func answer(s messages.State) (text string) {
	for _, one := range s.Streams {
		if messages.IsAnswer(one.Name) {
			text = one.Text()
		}
	}
	return text
}

var must = fatal.IfError
