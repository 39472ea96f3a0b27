package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

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

func usage(err error) error { return &exitError{exitUsage, err} }

// report prints the error and returns the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitCompleted
	}
	exit, ok := errors.AsType[*exitError](err)
	switch {
	case ok && exit.err == nil:
	case ok:
		fmt.Fprintln(stderr, "lastword:", exit.err)
	case isUsage(err):
		fmt.Fprintf(stderr, "lastword: %v\nlastword --help says what there is\n", err)
		return exitUsage
	default:
		fmt.Fprintln(stderr, "lastword:", err)
	}
	if ok {
		return exit.code
	}
	return codeOf(messages.Cause(messages.CodeOf(err)))
}

// isUsage recognises what the command library says of unknown commands and missing arguments: it has no type for them.
func isUsage(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "unknown command") || strings.Contains(text, "arg(s)")
}

// codeOf maps a cause to the exit code.
func codeOf(cause messages.Cause) int {
	switch cause {
	case messages.CauseInvalidInput:
		return exitUsage
	case messages.CauseProviderError, messages.CauseTransportClosed, messages.CauseEmptyCompletion, messages.CauseInvalidOutput:
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
	case by == syscall.SIGTERM:
		return exitTerminated
	case by != nil || s.Status == messages.Canceled:
		return exitInterrupted
	case s.Status == messages.Completed:
		return exitCompleted
	case s.End == nil:
		return exitFailed
	}
	return codeOf(s.End.Cause)
}
