package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choice is a flag's value that is one of a few words.
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
		return fmt.Errorf("it is one of %s", strings.Join(c.of, ", "))
	}
	*c.value = word
	return nil
}

// Choice adds a flag for one of the words, whose first word is the default, and lets the shell complete it.
func Choice(cmd *cobra.Command, flags *pflag.FlagSet, value *string, name, usage string, of ...string) {
	*value = of[0]
	flags.Var(&choice{value, of}, name, usage)
	Must(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp)))
}

// Must is for what fails only where the program contradicts itself.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}
