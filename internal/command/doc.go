// Package command makes jobs of programs. An operator's file defines them, see [Read]; package cmd/internal/commands
// runs the program of a command line.
//
// [Define] makes a Definition of a [Command]: a tool, a form, an endpoint and a step for plans. Its task is
// [runner.run]:
//
//   - The arguments are a list that no shell sees. {name} in an argument stands for a member of the input, which fits
//     its schema.
//   - The program leads a process group, which ends with the program and, where the system supports that, with this
//     process. A cancel sends TERM, and KILL a second and a half later. A process that left the group and holds a
//     pipe open does not hold up the run.
//   - The program's stdout becomes the text "stdout" and, after each mebibyte, "stdout.2" and so on. Lines of stderr
//     become the run's log. Both apply back-pressure: a program that writes faster than the run accepts has to wait,
//     and nothing is buffered in memory. Beyond Command.MaxOutput the oldest text is dropped, which a milestone
//     reports.
//   - Lines of JSON on descriptor 3 report more, see [version]. Answers to its questions are lines on stdin.
//
// A run whose program fails has the cause error, and one of the codes below.
package command
