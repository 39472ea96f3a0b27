package terminal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Run is a run that a display can follow: an actors.Run, or a run of a server.
type Run interface {
	Events(ctx context.Context, after uint64) iter.Seq2[messages.Event, error]
	// Cancel is called when the events can no longer be written.
	Cancel(ctx context.Context, reason string) error
}

// Display shows a run to people on stderr, and to programs on stdout. mu guards held.
type Display struct {
	Stdout, Stderr io.Writer
	Folder         string                                    // folder of the artifacts; "" if they are only printed
	JSONL, JSON    bool                                      // print every event, or the result, to stdout
	Print          func(w io.Writer, s messages.State) error // prints to stdout at the end
	Answer         *Answer                                   // prints answers or, with Output, a command's output; may be nil
	Output         bool                                      // print a command's output to stdout
	// Outcome says what the result of the run's job means, for the card; nil if the job has nothing to say.
	Outcome func(result json.RawMessage) (title, summary, numbers string)
	// Ask asks the user a question of the run or of a sub-run, until ctx ends. If it is nil, somebody else must answer.
	Ask    func(ctx context.Context, run messages.RunID, in messages.InputRequired) (json.RawMessage, error)
	Quiet  bool // print only failures
	Brief  bool // print nothing at the end of a run that completed
	Kept   bool // the run's id is valid after the run
	Served bool // other commands reach the run while it goes on, if it is kept
	Own    bool // this program has started the run, and ends when the run was ended
	Works  Worker
	Style  style
	View   view
	Lost   error // the error that ended the writing to stdout

	mu   sync.Mutex
	held []func() // what to show after a question; nil if no question is asked
}

// Hold keeps output from the terminal, which a question needs for itself, until release is called.
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

// show calls f, which shows an event. While a question is on the terminal, show keeps f for later.
func (d *Display) show(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held != nil {
		d.held = append(d.held, f)
	} else {
		f()
	}
}

// isLost reports whether stdout takes no more. Anyone who prints to it calls isLost, with mu if that is not the printing goroutine.
func (d *Display) isLost() bool {
	if d.Answer != nil {
		d.Lost = cmp.Or(d.Lost, d.Answer.lost)
	}
	return d.Lost != nil
}

// view shows a run in progress to people.
type view interface {
	Show(s messages.State, e messages.Event)
	End()   // the run has ended
	Leave() // the program ends now
}

// Open chooses the view. All flags must have been set.
func (d *Display) Open(o *Options) {
	tty := IsTerminal(d.Stderr)
	if d.Output && !d.JSONL {
		d.Answer = &Answer{Stdout: Shown(d.Stdout), output: true, printed: map[*transcript.Item]int{}}
	}
	d.Style = style{color: o.Colored(tty), ascii: o.ASCIIOnly()}
	switch {
	case d.Quiet || o.Progress == "none":
		d.View = Silent{}
	case !d.Output && o.InPlace(d.Stderr, d.JSONL && IsTerminal(d.Stdout)):
		l := newLive(ungated(d.Stderr), d.Style, func() (int, int) { return sizeOf(d.Stderr) })
		l.onSuspend = onSuspend
		d.View = l
	default:
		l := newLines(d.Stderr, d.Style)
		l.program, d.View = d.Output, l
	}
}

// ShowAnswers sets up the display so that it prints answers. On a terminal the view shows the model's thoughts; redrawn
// blocks or lines for milestones would interrupt an answer. If stdout is piped and --progress is not given, stderr
// stays empty unless something fails or is missing.
func (d *Display) ShowAnswers(o *Options) {
	piped := !IsTerminal(d.Stdout)
	if piped && o.Progress == "auto" {
		d.View, d.Brief = Silent{}, true
		if !d.Quiet {
			d.View = Noticing{Out: d.Stderr}
		}
	}
	if d.JSON || d.JSONL {
		return
	}
	d.Answer = &Answer{Stdout: d.Stdout, Stderr: d.Stderr, Style: d.Style, Shared: !piped}
	if d.Quiet || d.Brief || !IsTerminal(d.Stderr) || o.Progress == "plain" || o.Progress == "none" {
		return
	}
	if d.View = d.Answer; o.InPlace(d.Stderr, false) {
		d.Answer.Columns = Columns(d.Stderr)
	}
}

// Options holds the flags of all commands for the display of runs.
type Options struct {
	Progress string
	NoColor  bool
	Env      environment.Variables
}

// InPlace reports whether runs are redrawn in place on the stream.
func (o *Options) InPlace(stream any, shared bool) bool { return Holds(stream) && o.Redraws(shared) }

// Redraws reports whether a terminal may be redrawn. If others write to it too, or in CI, lines are better.
func (o *Options) Redraws(shared bool) bool {
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

// Holds reports whether the stream is a terminal that this process may read and redraw. A shell lends its terminal to the
// processes in the foreground, and stops others that take it.
func Holds(stream any) bool { return IsTerminal(stream) && !inBackground(stream) }

// inBackground reports whether the stream is a terminal that others hold now.
func inBackground(stream any) bool {
	f, ok := Unwrap(stream).(*os.File)
	return ok && heldByOthers(f)
}

// sizeOf returns the size of the stream's terminal, or a common size.
func sizeOf(stream any) (columns, rows int) {
	if f, ok := Unwrap(stream).(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// Columns returns the width of the stream's terminal, or a very large number if it is not a terminal.
func Columns(stream any) int {
	if !IsTerminal(stream) {
		return 1 << 20
	}
	columns, _ := sizeOf(stream)
	return columns
}

// Follow shows the run's events as they arrive, and returns the State at the end. Stdout has a reader of the run of its
// own, unless it is a terminal: whoever reads it slowly delays nothing else.
func (d *Display) Follow(ctx context.Context, run Run) (messages.State, error) {
	prints := d.JSONL || d.Answer != nil && d.View != view(d.Answer)
	if d.Answer != nil && d.View != view(d.Answer) { // it prints to stdout alone
		d.Answer.Stderr, d.Answer.Shared = io.Discard, false
	}
	print := d.printer()
	if !prints || IsTerminal(d.Stdout) {
		state, err := d.follow(ctx, run, func(s messages.State, e messages.Event) bool {
			d.show(func() { print(s, e); d.View.Show(s, e) })
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.isLost()
		})
		d.isLost() // what a question held back was printed meanwhile
		return state, err
	}
	var (
		printing sync.WaitGroup
		failed   error
	)
	printing.Go(func() {
		_, failed = d.follow(ctx, plain(run), func(s messages.State, e messages.Event) bool { print(s, e); return d.isLost() })
	})
	state, err := d.follow(ctx, run, func(s messages.State, e messages.Event) bool {
		d.show(func() { d.View.Show(s, e) })
		return false
	})
	if err != nil {
		d.Hurry()
	}
	printing.Wait()
	return state, cmp.Or(err, failed)
}

// follow passes the run's events to show. If show says that stdout is lost, follow cancels the run.
func (d *Display) follow(ctx context.Context, run Run, show func(messages.State, messages.Event) (lost bool)) (state messages.State, err error) {
	defer context.AfterFunc(ctx, d.Hurry)()
	canceled := false
	for e, err := range run.Events(ctx, 0) {
		if err != nil {
			return state, err
		}
		if state, err = state.Apply(e); err != nil {
			return state, err
		}
		if end := state.End; d.Own && end != nil && (state.Status == messages.Canceled || end.Cause == messages.CauseDeadline || end.Cause == messages.CauseStalled) {
			d.Hurry()
		}
		if show(state, e) && !canceled {
			canceled = true
			run.Cancel(ctx, unread)
		}
	}
	return state, nil
}

// printer returns what prints to stdout what an event adds.
func (d *Display) printer() func(messages.State, messages.Event) {
	lines := JSONLines(d.Stdout)
	return func(s messages.State, e messages.Event) {
		if d.JSONL && d.Lost == nil {
			d.Lost = lines.Encode(e)
		}
		if d.Answer != nil && d.View != view(d.Answer) {
			d.Answer.Show(s, e)
		}
	}
}

// plain returns the run without its questions, which are put to the user once.
func plain(run Run) Run {
	if asks, ok := run.(interface{ Plain() Run }); ok {
		return asks.Plain()
	}
	return run
}

// unread is the reason for canceling a run whose events cannot be written.
const unread = "nobody reads the events any more"

// interrupted reports whether the user has canceled the run, so that the next Ctrl-C is the second one.
func interrupted(e messages.RunCanceling) bool { return e.Reason != unread }

// Close shows how the run ended.
func (d *Display) Close(s messages.State) {
	d.View.End()
	if a := d.Answer; a != nil && a.missing > 0 {
		fresh(d.Stderr)
		fmt.Fprintf(d.Stderr, "lastword: %s of stdout were no longer kept; a larger max_output keeps more\n", words.Count(a.missing, "byte"))
	}
	d.card(s)
	switch {
	case d.JSON:
		d.Lost = PrintJSON(d.Stdout, d.summarize(s))
	case d.Print != nil:
		d.Lost = d.Print(d.Stdout, s)
	}
}

// runSummary is the output of --json for a run.
type runSummary struct {
	RunID     messages.RunID      `json:"run_id"`
	Status    messages.Status     `json:"status"`
	Cause     messages.Code       `json:"cause,omitempty"`
	Error     *messages.Error     `json:"error,omitempty"`
	Result    json.RawMessage     `json:"result,omitempty"`
	Degraded  bool                `json:"degraded,omitempty"`
	Artifacts []messages.Artifact `json:"artifacts"`
	// PartialText is what a model had answered until the run failed or was canceled.
	PartialText string `json:"partial_text,omitempty"`
}

// summarize returns the summary, with paths of files that the caller can open.
func (d *Display) summarize(s messages.State) runSummary {
	artifacts := append([]messages.Artifact{}, s.Artifacts...) // never null
	for i, a := range artifacts {
		artifacts[i].Path = d.path(a.Path)
	}
	result := s.End.Result
	if folder := folderOf(s); folder != "" {
		result = bytes.Replace(result, folderField(folder), folderField(d.path(folder)), 1)
	}
	sum := runSummary{RunID: s.RunID, Status: s.Status, Cause: s.End.Cause, Error: s.End.Error, Result: result,
		Degraded: s.End.Degraded, Artifacts: artifacts}
	for _, text := range s.Streams {
		if messages.IsAnswer(text.Name) && s.Status != messages.Completed {
			sum.PartialText = text.Text()
		}
	}
	return sum
}

// folderField returns the JSON of a field that names a folder.
func folderField(name string) []byte {
	field, _ := json.Marshal(map[string]string{"folder": name})
	return bytes.Trim(field, "{}")
}

// path returns the path of one of the run's files, from the current folder.
func (d *Display) path(name string) string { return filepath.Join(d.Folder, filepath.FromSlash(name)) }

// JSONLines returns an encoder for one value per line. On a terminal it escapes characters that could control it.
func JSONLines(w io.Writer) *json.Encoder {
	escape := words.Unbroken
	if IsTerminal(w) {
		escape = func(json []byte) []byte { return []byte(words.Visible(string(json))) }
	}
	e := json.NewEncoder(escaping{w, escape})
	e.SetEscapeHTML(false)
	return e
}

// escaping escapes characters. Each write must be a complete JSON value.
type escaping struct {
	io.Writer
	escape func(json []byte) []byte
}

// Write returns how much of p was written, whatever its escapes have made of it.
func (e escaping) Write(p []byte) (int, error) {
	if _, err := e.Writer.Write(e.escape(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func PrintJSON(w io.Writer, v any) error {
	e := JSONLines(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Unwrap returns the stream behind the writers that remove secrets and what could steer a terminal.
func Unwrap(stream any) any {
	if w, ok := stream.(interface{ Unwrap() io.Writer }); ok {
		return Unwrap(w.Unwrap())
	}
	return stream
}

// PrintLines prints each value as a line of JSON.
func PrintLines[T any](w io.Writer, list []T) error {
	lines := JSONLines(w)
	for _, v := range list {
		if err := lines.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// PrintText prints the text of a model, job or plan: a pipe gets every character, a terminal none that controls it.
func PrintText(w io.Writer, text string) error {
	if IsTerminal(w) {
		text = words.WithoutControls(text)
	}
	_, err := fmt.Fprintln(w, strings.TrimSuffix(text, "\n"))
	return err
}
