package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choice is a flag's value that is one of a few words.
type choice struct {
	value string
	of    []string
}

func (c *choice) String() string { return c.value }

func (c *choice) Type() string { return strings.Join(c.of, "|") }

func (c *choice) Set(word string) error {
	if !slices.Contains(c.of, word) {
		return fmt.Errorf("it is one of %s", strings.Join(c.of, ", "))
	}
	c.value = word
	return nil
}

// choose adds a flag for the choice, whose first word is the default, and lets the shell complete it.
func choose(cmd *cobra.Command, flags *pflag.FlagSet, c *choice, name, usage string, of ...string) {
	c.value, c.of = of[0], of
	flags.Var(c, name, usage)
	must(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp)))
}

// must is for what fails only where the program contradicts itself.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
