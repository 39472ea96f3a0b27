//go:build linux

package command_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
)

// node is a runtime with one command.
type node struct {
	*testing.T
	system *actors.System
	name   string
}

func start(t *testing.T, c command.Command, config command.Config) node {
	t.Helper()
	if c.Name == "" {
		c.Name = "it"
	}
	if config.Environ == nil {
		config.Environ = os.Environ()
	}
	if c.Env == nil {
		c.Env = []string{"PATH"}
	}
	job, err := command.Define(c, config)
	must(t, err)
	s := faultplan.Open(t, actors.Config{Jobs: []actors.Definition{job}})
	return node{t, s, c.Name}
}

// submit starts a run.
func (n node) submit(input string) messages.RunID {
	n.Helper()
	id, err := n.system.Submit(n.Context(), messages.Request{Job: n.name, Input: json.RawMessage(input)})
	must(n, err)
	return id
}

// follow reads the run to its end, and calls each for every event.
func (n node) follow(id messages.RunID, each func(messages.State, messages.Event)) (state messages.State) {
	n.Helper()
	for e, err := range n.system.Events(n.Context(), id, 0) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(n, err)
		if each != nil {
			each(state, e)
		}
	}
	return state
}

// run runs the program to its end.
func run(t *testing.T, c command.Command, input string) messages.State {
	t.Helper()
	n := start(t, c, command.Config{})
	return n.follow(n.submit(input), nil)
}

func shell(script string) []string { return []string{"sh", "-c", script} }

// output is the text of stdout.
func output(s messages.State) string {
	var b strings.Builder
	for _, t := range s.Streams {
		b.WriteString(t.Text())
	}
	return b.String()
}

func lines(s messages.State) (all []string) {
	for _, l := range s.Log.Lines {
		all = append(all, l.Text)
	}
	return all
}

func codeOf(s messages.State) messages.Code {
	if s.End == nil || s.End.Error == nil {
		return ""
	}
	return s.End.Error.Code
}
