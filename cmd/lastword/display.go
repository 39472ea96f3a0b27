package main

import (
	"context"
	"encoding/json"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// display shows a run to a person on stderr, and to a program on stdout.
type display struct {
	stdout, stderr io.Writer
	out            string  // folder of the artifacts
	jsonl, json    bool    // on stdout: every event, or what the run came to
	explain        bool    // on stdout: why each file was chosen
	speech         *speech // prints a model's answer on stdout, if that is what is asked for
	quiet          bool
	look           look
	view           view
	lost           error // why stdout is no longer written
}

// view is how a person sees a run that goes on.
type view interface {
	show(s messages.State, e messages.Event)
	end()   // the terminal has been shown
	leave() // the program ends now, whatever the run does
}

// open decides how the run is shown, once all flags have their values.
func (d *display) open(o *showing) {
	tty := isTerminal(d.stderr)
	d.look = look{colour: coloured(o.noColor, tty), ascii: onlyASCII()}
	switch {
	case d.quiet || o.progress.value == "none":
		d.view = silent{}
	case tty && o.inPlace(d.jsonl && isTerminal(d.stdout)):
		d.view = suspendable(newLive(d.stderr, d.look, d.size))
	default:
		d.view = &linewise{out: d.stderr, look: d.look}
	}
}

func suspendable(l *live) *live {
	l.onSuspend = onSuspend
	return l
}

// showing is what the flags of every command say about how a run is shown.
type showing struct {
	progress choice
	noColor  bool
}

// inPlace: on a terminal that others write to as well, and where CI only looks like one, lines are better.
func (o *showing) inPlace(shared bool) bool {
	switch o.progress.value {
	case "tty":
		return !dumb()
	case "auto":
		return !dumb() && !shared && os.Getenv("CI") == ""
	}
	return false
}

func isTerminal(stream any) bool {
	f, ok := behind(stream).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// size is the terminal's, or that of a usual one.
func (d *display) size() (columns, rows int) {
	if f, ok := behind(d.stderr).(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// columns is how long a line may be: as long as it likes where nobody wraps it.
func (d *display) columns() int {
	if !isTerminal(d.stderr) {
		return 1 << 20
	}
	columns, _ := d.size()
	return columns
}

// follow shows the run's events as they come and returns what they add up to.
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
		if d.lost == nil {
			if d.lost = d.tell(lines, e); d.lost != nil {
				run.Cancel(ctx, unread)
			}
		}
		d.view.show(state, e)
	}
	return state, nil
}

// tell prints what stdout has of the event.
func (d *display) tell(lines *json.Encoder, e messages.Event) error {
	switch {
	case d.jsonl:
		return lines.Encode(e)
	case d.speech != nil:
		return d.speech.tell(e)
	}
	return nil
}

// unread is why a run is cancelled when its events cannot be written any more.
const unread = "nobody reads the events any more"

// interrupted: the next Ctrl-C is the second.
func interrupted(e messages.RunCanceling) bool { return e.Reason != unread }

// close shows how the run ended.
func (d *display) close(s messages.State) {
	d.view.end()
	d.card(s)
	switch {
	case d.json:
		d.lost = printJSON(d.stdout, sumOf(s))
	case d.explain:
		d.lost = explain(d.stdout, d.out, s.Artifacts)
	}
}

// summary is what --json prints of a run.
type summary struct {
	RunID     messages.RunID      `json:"run_id"`
	Status    messages.Status     `json:"status"`
	Cause     messages.Cause      `json:"cause,omitempty"`
	Error     *messages.Error     `json:"error,omitempty"`
	Result    json.RawMessage     `json:"result,omitempty"`
	Degraded  bool                `json:"degraded,omitempty"`
	Artifacts []messages.Artifact `json:"artifacts"`
}

func sumOf(s messages.State) summary {
	artifacts := append([]messages.Artifact{}, s.Artifacts...) // never null
	return summary{s.RunID, s.Status, s.End.Cause, s.End.Error, s.End.Result, s.End.Degraded, artifacts}
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
