package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/messages"
)

// explain prints why each file was chosen, as the llms.json among the run's artifacts says.
func explain(w io.Writer, out string, artifacts []messages.Artifact) error {
	for _, a := range artifacts {
		if a.Name != "llms.json" || a.Partial {
			continue
		}
		text, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(a.Path)))
		if err != nil {
			return err
		}
		var d render.Document
		if err := json.Unmarshal(text, &d); err != nil {
			return err
		}
		_, err = w.Write(explanation(d))
		return err
	}
	return nil
}

func explanation(d render.Document) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", d.Title)
	if d.Summary != "" {
		fmt.Fprintf(&b, "  %s\n  from %s: %s\n", d.Summary, d.SummaryFrom, d.SummaryReason)
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range d.Sections {
		fmt.Fprintf(t, "\n%s\n", s.Name)
		for _, l := range s.Links {
			fmt.Fprintf(t, "  %4d\t%s\t%s\n", l.Score, place(l), strings.Join(l.Reasons, "; "))
		}
	}
	if len(d.Dropped) > 0 {
		fmt.Fprintf(t, "\nOver the size budget\n")
		for _, x := range d.Dropped {
			fmt.Fprintf(t, "      \t%s\tof %s\n", x.Path, x.Artifact)
		}
	}
	if len(d.Passed) > 0 {
		fmt.Fprintf(t, "\nNot chosen\n")
		for _, p := range d.Passed {
			fmt.Fprintf(t, "      \t%s\t%s\n", p.Path, p.Reason)
		}
	}
	t.Flush()
	return b.Bytes()
}

// place is the file, with what the link says of it where several lead there.
func place(l render.Link) string {
	if _, line, ok := strings.Cut(l.URL, "#"); ok {
		return l.Path + " " + line
	}
	return l.Path
}
