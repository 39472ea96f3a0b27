package generate

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/form"
	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
	"github.com/seed889630bf/lastword/messages"
)

// Define returns the definition of the job.
func Define(config Config) actors.Definition {
	return actors.Definition{Name: Name, About: messages.About{
		Title: "Generate llms.txt",
		Description: "Writes llms.txt, an index of what matters in a repository, with llms-full.txt (the linked " +
			"files) and llms.json. Use it to get to know a repository, or to give it an llms.txt. Takes seconds " +
			"without a model; start it with run_start for a big repository.",
		Input: form.Input[Input](), Models: form.ForModels[Input](), Output: form.Result[Result](),
		Idempotent: true, OpenWorld: true, Say: summarize,
	}, New: actors.Typed(func(in Input) (actors.Job, error) { return Job(in, config) })}
}

// summarize summarizes the run in a few lines.
func summarize(ended messages.State) string {
	end := ended.End
	switch {
	case end != nil && end.Error != nil:
		return fmt.Sprintf("generate %s, %s: %s (run %s)", ended.Status, end.Cause, end.Error.Message, ended.RunID)
	case end == nil || ended.Status != messages.Completed:
		return fmt.Sprintf("generate %s (run %s)", ended.Status, ended.RunID)
	}
	var r Result
	_ = json.Unmarshal(end.Result, &r) // missing members are not mentioned
	var b strings.Builder
	b.WriteString(r.Title)
	if r.Summary != "" {
		b.WriteString(": " + r.Summary)
	}
	fmt.Fprintf(&b, "\nllms.txt links to %d of the %d files. Run %s wrote in %s: %s.\n", r.Links, r.Files, ended.RunID,
		r.Folder, filesOf(ended))
	if end.Degraded {
		fmt.Fprintf(&b, "The model failed (%s): this is what can be said without one.\n", r.Cause)
	}
	b.WriteString("Read a file with run_read {run_id, name}.")
	return b.String()
}

// filesOf lists the files of a run with their sizes. It counts the pages, of which there may be thousands.
func filesOf(ended messages.State) string {
	var all []string
	pages := 0
	for _, a := range ended.Artifacts {
		if graph.IsPage(a.Name) {
			pages++
			continue
		}
		all = append(all, fmt.Sprintf("%s (%d bytes)", a.Name, a.Bytes))
	}
	if pages > 0 {
		all = append(all, fmt.Sprintf("%d more", pages))
	}
	return strings.Join(all, ", ")
}
