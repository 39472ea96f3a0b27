package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/llm"
)

// modelsOptions holds the flags of models and its subcommands.
type modelsOptions struct {
	at      settings.Endpoint
	json    bool
	timeout time.Duration
	load    llm.LoadOptions
}

func modelsCommand(p *host.Program) *cobra.Command {
	l := modelsOptions{at: p.Endpoint()}
	cmd := settings.Parent("models", modelsLoadCommand(p), modelsUnloadCommand(p))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return l.call(cmd, l.list) }
	l.flags(cmd, 30*time.Second)
	return cmd
}

func (l *modelsOptions) flags(cmd *cobra.Command, patience time.Duration) *pflag.FlagSet {
	flags := cmd.Flags()
	l.at.AddServerFlags(flags)
	flags.BoolVar(&l.json, "json", false, "print JSON")
	flags.DurationVar(&l.timeout, "timeout", patience, "maximum `time` to wait")
	settings.ByOperator(flags, "json", "timeout")
	return flags
}

// oneModel returns a command that calls do for the model that its argument names.
func (l *modelsOptions) oneModel(p *host.Program, use string,
	do func(ctx context.Context, cmd *cobra.Command, c *llm.Client, id string) error) *cobra.Command {
	l.at = p.Endpoint()
	return &cobra.Command{
		Use:               use,
		GroupID:           settings.Working,
		Args:              exit.Takes(1, "needs the name of one model", "lastword models lists the names"),
		ValidArgsFunction: p.CompleteModels(&l.at),
		RunE: func(cmd *cobra.Command, args []string) error {
			return l.call(cmd, func(ctx context.Context, cmd *cobra.Command, c *llm.Client) error { return do(ctx, cmd, c, args[0]) })
		},
	}
}

func modelsLoadCommand(p *host.Program) *cobra.Command {
	l := new(modelsOptions)
	cmd := l.oneModel(p, "load <model>", l.loading)
	flags := l.flags(cmd, 10*time.Minute)
	flags.IntVar(&l.load.Context, "context", 0, "context in `tokens` (default: the server's)")
	flags.DurationVar(&l.load.TTL, "ttl", 0,
		"unload the model after this `time` without a request (default: the server's)")
	settings.ByOperator(flags, "context", "ttl")
	return cmd
}

func modelsUnloadCommand(p *host.Program) *cobra.Command {
	l := new(modelsOptions)
	cmd := l.oneModel(p, "unload <model>", l.unloading)
	l.flags(cmd, time.Minute)
	return cmd
}

// call calls do with a client, within --timeout.
func (l *modelsOptions) call(cmd *cobra.Command, do func(context.Context, *cobra.Command, *llm.Client) error) error {
	if l.timeout <= 0 || l.load.Context < 0 || l.load.TTL < 0 {
		return exit.BadUsage(cmd, errors.New("--timeout must be positive, --context and --ttl not negative"), "")
	}
	client, err := llm.New(l.at.Config())
	if err != nil {
		return exit.Misconfigured(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), l.timeout, tooLong(l.timeout))
	defer cancel()
	err = do(ctx, cmd, client)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case messages.CodeOf(err) == messages.CauseInvalidInput:
		return exit.Misconfigured(err)
	}
	return err
}

// modelList is the output of models --json.
type modelList struct {
	Server  string      `json:"server"` // "" if unknown
	BaseURL string      `json:"base_url"`
	Models  []modelLine `json:"models"`
}

// modelLine is a model in the output. Members that the server does not tell are left out.
type modelLine struct {
	ID           string `json:"id"`
	Loaded       *bool  `json:"loaded,omitempty"` // nil if the server does not tell
	Context      int    `json:"context,omitempty"`
	MaxContext   int    `json:"max_context,omitempty"`
	Kind         string `json:"kind,omitempty"`
	Format       string `json:"format,omitempty"`
	Quantization string `json:"quantization,omitempty"`
}

func lineOf(m llm.Info) modelLine {
	line := modelLine{ID: m.ID, Context: m.Context, MaxContext: m.MaxContext, Kind: m.Kind, Format: m.Format,
		Quantization: m.Quantization}
	if settings.SaysLoaded(m) {
		line.Loaded = &m.Loaded
	}
	return line
}

// list prints the models of a server.
func (l *modelsOptions) list(ctx context.Context, cmd *cobra.Command, client *llm.Client) error {
	server, list, err := client.Models(ctx)
	if err != nil {
		return err
	}
	out := modelList{Server: server, BaseURL: l.at.URL(), Models: []modelLine{}}
	for _, m := range list {
		out.Models = append(out.Models, lineOf(m))
	}
	if l.json {
		return terminal.PrintJSON(cmd.OutOrStdout(), out)
	}
	if len(list) > 0 {
		if err := printModels(cmd.OutOrStdout(), out.Models); err != nil {
			return err
		}
	}
	server = cmp.Or(server, "a server")
	fmt.Fprintf(cmd.ErrOrStderr(), "%s of %s at %s\n", words.Count(len(list), "model"),
		words.Printable(server),
		words.Printable(l.at.Host()))
	return nil
}

func printModels(w io.Writer, list []modelLine) error {
	rows := [][]string{{"MODEL", "STATE", "CONTEXT", "MADE FOR", "KIND", "FORMAT", "QUANTIZATION"}}
	for _, m := range list {
		rows = append(rows, m.row())
	}
	return terminal.Rows(w, rows)
}

// row returns the model as a row of a table, with a dash for what the server does not tell.
func (m modelLine) row() []string {
	state, context := "-", "-"
	switch {
	case m.Loaded == nil:
	case *m.Loaded:
		state, context = "loaded", tokens(m.Context)
	default:
		state = "idle"
	}
	row := []string{m.ID, state, context, tokens(m.MaxContext), m.Kind, m.Format, m.Quantization}
	for i, cell := range row {
		if cell == "" {
			row[i] = "-"
		}
	}
	return row
}

func tokens(n int) string {
	if n == 0 {
		return "-"
	}
	return words.Thousands(int64(n))
}

// loading loads a model, and prints what it has become: a server may give it another context than requested.
func (l *modelsOptions) loading(ctx context.Context, cmd *cobra.Command, client *llm.Client, id string) error {
	began := time.Now()
	m, err := client.Load(ctx, id, l.load)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s loaded in %s\n", words.Printable(m.ID), terminal.Elapsed(time.Since(began)))
	if l.json {
		return terminal.PrintJSON(cmd.OutOrStdout(), lineOf(m))
	}
	return printModels(cmd.OutOrStdout(), []modelLine{lineOf(m)})
}

// unloading unloads a model.
func (l *modelsOptions) unloading(ctx context.Context, cmd *cobra.Command, client *llm.Client, id string) error {
	if err := client.Unload(ctx, id); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s unloaded\n", words.Printable(id))
	if l.json {
		return terminal.PrintJSON(cmd.OutOrStdout(), modelLine{ID: id, Loaded: new(bool)})
	}
	return nil
}

func providerCommand(p *host.Program) *cobra.Command {
	return settings.Parent("provider", providerCheckCommand(p))
}

// providerOptions holds the flags of provider check.
type providerOptions struct {
	at         settings.Endpoint
	model      string
	only       []string
	write      string
	json       bool
	timeout    time.Duration
	firstToken time.Duration
}

func providerCheckCommand(program *host.Program) *cobra.Command {
	p := providerOptions{at: program.Endpoint()}
	cmd := &cobra.Command{
		Use:     "check",
		GroupID: settings.Working,
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.run(cmd, &program.Display) },
	}
	flags := cmd.Flags()
	p.at.AddServerFlags(flags)
	flags.StringVar(&p.model, "model", "auto", "`name` of the model; auto is the one that the server has loaded")
	flags.StringSliceVar(&p.only, "only", nil, "`names` of checks, separated by commas (default: all)")
	flags.StringVar(&p.write, "write", "", "`file` for the profile; none writes no file")
	flags.BoolVar(&p.json, "json", false, "print the profile and the checks as one JSON document")
	flags.DurationVar(&p.firstToken, "first-token", 0,
		"maximum `time` of silence before a token (default 1m, and 5m before the first)")
	flags.DurationVar(&p.timeout, "timeout", 30*time.Minute, "maximum `time` of all checks")
	settings.ByOperator(flags)
	settings.ByProject(flags, "model")
	settings.Must(cmd.RegisterFlagCompletionFunc("model", program.CompleteModels(&p.at)))
	settings.Must(cmd.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(checkIDs(),
		cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func checkIDs() (ids []string) {
	for _, c := range probe.Checks() {
		ids = append(ids, c.ID)
	}
	return ids
}

// run makes the checks within a total time. It prints each as it ends, and may save the profile of the server.
func (p *providerOptions) run(cmd *cobra.Command, how *terminal.Options) error {
	if p.timeout <= 0 || p.firstToken < 0 {
		return exit.BadUsage(cmd, errors.New("--timeout must be positive, and --first-token not negative"), "")
	}
	ids := checkIDs()
	for _, id := range p.only {
		if !slices.Contains(ids, id) {
			return exit.BadUsage(cmd, fmt.Errorf("no check is called %q", id), "the checks are "+strings.Join(ids, ", "))
		}
	}
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), p.timeout, tooLong(p.timeout))
	defer cancel()
	t := terminal.NewTable(cmd.OutOrStdout(), how, ids)
	o := probe.Options{Config: p.at.Config(), Model: p.model, Only: p.only, First: p.firstToken, Patience: p.firstToken}
	if !p.json {
		o.Each = p.tell(t)
	}
	learned, err := probe.Run(ctx, o)
	if learned == nil {
		return exit.Misconfigured(err)
	}
	learned.Version = build.This().Full()
	if p.json {
		t.Err = terminal.PrintJSON(cmd.OutOrStdout(), learned)
	}
	if err := errors.Join(t.Err, err); err != nil {
		return err
	}
	if err := p.keep(cmd, learned); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d passed, %s, %d failed, %d skipped\n",
		words.Count(len(learned.Results), "check"), learned.Count(probe.Pass),
		words.Count(learned.Count(probe.Warn), "warning"),
		learned.Count(probe.Fail),
		learned.Count(probe.Skip))
	if learned.Count(probe.Fail) > 0 {
		return &exit.Error{Code: exit.Provider}
	}
	return nil
}

// tell returns a function that prints results. If no server answers, it leaves out the skipped checks.
func (p *providerOptions) tell(t *terminal.Table) func(probe.Result) {
	gone := false
	return func(r probe.Result) {
		gone = gone || r.ID == "reachable" && r.Status == probe.Fail
		if !gone || r.Status != probe.Skip {
			t.Row(r)
		}
	}
}

func tooLong(limit time.Duration) error {
	return messages.Errorf(messages.CauseDeadline, "it took longer than %s; --timeout gives it more",
		limit)
}

// keep writes the profile to its file. With --only, or if the server does not answer, it writes only to the file of
// --write.
func (p *providerOptions) keep(cmd *cobra.Command, learned *probe.Profile) error {
	file := p.write
	if file == "" && len(p.only) == 0 && learned.Server.Profile != "" {
		file = p.at.ProfileFile()
	}
	if file == "" || file == "none" {
		return nil
	}
	if err := learned.Write(file); err != nil {
		return fmt.Errorf("cannot write the profile: %w", exit.Reason(err))
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "the profile is %s\n", words.Printable(file))
	return err
}
