package plans

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/drawing"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/repository"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// options holds the flags of the command.
type options struct {
	program  *host.Program
	read     repository.Source
	endpoint settings.Endpoint
	out      string
	model    string
	jobs     string // file of commands
	params   []string
	dryRun   bool
	from     string // name of a step
	earlier  string // id of a run
	text     []byte // of the plan, once it is loaded
	host.Foreground
	at host.Remote
}

// Command returns the command plan with its subcommands.
func Command(p *host.Program) *cobra.Command {
	return settings.Parent("plan", initCommand(), checkCommand(p), runCommand(p), graphCommand(p))
}

// load reads the plan, and checks it with the jobs of whoever runs it: the server, or this process. The error lists
// everything that is wrong with it.
func (o *options) load(cmd *cobra.Command, file string) (*plan.Plan, plan.Config, func(), error) {
	text, err := read(file)
	if err != nil {
		return nil, plan.Config{}, nil, err
	}
	o.text = text
	config, done := plan.Config{}, func() {}
	if o.remote() {
		config.Jobs, err = o.stepJobs(cmd)
	} else {
		config, done, err = o.program.PlanConfig(cmd.Context(), o.out, o.model, o.jobs, o.read, o.endpoint)
	}
	if err != nil {
		return nil, config, nil, err
	}
	p, err := plan.Check(text, config.Jobs)
	if err != nil {
		done()
		return nil, config, nil, host.Placed(file, err)
	}
	return p, config, done, nil
}

// remote reports whether a server runs the plan: --jobs is for this process.
func (o *options) remote() bool { return o.at.URL != "" && o.jobs == "" }

// stepJobs asks the server for the jobs that steps may start.
func (o *options) stepJobs(cmd *cobra.Command) (steps []actors.Definition, err error) {
	return steps, o.at.Ask(func(cmd *cobra.Command, _ []string, c *api.Client) error {
		jobs, err := c.Jobs(cmd.Context())
		if err == nil {
			steps, err = plan.StepJobs(jobs)
		}
		return err
	})(cmd, nil)
}

// addServerFlags adds the flags that say who runs the plan.
func (o *options) addServerFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	settings.Group(flags, "Server", func() {
		o.at.AddFlags(flags, "`URL` of a server to run at, or unix:PATH")
		flags.StringVar(&o.jobs, "jobs", "", "YAML `file` of commands that steps may start in this process")
	})
	settings.FlagOnly(flags, "jobs")
	cmd.MarkFlagsMutuallyExclusive("server", "jobs")
	cmd.GroupID = settings.Working
}

func read(file string) ([]byte, error) {
	text, err := regular.Read(file, regular.Large)
	if err != nil {
		err = messages.InvalidInput("cannot read the plan %s: %v\nlastword plan init >plan.yaml writes one to begin with", file, exit.Reason(err))
	}
	return text, err
}

//go:embed init.yaml
var first []byte

func initCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "init",
		Args: exit.Takes(0, "takes no arguments; it prints the plan", "lastword plan init >plan.yaml"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(first)
			return err
		},
	}
}

// onPlan returns a command that calls do with the file of a plan.
func onPlan(use string, do func(cmd *cobra.Command, file string) error) *cobra.Command {
	return &cobra.Command{
		Use:  use,
		Args: exit.Takes(1, "takes one file", ""),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error { return do(cmd, args[0]) },
	}
}

func newOptions(p *host.Program) *options {
	return &options{program: p, read: p.Source(), endpoint: p.Endpoint(), at: host.Remote{Program: p}}
}

func checkCommand(p *host.Program) *cobra.Command {
	o := newOptions(p)
	cmd := onPlan("check <file>", func(cmd *cobra.Command, file string) error {
		_, _, done, err := o.load(cmd, file)
		if err == nil {
			done()
		}
		return err
	})
	o.addServerFlags(cmd)
	return cmd
}

func graphCommand(p *host.Program) *cobra.Command {
	o, form := newOptions(p), ""
	cmd := onPlan("graph <file>", func(cmd *cobra.Command, file string) error {
		p, _, done, err := o.load(cmd, file)
		if err != nil {
			return err
		}
		defer done()
		drawn := drawing.Text
		if form == "mermaid" {
			drawn = drawing.Mermaid
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), drawn(p))
		return err
	})
	settings.Choice(cmd, cmd.Flags(), &form, "form", "form of the drawing", "text", "mermaid")
	settings.FlagOnly(cmd.Flags(), "form")
	o.addServerFlags(cmd)
	return cmd
}

func runCommand(p *host.Program) *cobra.Command {
	o := newOptions(p)
	cmd := onPlan("run <file>", o.run)
	flags := cmd.Flags()
	settings.Group(flags, "Plan", func() {
		flags.StringArrayVar(&o.params, "param", nil, "`name=value` of a parameter; can be repeated")
		flags.BoolVar(&o.dryRun, "dry-run", false, "check the plan and its parameters, print the steps, and run nothing")
		flags.StringVar(&o.from, "from", "", "`step` to start from; --run gives the results of all steps that do not come after it")
		flags.StringVar(&o.earlier, "run", "", "earlier `run` of the plan, for --from")
		flags.StringVar(&o.out, "out", "artifacts", "`folder` to write under; made if missing")
	})
	settings.Group(flags, "Model", func() {
		flags.StringVar(&o.model, "model", "", "`name` of the model if a step names none; auto is one that is loaded")
		o.endpoint.AddFlags(cmd, flags)
	})
	settings.Group(flags, "Repository", func() {
		o.read.AddFlags(flags)
		o.read.AddLimitFlags(flags)
	})
	settings.Group(flags, "Run", func() {
		o.AddFlags(cmd, flags, "30m", p)
	})
	o.addServerFlags(cmd)
	settings.FlagOnly(flags, "param", "dry-run", "from", "run")
	settings.ByOperator(flags, "out")
	settings.ByProject(flags, "model")
	settings.Must(cmd.RegisterFlagCompletionFunc("model", p.CompleteModels(&o.endpoint)))
	return cmd
}

// run runs a plan in this process, or at a server with --server. It checks all flags before it reads the plan.
func (o *options) run(cmd *cobra.Command, file string) error {
	switch {
	case (o.from == "") != (o.earlier == ""):
		return exit.BadUsage(cmd, errors.New("--from names a step, and --run the earlier run whose results the others keep; give both"), "")
	case o.earlier != "" && !o.remote() && !o.State.Durable():
		return exit.BadUsage(cmd, errors.New("--run needs --state FOLDER or --server URL, which has kept the earlier run"), "")
	}
	if err := errors.Join(o.Check(), o.read.Check(), o.endpoint.Check()); err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	if o.remote() && !o.dryRun {
		return o.runAt(cmd, file)
	}
	p, config, done, err := o.load(cmd, file)
	if err != nil {
		return err
	}
	defer done()
	params, err := o.values(p)
	if err != nil {
		return err
	}
	if o.dryRun {
		_, err := fmt.Fprint(cmd.OutOrStdout(), drawing.Text(p))
		return err
	}
	if p.Asks() && !terminal.Holds(cmd.InOrStdin()) && !o.State.Durable() {
		return messages.InvalidInput("the plan asks people, and stdin is no terminal in the foreground; run it on one, or give --state FOLDER or --server URL, " +
			"where lastword runs answer reaches it")
	}
	if p.Receives() {
		return messages.InvalidInput("the plan receives messages, and nobody can send any to a run of this process; run it at a server, with --server URL, " +
			"where lastword runs say reaches it")
	}
	job, err := plan.Job(plan.Input{Plan: p, Params: params, From: o.from, Run: messages.RunID(o.earlier)}, config)
	if err != nil {
		return err
	}
	o.Show.Folder = o.out
	o.open(cmd, p, " --state "+o.State.Folder(o.program.Env))
	return o.program.Watch(cmd.Context(), job, o.Limits(), &o.State, &o.Show)
}

func (o *options) values(p *plan.Plan) (map[string]any, error) {
	params, err := parseParams(p, o.params)
	if err == nil {
		_, err = p.Values(params)
	}
	return params, err
}

// open opens the display. place contains the flags that name the run's server, for others who answer questions.
func (o *options) open(cmd *cobra.Command, p *plan.Plan, place string) {
	o.Show.Stdout, o.Show.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	if p.Asks() {
		o.Show.Ask = o.program.Asker(cmd, place).Ask
	}
	o.Show.Open(&o.program.Display)
	if !o.Show.JSON && !o.Show.JSONL && p.Result != nil {
		o.Show.Print = printResult
	}
}

// runAt runs the plan at the server.
func (o *options) runAt(cmd *cobra.Command, file string) error {
	err := settings.WithoutEffect(cmd, "at a server; leave it out, or leave out --server", func(f *pflag.Flag) bool {
		return f.Name != "out" && f.Name != "state" && !slices.Contains([]string{"Model", "Repository"}, settings.GroupOf(f))
	})
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	p, _, _, err := o.load(cmd, file)
	if err != nil {
		return err
	}
	params, err := o.values(p)
	if err != nil {
		return err
	}
	input, err := json.Marshal(map[string]any{"plan": string(o.text), "params": params, "from": o.from, "run": o.earlier})
	if err != nil {
		return err
	}
	run, err := o.at.Submit(cmd.Context(), messages.Request{Job: plan.Name, Input: input, Limits: o.Limits()})
	if err != nil {
		return host.Placed(file, err)
	}
	o.open(cmd, p, o.at.Place())
	return o.at.WatchOwn(cmd.Context(), run, &o.Show, func(messages.State) error { return nil })
}

// printResult prints the result of a plan that has completed.
func printResult(w io.Writer, s messages.State) error {
	if s.Status != messages.Completed {
		return nil
	}
	return terminal.PrintText(w, messages.Plain(s.End.Result))
}

// parseParams parses parameters of the form name=value. Values of other types than string are JSON. A list may also be
// given as texts separated by commas.
func parseParams(p *plan.Plan, texts []string) (map[string]any, error) {
	all := map[string]any{}
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found {
			return nil, messages.InvalidInput("the parameter %q has no value; write NAME=VALUE", text)
		}
		param := p.Params[name]
		if param.Type == "" || param.Type == plan.String {
			all[name] = value
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			if param.Type != plan.List {
				return nil, messages.InvalidInput("the parameter %s must be of type %s", name, param.Type)
			}
			list := []any{}
			for element := range strings.SplitSeq(value, ",") {
				list = append(list, element)
			}
			v = list
		}
		all[name] = v
	}
	return all, nil
}

// Show prints why each step of a plan ran, was skipped or ran again, from the events of its steps.
func Show(w io.Writer, events iter.Seq2[messages.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		words := terminal.Flat(e.Message)
		switch b := e.Body.(type) {
		case messages.StepStarted, messages.InputRequired, messages.InputReceived:
		case messages.StepEnded:
			if b.Next != "" {
				words += "; next " + terminal.Flat(b.Next)
			}
		default:
			if !e.Kind().IsTerminal() {
				continue
			}
		}
		if _, err := fmt.Fprintf(w, "%s  %s\n", e.Time.Format("15:04:05.000"), words); err != nil {
			return err
		}
	}
	return nil
}
