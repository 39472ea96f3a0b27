package main

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/seed889630bf/lastword/internal/conversation"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/messages"
)

// chatOptions holds the flags of chat.
type chatOptions struct {
	asker
	in      chat.Input
	message string
	resume  string
	box     toolbox.Flags
}

func chatCommand(program *host.Program) *cobra.Command {
	c := chatOptions{asker: asker{program: program, at: program.Endpoint(), remote: host.Remote{Program: program}}}
	cmd := &cobra.Command{
		Use:  "chat",
		Args: c.arguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	flags := cmd.Flags()
	settings.Group(flags, "Request", func() { c.addRequestFlags(flags) })
	settings.Group(flags, "Tools", func() { c.box.AddFlags(cmd, flags) })
	c.at.AddFlags(cmd, flags)
	settings.Group(flags, "Run", func() { c.AddFlags(cmd, flags, "10m", program) })
	settings.Group(flags, "Server", func() { c.remote.AddOwnFlags(cmd, flags) })
	settings.FlagOnly(flags, "message", "context", "resume")
	settings.ByOperator(flags, "system", "stages")
	settings.ByProject(flags, "model")
	settings.Must(cmd.RegisterFlagCompletionFunc("model", program.CompleteModels(&c.at)))
	return cmd
}

func (c *chatOptions) addRequestFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&c.message, "message", "m", "", "the `text` of the message")
	flags.StringVar(&c.in.Context, "context", "", "`id` of the conversation to start or continue")
	flags.StringVar(&c.resume, "resume", "", "continue the last conversation, or the one whose id begins with `ID`")
	flags.Lookup("resume").NoOptDefVal = last
	flags.StringVar(&c.in.Model, "model", chat.Auto, "`name` of the model; auto is the one that the server has loaded")
	flags.StringVar(&c.in.System, "system", "", "system `prompt`")
	flags.BoolVar(&c.in.Stages, "stages", false,
		"understand, think with tools, and then respond: slower, but it cites what the tools have read")
}

const chatExample = `for example: lastword chat -m "Why is the sky blue?"`

// arguments accepts only the id that may follow --resume.
func (c *chatOptions) arguments(cmd *cobra.Command, args []string) error {
	if c.resume == last && len(args) == 1 {
		c.resume = args[0]
		return nil
	}
	if len(args) > 0 {
		return exit.BadUsage(cmd, errors.New("chat takes its message from --message"), chatExample)
	}
	return nil
}

// run decides between a conversation on a terminal and one turn, at a server or in this process.
func (c *chatOptions) run(cmd *cobra.Command) error {
	err := c.check()
	if c.in.Context != "" && c.resume != "" {
		err = errors.New("--context and --resume exclude each other: each names the conversation")
	}
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	talks := c.talks(cmd)
	if c.remote.URL != "" && (talks || c.resume != "") {
		return exit.BadUsage(cmd, errors.New("at a server, chat is one turn: give --message, and --context ID for the turns of one conversation"), "")
	}
	if !talks {
		if err := c.readMessage(cmd); err != nil {
			return err
		}
	}
	if c.remote.URL != "" {
		return c.runAt(cmd, chat.Name, c.in)
	}
	client, err := c.at.Client(c.Timeout)
	if err != nil {
		return err
	}
	defer client.Close()
	c.box.Attended = talks
	box, err := c.box.Open(c.program.Env, c.program.Secrets, build.This().Exact(), c.program.Guarded)
	if err != nil {
		return err
	}
	defer box.Close()
	config, err := host.ChatConfig(&c.at, client)
	if err != nil {
		return err
	}
	config.Bounds.Time, c.in.Tools = c.Timeout, c.box.Names
	if talks || c.in.Context != "" || c.resume != "" {
		conversations, err := c.openConversations(cmd)
		if err != nil {
			return err
		}
		config.Conversations = func(string) (*conversation.Store, error) { return conversations, nil }
	}
	switch {
	case talks && c.program.Display.Redraws(false) && c.program.Env.Get("ACCESSIBLE") == "":
		return c.talk(cmd, config, box)
	case talks:
		return c.talkPlainly(cmd, config, box)
	}
	return c.once(cmd, config, box)
}

// once runs a single turn, in which nobody answers questions.
func (c *chatOptions) once(cmd *cobra.Command, config chat.Config, box *toolbox.Box) error {
	if err := box.Give(&config); err != nil {
		return err
	}
	config.Unattended = true
	job, err := chat.Job(c.in, config)
	if err != nil {
		return err
	}
	return c.watch(cmd, job, c.answer(cmd, box))
}

// talks reports whether the user has a conversation on the terminal.
func (c *chatOptions) talks(cmd *cobra.Command) bool {
	return c.message == "" && !c.Show.JSON && !c.Show.JSONL && terminal.IsTerminal(cmd.InOrStdin()) &&
		terminal.IsTerminal(cmd.OutOrStdout())
}

// readMessage reads the message of a single turn: from the flag, or from stdin if that is a pipe.
func (c *chatOptions) readMessage(cmd *cobra.Command) (err error) {
	c.in.Message = c.message
	if piped := !terminal.IsTerminal(cmd.InOrStdin()); c.message == "-" || c.message == "" && piped {
		if c.in.Message, err = textOn(cmd); err != nil {
			return err
		}
	}
	if strings.TrimSpace(c.in.Message) == "" {
		return exit.BadUsage(cmd, errors.New("chat needs a message: give it with --message, or pipe it to stdin"), chatExample)
	}
	return nil
}

// answer returns a function that prints the run's answer at its end. If there are tools, nobody can tell earlier which
// answer is the last one, except in stages.
func (c *chatOptions) answer(cmd *cobra.Command, box *toolbox.Box) func(io.Writer, messages.State) error {
	if box.Empty() || c.in.Stages || terminal.IsTerminal(cmd.OutOrStdout()) {
		return nil
	}
	return func(w io.Writer, s messages.State) error {
		var r chat.Result
		if s.Status != messages.Completed || json.Unmarshal(s.End.Result, &r) != nil || r.Text == "" {
			return nil
		}
		return terminal.PrintText(w, r.Text)
	}
}
