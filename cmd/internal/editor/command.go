package editor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/acp"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/transport/door"
)

// options holds the flags of the command.
type options struct {
	program       *host.Program
	at            settings.Endpoint
	model, system string
	timeout       time.Duration
	state         store.Flags
	box           toolbox.Flags
}

// Command returns the command acp.
func Command(p *host.Program) *cobra.Command {
	o := options{program: p, at: p.Endpoint()}
	cmd := &cobra.Command{
		Use:         "acp",
		Annotations: map[string]string{settings.ReadsCurrent: "always"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	flags := cmd.Flags()
	settings.Group(flags, "Request", func() {
		flags.StringVar(&o.model, "model", chat.Auto, "`name` of the model; auto is the one that the server has loaded")
		flags.StringVar(&o.system, "system", "", "system `prompt`")
		o.box.AddServerFlag(flags)
	})
	o.at.AddFlags(cmd, flags)
	settings.Group(flags, "Run", func() {
		flags.DurationVar(&o.timeout, "timeout", 0, "maximum `time` of a run, such as 90s (default 10m)")
		o.state.AddState(flags)
	})
	settings.ByOperator(flags)
	settings.Must(cmd.RegisterFlagCompletionFunc("model", p.CompleteModels(&o.at)))
	return cmd
}

// run serves an editor over stdin and stdout until the editor closes stdin. Logs go to stderr, as the protocol demands.
func (o *options) run(cmd *cobra.Command) error {
	err := o.at.Check()
	if o.timeout < 0 {
		err = settings.Negative("--timeout")
	}
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	client, err := o.at.Client(o.timeout)
	if err != nil {
		return err
	}
	defer client.Close()
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	a := &agent{options: o, log: log, open: map[string]*session{}, edits: map[string]acp.Edit{}}
	if a.config, err = host.ChatConfig(&o.at, client); err != nil {
		return err
	}
	if err := a.keep(log); err != nil {
		return exit.Misconfigured(err)
	}
	system, _, done, err := o.program.Open(cmd.Context(), &o.state, chat.Define(a.turn))
	if err != nil {
		return err
	}
	if terminal.IsTerminal(cmd.InOrStdin()) {
		fmt.Fprintln(cmd.ErrOrStderr(), "lastword: acp waits for an editor's messages on stdin; Ctrl-C ends it")
	}
	to := door.New(door.Config{Runs: system, Jobs: system.Jobs(), Version: build.This().Full(), Redact: o.program.Secrets.Bytes})
	attached, first := host.Interruptible(cmd.Context(), func() {})
	served := a.door(to).Serve(attached, cmd.InOrStdin(), terminal.Unwrap(cmd.OutOrStdout()).(io.Writer))
	ended := done()
	if by := first(); by != nil {
		return &exit.Error{Code: exit.OfSignal(by)}
	}
	if served != nil {
		served = fmt.Errorf("cannot serve: %w", served)
	}
	return errors.Join(served, ended)
}

// keep opens the store of conversations. If another process has opened the journal of the folder, the events of this
// process are not stored.
func (a *agent) keep(log *slog.Logger) error {
	env := a.program.Env
	folder := cmp.Or(a.state.Folder(env), env.StateFolder())
	if owner, open := store.FindOwner(folder); open && a.state.Durable() {
		log.Warn("another process keeps runs in the folder; this one keeps conversations there, and no events", "process", owner.PID, "folder", folder)
		a.state = store.Flags{}
	}
	conversations, err := host.OpenConversations(folder)
	a.kept = conversations
	a.config.Conversations = func(string) (*conversation.Store, error) { return conversations, nil }
	a.config.Bounds.Time = a.timeout
	if err == nil {
		a.config.Always, err = a.program.Approvals(trust.Folder.Approvals)
	}
	return err
}

// IDs of the modes.
const (
	asking  = "ask"
	editing = "edit"
	reading = "read"
)

// door returns the configuration for package acp.
func (a *agent) door(to *door.Door) acp.Config {
	return acp.Config{Door: to, Log: a.log, Open: a.begin, Close: a.end, NewID: conversation.NewID, List: a.list, Said: a.said, Preview: a.preview, Changed: a.changed,
		Kinds: map[string]string{"list_files": "search", "search_files": "search", "read_file": "read", "write_file": "edit",
			"edit_file": "edit", "ask_user": "think"},
		Modes: []acp.Mode{{ID: asking, Name: "Ask", About: "Ask before a tool changes something"},
			{ID: editing, Name: "Edit", About: "Write files unasked; ask before other tools change something"},
			{ID: reading, Name: "Read", About: "Call only tools that read"}},
		Commands: []acp.Command{
			{Name: "model", About: "say which model answers, or take another", Input: &acp.Hint{Text: "name of the model"}, Run: a.pickModel},
			{Name: "tools", About: "list what the model may call", Run: a.listTools}},
	}
}

// pickModel changes the model for the session's next prompts. It is the command /model.
func (a *agent) pickModel(ctx context.Context, s *acp.Session, name string) (string, error) {
	a.mu.Lock()
	one := a.open[s.ID]
	one.model = cmp.Or(name, one.model)
	name = one.model
	a.mu.Unlock()
	return host.AboutModel(ctx, a.config, name), nil
}
