// Package command makes programs jobs. An operator's file names them, see [Read]; package cmd/internal/commands has the
// program of the command line itself.
//
// [Define] makes a [Command] a Definition, and so a tool, a form, an endpoint and a step of plans. Its task is [Runner.run]:
//
//   - The arguments are a list, which no shell sees. {name} in one of them is a member of the input, which fits its schema.
//   - The program leads a process group of its own, which ends with it, and with this process where the system can do
//     that. A cancel is TERM, and KILL after a second and a half. A process that left the group and holds a pipe does not
//     hold the run.
//   - What it writes to stdout is the text "stdout", after a mebibyte "stdout.2", and so on; lines of stderr are the run's
//     log. Both wait for the run: a program that writes faster waits, and nothing is kept in memory meanwhile. Beyond
//     Command.MaxOutput the oldest text is dropped, which a milestone tells.
//   - Lines of JSON on descriptor 3 say more, see [version]; answers to its questions are lines on stdin.
//
// A run whose program fails has the cause error, and one of the codes below.
package command
