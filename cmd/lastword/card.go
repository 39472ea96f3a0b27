package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// card prints how the run ended, from its State alone. A failure is said even quietly.
func (d *display) card(s messages.State) {
	failed := s.Status == messages.Failed
	if d.quiet && !failed {
		return
	}
	if failed {
		d.stack(s.End.Error)
	}
	fmt.Fprintf(d.stderr, "\n%s\n", d.verdict(s))
	if r := outcome(s); r.Title != "" {
		d.outcome(r)
	}
	var pages []messages.Artifact
	for _, a := range s.Artifacts {
		if isPage(a) {
			pages = append(pages, a)
			continue
		}
		name := printable(filepath.Join(d.out, filepath.FromSlash(a.Path)))
		fmt.Fprintf(d.stderr, "  %9s  %s%s\n", size(a.Bytes), name, partly(a))
	}
	d.pages(pages)
	fmt.Fprintf(d.stderr, "  run %s, %d events\n", s.RunID, s.Seq)
}

func (d *display) verdict(s messages.State) string {
	took := since(s.QueuedAt, s.End.At)
	status := func(as sgr) string { return d.look.paint(string(s.Status), as) }
	switch s.Status {
	case messages.Failed:
		return fmt.Sprintf("%s after %s%s (%s): %s", status(red), took, during(s.End.Task), s.End.Cause,
			printable(s.End.Error.Message))
	case messages.Canceled:
		return fmt.Sprintf("%s after %s", status(yellow), took)
	}
	if s.End.Degraded {
		degraded := d.look.paint("degraded", yellow)
		return fmt.Sprintf("%s in %s, %s: the result is less than was asked for", status(green), took, degraded)
	}
	return fmt.Sprintf("%s in %s", status(green), took)
}

func during(task string) string {
	if task == "" {
		return ""
	}
	return " in " + printable(task)
}

// result is what a job's result may say of itself.
type result struct {
	Title, Summary, Folder, Commit string
	Files, Links, Dropped          int64
	Cached                         bool
	Model                          string
	Cause                          messages.Cause `json:"degraded_cause"`
}

// outcome is empty where the result is not an object like that.
func outcome(s messages.State) result {
	var r result
	if json.Unmarshal(s.End.Result, &r) != nil {
		return result{}
	}
	return r
}

func (d *display) outcome(r result) {
	about := []span{{"  ", ""}, {r.Title, bold}}
	if r.Summary != "" {
		about = append(about, span{": " + r.Summary, ""})
	}
	line, _ := d.look.line(about, d.columns())
	fmt.Fprintln(d.stderr, line)
	words := count(r.Links, "link") + " from " + count(r.Files, "file")
	if r.Commit != "" {
		words += " at " + short(r.Commit)
	}
	if r.Dropped > 0 {
		words += ", " + grouped(r.Dropped) + " dropped for their size"
	}
	switch {
	case r.Model != "" && r.Cause != "":
		words += ", without " + r.Model + " (" + string(r.Cause) + ")"
	case r.Model != "":
		words += ", described by " + r.Model
	}
	if r.Cached {
		words += ", from the cache"
	}
	fmt.Fprintf(d.stderr, "  %s, in %s\n", printable(words), printable(filepath.Join(d.out, filepath.FromSlash(r.Folder))))
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

// isPage tells the artifacts of which there may be hundreds: they are said in one line.
func isPage(a messages.Artifact) bool {
	return strings.HasPrefix(a.Name, "nodes/") && strings.HasSuffix(a.Name, ".md")
}

func (d *display) pages(list []messages.Artifact) {
	if len(list) == 0 {
		return
	}
	var bytes int64
	for _, a := range list {
		bytes += a.Bytes
	}
	folder := filepath.Dir(filepath.Join(d.out, filepath.FromSlash(list[0].Path)))
	fmt.Fprintf(d.stderr, "  %9s  and %s in %s%s\n", size(bytes), count(int64(len(list)), "page"), printable(folder),
		partly(list[0]))
}

func partly(a messages.Artifact) string {
	if a.Partial {
		return " (partial)"
	}
	return ""
}
