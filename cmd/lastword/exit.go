package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/messages"
)

// Exit codes; the README lists them.
const (
	exitCompleted     = 0
	exitFailed        = 1
	exitUsage         = 2
	exitConfiguration = 3
	exitProvider      = 4
	exitLimit         = 5
	exitStale         = 10
	exitTimeout       = 124
	exitInterrupted   = 130
	exitTerminated    = 143
)

// exitError ends the program with a code; what there is to say has been said where err is nil.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return fmt.Sprint(e.err) }

func (e *exitError) Unwrap() error { return e.err }

// usage is the error of a command line that cannot be understood; hint, where there is one, says what would be.
func usage(cmd *cobra.Command, err error, hint string) error {
	if hint == "" {
		hint = fmt.Sprintf("%s --help says what there is", cmd.CommandPath())
	}
	return &exitError{exitUsage, fmt.Errorf("%w\n%s", err, hint)}
}

// mistaken says what a flag's value must be, in the words that settings have for it.
func mistaken(err error) error {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	name, kind, must := wrong.GetFlag().Name, wrong.GetFlag().Value.Type(), wrong.Unwrap().Error()
	if isPlain(kind) || kind == "bool" {
		must = expected(kind)
	}
	return fmt.Errorf("--%s %q: %s", name, wrong.GetValue(), must)
}

// report prints the error and returns the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitCompleted
	}
	exit, ok := errors.AsType[*exitError](err)
	if !ok || exit.err != nil {
		fmt.Fprintln(stderr, "lastword:", harmless(err.Error())) // it may quote a server
	}
	if ok {
		return exit.code
	}
	if messages.CodeOf(err) == messages.Code(messages.CauseInvalidInput) {
		return exitUsage
	}
	return codeOf(messages.Cause(messages.CodeOf(err)))
}

// codeOf maps the cause of a run's failure to the exit code. By the time there is a run the command line has been
// understood: input that turns out to be of no use is a matter of configuration.
func codeOf(cause messages.Cause) int {
	switch cause {
	case messages.CauseInvalidInput:
		return exitConfiguration
	case messages.CauseProviderError, messages.CauseTransportClosed, messages.CauseEmptyCompletion,
		messages.CauseInvalidOutput:
		return exitProvider
	case messages.CauseLimitExceeded:
		return exitLimit
	case messages.CauseDeadline:
		return exitTimeout
	}
	return exitFailed
}

// exitOf maps a run's end to the exit code. by is the signal that cancelled it, or nil.
func exitOf(s messages.State, by os.Signal) int {
	switch {
	case by != nil:
		return codeOfSignal(by)
	case s.Status == messages.Canceled:
		return exitInterrupted
	case s.Status == messages.Completed:
		return exitCompleted
	case s.End == nil:
		return exitFailed
	}
	return codeOf(s.End.Cause)
}

func codeOfSignal(s os.Signal) int {
	if s == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupted
}
