package commands

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
)

// StepCommand returns the command step.
func StepCommand(p *host.Program) *cobra.Command {
	once := false
	cmd := &cobra.Command{
		Use: "step <name> -- <program> [argument]...",
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
				return exit.BadUsage(cmd, errors.New("step needs a name, -- and a program"), "for example: lastword step order -- ./create-order")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s := &shellStep{name: args[0], once: once, words: args[1:], env: p.Env, stdout: cmd.OutOrStdout()}
			if f, ok := terminal.Unwrap(s.stdout).(io.Writer); ok {
				s.stdout = f // what a step keeps is printed as it is
			}
			return s.run(cmd)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "never start the program twice, even if nobody knows how it ended")
	settings.FlagOnly(cmd.Flags(), "once")
	return cmd
}

// shellStep is a step of a shell's program, which keeps the stdout of a command.
type shellStep struct {
	name   string
	once   bool
	words  []string
	env    []string
	stdout io.Writer
	says   *os.File // descriptor 3; nil outside of lastword
	hears  *os.File // descriptor 4
}

// run prints what the step keeps. If it keeps nothing, it starts the command, and keeps its stdout if it succeeds.
func (s *shellStep) run(cmd *cobra.Command) error {
	if err := s.open(); err != nil {
		return err
	}
	if s.says == nil {
		return s.start(cmd, s.stdout, "")
	}
	var known struct {
		Kept       *json.RawMessage
		Key, Error string
		Detail     string
	}
	if err := s.ask(map[string]any{"type": "step", "name": s.name, "once": s.once}, &known); err != nil {
		return err
	}
	switch {
	case known.Error != "":
		return fmt.Errorf("step %s: %s", s.name, cmp.Or(known.Detail, known.Error))
	case known.Kept != nil:
		return s.print(*known.Kept)
	}
	var out bytes.Buffer
	if err := s.start(cmd, &out, known.Key); err != nil {
		return err
	}
	if !utf8.Valid(out.Bytes()) {
		return fmt.Errorf("step %s: the output of %s is no UTF-8, and is not kept: keep a file, and print its name", s.name, s.words[0])
	}
	if err := s.ask(map[string]any{"type": "keep", "name": s.name, "value": out.String()}, &known); err != nil {
		return err
	}
	if known.Error != "" {
		return fmt.Errorf("step %s: %s", s.name, cmp.Or(known.Detail, known.Error))
	}
	_, err := s.stdout.Write(out.Bytes())
	return err
}

// open finds the descriptors, which the command does not get.
func (s *shellStep) open() error {
	get := func(name string) (*os.File, error) {
		i := slices.IndexFunc(s.env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
		if i < 0 {
			return nil, nil
		}
		fd, err := strconv.Atoi(s.env[i][len(name)+1:])
		if err != nil || fd < 3 {
			return nil, fmt.Errorf("%s names no descriptor: do not set it yourself", s.env[i])
		}
		own(fd)
		return os.NewFile(uintptr(fd), name), nil
	}
	var err, wrong error
	s.says, err = get("LASTWORD_EVENTS")
	if s.hears, wrong = get("LASTWORD_ANSWERS"); s.hears == nil {
		s.says = nil // a version without steps
	}
	return errors.Join(err, wrong)
}

// start starts the command. step exits with the same code.
func (s *shellStep) start(cmd *cobra.Command, stdout io.Writer, key string) error {
	c := exec.Command(s.words[0], s.words[1:]...)
	c.Stdin, c.Stdout, c.Stderr = cmd.InOrStdin(), stdout, cmd.ErrOrStderr()
	c.Env = slices.DeleteFunc(slices.Clone(s.env), func(entry string) bool {
		return strings.HasPrefix(entry, "LASTWORD_EVENTS") || strings.HasPrefix(entry, "LASTWORD_ANSWERS=")
	})
	if key != "" {
		c.Env = append(c.Env, "LASTWORD_KEY="+key)
	}
	err := c.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		code := ended.ExitCode()
		if code < 0 {
			code = exit.Failed
		}
		return &exit.Error{Code: code}
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return &exit.Error{Code: 127, Err: err}
	}
	return err
}

// ask writes a line, and reads the line of the answer, and no byte more.
func (s *shellStep) ask(line map[string]any, answer any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	defer alone(int(s.says.Fd()))()
	if _, err := s.says.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("step %s: descriptor 3 is closed: let the script leave it open: %w", s.name, err)
	}
	var reply []byte
	for one := make([]byte, 1); ; reply = append(reply, one[0]) {
		if _, err := io.ReadFull(s.hears, one); err != nil {
			return fmt.Errorf("step %s: descriptor 4 has no answer: let the script leave it open: %w", s.name, err)
		}
		if one[0] == '\n' {
			return json.Unmarshal(reply, answer)
		}
	}
}

// print prints a kept value: a text as it is.
func (s *shellStep) print(value json.RawMessage) error {
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value) + "\n"
	}
	_, err := io.WriteString(s.stdout, text)
	return err
}
