package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
)

// Run is what a display follows: an actors.Run, or a run of a server.
type Run interface {
	Events(ctx context.Context, after uint64) iter.Seq2[messages.Event, error]
	// Cancel is called when nobody can read the events any more.
	Cancel(ctx context.Context, reason string) error
}

// Display shows a run to a person on stderr, and to a program on stdout.
type Display struct {
	Stdout, Stderr io.Writer
	Folder         string                                    // of the artifacts; "" if they are only printed
	JSONL, JSON    bool                                      // on stdout: every event, or what the run came to
	Print          func(w io.Writer, s messages.State) error // on stdout, at the end
	Answer         *Answer                                   // prints a model's answer on stdout; may be nil
	Output         bool                                      // what a command writes goes to stdout
	// Ask puts a question of the run or of a sub-run to the user, until ctx ends. Without it others have to.
	Ask   func(ctx context.Context, run messages.RunID, in messages.InputRequired) (json.RawMessage, error)
	Quiet bool // prints failures only
	Brief bool // prints no end of a run that simply completed
	Kept  bool // the run's id can be used after the run
	Style style
	View  view
	Lost  error // the error that ended writing to stdout

	shown   io.Writer // Stdout, for what a program says
	printed struct {  // of that
		stream string
		bytes  int
	}

	mu   sync.Mutex
	held []func() // what is to be shown after a question; nil if none is asked
}

// Hold keeps what happens from the terminal, which a question needs for itself, until release is called.
func (d *Display) Hold() (release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = []func(){}
	l, drawn := d.View.(*live)
	if drawn {
		l.pause()
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, show := range d.held {
			show()
		}
		if d.held = nil; drawn {
			l.goOn()
		}
	}
}

func (d *Display) show(s messages.State, e messages.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held != nil {
		d.held = append(d.held, func() { d.View.Show(s, e) })
		return
	}
	d.View.Show(s, e)
}

// view shows a running job to a person.
type view interface {
	Show(s messages.State, e messages.Event)
	End()   // the run has ended
	Leave() // the program ends now
}

// Open chooses the view. All flags must have their values.
func (d *Display) Open(o *Options) {
	tty := IsTerminal(d.Stderr)
	d.shown = Shown(d.Stdout)
	d.Style = style{color: o.Colored(tty), ascii: o.ASCIIOnly()}
	switch {
	case d.Quiet || o.Progress == "none":
		d.View = Silent{}
	case tty && !d.Output && o.InPlace(d.JSONL && IsTerminal(d.Stdout)):
		d.View = suspendable(newLive(d.Stderr, d.Style, func() (int, int) { return sizeOf(d.Stderr) }))
	default:
		d.View = &lines{out: d.Stderr, style: d.Style}
	}
}

func suspendable(l *live) *live {
	l.onSuspend = onSuspend
	return l
}

// Options are the flags of every command about the display of a run.
type Options struct {
	Progress string
	NoColor  bool
	Env      environment.Variables
}

// InPlace reports whether a run is redrawn in place. If others write to the terminal too, or in CI, lines are better.
func (o *Options) InPlace(shared bool) bool {
	switch o.Progress {
	case "tty":
		return !o.dumb()
	case "auto":
		return !o.dumb() && !shared && o.Env.Get("CI") == ""
	}
	return false
}

func IsTerminal(stream any) bool {
	f, ok := Unwrap(stream).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// sizeOf is the size of the terminal behind the stream, or a usual one.
func sizeOf(stream any) (columns, rows int) {
	if f, ok := Unwrap(stream).(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// Columns is the width of the terminal behind the stream, and a very large one if there is none.
func Columns(stream any) int {
	if !IsTerminal(stream) {
		return 1 << 20
	}
	columns, _ := sizeOf(stream)
	return columns
}

// Follow shows the run's events as they come and returns what they add up to.
func (d *Display) Follow(ctx context.Context, run Run) (messages.State, error) {
	var state messages.State
	lines := JSONLines(d.Stdout)
	for e, err := range run.Events(ctx, 0) {
		if err != nil {
			return state, err
		}
		if state, err = state.Apply(e); err != nil {
			return state, err
		}
		if d.Lost == nil {
			if d.Lost = d.tell(lines, e); d.Lost != nil {
				run.Cancel(ctx, unread)
			}
		}
		d.show(state, e)
	}
	return state, nil
}

// tell prints the event's part on stdout.
func (d *Display) tell(lines *json.Encoder, e messages.Event) error {
	switch {
	case d.JSONL:
		return lines.Encode(e)
	case d.Answer != nil:
		return d.Answer.Print(e)
	case d.Output:
		return d.output(e.Body)
	}
	return nil
}

// output prints what the event adds to the stdout of a command.
func (d *Display) output(body messages.Body) (err error) {
	switch b := body.(type) {
	case messages.TextDelta:
		if b.Stream != d.printed.stream {
			d.printed.stream, d.printed.bytes = b.Stream, 0
		}
		if end := b.Offset + b.Dropped + len(b.Text); strings.HasPrefix(b.Stream, "stdout") && end > d.printed.bytes {
			fresh := b.Text[max(len(b.Text)-(end-d.printed.bytes), 0):]
			d.printed.bytes = end
			_, err = io.WriteString(d.shown, fresh)
		}
	case messages.Merged:
		for _, part := range b.Parts {
			err = errors.Join(err, d.output(part))
		}
	case messages.TaskRestarted:
		d.printed.stream = ""
	}
	return err
}

// unread is the reason for canceling a run whose events cannot be written any more.
const unread = "nobody reads the events any more"

// interrupted reports whether the user canceled the run, so that the next Ctrl-C is the second.
func interrupted(e messages.RunCanceling) bool { return e.Reason != unread }

// Close shows how the run ended.
func (d *Display) Close(s messages.State) {
	d.View.End()
	d.card(s)
	switch {
	case d.JSON:
		d.Lost = PrintJSON(d.Stdout, d.summarize(s))
	case d.Print != nil:
		d.Lost = d.Print(d.Stdout, s)
	}
}

// runSummary is what --json prints of a run.
type runSummary struct {
	RunID     messages.RunID      `json:"run_id"`
	Status    messages.Status     `json:"status"`
	Cause     messages.Code       `json:"cause,omitempty"`
	Error     *messages.Error     `json:"error,omitempty"`
	Result    json.RawMessage     `json:"result,omitempty"`
	Degraded  bool                `json:"degraded,omitempty"`
	Artifacts []messages.Artifact `json:"artifacts"`
	// PartialText is what a model had answered when the run failed or was canceled.
	PartialText string `json:"partial_text,omitempty"`
}

// summarize names files as the caller can open them.
func (d *Display) summarize(s messages.State) runSummary {
	artifacts := append([]messages.Artifact{}, s.Artifacts...) // never null
	for i, a := range artifacts {
		artifacts[i].Path = d.path(a.Path)
	}
	result := s.End.Result
	if r := generated(s); r.Folder != "" {
		result = bytes.Replace(result, folderField(r.Folder), folderField(d.path(r.Folder)), 1)
	}
	sum := runSummary{RunID: s.RunID, Status: s.Status, Cause: s.End.Cause, Error: s.End.Error, Result: result,
		Degraded: s.End.Degraded, Artifacts: artifacts}
	for _, text := range s.Streams {
		if call.IsAnswer(text.Name) && s.Status != messages.Completed {
			sum.PartialText = text.Text()
		}
	}
	return sum
}

// folderField is the field of a result that names a folder, as JSON.
func folderField(name string) []byte {
	field, _ := json.Marshal(map[string]string{"folder": name})
	return bytes.Trim(field, "{}")
}

// path is where a file of the run is, seen from the current folder.
func (d *Display) path(name string) string { return filepath.Join(d.Folder, filepath.FromSlash(name)) }

// JSONLines writes values as lines. On a terminal the characters that could steer it are escaped.
func JSONLines(w io.Writer) *json.Encoder {
	if IsTerminal(w) {
		w = visible{w}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// visible is for writes of whole JSON values.
type visible struct{ io.Writer }

func (v visible) Write(p []byte) (int, error) {
	if _, err := io.WriteString(v.Writer, words.Visible(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func PrintJSON(w io.Writer, v any) error {
	e := JSONLines(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Unwrap is the stream behind one that removes secrets.
func Unwrap(stream any) any {
	if w, ok := stream.(interface{ Unwrap() io.Writer }); ok {
		return w.Unwrap()
	}
	return stream
}

// PrintLines writes each value as a line of JSON.
func PrintLines[T any](w io.Writer, list []T) error {
	lines := JSONLines(w)
	for _, v := range list {
		if err := lines.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// PrintText prints a text that a model or a plan came to, without control characters.
func PrintText(w io.Writer, text string) error {
	_, err := fmt.Fprintln(w, strings.TrimSuffix(words.WithoutControls(text), "\n"))
	return err
}
