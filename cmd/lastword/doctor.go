package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/doctor"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/transport/llm"
)

// doctorOptions are the flags of doctor.
type doctorOptions struct {
	program *host.Program
	at      settings.Endpoint
	remote  host.Remote // a server of lastword's
	here    bool        // it has the state folder open
	model   string
	out     string
	state   string
	tokens  string // file of serve
	json    bool
	timeout time.Duration

	table *terminal.Table
	found doctorReport
}

// doctorReport is what doctor --json prints.
type doctorReport struct {
	OK     bool           `json:"ok"` // nothing failed
	Checks []probe.Result `json:"checks"`
}

func doctorCommand(p *host.Program) *cobra.Command {
	e := doctorOptions{program: p, at: p.Endpoint(), remote: host.Remote{Program: p}}
	cmd := &cobra.Command{
		Use: "doctor",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.run(cmd)
		},
	}
	flags := cmd.Flags()
	e.at.AddServerFlags(flags)
	e.remote.AddFlags(flags, "`URL` of a server that lastword serve has started, or unix:PATH (default: the one on this machine)")
	flags.StringVar(&e.model, "model", "", "`name` of the model (default: the one of prompt)")
	flags.StringVar(&e.out, "out", "", "`folder` to write to (default: the one of generate)")
	flags.StringVar(&e.state, "state", "", "`folder` that keeps the runs' events (default: the one of serve)")
	flags.BoolVar(&e.json, "json", false, "print the checks as one JSON document")
	flags.DurationVar(&e.timeout, "timeout", 2*time.Minute, "maximum `time` for the server")
	settings.Must(cmd.RegisterFlagCompletionFunc("model", p.CompleteModels(&e.at)))
	return cmd
}

// run prints the checks as they end. One that fails sets the exit code.
func (e *doctorOptions) run(cmd *cobra.Command) error {
	if e.timeout <= 0 {
		return exit.BadUsage(cmd, errors.New("--timeout must be positive"), "")
	}
	e.check(cmd, cmd.OutOrStdout())
	if e.json {
		e.table.Err = terminal.PrintJSON(cmd.OutOrStdout(), e.found)
	}
	switch {
	case e.table.Err != nil:
		return e.table.Err
	case !e.found.OK:
		return &exit.Error{Code: exit.Configuration}
	}
	return nil
}

// check makes every check, and prints them to out unless they are to be JSON.
func (e *doctorOptions) check(cmd *cobra.Command, out io.Writer) {
	ids := []string{"version", "settings", "tokens", "confirm", "output", "disk", "cache", "state", "trust", "terminal", "tls", "proxy", "server", "clock"}
	e.table = terminal.NewTable(out, &e.program.Display, slices.Concat(ids, doctor.ServingIDs, serverLines()))
	e.found.OK = true
	b := build.This()
	e.tell(doctor.Fine("version", "lastword %s, %s %s", b.Full(), b.Go, b.Platform))
	e.tell(e.settings(cmd)...)
	e.tell(e.machine(cmd)...)
	e.tell(e.serving(cmd.Context())...)
	e.server(cmd.Context())
}

// machine checks this machine.
func (e *doctorOptions) machine(cmd *cobra.Command) []probe.Result {
	env := e.program.Env
	return []probe.Result{doctor.Tokens(env), doctor.Confirming(e.tokens), doctor.Output(e.out), doctor.Disk(e.out), doctor.Cache(env.CacheFolder()),
		doctor.State(cmd.Context(), cmp.Or(e.state, env.StateFolder())), doctor.Trust(trust.Find(env)),
		doctor.Shown(&e.program.Display, cmd.ErrOrStderr()),
		doctor.Roots(), doctor.Proxy(&e.at)}
}

// serverLines are the checks of the server that doctor makes.
func serverLines() []string {
	return []string{"path", "auth", "models", "loaded", "context-size", "answers", "streams", "terminator", "tool",
		"json"}
}

// tell keeps the results for JSON, or prints them at once.
func (e *doctorOptions) tell(results ...probe.Result) {
	for _, r := range results {
		e.found.Checks = append(e.found.Checks, r)
		e.found.OK = e.found.OK && r.Status != probe.Fail
		if !e.json {
			e.table.Row(r)
		}
	}
}

// settings takes what the command line does not set from the settings of prompt and generate.
func (e *doctorOptions) settings(cmd *cobra.Command) (found []probe.Result) {
	const id = "settings"
	s, err := settings.Load(cmd, e.program.Env, e.program.ConfigFile, nil, e.program.Secrets)
	if err != nil {
		wrong, _ := errors.AsType[settings.Mistakes](err)
		for _, m := range wrong {
			found = append(found, doctor.Finding(id, probe.Fail, m.Remedy, "%s", m))
		}
		return found
	}
	for to, name := range map[*string]string{&e.at.BaseURL: "prompt.base-url", &e.at.KeyFile: "prompt.key-file",
		&e.at.Proxy: "prompt.proxy", &e.at.CAFile: "prompt.ca-file", &e.model: "prompt.model", &e.out: "generate.out",
		&e.remote.URL: "runs.server", &e.remote.TokenFile: "runs.token-file"} {
		*to = cmp.Or(*to, s.Value(name))
	}
	e.state, e.tokens = cmp.Or(e.state, s.Value(serveState)), s.Value("serve.tokens")
	files := 0
	for _, from := range s.Layers {
		if from.File != "" && from.Found {
			files++
		}
	}
	return []probe.Result{doctor.Fine(id, "%s", words.Count(files, "file"))}
}

// serving checks the server that is named, or the one that has the state folder open.
func (e *doctorOptions) serving(ctx context.Context) []probe.Result {
	if owner, open := store.FindOwner(cmp.Or(e.state, e.program.Env.StateFolder())); e.remote.URL == "" && open {
		e.remote.URL, e.here = owner.URL, true
	}
	if e.remote.URL == "" {
		return nil
	}
	c, err := e.remote.Client()
	if err != nil {
		return []probe.Result{doctor.Finding("serve", probe.Fail, "correct --server or --token-file", "%v", err)}
	}
	return doctor.Serving(ctx, c, e.remote.URL, e.remote.TokenFile != "")
}

// server checks the server of models. It stops early if none answers.
func (e *doctorOptions) server(ctx context.Context) {
	const start = "generate needs none; for prompt and --model start one, or name it with --base-url"
	ctx, cancel := context.WithTimeoutCause(ctx, e.timeout, fmt.Errorf("nothing came within %s", e.timeout))
	defer cancel()
	client, err := llm.New(e.at.Config())
	if err != nil {
		e.tell(doctor.Finding("server", probe.Fail, "correct --base-url, --key-file, --proxy or --ca-file", "%v", err))
		return
	}
	defer client.Close()
	page, err := client.Get(ctx, "/models", false)
	if page == nil {
		e.tell(doctor.Finding("server", probe.Warn, start, "%s does not answer: %v", e.at.Host(), err))
		return
	}
	if page.Loading() {
		e.tell(doctor.Finding("server", probe.Warn, "wait until it is ready, and run lastword doctor again",
			"%s is loading its model", e.at.Host()))
		return
	}
	e.tell(doctor.Fine("server", "%s answers", e.at.Host()))
	e.tell(doctor.Clock(page))
	e.questions(ctx)
}

// questions makes some of the checks of provider check.
func (e *doctorOptions) questions(ctx context.Context) {
	learned, err := probe.Run(ctx, probe.Options{Config: e.at.Config(), Model: e.model, Only: serverLines(),
		First: e.timeout, Each: e.answer})
	switch {
	case err != nil && learned == nil:
		e.tell(doctor.Finding("answers", probe.Fail, "correct the flags", "%v", err))
	case err != nil:
		e.tell(doctor.Finding("answers", probe.Warn, "raise --timeout, or see the server's log",
			"the checks took longer than %s", e.timeout))
	}
}

func (e *doctorOptions) answer(r probe.Result) {
	if r.Status != probe.Skip {
		e.tell(r)
	}
}
