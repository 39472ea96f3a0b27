package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/chat"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/plans"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// remote is the server that the flags name.
type remote struct {
	program   *host.Program
	url       string
	tokenFile string
	state     string // the folder of a server
}

// addFlags adds --server and --token-file.
func (r *remote) addFlags(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&r.url, "server", "",
		"`URL` of the server, or unix:PATH; LASTWORD_SERVER (default http://127.0.0.1:7878)")
	flags.StringVar(&r.tokenFile, "token-file", "",
		"`file` with the token that the server asks for; LASTWORD_TOKEN_FILE")
	settings.Must(cmd.MarkPersistentFlagFilename("token-file"))
}

func (r *remote) client() (*api.Client, error) {
	token := ""
	if file := cmp.Or(r.tokenFile, r.program.Env.Get("LASTWORD_TOKEN_FILE")); file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("cannot read the token: %w", err)}
		}
		token = strings.TrimSpace(string(data))
		r.program.Secrets.Add("token", token)
	}
	return api.New(cmp.Or(r.url, r.program.Env.Get("LASTWORD_SERVER"), "http://127.0.0.1:7878"), token)
}

// addStateFlag adds --state.
func (r *remote) addStateFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&r.state, "state", "", "`folder` of a server that may have stopped")
	settings.Must(cmd.MarkPersistentFlagDirname("state"))
	cmd.MarkFlagsMutuallyExclusive("server", "state")
}

// ask gives a command the server's client.
func (r *remote) ask(run func(*cobra.Command, []string, *api.Client) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := r.live()
		switch {
		case err != nil:
			return err
		case c == nil:
			return &exit.Error{Code: exit.Configuration, Err: fmt.Errorf(
				"no server has %s open; start it with lastword serve --state %[1]s", r.state)}
		}
		return run(cmd, args, c)
	}
}

// live returns the client of the server that --server names, or of the one that has opened the folder of --state. It
// is nil if nobody has.
func (r *remote) live() (*api.Client, error) {
	if r.state == "" {
		return r.client()
	}
	owner, open := store.FindOwner(r.state)
	switch {
	case !open:
		return nil, nil
	case owner.URL == "":
		return nil, &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("the process that has %s open serves nobody", r.state)}
	}
	r.url = owner.URL
	return r.client()
}

// source is where a command reads runs: a server, or the folder of one that has stopped.
type source interface {
	List(ctx context.Context, q messages.Query, cursor string) (list []messages.Summary, next string, err error)
	State(ctx context.Context, id messages.RunID) (messages.State, error)
	Follow(ctx context.Context, id messages.RunID, want messages.Follow) iter.Seq2[messages.Event, error]
	Forget(ctx context.Context, id messages.RunID) error
}

// read gives a command the server's client or, if the server has stopped, its folder.
func (r *remote) read(run func(*cobra.Command, []string, source) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := r.live()
		switch {
		case err != nil:
			return err
		case c != nil:
			return run(cmd, args, c)
		}
		in, err := store.OpenStopped(r.state)
		if err != nil {
			return &exit.Error{Code: exit.Configuration, Err: err}
		}
		return errors.Join(run(cmd, args, in), in.Close())
	}
}

func runsCommand(p *host.Program) *cobra.Command {
	at := &remote{program: p}
	cmd := &cobra.Command{
		Use:     "runs",
		GroupID: settings.Working,
		Short:   "List, watch, answer and cancel the runs of a server",
		Long: `Runs asks a server that lastword serve started. The server is the one of --server, of LASTWORD_SERVER,
or the one on this machine. With --state, runs asks the server that has the folder open; if none has, ls, get, events
and rm read the folder itself.`,
		Example: `  lastword runs ls --status processing
  lastword runs watch r_k66hldz6ofnwat4rgzpadp2myg
  lastword runs cancel r_k66hldz6ofnwat4rgzpadp2myg --reason "wrong repository"`,
		Args: knownCommand,
		RunE: showHelp,
	}
	at.addFlags(cmd)
	at.addStateFlag(cmd)
	cmd.AddCommand(runsListCommand(at), runsGetCommand(at), runsWatchCommand(at), runsEventsCommand(at),
		runsCancelCommand(at), runsAnswerCommand(at), runsRemoveCommand(at))
	return cmd
}

// runArgument takes one run id.
func runArgument(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return exit.BadUsage(cmd, errors.New("give the id of one run"), "lastword runs ls lists them")
}

func runsListCommand(at *remote) *cobra.Command {
	var q messages.Query
	var statuses, labels []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List your runs, the newest first",
		Example: "  lastword runs ls --status processing,failed --label team=docs",
		Args:    noArguments,
		RunE: at.read(func(cmd *cobra.Command, _ []string, c source) error {
			for _, status := range statuses {
				q.Status = append(q.Status, messages.Status(status))
			}
			var err error
			if q.Labels, err = labelsOf(cmd, labels); err != nil {
				return err
			}
			return listRuns(cmd, c, q, asJSON)
		}),
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&statuses, "status", nil, "`statuses`: pending, processing, completed, failed, canceled")
	flags.StringVar(&q.Job, "job", "", "`name` of a job")
	flags.StringSliceVar(&labels, "label", nil, "`labels` as name=value, separated by commas")
	flags.IntVar(&q.Limit, "limit", 50, "maximum number of `runs` to list, up to 1000")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func labelsOf(cmd *cobra.Command, list []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, one := range list {
		name, value, found := strings.Cut(one, "=")
		if !found {
			return nil, exit.BadUsage(cmd, fmt.Errorf("--label %q is not name=value", one), "")
		}
		labels[name] = value
	}
	return labels, nil
}

func listRuns(cmd *cobra.Command, c source, q messages.Query, asJSON bool) error {
	list, _, err := c.List(cmd.Context(), q, "")
	if err != nil {
		return err
	}
	if asJSON {
		lines := terminal.JSONLines(cmd.OutOrStdout())
		for _, run := range list {
			if err := lines.Encode(run); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTATUS\tJOB\tSTARTED")
	for _, run := range list {
		status := string(run.Status)
		if run.Cause != "" {
			status += " (" + string(run.Cause) + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s ago\n", run.RunID, status, terminal.Flat(run.Job),
			time.Since(run.QueuedAt).Round(time.Second))
	}
	return w.Flush()
}

func runsGetCommand(at *remote) *cobra.Command {
	return &cobra.Command{
		Use:     "get <run>",
		Short:   "Print a run's state as JSON",
		Example: "  lastword runs get r_k66hldz6ofnwat4rgzpadp2myg | jq .status",
		Args:    runArgument,
		RunE: at.read(func(cmd *cobra.Command, args []string, c source) error {
			state, err := c.State(cmd.Context(), messages.RunID(args[0]))
			if err != nil {
				return err
			}
			return terminal.PrintJSON(cmd.OutOrStdout(), state)
		}),
	}
}

// remoteRun is a run of a server, as a display follows it.
type remoteRun struct {
	client *api.Client
	id     messages.RunID
}

// Events yields the run's events past the cursor, over as many connections as it takes.
func (r remoteRun) Events(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return r.client.Follow(ctx, r.id, messages.Follow{After: after})
}

// Cancel cancels nothing: who watches a run of a server does not own it.
func (r remoteRun) Cancel(context.Context, string) error { return nil }

func runsWatchCommand(at *remote) *cobra.Command {
	var show terminal.Display
	cmd := &cobra.Command{
		Use:   "watch <run>",
		Short: "Watch a run until it ends",
		Long: `Watch shows what generate, prompt or chat show of their own runs. It reconnects when the connection is cut, and exits
with the run's own code. Ctrl-C stops watching; the run goes on.`,
		Example: "  lastword runs watch r_k66hldz6ofnwat4rgzpadp2myg",
		Args:    runArgument,
		RunE: at.ask(func(cmd *cobra.Command, args []string, c *api.Client) error {
			show.Stdout, show.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			show.Open(&at.program.Display)
			id := messages.RunID(args[0])
			state, err := c.State(cmd.Context(), id)
			if err != nil {
				return err
			}
			if state.Queued != nil && (state.Queued.Job == prompt.Name || state.Queued.Job == chat.Name) {
				showAnswers(&show, &at.program.Display)
			}
			return host.WatchRemote(cmd.Context(), remoteRun{c, id}, &show)
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&show.JSONL, "jsonl", false, "print the run's events to stdout, one JSON object a line")
	flags.BoolVarP(&show.Quiet, "quiet", "q", false, "print nothing to stderr but errors")
	return cmd
}

func runsEventsCommand(at *remote) *cobra.Command {
	var want messages.Follow
	var kinds []string
	var level string
	cmd := &cobra.Command{
		Use:     "events <run>",
		Short:   "Print a run's events, one JSON object a line, until it ends",
		Example: "  lastword runs events r_k66hldz6ofnwat4rgzpadp2myg --level milestone --after 12",
		Args:    runArgument,
		RunE: at.read(func(cmd *cobra.Command, args []string, c source) error {
			for _, kind := range kinds {
				want.Filter.Kinds = append(want.Filter.Kinds, messages.Kind(kind))
			}
			want.Filter.MilestonesOnly = level == "milestone"
			lines := terminal.JSONLines(cmd.OutOrStdout())
			for e, err := range c.Follow(cmd.Context(), messages.RunID(args[0]), want) {
				if err == nil {
					err = lines.Encode(e)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.Uint64Var(&want.After, "after", 0, "only events after this `number`")
	flags.StringSliceVar(&kinds, "kinds", nil, "only these `kinds`, separated by commas, and the terminal")
	settings.Choice(cmd, flags, &level, "level", "all events, or milestones only", "delta", "milestone")
	flags.BoolVar(&want.Tree, "tree", false, "the events of sub-runs as well")
	return cmd
}

func runsCancelCommand(at *remote) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     "cancel <run>",
		Short:   "Cancel a run",
		Example: "  lastword runs cancel r_k66hldz6ofnwat4rgzpadp2myg",
		Args:    runArgument,
		RunE: at.ask(func(cmd *cobra.Command, args []string, c *api.Client) error {
			return c.Cancel(cmd.Context(), messages.RunID(args[0]), reason)
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`words` for the run's log")
	return cmd
}

func runsAnswerCommand(at *remote) *cobra.Command {
	return &cobra.Command{
		Use:   "answer <run> <request> <value>",
		Short: "Answer what a run asked",
		Long:  "Answer gives a run the value that it asked for. A value that is not JSON is taken as text.",
		Example: `  lastword runs answer r_k66hldz6ofnwat4rgzpadp2myg confirm true
  lastword runs answer r_k66hldz6ofnwat4rgzpadp2myg name "Ann"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 3 {
				return nil
			}
			return exit.BadUsage(cmd, errors.New("give the run, the request and the value"),
				"lastword runs get RUN shows requests")
		},
		RunE: at.ask(func(cmd *cobra.Command, args []string, c *api.Client) error {
			value := json.RawMessage(args[2])
			if !json.Valid(value) {
				text, err := json.Marshal(args[2])
				if err != nil {
					return err
				}
				value = text
			}
			return c.Answer(cmd.Context(), messages.RunID(args[0]), args[1], value)
		}),
	}
}

func runsRemoveCommand(at *remote) *cobra.Command {
	return &cobra.Command{
		Use:     "rm <run>",
		Short:   "Forget an ended run; its files stay",
		Example: "  lastword runs rm r_k66hldz6ofnwat4rgzpadp2myg",
		Args:    runArgument,
		RunE: at.read(func(cmd *cobra.Command, args []string, c source) error {
			return c.Forget(cmd.Context(), messages.RunID(args[0]))
		}),
	}
}

// planCommand is plan, whose show reads runs as runs does.
func planCommand(p *host.Program) *cobra.Command {
	cmd, at := plans.Command(p, runExits()), &remote{program: p}
	show := &cobra.Command{
		Use:     "show <run>",
		Short:   "Tell why each step of a plan ran, was skipped or ran again",
		Long:    "Show asks a server, as lastword runs does. The plan may have ended or may still be running.",
		Example: "  lastword plan show r_k66hldz6ofnwat4rgzpadp2myg",
		Args:    runArgument,
		RunE: at.read(func(cmd *cobra.Command, args []string, c source) error {
			want := messages.Follow{Filter: messages.Filter{MilestonesOnly: true}}
			return plans.Show(cmd.OutOrStdout(), c.Follow(cmd.Context(), messages.RunID(args[0]), want))
		}),
	}
	at.addFlags(show)
	at.addStateFlag(show)
	cmd.AddCommand(show)
	return cmd
}
