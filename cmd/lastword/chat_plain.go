package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/chat"
	"github.com/seed889630bf/lastword/cmd/internal/chatui"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/messages"
)

// talkPlainly holds a conversation line by line. It redraws nothing.
func (c *chatOptions) talkPlainly(cmd *cobra.Command, config chat.Config, box *toolbox.Box) error {
	start, done, err := c.starter(cmd, config, box)
	if err != nil {
		return err
	}
	lines, stderr := bufio.NewReader(cmd.InOrStdin()), cmd.ErrOrStderr()
	read := func() (string, error) {
		fmt.Fprint(stderr, "> ")
		return lines.ReadString('\n')
	}
	for {
		message, err := read()
		if err != nil {
			fmt.Fprintln(stderr)
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(err, done())
		}
		if strings.TrimSpace(message) == "" {
			continue
		}
		if err := c.plainTurn(cmd, start, strings.TrimSpace(message), read); err != nil {
			fmt.Fprintln(stderr, "lastword:", terminal.Printable(err.Error()))
		}
	}
}

// plainTurn runs a turn, which Ctrl-C cancels.
func (c *chatOptions) plainTurn(cmd *cobra.Command, start func(context.Context, string) (talkRun, string, error),
	message string, read func() (string, error)) error {
	attached, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	context.AfterFunc(attached, stop) // the second Ctrl-C ends the program
	run, warning, err := start(attached, message)
	if err != nil {
		return err
	}
	if warning != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "lastword:", terminal.Printable(warning))
	}
	c.show.Brief = false
	c.openDisplay(cmd)
	c.show.Brief, c.show.View, c.show.Answer.Columns = true, c.show.Answer, 0
	state, err := c.show.Follow(cmd.Context(), plainRun{run, cmd.ErrOrStderr(), c.program.Secrets.Text, read})
	if err == nil {
		c.show.Close(state)
	}
	return err
}

// plainRun asks the user what its run asks.
type plainRun struct {
	talkRun
	stderr io.Writer
	redact func(string) string
	read   func() (string, error)
}

func (r plainRun) Events(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		for e, err := range r.system.Events(ctx, r.id, after) {
			if !yield(e, err) {
				return
			}
			if b, ok := e.Body.(messages.InputRequired); ok {
				if err := r.ask(ctx, b); err != nil && !yield(e, err) {
					return
				}
			}
		}
	}
}

func (r plainRun) ask(ctx context.Context, b messages.InputRequired) error {
	q := messages.Input{Request: b.Request, Prompt: b.Prompt, Schema: b.Schema, Kind: b.InputKind}
	value, err := chatui.Ask(q, r.redact, func(text string) { fmt.Fprintln(r.stderr, text) }, r.read)
	if err != nil {
		value = json.RawMessage("null")
	}
	return r.Answer(ctx, b.Request, value)
}
