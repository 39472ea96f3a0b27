package exit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// Exit codes.
const (
	Completed     = 0
	Failed        = 1
	Usage         = 2
	Configuration = 3
	Provider      = 4
	Limit         = 5
	Verification  = 7
	Untrusted     = 8
	Stale         = 10
	Timeout       = 124
	Interrupted   = 130
	Terminated    = 143
)

// Meanings describes each exit code in a few words.
var Meanings = map[int]string{Completed: "success", Failed: "failure", Usage: "wrong command line",
	Configuration: "wrong settings or input", Provider: "a server or a model failed", Limit: "a limit was reached",
	Verification: "a log or a proof is wrong", Untrusted: "no trusted key has signed it",
	Stale: "the file is stale", Timeout: "timeout", Interrupted: "Ctrl-C", Terminated: "SIGTERM or SIGHUP"}

// Error ends the program with a code. If Err is nil, the command has printed the reason already.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprint(e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Misconfigured gives an error the code of wrong settings or input; nil stays nil.
func Misconfigured(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: Configuration, Err: err}
}

// Unusable says that the folder cannot be made or opened, and that the flag names another one; nil stays nil.
func Unusable(err error, folder, flag string) error {
	if err == nil {
		return nil
	}
	return &Error{Code: Configuration, Err: fmt.Errorf("the folder %s cannot be used: %w; %s names another one", folder, err, flag)}
}

// BadUsage returns the error for a wrong command line. hint says what to do; "" refers to --help.
func BadUsage(cmd *cobra.Command, err error, hint string) error {
	hint = cmp.Or(hint, fmt.Sprintf("%s --help explains the command", cmd.CommandPath()))
	return &Error{Code: Usage, Err: fmt.Errorf("%w\n%s", err, hint)}
}

// Takes checks the number of arguments. needs says what they are; hint says what to do, as in [BadUsage].
func Takes(arguments int, needs, hint string) cobra.PositionalArgs {
	return TakesSome(arguments, arguments, needs, hint)
}

// TakesSome is [Takes] for a command that takes least to most arguments.
func TakesSome(least, most int, needs, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		return BadUsage(cmd, errors.New(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")+" "+needs), hint)
	}
}

// Report prints the error and returns the exit code.
func Report(stderr io.Writer, err error) int {
	if err == nil {
		return Completed
	}
	text := err.Error()                                                            // may quote a server
	if path, ok := errors.AsType[*fs.PathError](err); ok && text == path.Error() { // nobody has said what was to be done
		text = fmt.Sprintf("cannot %s %s: %v", cmp.Or(map[string]string{"mkdir": "make the folder"}[path.Op], path.Op), path.Path, path.Err)
	}
	exit, ok := errors.AsType[*Error](err)
	if !ok || exit.Err != nil {
		lines := strings.Split(words.WithoutControls(text), "\n")
		fmt.Fprintln(stderr, "lastword:", strings.Join(slices.Compact(lines), "\n")) // two parts may have failed for one reason
	}
	if ok {
		return exit.Code
	}
	switch {
	case messages.CodeOf(err) == messages.CauseInvalidInput:
		return Usage
	case errors.Is(err, regular.ErrTooLarge):
		return Limit
	}
	return OfCause(messages.CodeOf(err).Cause())
}

// OfCause returns the exit code for a failed run with the cause. Wrong input counts as wrong configuration, because the
// command line was valid when the run started.
func OfCause(cause messages.Code) int {
	switch cause {
	case messages.CauseInvalidInput:
		return Configuration
	case messages.CauseProviderError, messages.CauseTransportClosed, messages.CauseEmptyCompletion,
		messages.CauseInvalidOutput, messages.CauseContextExceeded, messages.CauseStalled:
		return Provider
	case messages.CauseLimitExceeded:
		return Limit
	case messages.CauseDeadline:
		return Timeout
	}
	return Failed
}

// OfRun returns the exit code for the end of a run. by is the signal that has canceled it, or nil.
func OfRun(s messages.State, by os.Signal) int {
	switch {
	case by != nil:
		return OfSignal(by)
	case s.Status == messages.Canceled:
		return Interrupted
	case s.Status == messages.Completed:
		return Completed
	case s.End == nil:
		return Failed
	}
	return OfCause(s.End.Cause)
}

// OfSignal returns the exit code for a run that the signal has canceled.
func OfSignal(s os.Signal) int {
	if s == os.Interrupt {
		return Interrupted
	}
	return Terminated // SIGHUP counts as SIGTERM
}

// Reason removes the path from an error of package os, for messages that name the path already.
func Reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
