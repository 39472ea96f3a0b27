package lmstxt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"path"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

const (
	artifactScheme = "lmstxt://artifacts/"
	graphScheme    = "lmstxt://graphs/"
)

// mostListed is the maximum number of files in a list, mostFound the maximum number that is examined for it.
const (
	mostListed = 200
	mostFound  = 10_000
)

// found is a file in a list. Filename is relative to the caller's folder.
type found struct {
	Filename     string    `json:"filename"`
	Bytes        int64     `json:"size_bytes"`
	LastModified time.Time `json:"last_modified"`
	URI          string    `json:"uri"`
}

// foundSchema is the JSON Schema of a list of files.
const foundSchema = `{"type":"object","required":["artifacts"],"properties":{"artifacts":{"type":"array","items":{` +
	`"type":"object","required":["filename","size_bytes","last_modified","uri"]}}}}`

// recordsSchema is the JSON Schema of a list of records.
const recordsSchema = `{"type":"object","required":["runs"],"properties":{"runs":{"type":"array","items":{` +
	`"type":"object","required":["run_id","status","artifacts","error_message","created_at","updated_at"]}}}}`

func (d *door) addLists() {
	addTool(d, mcp.Tool{Name: "lmstxt_list_runs", Title: "List llms.txt runs",
		Description: "Lists your runs that make llms.txt files, the newest updated first. Use it to find a run_id, " +
			"or to see how far runs are.",
		Input: mcp.Object(nil, `"limit":{"type":"integer","minimum":1,"maximum":50,"default":10,"description":"the `+
			`most runs"}`),
		Output:   json.RawMessage(recordsSchema),
		ReadOnly: true, Idempotent: true}, d.listRuns)
	addTool(d, mcp.Tool{Name: "lmstxt_list_all_artifacts", Title: "List llms.txt files",
		Description: "Lists the text files in your folder, the first 200, also from runs that are no longer known. Each " +
			"uri can be read as a resource.",
		Input: mcp.Object(nil), Output: json.RawMessage(foundSchema), ReadOnly: true, Idempotent: true},
		func(ctx context.Context, _ struct{}) (*mcp.Result, error) {
			return d.list(ctx, artifactScheme, func(name string) bool { return path.Ext(name) == ".txt" })
		})
	addTool(d, mcp.Tool{Name: "lmstxt_list_graph_artifacts", Title: "List graph files",
		Description: "Lists the files of repository graphs in your folder, the first 200: repo.graph.json, " +
			"repo.force.json and then the pages of nodes. Read them with lmstxt_read_graph_artifact or as resources.",
		Input: mcp.Object(nil), Output: json.RawMessage(foundSchema), ReadOnly: true, Idempotent: true},
		func(ctx context.Context, _ struct{}) (*mcp.Result, error) {
			return d.list(ctx, graphScheme, isGraph)
		})
}

type listArguments struct {
	Limit int `json:"limit"`
}

// listRuns lists runs as records, of those with one id the newest. It skips those that expire meanwhile.
func (d *door) listRuns(ctx context.Context, a listArguments) (*mcp.Result, error) {
	list, err := d.Runs(ctx, messages.Query{Job: generateJob, Limit: cmp.Or(a.Limit, 10)})
	if err != nil {
		return nil, err
	}
	records := []record{}
	known := map[messages.RunID]bool{}
	for _, run := range list {
		first := firstOf(run.RunID, run.Labels)
		if known[first] {
			continue
		}
		if state, err := d.Run(ctx, run.RunID); err == nil {
			records, known[first] = append(records, d.recordOf(state)), true
		}
	}
	return listed("runs", records)
}

// listed returns a list in the form of the earlier server: the text is an array. The structured content wraps it,
// because it must be an object.
func listed[T any](name string, list []T) (*mcp.Result, error) {
	text, err := mcp.Text(list)
	if err != nil {
		return nil, err
	}
	return &mcp.Result{Text: text, Structured: map[string]json.RawMessage{name: json.RawMessage(text)}}, nil
}

// list lists the files below the caller's folder for which wanted returns true. It does not follow links.
func (d *door) list(
	ctx context.Context, scheme string, wanted func(name string) bool,
) (*mcp.Result, error) {
	files := []found{}
	folder, err := d.files(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return listed("artifacts", files)
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	err = fs.WalkDir(folder, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case len(files) == mostFound:
			return fs.SkipAll
		case err != nil || !e.Type().IsRegular() || !wanted(name):
			return nil // ignore what cannot be read
		}
		if info, err := e.Info(); err == nil {
			files = append(files, found{Filename: name, Bytes: info.Size(), LastModified: info.ModTime().UTC(),
				URI: scheme + mcp.EscapePath(name)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// The pages of single packages of a graph come last.
	pages := slices.Clone(files)
	files = stable.DeleteFunc(files, func(f found) bool { return path.Ext(f.Filename) == ".md" })
	files = append(files, stable.DeleteFunc(pages, func(f found) bool { return path.Ext(f.Filename) != ".md" })...)
	return listed("artifacts", files[:min(len(files), mostListed)])
}

// searched is the maximum number of runs that a search for a repository's runs reads.
const searched = 200

// run returns the State of the caller's run, which must be a run of generate.
func (d *door) run(ctx context.Context, id messages.RunID) (messages.State, error) {
	state, err := d.Run(ctx, id)
	if err == nil && state.Queued.Job != generateJob {
		err = messages.Errorf(messages.CodeNotFound, "run %s is one of %s and has no llms.txt", id, state.Queued.Job)
	}
	return state, err
}

// runsOf yields the caller's runs for the repository into the folder out, the last updated first.
func (d *door) runsOf(ctx context.Context, repository, out string) iter.Seq2[messages.State, error] {
	return func(yield func(messages.State, error) bool) {
		list, err := d.Runs(ctx, messages.Query{Job: generateJob, Limit: searched})
		if err != nil {
			yield(messages.State{}, err)
			return
		}
		isOf := d.isOf(repository)
		for _, run := range list {
			state, err := d.Run(ctx, run.RunID)
			if err != nil { // the run was removed in the meantime
				continue
			}
			if in := inputOf(state); in.Out == out && isOf(in) && !yield(state, nil) {
				return
			}
		}
	}
}

// isOf returns a function that reports whether the input of a run is for the repository.
func (d *door) isOf(repository string) func(input) bool {
	named, meanings := d.named(repository), spellings(repository)
	return func(in input) bool {
		return in.Repository == named || slices.ContainsFunc(spellings(in.Repository), func(s spelling) bool {
			return slices.ContainsFunc(meanings, func(m spelling) bool { return m.key() == s.key() })
		})
	}
}

// madeFor returns the last run that has written the file, or may still do so, of those that were made for the given run
// or for the same earlier run. If there is none, it returns the run itself.
func (d *door) madeFor(ctx context.Context, state messages.State, name string) (messages.State, error) {
	first := firstOf(state.RunID, state.Queued.Labels)
	list, err := d.Runs(ctx, messages.Query{Job: generateJob, Limit: searched})
	for _, run := range list {
		if run.RunID != first && messages.RunID(run.Labels[earlierLabel]) != first {
			continue
		}
		if later, err := d.Run(ctx, run.RunID); err == nil && (!later.Status.IsEnded() || has(later, name)) {
			return later, nil
		}
	}
	return state, err
}
