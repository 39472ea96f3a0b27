package terminal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// card prints how the run ended, from its State only. It prints failures even with --quiet.
func (d *Display) card(s messages.State) {
	failed := s.Status == messages.Failed
	if d.Quiet && !failed || d.Brief && s.Status == messages.Completed && !s.End.Degraded {
		return
	}
	fresh(d.Stderr)
	if failed {
		d.stack(s.End.Error)
	}
	if !d.Brief && !d.Quiet {
		fmt.Fprintln(d.Stderr)
	}
	fmt.Fprintln(d.Stderr, Wrap(d.verdict(s), Columns(d.Stderr)-1))
	if words := Hint(s, d.Works); words != "" {
		fmt.Fprintf(d.Stderr, "  %s\n", d.Style.paint(d.Style.mark("→ ")+words, dim))
	}
	if d.Brief || d.Quiet {
		return
	}
	if d.Outcome != nil {
		d.outcome(s)
	}
	if d.Folder != "" {
		d.files(s.Artifacts)
	}
	if d.Kept {
		fmt.Fprintf(d.Stderr, "  run %s, %d events\n", s.RunID, s.Seq%messages.Reserve) // recovery skips messages.Reserve numbers
	}
}

// files lists the files of a run, and sums up the pages of a graph.
func (d *Display) files(artifacts []messages.Artifact) {
	var pages []messages.Artifact
	for _, a := range artifacts {
		if strings.HasPrefix(a.Name, "nodes/") && strings.HasSuffix(a.Name, ".md") { // there may be hundreds of pages of a graph
			pages = append(pages, a)
			continue
		}
		fmt.Fprintf(d.Stderr, "  %9s  %s%s\n", words.Size(a.Bytes), words.Printable(d.path(a.Path)), partly(a))
	}
	d.pages(pages)
}

// verdict returns how the run ended, after which time, and why.
func (d *Display) verdict(s messages.State) string {
	took := since(s.QueuedAt, s.End.At)
	status := func(as color) string { return d.Style.paint(string(s.Status), as) }
	switch s.Status {
	case messages.Failed:
		during := ""
		if s.End.Task != "" {
			during = " in " + words.Printable(s.End.Task)
		}
		return fmt.Sprintf("%s after %s%s (%s): %s", status(red), took, during, s.End.Cause, words.Printable(s.End.Error.Message))
	case messages.Canceled:
		return fmt.Sprintf("%s after %s", status(yellow), took)
	}
	if s.End.Degraded {
		sign := d.Style.paint(d.Style.mark("⚠")+" degraded", yellow)
		return fmt.Sprintf("%s, %s in %s: %s", sign, s.Status, took, words.Printable(WhyDegraded(s)))
	}
	return fmt.Sprintf("%s in %s", status(green), took)
}

// Worker is what does the work of a run of this process: a command has flags for it.
type Worker string

// Workers. A run of a server has none here.
const (
	Model   Worker = "model"
	Program Worker = "program"
)

// Hint returns the flag that helps after a failure, unless the error names one already.
func Hint(s messages.State, works Worker) string {
	if s.Status != messages.Failed || strings.Contains(s.End.Error.Message, "--") {
		return ""
	}
	switch reason := s.End.Error.Message; {
	case s.End.Cause == messages.CauseDeadline:
		return "--timeout gives the run more time"
	case s.End.Cause == messages.CauseStalled && works == Program:
		return "--idle lets the program be silent for longer"
	case s.End.Task == "fetch", works != Model:
		return ""
	case s.End.Cause == messages.CauseStalled:
		return "--first-token and --idle wait longer for the model"
	case strings.HasPrefix(reason, "http 401"), strings.HasPrefix(reason, "http 403"):
		return "--key-file or LASTWORD_API_KEY gives the server a key"
	case s.End.Cause == messages.CauseTransportClosed:
		return "start a server of models, such as LM Studio, Ollama or llama-server, or name one with --base-url; lastword doctor checks it"
	case s.End.Cause == messages.CauseProviderError, s.End.Cause == messages.CauseEmptyCompletion:
		return "--model names another model; lastword provider check tests the server"
	}
	return ""
}

// WhyDegraded returns the reason in the result, or the run's last warning.
func WhyDegraded(s messages.State) string {
	var r struct{ Degraded string }
	_ = json.Unmarshal(s.End.Result, &r) // results of other jobs have none
	switch end := model.EndOf(s); {
	case end.Reason == model.Length && s.Queued.Job == "prompt":
		return end.Lack() + "; --max-tokens raises it"
	case cmp.Or(end.Lack(), r.Degraded) != "":
		return cmp.Or(end.Lack(), r.Degraded)
	}
	if n := len(s.Notices); n > 0 {
		return s.Notices[n-1].Text
	}
	for _, l := range slices.Backward(s.Log.Lines) {
		if l.Level == messages.LogWarn {
			return l.Text
		}
	}
	return "the result is less than you asked for"
}

// folderOf returns the folder that the run's result names, or "".
func folderOf(s messages.State) string {
	var r struct{ Folder string }
	_ = json.Unmarshal(s.End.Result, &r) // results of most jobs have none
	return r.Folder
}

// outcome prints what the run has found, as its job says it.
func (d *Display) outcome(s messages.State) {
	title, summary, text := d.Outcome(s.End.Result)
	if title == "" {
		return
	}
	about := []span{{"  ", ""}, {title, bold}}
	if summary != "" {
		about = append(about, span{": " + summary, ""})
	}
	line, _ := d.Style.line(about, Columns(d.Stderr))
	if d.Folder != "" {
		text += ", in " + d.path(folderOf(s))
	}
	fmt.Fprintf(d.Stderr, "%s\n  %s\n", line, words.Printable(text))
}

// stack prints the stack of a panic. It comes before the reason, so that the reason stays visible.
func (d *Display) stack(e *messages.Error) {
	if e.Stack == "" {
		return
	}
	fmt.Fprintln(d.Stderr)
	for line := range strings.Lines(e.Stack) {
		fmt.Fprintf(d.Stderr, "  | %s\n", words.Printable(strings.TrimRight(line, "\n")))
	}
}

// pages sums up the pages of a graph in one line.
func (d *Display) pages(list []messages.Artifact) {
	if len(list) == 0 {
		return
	}
	var bytes int64
	for _, a := range list {
		bytes += a.Bytes
	}
	folder := filepath.Dir(d.path(list[0].Path))
	fmt.Fprintf(d.Stderr, "  %9s  and %s in %s%s\n", words.Size(bytes), words.Count(len(list), "page"), words.Printable(folder),
		partly(list[0]))
}

func partly(a messages.Artifact) string {
	if a.Partial {
		return " (partial)"
	}
	return ""
}
