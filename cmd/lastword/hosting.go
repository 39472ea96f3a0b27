package main

import (
	"cmp"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/messages/redact"
)

// hosting is what the flags say of runs that others ask for.
type hosting struct {
	out         string // the folder that no run writes outside of
	shown       string // the same as callers are told; empty if they are not on this machine
	most        llmstxt.Input
	read        reading
	by          describing
	model       string
	noCache     bool
	timeout     time.Duration
	drain       time.Duration
	retention   time.Duration
	maxRuns     int
	maxEach     int // of them, of one principal
	verbose     bool
	secrets     *redact.Secrets
	conformance bool
}

// flags adds those that mcp and serve share.
func (h *hosting) flags(cmd *cobra.Command, flags *pflag.FlagSet) {
	flags.StringVar(&h.out, "out", "artifacts", "`folder` that runs write under, and nowhere else; made at the first run")
	flags.StringVar(&h.model, "model", "",
		"`name` of the model where a call names none; auto is one that a server on this machine has loaded")
	h.by.at.flags(cmd, flags)
	flags.BoolVar(&h.noCache, "no-cache", false, "neither take results from the cache nor keep them there")
	h.read.flags(flags)
	flags.DurationVar(&h.timeout, "timeout", 0, "longest `time` a run may take, for example 90s (default 30m)")
	flags.DurationVar(&h.drain, "drain", 30*time.Second, "longest `time` that runs are waited for at the end")
	flags.DurationVar(&h.retention, "retention", 24*time.Hour, "`time` that the events of an ended run are kept")
	flags.IntVar(&h.maxRuns, "max-runs", 1000, "most `runs` at the same time")
	flags.BoolVar(&h.verbose, "verbose", false, "tell more on stderr")
	flags.BoolVar(&h.conformance, "conformance", false, "offer what the protocol's conformance suite asks for")
	must(flags.MarkHidden("conformance"))
	must(cmd.MarkFlagDirname("out"))
}

// judge tells what is wrong with the flags, and settles what follows from them.
func (h *hosting) judge(cmd *cobra.Command) error {
	var err error
	switch {
	case h.out == "":
		err = errors.New("--out needs the name of a folder")
	case h.timeout < 0 || h.drain < 0 || h.retention <= 0:
		err = errors.New("--timeout and --drain must not be negative, and --retention positive")
	case h.maxRuns <= 0:
		err = errors.New("--max-runs must be positive")
	default:
		err = errors.Join(h.read.judge(), h.by.at.judge())
	}
	if err != nil {
		return usage(cmd, err, "")
	}
	h.out = absolute(h.out)
	h.secrets = secretsOf(cmd.Context())
	h.by.at.secrets, h.read.from.secrets = h.secrets, h.secrets
	h.read.limit(&h.most)
	return h.by.judge(cmp.Or(h.model, llmstxt.AutoModel))
}

// node is what the runtime is made of.
func (h *hosting) node(config actors.Config) actors.Config {
	config.Jobs = h.jobs()
	config.WallClock, config.Retention = h.timeout, h.retention
	config.MaxRuns, config.MaxRunsPerPrincipal = h.maxRuns, h.maxEach
	config.Drain = max(h.drain, time.Nanosecond)
	return config
}
