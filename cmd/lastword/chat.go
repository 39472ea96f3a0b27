package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors/chat"
	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/llm"
)

// chatOptions are the flags of chat.
type chatOptions struct {
	asker
	in         chat.Input
	message    string
	repository string
	out        string
	tools      []string
	resume     string
}

func chatCommand(program *host.Program) *cobra.Command {
	c := chatOptions{asker: asker{program: program, at: program.Endpoint()}}
	cmd := &cobra.Command{
		Use:     "chat",
		GroupID: settings.Working,
		Short:   "Talk with a language model, and give it tools",
		Long: `Chat talks with a model on a server that speaks the OpenAI protocol. The model may call tools before it answers:
with --repository it can list, read and search the files of a folder, and with --out it can write files into one. Chat
runs the tools and gives the model their results. The server and its key are named as for prompt.

On a terminal chat holds a conversation. Enter sends a message, Alt-Enter or Ctrl-J breaks a line, the arrows go
through what you wrote before. Ctrl-C clears the line or cancels the turn, Ctrl-O shows the model's thoughts, Ctrl-D
leaves. The conversation is kept below the folder of --state; --resume goes on with it.

With --message, or where stdin is a pipe, chat is one turn: it prints the answer and ends. "-" reads the message from
stdin. The turn remembers nothing, unless --context or --resume names a conversation.

If stdout is a terminal, all that the model says comes as it says it, and stderr shows its thoughts and the tools. If
it is not, stdout gets the last answer alone: at once without tools, and whole with tools, since the model says only at
the end of an answer whether it calls more. --jsonl prints everything as it comes.

An answer whose end is uncertain does not count: the run fails. Ctrl-C cancels the run; a second Ctrl-C leaves at
once.` + runExits(),
		Example: `  lastword chat --repository .
  lastword chat --resume
  lastword chat -m "What does this repository do?" --repository .
  git diff | lastword chat --system "Write a commit message for this change."
  lastword chat -m "Write a guide to this code." --repository . --out guide
  lastword chat -m "Where are the tests?" --repository . --jsonl | jq -c 'select(.type == "tool.started").payload'`,
		Args:              noMessage,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	settings.Group(flags, "Request", func() { c.addRequestFlags(flags) })
	c.at.AddFlags(cmd, flags)
	settings.Group(flags, "Run", func() { c.addRunFlags(cmd, flags, "10m") })
	for _, name := range []string{"message", "context", "resume"} {
		settings.Must(flags.SetAnnotation(name, settings.NotSetting, nil))
	}
	for _, folder := range []string{"repository", "out"} {
		settings.Must(flags.SetAnnotation(folder, settings.NotInProject, nil))
		settings.Must(cmd.MarkFlagDirname(folder))
	}
	settings.Must(cmd.RegisterFlagCompletionFunc("model", program.CompleteModels(&c.at)))
	return cmd
}

func (c *chatOptions) addRequestFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&c.message, "message", "m", "", "the `text` of the message")
	flags.StringVar(&c.in.Context, "context", "", "`id` of the conversation to begin or to go on with")
	flags.StringVar(&c.resume, "resume", "", "go on with the last conversation, or with the one whose id begins as `ID`")
	flags.Lookup("resume").NoOptDefVal = last
	flags.StringVar(&c.in.Model, "model", chat.Auto, "`name` of the model; auto is the one that the server has loaded")
	flags.StringVar(&c.in.System, "system", "", "system `prompt`")
	flags.StringVar(&c.repository, "repository", "", "`folder` whose files the model may list, read and search")
	flags.StringVar(&c.out, "out", "", "`folder` into which the model may write files; none is lost, older ones get a number")
	flags.BoolVar(&c.in.Stages, "stages", false, "understand, think with tools, and then respond: slower, and citing what tools have read")
	flags.StringSliceVar(&c.tools, "tool", nil, "`name` of a tool that the model may call (default: all)")
}

const chatExample = `for example: lastword chat -m "Why is the sky blue?"`

func noMessage(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.BadUsage(cmd, errors.New("chat takes its message from --message"), chatExample)
	}
	return nil
}

func (c *chatOptions) run(cmd *cobra.Command) error {
	err := c.check()
	if c.in.Context != "" && c.resume != "" {
		err = errors.New("--context and --resume exclude each other: each names the conversation")
	}
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	talks := c.talks(cmd)
	if !talks {
		if err := c.readMessage(cmd); err != nil {
			return err
		}
	}
	client, err := c.at.Client(c.timeout)
	if err != nil {
		return err
	}
	defer client.Close()
	tools, done, err := c.openTools()
	if err != nil {
		return err
	}
	defer done()
	config, err := c.config(client, tools)
	if err != nil {
		return err
	}
	if talks || c.in.Context != "" || c.resume != "" {
		if config.Conversations, err = c.openConversations(); err != nil {
			return err
		}
	}
	if talks {
		return c.talk(cmd, config)
	}
	job, err := chat.Job(c.in, config)
	if err != nil {
		return err
	}
	return c.watch(cmd, job, c.answer(cmd, tools))
}

// talks reports whether the user holds a conversation on the terminal.
func (c *chatOptions) talks(cmd *cobra.Command) bool {
	return c.message == "" && !c.show.JSON && !c.show.JSONL && terminal.IsTerminal(cmd.InOrStdin()) &&
		terminal.IsTerminal(cmd.OutOrStdout()) && c.program.Display.InPlace(false)
}

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

func (c *chatOptions) config(client *llm.Client, tools *tool.Set) (chat.Config, error) {
	config, err := host.ChatConfig(&c.at, client)
	config.Tools, config.Bounds.Time = tools, c.timeout
	return config, err
}

// openTools returns the tools that the model may call.
func (c *chatOptions) openTools() (set *tool.Set, done func(), err error) {
	var all []tool.Tool
	var roots []*os.Root
	done = func() {
		for _, root := range roots {
			root.Close()
		}
	}
	open := func(folder string, tools func(*os.Root) []tool.Tool) error {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return exit.Invalid("cannot open the folder %s: %v", folder, exit.Reason(err))
		}
		all, roots = append(all, tools(root)...), append(roots, root)
		return nil
	}
	if c.repository != "" {
		err = open(c.repository, func(root *os.Root) []tool.Tool { return tool.Repository(root.FS()) })
	}
	if c.out != "" && err == nil {
		_ = os.MkdirAll(c.out, 0o755) // open says what is wrong
		err = open(c.out, tool.Artifacts)
	}
	clean := func(text string) string { return render.Redact(c.program.Secrets.Text(text)) }
	if err == nil {
		set, err = tool.NewSet(clean, all...)
	}
	if err == nil && c.tools != nil {
		set, err = set.Allow(tool.All, c.tools)
	}
	if err != nil {
		done()
	}
	return set, done, err
}

// answer prints the run's answer when the run has ended: nobody can tell before that an answer with tools is the last.
func (c *chatOptions) answer(cmd *cobra.Command, tools *tool.Set) func(io.Writer, messages.State) error {
	if len(tools.Offered()) == 0 || terminal.IsTerminal(cmd.OutOrStdout()) {
		return nil
	}
	return func(w io.Writer, s messages.State) error {
		var r chat.Result
		if s.Status != messages.Completed || json.Unmarshal(s.End.Result, &r) != nil || r.Text == "" {
			return nil
		}
		text := terminal.WithoutControls(r.Text)
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		_, err := fmt.Fprint(w, text)
		return err
	}
}
