package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors/wrap"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// JobsCommand returns the command jobs.
func JobsCommand(p *host.Program) *cobra.Command {
	remote, asJSON := &host.Remote{Program: p}, false
	cmd := asking(remote, "jobs", "no arguments", func(cmd *cobra.Command, _ []string, c *api.Client) error {
		jobs, err := c.Jobs(cmd.Context())
		if err != nil {
			return err
		}
		type line struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"schema"`
		}
		lines, rows := []line{}, [][]string{{"JOB", "DESCRIPTION"}}
		for _, j := range jobs {
			lines, rows = append(lines, line{j.Name, j.Description, j.Input.JSON()}), append(rows, []string{j.Name, words.Clip(j.Description, 100)})
		}
		if asJSON {
			return terminal.PrintLines(cmd.OutOrStdout(), lines)
		}
		return terminal.List(cmd, rows, "the server has no job")
	})
	remote.AddFlags(cmd.Flags(), "`URL` of the server, or unix:PATH (default "+host.DefaultServer+")")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line, with the schema of the input")
	settings.FlagOnly(cmd.Flags(), "json")
	return cmd
}

// starter holds the flags of start: its own, and those made from the schema of the server's job.
type starter struct {
	host.Remote
	in      settings.Input
	file    string
	detach  bool
	limit   time.Duration
	display terminal.Display
	show    func(d *terminal.Display, job string)
}

// StartCommand returns the command start. show prepares the display for a run of the job.
func StartCommand(p *host.Program, show func(d *terminal.Display, job string)) *cobra.Command {
	s := &starter{Remote: host.Remote{Program: p}, show: show}
	cmd := &cobra.Command{Use: "start <job> [flags]", ValidArgsFunction: s.complete,
		DisableFlagParsing: true, // the server knows most of the flags
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := s.parse(cmd, args)
			if help, _ := cmd.Flags().GetBool("help"); help && (err == nil || cmd.Flags().NArg() == 0) {
				return cmd.Help()
			}
			if err != nil {
				return err
			}
			return s.start(cmd, job)
		}}
	flags := cmd.Flags()
	settings.Group(flags, "Run", func() {
		flags.StringVar(&s.file, "input", "", "`file` with the input as JSON, or - for stdin; flags for fields win over it")
		flags.BoolVar(&s.detach, "detach", false, "print the run's id, and do not wait for its end")
		flags.DurationVar(&s.limit, "timeout", 0, "maximum `time` of the run, such as 90s (default: the server's)")
		flags.BoolVar(&s.display.JSONL, "jsonl", false, "print the run's events to stdout, one JSON object per line")
		flags.BoolVar(&s.display.JSON, "json", false, "print the result to stdout as one JSON object")
		flags.BoolVarP(&s.display.Quiet, "quiet", "q", false, "print nothing to stderr but errors")
	})
	settings.Group(flags, "Server", func() {
		s.AddFlags(flags, "`URL` of the server, or unix:PATH (default "+host.DefaultServer+")")
	})
	settings.FlagOnly(flags, "input", "detach", "timeout", "jsonl", "json", "quiet")
	return cmd
}

// inputOf begins the title of the flags that are fields of the input.
const inputOf = "Input of "

// parse reads the command line twice: for the server and the job, and then with the flags that the job's input has.
func (s *starter) parse(cmd *cobra.Command, args []string) (job messages.JobInfo, err error) {
	flags := cmd.Flags()
	flags.ParseErrorsAllowlist.UnknownFlags = true
	err = flags.Parse(args)
	flags.ParseErrorsAllowlist.UnknownFlags = false
	if err != nil {
		return job, exit.BadUsage(cmd, settings.BadValue(err), "lastword start --help explains the command")
	}
	if err := cmd.Root().PersistentPreRunE(cmd, nil); err != nil { // now that --config is known
		return job, err
	}
	name := flags.Arg(0)
	if name == "" {
		return job, exit.BadUsage(cmd, errors.New("start needs the name of a job, before its flags"), "lastword jobs lists them")
	}
	err = s.Ask(func(cmd *cobra.Command, _ []string, c *api.Client) error {
		job, err = jobOf(cmd.Context(), c, name)
		return err
	})(cmd, nil)
	if err != nil {
		return job, err
	}
	cmd.Long = words.WithoutControls(job.Description)
	settings.Group(flags, inputOf+words.Printable(name), func() {
		s.in.AddFlags(cmd, flags, job.Input, func(member string) bool { // --input alone sets what has the name of another flag
			return member != "" && cmd.Flag(strings.ReplaceAll(member, "_", "-")) == nil && !strings.ContainsAny(member, "= \t\n")
		})
	})
	if err := flags.Parse(args); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return job, exit.BadUsage(cmd, settings.BadValue(err), cmp.Or(settings.MeantFlag(cmd, err), fieldsOf(name)))
	}
	if flags.NArg() != 1 {
		return job, exit.BadUsage(cmd, fmt.Errorf("start takes the name of one job, and its input as flags, and not %q", flags.Arg(1)), "")
	}
	return job, nil
}

// fieldsOf says what shows the flags of a job's input.
func fieldsOf(job string) string {
	return "lastword start " + job + " --help shows the fields of its input"
}

// jobOf returns the server's job with the name.
func jobOf(ctx context.Context, c *api.Client, name string) (messages.JobInfo, error) {
	jobs, err := c.Jobs(ctx)
	if err != nil {
		return messages.JobInfo{}, err
	}
	var names []string
	for _, j := range jobs {
		if j.Name == name {
			return j, nil
		}
		names = append(names, j.Name)
	}
	return messages.JobInfo{}, messages.InvalidInput("the server has no job %q%s; lastword jobs lists them", name, words.Meant(name, names))
}

// start starts the job, and shows its run until the end.
func (s *starter) start(cmd *cobra.Command, job messages.JobInfo) error {
	var text json.RawMessage
	var err error
	switch {
	case s.limit < 0:
		return exit.BadUsage(cmd, settings.Negative("--timeout"), "")
	case s.display.JSON && s.display.JSONL:
		return exit.BadUsage(cmd, errors.New("--json and --jsonl exclude each other: each has stdout for itself"), "")
	case s.file == "-":
		text, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), regular.Large))
	case s.file != "":
		text, err = regular.Read(s.file, regular.Large)
	}
	if err == nil && text != nil && !json.Valid(text) {
		err = errors.New("it is no JSON")
	}
	if err != nil {
		return messages.InvalidInput("cannot read --input %s: %v; name a file with JSON, or - for stdin", s.file, exit.Reason(err))
	}
	input, err := s.in.Over(text)
	if err != nil {
		return err
	}
	run, err := s.Submit(cmd.Context(), messages.Request{Job: job.Name, Input: input, Limits: messages.Limits{WallClockMS: s.limit.Milliseconds()}})
	if messages.CodeOf(err) == messages.CauseInvalidInput {
		err = fmt.Errorf("%w\n%s", err, fieldsOf(job.Name))
	}
	if err != nil {
		return err
	}
	if s.detach {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), run.ID())
		return err
	}
	d := &s.display
	d.Stdout, d.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	if s.show(d, job.Name); !d.Quiet {
		d.Ask = s.Program.Asker(cmd, s.Place()).Ask
	}
	if !d.JSON && !d.JSONL && d.Outcome == nil {
		d.Print = func(w io.Writer, ended messages.State) error { return printResult(w, ended, job) }
	}
	return s.WatchOwn(cmd.Context(), run, d, func(messages.State) error { return nil })
}

// printResult prints the result of a run that has completed and has printed nothing else. Of a tool's result it prints the texts.
func printResult(w io.Writer, s messages.State, job messages.JobInfo) error {
	said := func(t messages.Stream) bool { return messages.IsAnswer(t.Name) || messages.IsStdout(t.Name) }
	text := messages.Plain(s.End.Result)
	if s.Status != messages.Completed || text == "" || slices.ContainsFunc(s.Streams, said) {
		return nil
	}
	var tool struct {
		Content []struct{ Type, Text string }
	}
	if (job.Tool != "" || job.Name == wrap.Name) && json.Unmarshal(s.End.Result, &tool) == nil {
		var texts []string
		for _, part := range tool.Content {
			if texts = append(texts, part.Text); part.Type != "text" {
				texts[len(texts)-1] = "[" + part.Type + "; --json prints it]"
			}
		}
		text = cmp.Or(strings.Join(texts, "\n"), text)
	}
	return terminal.PrintText(w, text)
}

// complete completes the names of the server's jobs, the flags of the job's input, and their values.
func (s *starter) complete(cmd *cobra.Command, args []string, part string) (found []string, _ cobra.ShellCompDirective) {
	cmd.SetErr(io.Discard) // output would disturb the command line
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	cmd.SetContext(ctx)
	_, _ = s.parse(cmd, args) // without a job there are the flags of start
	if cmd.Flags().NArg() == 0 && !strings.HasPrefix(part, "-") {
		_ = s.Ask(func(cmd *cobra.Command, _ []string, c *api.Client) error {
			jobs, err := c.Jobs(ctx)
			for _, j := range jobs {
				found = append(found, cobra.CompletionWithDesc(j.Name, terminal.Flat(words.Clip(j.Description, 100))))
			}
			return err
		})(cmd, nil)
		return found, cobra.ShellCompDirectiveNoFileComp
	}
	if n := len(args); n > 0 && strings.HasPrefix(args[n-1], "--") {
		if values, ok := cmd.GetFlagCompletionFunc(strings.TrimPrefix(args[n-1], "--")); ok {
			return values(cmd, args, part)
		}
	}
	if !strings.HasPrefix(part, "-") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if name := "--" + f.Name; strings.HasPrefix(name, part) && strings.HasPrefix(settings.GroupOf(f), inputOf) { // cobra has the others
			_, usage := pflag.UnquoteUsage(f)
			found = append(found, cobra.CompletionWithDesc(name, terminal.Flat(usage)))
		}
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}
