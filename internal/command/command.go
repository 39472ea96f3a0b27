package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Codes of the error of a run whose program failed. The cause of the run is error.
const (
	codeExit          messages.Code = "exit"           // it exited with a code other than 0
	codeSignal        messages.Code = "signal"         // a signal ended it
	codeNotFound      messages.Code = "not_found"      // there is no such program
	codeNotExecutable messages.Code = "not_executable" // the file exists but cannot be run
	codeOutOfMemory   messages.Code = "out_of_memory"  // the system had no memory to start it, or killed it for its memory
)

// Command is a program as its operator defines it. After compile it does not change.
type Command struct {
	Name        string `json:"-"`
	Description string `json:"description"`
	// Command is the program and its arguments. {name} stands for a member of the input, and {{ for a brace.
	Command []string `json:"command"`
	// Input holds the JSON Schemas of the input's members. Members without a default are required.
	Input map[string]json.RawMessage `json:"input"`
	// Dir is the program's working folder.
	Dir string `json:"dir"`
	// Env lists the variables of the program: NAME copies the variable of this process, and NAME=value sets it.
	Env []string `json:"env"`
	// Timeout bounds an attempt, and Idle a time without output. 0 means the node's limit, and no limit for Idle.
	Timeout schedule.Duration `json:"timeout"`
	Idle    schedule.Duration `json:"idle"`
	Retry   Retry             `json:"retry"`
	// Once: the program is never started twice, not even after a crash of this process.
	Once bool `json:"once"`
	// Confirm is a question that a person must answer with yes before the program starts.
	Confirm string `json:"confirm"`
	// ConfirmBy says who may answer Confirm: caller means agents, too. By default only people may.
	ConfirmBy string `json:"confirm_by"`
	ReadOnly  bool   `json:"read_only"`
	// Progress matches lines that report progress: its first group is the amount done, and its second the total.
	Progress string `json:"progress"`
	// Artifacts are patterns, as in [path.Match], of files below Dir that are copied when the program has succeeded.
	Artifacts []string `json:"artifacts"`
	// Result says what the result is: the end of stdout as text (default); json, which is the last line of stdout or
	// the content of the file LASTWORD_RESULT; or none.
	Result string `json:"result"`
	// Children says what happens to processes that the program leaves behind: end (default), or keep.
	Children string `json:"children"`
	// Stderr says what stays of stderr: the newest lines, as the log (default); keep adds the text "stderr".
	Stderr string `json:"stderr"`
	// Messages: the program takes what is said to the run.
	Messages bool `json:"messages"`
	// Starts lists the commands and agents that the program may start as sub-runs; it may start any other job.
	Starts []string `json:"starts"`
	// Output is two (default), or one: stdout and stderr are the text "stdout" in true order, as TTY makes them.
	Output string `json:"output"`
	// TTY gives the program a pseudo-terminal.
	TTY bool `json:"tty"`
	// MaxOutput bounds how much of stdout, and of stderr that is kept, the log keeps; 0 means 2 MiB.
	MaxOutput Size `json:"max_output"`
	// Budget bounds what a run of the command spends, with the sub-runs that it starts. OnBudget is end (default) or ask.
	Budget   messages.Budget   `json:"budget"`
	OnBudget messages.OnBudget `json:"on_budget"`

	arguments []template
	question  template
	progress  *regexp.Regexp
	form      *validate.Schema
	schema    json.RawMessage
	members   map[string]member
	order     []string // of the members, as in the file
}

const day = 24 * time.Hour

// KeepChildren is the value of Command.Children that keeps them.
const KeepChildren = "keep"

// KeepStderr is the value of Command.Stderr that keeps it as a text.
const KeepStderr = "keep"

// OneOutput is the value of Command.Output that makes stdout and stderr one text.
const OneOutput = "one"

// defaultOutput is how much of a program's stdout the run's log keeps by default.
const defaultOutput = 2 << 20

// Retry says when a failed program is started again.
type Retry struct {
	Times int `json:"times"`
	// On lists the exit codes after which it is; an empty list means all.
	On []int `json:"on"`
}

// MCPPath is the path of the MCP endpoint of a server, below its URL.
const MCPPath = "/mcp"

// Config holds what commands need from their process.
type Config struct {
	// Environ is the environment that [Command.Env] copies from, except for the variables of lastword itself.
	Environ []string
	// Secrets are kept out of logs.
	Secrets *redact.Secrets
	// Folder is where artifacts of a principal are written. Without Folder there are none. Spend is called with their
	// size before.
	Folder func(principal string) (string, error)
	Spend  func(ctx context.Context, principal string, bytes int) error

	// Inside returns the variables LASTWORD_SERVER and LASTWORD_TOKEN, by which the program of a running task reaches its
	// server until end is called. may refuses what the program may not start (forbidden). With Speak these are the Speaker's,
	// and the program has only others that it returns. nil means none.
	Inside func(t *actors.TaskContext, may func(q messages.Request) error) (variables []string, end func())

	// Guarded returns what a start begins that a program may begin only if its [Command.Starts] lists it. Without Guarded it
	// starts nothing.
	Guarded func(q messages.Request) []string
	// Seal seals a kept value with secrets, and Open opens it again in every process that may continue the run. Without
	// them no such value is kept.
	Seal func(value []byte) string
	Open func(sealed string) (value []byte, ok bool)

	// Start starts a program, and so what ends with it; nil means its process group. Package cmd/internal/guardian has
	// one that ends all that the program has started. keep says that what the program leaves behind is kept.
	Start func(cmd *exec.Cmd, tty, keep bool) (Process, error)

	// Speak, if not nil, makes the Speaker of an attempt. NoStdin: the program's stdin is empty.
	Speak   func(Spoken) Speaker
	NoStdin bool

	// Inherit gives the program the whole environment. This field and those below are for the program of a command
	// line.
	Inherit bool
	// Stdin is the program's stdin; nil means a pipe with the answers to its questions.
	Stdin *os.File
	// Stdout and Stderr get everything that the program writes there, unchanged.
	Stdout, Stderr io.Writer
	// Stopping is called when the program is ended by a limit, or because its run is; may be nil.
	Stopping func()
	// Exited is called with the exit code that a shell would report.
	Exited func(code int)
}

// Process is a program that runs, with what ends with it.
type Process interface {
	// Wait waits for the program alone. End then ends the rest, and returns when it has ended; left are the processes
	// that were kept. Both are called once.
	Wait() syscall.WaitStatus
	End() (kept []int)
	// Terminate and Kill signal the program and what ends with it.
	Terminate()
	Kill()
}

// Result is the result of a command, unless the program sets its own.
type Result struct {
	ExitCode int `json:"exit_code"`
	// Text is the end of stdout.
	Text string `json:"text,omitempty"`
	// Bytes is the length of all of stdout.
	Bytes int64 `json:"bytes"`
}

// Define makes a job of the command. Its error lists all faults of the command.
func Define(c Command, config Config) (actors.Definition, error) {
	if wrong := c.compile(nil, ""); wrong != nil {
		return actors.Definition{}, wrong.Err()
	}
	return c.define(config), nil
}

func (c Command) define(config Config) actors.Definition {
	return actors.Definition{Name: c.Name, JobSpec: c.about(), Restart: c.Retry.Times > 0 && !c.Once,
		New: func(input json.RawMessage) (actors.Job, error) { return c.job(input, config) }}
}

// about describes the command as a job. Its own timeouts replace the runtime's.
func (c *Command) about() messages.JobSpec {
	about := messages.JobSpec{Title: c.Name, Description: c.Description, ReadOnly: c.ReadOnly, Destructive: !c.ReadOnly,
		OpenWorld: !c.ReadOnly, ConfirmByCaller: c.ConfirmBy == "caller", Messages: c.Messages, Summary: say, Input: func() json.RawMessage { return c.schema }}
	if c.Result != "json" {
		about.Output = resultSchema
	}
	about.Limits.Bytes, about.Limits.Budget, about.Limits.OnBudget = LogBytes(c.MaxOutput), c.Budget, c.OnBudget
	about.Limits.StallMS = day.Milliseconds() // Idle applies instead
	if c.Timeout > 0 {                        // Timeout applies instead
		about.Limits.WallClockMS = day.Milliseconds()
	}
	return about
}

// job makes a job of its input. Errors: invalid_input.
func (c *Command) job(input json.RawMessage, config Config) (actors.Job, error) {
	values, err := c.values(input)
	if err != nil {
		return actors.Job{}, err
	}
	r := &runner{Command: c, Config: config, values: values}
	for i, a := range c.arguments {
		arg, err := a.argument(values, c.members)
		if err != nil {
			return actors.Job{}, err
		}
		if r.arguments = append(r.arguments, arg); i == 0 && arg == "" {
			return actors.Job{}, messages.InvalidInput("the program has no name")
		}
	}
	policy := supervision.Policy{Attempts: c.Retry.Times + 1}
	return actors.Job{Name: c.Name, Title: c.title(values), Input: values, Messages: c.Messages, Tasks: []actors.Task{
		{Name: c.Name, Run: r.run, Policy: policy, Once: c.Once},
	}}, nil
}

// title returns what the caller gives beside the defaults, in the file's order: one value, or several with their names.
func (c *Command) title(values map[string]any) string {
	var parts []string
	last := ""
	for _, name := range c.order {
		if value, given := values[name]; given && !reflect.DeepEqual(value, c.members[name].Default) {
			text, _ := json.Marshal(value) // of JSON
			last = messages.Plain(text)
			parts = append(parts, name+"="+last)
		}
	}
	if len(parts) == 1 {
		return last
	}
	return strings.Join(parts, " ")
}

// values reads the input and adds defaults.
func (c *Command) values(input json.RawMessage) (map[string]any, error) {
	values := map[string]any{}
	if input = bytes.TrimSpace(input); len(input) > 0 && string(input) != "null" {
		d := json.NewDecoder(bytes.NewReader(input))
		d.UseNumber()
		if err := d.Decode(&values); err != nil {
			return nil, messages.InvalidInput("the input is not an object: %v", err)
		}
	}
	for name, m := range c.members {
		if _, given := values[name]; !given && m.Default != nil {
			values[name] = m.Default
		}
	}
	if wrong := (validate.Places{}).Check(c.form, values); wrong != nil {
		return nil, wrong.Err()
	}
	return values, nil
}

// confirm asks whether the program may start.
func (r *runner) confirm(ctx context.Context, t *actors.TaskContext) error {
	if r.Confirm == "" {
		return nil
	}
	answer, err := t.Ask(ctx, messages.InputRequired{Request: "confirm", Prompt: r.question.line(r.values),
		Schema: json.RawMessage(`{"type":"boolean"}`), InputKind: messages.InputConfirmation})
	if err != nil {
		return err
	}
	if string(answer) != "true" {
		return supervision.Permanent(fmt.Errorf("%s was not started: the answer was no", r.Name))
	}
	return nil
}

// Program is a program of the user, whose arguments are used as they are. It is the input of its run, so that another
// process can start it again.
type Program struct {
	Line
	Dir       string            `json:"dir,omitempty"`
	Timeout   schedule.Duration `json:"timeout,omitempty"`
	Idle      schedule.Duration `json:"idle,omitempty"`
	MaxOutput Size              `json:"max_output,omitempty"`
	Retries   int               `json:"retries,omitempty"`
	Children  string            `json:"children,omitempty"`
	// Agent is the coding agent whose lines a Speaker reads. Who makes the job gives it that.
	Agent       string   `json:"agent,omitempty"`
	AllowDenied bool     `json:"allow_denied,omitempty"`
	Env         []string `json:"-"` // as Command.Env
	Starts      []string `json:"-"` // as Command.Starts
}

// Job makes a job of a program of the user.
func Job(p Program, config Config) (actors.Job, error) {
	c := Command{Name: "run", Result: "none", Command: slices.Clone(p.Command), Dir: p.Dir, Timeout: p.Timeout, Idle: p.Idle,
		MaxOutput: p.MaxOutput, Retry: Retry{Times: p.Retries}, Children: p.Children, Env: p.Env, Starts: p.Starts, Messages: config.Speak == nil}
	for i, a := range c.Command {
		c.Command[i] = strings.ReplaceAll(a, "{", "{{")
	}
	if wrong := c.compile(nil, ""); wrong != nil {
		return actors.Job{}, wrong.Err()
	}
	job, err := c.job(nil, config)
	job.Input = p
	return job, err
}

// LogBytes returns the size limit of the log of a run that keeps that much output; 0 means the node's default.
func LogBytes(maxOutput Size) int64 {
	if maxOutput <= defaultOutput {
		return 0
	}
	return 3*int64(maxOutput) + 64<<20
}
