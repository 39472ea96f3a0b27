package llmstxt

import (
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/own"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/messages"
)

// existing lists the paths where the repository may have an llms.txt of its maintainers: the usual ones, and then
// wherever else one lies, the shallowest first.
func (r *Repository) existing() []string {
	names := []string{NameTxt, "docs/" + NameTxt, "public/" + NameTxt, "static/" + NameTxt}
	var others []string
	for _, f := range r.Scan.Files {
		if path.Base(f.Path) == NameTxt && f.Place != scan.Test && f.Place != scan.Example && !slices.Contains(names, f.Path) {
			others = append(others, f.Path)
		}
	}
	slices.SortStableFunc(others, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return append(names, others...)
}

// mostExisting bounds the size of an llms.txt that is read.
const mostExisting = 1 << 20

// keepExisting merges the repository's own llms.txt into the index. What its maintainers wrote takes precedence.
func (r *Repository) keepExisting(index *rank.Index, most int, by Caller) *rank.Index {
	if r.options.Fresh {
		return index
	}
	for _, name := range r.existing() {
		data, err := readAtMost(r.files, name, mostExisting)
		if err != nil || len(data) == 0 {
			continue
		}
		file := own.File{Path: name, Text: string(data), Made: previousOutput(r.files, name, data)}
		if file.Made != nil && file.Made.Whole && !file.Made.Kept {
			return index
		}
		tell(by.Info, "kept the order and the notes of "+name+"; --fresh ignores it")
		return own.Into(index, file, paths(r.Scan.Files), most)
	}
	return index
}

// previousOutput returns what an earlier run wrote, according to the llms.json beside the file; nil if there is none.
func previousOutput(files fs.FS, name string, data []byte) *own.Made {
	last := DocumentOf(files, path.Join(path.Dir(name), NameJSON))
	if last == nil {
		return nil
	}
	made := &own.Made{Notes: make(map[string]string)}
	made.Whole = slices.ContainsFunc(last.Artifacts, func(a render.Artifact) bool {
		return a.Name == NameTxt && a.SHA256 == messages.Digest(string(data))
	})
	if made.Kept = last.SummaryReason == own.Reason; !made.Kept {
		made.Summary = last.Summary
	}
	for _, s := range last.Sections {
		for _, l := range s.Links {
			if slices.Contains(l.Reasons, own.Reason) {
				made.Kept = true
			} else {
				made.Notes[l.URL] = l.Note
			}
		}
	}
	return made
}

// DocumentOf reads an llms.json that was written earlier; nil if there is none.
func DocumentOf(files fs.FS, name string) *render.Document {
	const most = 64 << 20
	data, err := readAtMost(files, name, most)
	d := new(render.Document)
	if err != nil || json.Unmarshal(data, d) != nil || d.Schema != render.Schema {
		return nil
	}
	return d
}

func readAtMost(files fs.FS, name string, most int64) ([]byte, error) {
	f, info, err := scan.OpenRegular(files, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > most {
		return nil, fs.ErrInvalid
	}
	return io.ReadAll(io.LimitReader(f, most))
}
