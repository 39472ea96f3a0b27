package settings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages"
)

// choice is the value of a flag that accepts one of a few words.
type choice struct {
	value *string
	of    []string
}

func (c *choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c *choice) Type() string { return strings.Join(c.of, "|") }

func (c *choice) Set(word string) error {
	if !slices.Contains(c.of, word) {
		return fmt.Errorf("must be one of %s", strings.Join(c.of, ", "))
	}
	*c.value = word
	return nil
}

// Choice adds a flag that accepts one of the words. The first is the default. Shells complete them.
func Choice(cmd *cobra.Command, flags *pflag.FlagSet, value *string, name, usage string, of ...string) {
	*value = of[0]
	flags.Var(&choice{value, of}, name, usage)
	Must(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp)))
}

// Must panics. It is for errors that only a mistake in this program can cause.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// ByteSize is the value of a flag that counts bytes: 200000, 200k, 1.5MB, 64MiB. Units without an i are decimal.
type ByteSize int64

func (b *ByteSize) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *ByteSize) Type() string { return "bytes" }

// Set parses a number with a unit. k, M and G are powers of 1000; Ki, Mi and Gi are powers of 1024.
func (b *ByteSize) Set(text string) error {
	digits := strings.TrimRight(text, "BbKkMmGgi")
	number, err := strconv.ParseFloat(digits, 64)
	factor, ok := units[strings.TrimSuffix(strings.ToLower(strings.TrimPrefix(text, digits)), "b")]
	size := number * factor
	if err != nil || !ok || size < 0 || size >= math.MaxInt64 || size != size {
		return fmt.Errorf("must be a number of bytes, such as 200000, 200k, 10MB or 64MiB")
	}
	*b = ByteSize(size)
	return nil
}

// Budget is the value of a flag with a budget: unit=amount, separated by commas.
type Budget struct{ messages.Budget }

// Type returns the name of the value.
func (b *Budget) Type() string { return "budget" }

// Set parses a budget.
func (b *Budget) Set(text string) (err error) {
	b.Budget, err = messages.ParseBudget(text)
	return err
}

// units are the numbers of bytes in the units of a [ByteSize], without their B.
var units = map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}

// groupAnnotation is the annotation that holds the title of a flag's group.
const groupAnnotation = "lastword_group"

// Group adds flags under a title in the help. Flags that add itself puts under another title keep that.
func Group(flags *pflag.FlagSet, title string, add func()) {
	before := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	add()
	flags.VisitAll(func(f *pflag.Flag) {
		if !before[f.Name] && GroupOf(f) == "" {
			Must(flags.SetAnnotation(f.Name, groupAnnotation, []string{title}))
		}
	})
}

// GroupOf returns the flag's title in the help, or "".
func GroupOf(f *pflag.Flag) string {
	if titles := f.Annotations[groupAnnotation]; len(titles) > 0 {
		return titles[0]
	}
	return ""
}

// WithoutEffect returns an error for a flag on the command line that has no effect. where says in which case.
func WithoutEffect(cmd *cobra.Command, where string, works func(*pflag.Flag) bool) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Changed && !works(f) {
			err = fmt.Errorf("--%s has no effect %s", f.Name, where)
		}
	})
	return err
}

// KnownCommand returns an error if an argument is given instead of the name of a subcommand.
func KnownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = min(2, len(args[0])/2) // a short word is similar to everything
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	}
	return exit.BadUsage(cmd, fmt.Errorf("unknown command %q", args[0]), hint)
}

// Parent returns a command that only has subcommands.
func Parent(use string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Args: KnownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddGroup(&cobra.Group{ID: Working, Title: "Commands:"})
	cmd.AddCommand(subcommands...)
	return cmd
}
