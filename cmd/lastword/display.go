package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// display shows a run to a person, and its events to a program.
type display struct {
	stdout, stderr io.Writer
	out            string // folder of the artifacts
	jsonl, quiet   bool
	lost           error // why stdout is no longer written
}

// follow prints the run's events as they come and returns what they add up to.
func (d *display) follow(ctx context.Context, run *actors.Run) (messages.State, error) {
	var state messages.State
	lines := json.NewEncoder(d.stdout)
	lines.SetEscapeHTML(false)
	for e, err := range run.Events(ctx, 0) {
		if err != nil {
			return state, err
		}
		if state, err = state.Apply(e); err != nil {
			return state, err
		}
		if d.jsonl && d.lost == nil {
			if d.lost = lines.Encode(e); d.lost != nil {
				run.Cancel(ctx, "nobody reads the events any more")
			}
		}
		d.line(state, e)
	}
	return state, nil
}

// line prints a milestone: the time since the run was queued, the kind, the message.
func (d *display) line(s messages.State, e messages.Event) {
	if d.quiet || e.IsDelta() {
		return
	}
	text := printable(e.Message)
	if e.Kind() == messages.KindRunCanceling && d.lost == nil { // then it was the first Ctrl-C
		text += "; Ctrl-C leaves at once"
	}
	fmt.Fprintf(d.stderr, "%9s  %-16s  %s\n", since(s.QueuedAt, e.Time), e.Kind(), text)
}

// card prints how the run ended, from its State alone. A failure is said even quietly.
func (d *display) card(s messages.State) {
	took := since(s.QueuedAt, s.End.At)
	switch {
	case s.Status == messages.Failed:
		d.stack(s.End.Error)
		fmt.Fprintf(d.stderr, "\nfailed after %s%s (%s): %s\n", took, during(s.End.Task), s.End.Cause, printable(s.End.Error.Message))
	case d.quiet:
		return
	case s.Status == messages.Canceled:
		fmt.Fprintf(d.stderr, "\ncanceled after %s\n", took)
	default:
		fmt.Fprintf(d.stderr, "\n%s in %s\n", s.Status, took)
	}
	for _, a := range s.Artifacts {
		fmt.Fprintf(d.stderr, "  %9s  %s%s\n", size(a.Bytes), filepath.Join(d.out, filepath.FromSlash(a.Path)), partly(a))
	}
	fmt.Fprintf(d.stderr, "  run %s, %d events\n", s.RunID, s.Seq)
}

func during(task string) string {
	if task == "" {
		return ""
	}
	return " in " + printable(task)
}

// stack comes before the reason: it is long, and the reason should be in sight when it is over.
func (d *display) stack(e *messages.Error) {
	if e.Stack == "" {
		return
	}
	fmt.Fprintln(d.stderr)
	for line := range strings.Lines(e.Stack) {
		fmt.Fprintf(d.stderr, "  | %s\n", printable(strings.TrimRight(line, "\n")))
	}
}

func partly(a messages.Artifact) string {
	if a.Partial {
		return " (partial)"
	}
	return ""
}

// since has a fixed number of decimals, so that a column of them can be read down.
func since(start, at time.Time) string { return fmt.Sprintf("%.3f s", at.Sub(start).Seconds()) }

func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// printable keeps what a run says from steering the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
