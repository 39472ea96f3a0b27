package main

import (
	"bufio"
	"cmp"
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

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/chatui"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// last is the value of --resume without an id.
const last = "last"

// stateFolder returns the folder that holds conversations.
func (c *chatOptions) stateFolder() string {
	return cmp.Or(c.State.Folder(c.program.Env), c.program.Env.StateFolder())
}

// openConversations opens the conversations in the state folder, and determines the one that the flags name.
func (c *chatOptions) openConversations(cmd *cobra.Command) (*conversation.Store, error) {
	folder := c.stateFolder()
	conversations, err := host.OpenConversations(folder)
	if err != nil {
		return nil, err
	}
	switch c.resume {
	case "":
	case last:
		list, err := conversations.List()
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, messages.InvalidInput("there is no conversation in %s to go on with", folder)
		}
		c.in.Context = list[0].ID
	default:
		if c.in.Context, err = conversations.Find(c.resume); err != nil {
			return nil, err
		}
	}
	if info, _, err := conversations.Read(c.in.Context); err == nil && c.resume != "" && !c.Show.Quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), "lastword: goes on with "+titled(info))
	}
	return conversations, nil
}

// titled tells a conversation from others: by its title, and when it was last used.
func titled(c conversation.Info) string {
	return words.Printable(c.Title) + c.Updated.Local().Format(" (2006-01-02 15:04)")
}

// talk runs a conversation on the terminal.
func (c *chatOptions) talk(cmd *cobra.Command, config chat.Config, box *toolbox.Box) error {
	conversations, err := config.Conversations("")
	if err != nil {
		return err
	}
	start, done, err := c.starter(cmd, config, box)
	if err != nil {
		return err
	}
	display := &c.program.Display
	ui := chatui.Options{Redact: c.program.Secrets.Text, About: c.about(), Colored: display.Colored(true),
		ASCII: display.ASCIIOnly(), Env: c.program.Env}
	ui.Start = func(ctx context.Context, message string) (chatui.Run, error) { return start(ctx, message) }
	ui.Opening = fmt.Sprintf("lastword chat with %s\n%s · /help lists commands", c.about(), c.box.About())
	ui.Commands, ui.Window = c.commands(conversations, config, box), config.Window
	if _, history, err := conversations.Read(c.in.Context); err == nil {
		ui.Said, ui.Shown = recall(history)
	}
	attached, first := host.Interruptible(cmd.Context(), func() {})
	err = chatui.Talk(attached, terminal.Unwrap(cmd.InOrStdin()).(io.Reader), terminal.Unwrap(cmd.OutOrStdout()).(io.Writer), ui)
	err = errors.Join(err, done())
	if _, history, unknown := conversations.Read(c.in.Context); unknown == nil && len(history) > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "lastword chat --resume "+c.in.Context+"   goes on with it")
	}
	if by := first(); by != nil {
		return &exit.Error{Code: exit.OfSignal(by)}
	}
	return err
}

// commands returns the slash commands, which affect the next turn.
func (c *chatOptions) commands(conversations *conversation.Store, config chat.Config, box *toolbox.Box) []chatui.Command {
	resume := func(id string) (shown, about string, err error) {
		_, history, err := conversations.Read(id)
		if err != nil {
			return "", "", err
		}
		c.in.Context = id
		_, shown = recall(history)
		return cmp.Or(shown, "It is empty."), c.about(), nil
	}
	return []chatui.Command{
		{Name: "model", About: "say which model answers, or take another: /model NAME", Run: func(ctx context.Context, name string) (string, string, error) {
			if name != "" {
				c.in.Model = name
			}
			return host.AboutModel(ctx, config, c.in.Model), c.about(), nil
		}},
		{Name: "tools", About: "list what the model may call", Run: func(ctx context.Context, _ string) (string, string, error) {
			set, missing, err := box.Set(ctx)
			if err != nil {
				return "", "", err
			}
			return cmp.Or(toolbox.Listed(set, missing), "There are "+c.box.About()+"."), "", nil
		}},
		{Name: "resume", About: "go on with another conversation: /resume ID; without one, list them", Run: func(_ context.Context, prefix string) (string, string, error) {
			if prefix != "" {
				id, err := conversations.Find(prefix)
				if err != nil {
					return "", "", err
				}
				return resume(id)
			}
			list, err := conversations.List()
			var rows []string
			for _, one := range list[:min(len(list), 10)] {
				rows = append(rows, "- `"+one.ID+"` "+titled(one))
			}
			return cmp.Or(strings.Join(rows, "\n"), "There is none yet."), "", err
		}},
		{Name: "new", About: "begin another conversation", Run: func(context.Context, string) (string, string, error) {
			c.in.Context = conversation.NewID()
			return "A new conversation begins.", c.about(), nil
		}},
		{Name: "undo", About: "go on as if the last turn had not been", Run: func(context.Context, string) (string, string, error) {
			info, _, err := conversations.Read(c.in.Context)
			switch {
			case err != nil || info.Turns == 0:
				return "There is no turn to undo.", "", nil
			case info.Turns == 1:
				c.in.Context = conversation.NewID()
				return "The conversation begins again.", c.about(), nil
			}
			id, err := conversations.Fork(c.in.Context, info.Turns-1)
			if err != nil {
				return "", "", err
			}
			return resume(id)
		}},
	}
}

// starter returns a function that starts turns of the conversation, and a function that closes the runtime.
func (c *chatOptions) starter(cmd *cobra.Command, config chat.Config, box *toolbox.Box) (
	start func(ctx context.Context, message string) (talkRun, error), done func() error, err error) {
	if !box.Empty() {
		if config.Always, err = c.program.Approvals(trust.Folder.Approvals); err != nil {
			return nil, nil, err
		}
	}
	c.in.Context = cmp.Or(c.in.Context, conversation.NewID())
	keep, dir := c.State, c.State.Folder(c.program.Env)
	if owner, open := store.FindOwner(dir); open && dir != "" { // its conversations may be shared, but not its journal
		fmt.Fprintf(cmd.ErrOrStderr(), "lastword: process %d keeps runs in %s; this chat keeps its conversation there, and no events\n",
			owner.PID, words.Printable(dir))
		keep = store.Flags{}
	}
	system, _, done, err := c.program.Open(cmd.Context(), &keep)
	return func(ctx context.Context, message string) (talkRun, error) {
		job, err := c.turn(message, config, box)
		if err != nil {
			return talkRun{}, err
		}
		run, err := system.Start(ctx, job, actors.Options{Mode: messages.Attached, Limits: c.limits()})
		if err != nil {
			return talkRun{}, err
		}
		return talkRun{system, run.ID()}, nil
	}, done, err
}

// turn returns the job for the next message. A model with tools may also ask the user.
func (c *chatOptions) turn(message string, config chat.Config, box *toolbox.Box) (actors.Job, error) {
	in, more := c.in, []tool.Tool(nil)
	if !box.Empty() {
		more = []tool.Tool{tool.AskUser()}
	}
	if err := box.Give(&config, more...); err != nil {
		return actors.Job{}, err
	}
	in.Message = message
	return chat.Job(in, config)
}

func (c *chatOptions) about() string {
	words := c.at.Host()
	if c.in.Model != chat.Auto {
		words = c.in.Model + " at " + words
	}
	return words + " · " + c.in.Context
}

// recall returns the user's messages, and the last question with its answer.
func recall(history []model.Message) (users []string, shown string) {
	question, answer := "", ""
	for _, m := range history {
		switch {
		case m.Role == model.User:
			users = append(users, m.Content)
			question, answer = m.Content, ""
		case m.Role == model.Assistant && strings.TrimSpace(m.Content) != "":
			answer = m.Content
		}
	}
	if question != "" {
		shown = "> " + strings.ReplaceAll(question, "\n", "\n> ") + "\n\n" + answer
	}
	return users, shown
}

// talkRun is a turn in the form in which the terminal follows it.
type talkRun struct {
	system *actors.System
	id     messages.RunID
}

// rate is the maximum number of updates per second, similar to how often the terminal draws.
const rate = 30

func (r talkRun) Follow(ctx context.Context) iter.Seq2[[]messages.Event, error] {
	return r.system.Follow(ctx, r.id, messages.FollowOptions{Rate: rate})
}

func (r talkRun) Cancel(ctx context.Context, reason string) error {
	return r.system.Cancel(ctx, r.id, "", reason)
}

func (r talkRun) Answer(ctx context.Context, request string, value json.RawMessage) error {
	return r.system.Answer(ctx, r.id, request, value, "")
}

// talkPlainly runs a conversation line by line, without redrawing.
func (c *chatOptions) talkPlainly(cmd *cobra.Command, config chat.Config, box *toolbox.Box) error {
	conversations, err := config.Conversations("")
	if err != nil {
		return err
	}
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
		switch text := strings.TrimSpace(message); {
		case text == "":
			continue
		case message[0] == '/':
			err = plainCommand(cmd, c.commands(conversations, config, box), text)
		default:
			err = c.plainTurn(cmd, start, text, read)
		}
		if err != nil {
			fmt.Fprintln(stderr, "lastword:", words.Printable(err.Error()))
		}
	}
}

// plainCommand runs the slash command, and shows what it says. If there is none of that name, it lists those that there are.
func plainCommand(cmd *cobra.Command, list []chatui.Command, line string) error {
	name, argument, _ := strings.Cut(line[1:], " ")
	var all strings.Builder
	for _, one := range list {
		if one.Name == name {
			shown, _, err := one.Run(cmd.Context(), strings.TrimSpace(argument))
			return errors.Join(terminal.PrintText(cmd.ErrOrStderr(), shown), err)
		}
		all.WriteString("/" + one.Name + "  " + one.About + "\n")
	}
	return terminal.PrintText(cmd.ErrOrStderr(), all.String()+"Ctrl-D leaves; a space before the / sends it to the model")
}

// plainTurn runs a turn. Ctrl-C cancels it.
func (c *chatOptions) plainTurn(cmd *cobra.Command, start func(context.Context, string) (talkRun, error),
	message string, read func() (string, error)) error {
	attached, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	context.AfterFunc(attached, stop) // the second Ctrl-C ends the program
	run, err := start(attached, message)
	if err != nil {
		return err
	}
	c.Show.Brief = false
	c.openDisplay(cmd)
	c.Show.Brief, c.Show.View, c.Show.Answer.Columns = true, c.Show.Answer, 0
	c.Show.Works = terminal.Model
	state, err := c.Show.Follow(cmd.Context(), plainRun{run, cmd.ErrOrStderr(), c.program.Secrets.Text, read})
	if err == nil {
		c.Show.Close(state)
	}
	return err
}

// plainRun asks the user the questions of its run.
type plainRun struct {
	talkRun
	stderr io.Writer
	redact func(string) string
	read   func() (string, error)
}

// Events returns the run's events. When one is a question, it asks the user before it goes on.
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

// ask asks the user on a terminal without key control. A user who does not answer declines.
func (r plainRun) ask(ctx context.Context, b messages.InputRequired) error {
	q := messages.Input{Request: b.Request, Prompt: b.Prompt, Schema: b.Schema, Kind: b.InputKind}
	value, err := chatui.Ask(q, r.redact, func(text string) { fmt.Fprintln(r.stderr, text) }, r.read)
	if err != nil {
		value = json.RawMessage("null")
	}
	return r.Answer(ctx, b.Request, value)
}
