package host

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
)

// Foreground holds the flags of commands that wait for a run: how the run is shown, how long it may take, and where its
// events are stored.
type Foreground struct {
	Show    terminal.Display
	Timeout time.Duration
	State   store.Flags
}

// AddFlags adds the flags. standard describes the default of --timeout.
func (f *Foreground) AddFlags(cmd *cobra.Command, flags *pflag.FlagSet, standard string) {
	flags.BoolVar(&f.Show.JSONL, "jsonl", false, "print the run's events to stdout, one JSON object per line")
	flags.BoolVar(&f.Show.JSON, "json", false, "print the result to stdout as one JSON object")
	flags.BoolVarP(&f.Show.Quiet, "quiet", "q", false, "print nothing to stderr but errors")
	flags.DurationVar(&f.Timeout, "timeout", 0, "maximum `time` of the run, such as 90s (default "+standard+")")
	f.State.AddState(cmd, flags)
}

// Check checks the flags.
func (f *Foreground) Check() error {
	switch {
	case f.Timeout < 0:
		return settings.Negative("--timeout")
	case f.Show.JSON && f.Show.JSONL:
		return errors.New("--json and --jsonl exclude each other: each has stdout for itself")
	}
	return nil
}

// Limits returns the limits of the run.
func (f *Foreground) Limits() messages.Limits {
	return messages.Limits{WallClockMS: Milliseconds(f.Timeout)}
}
