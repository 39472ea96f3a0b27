package generate

import (
	"path"
	"slices"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/own"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/messages"
)

// existingFiles are where repositories keep the llms.txt that they publish.
var existingFiles = []string{
	nameTxt, "docs/" + nameTxt, "public/" + nameTxt, "static/" + nameTxt, "docs/public/" + nameTxt,
	"website/static/" + nameTxt,
}

// mostExisting bounds the llms.txt that is read.
const mostExisting = 1 << 20

// keepExisting lets what the maintainers wrote in the repository's own llms.txt win over what was found.
func (g *generation) keepExisting(t *actors.TaskContext) {
	if g.input.Fresh {
		return
	}
	for _, name := range existingFiles {
		data, err := readAtMost(g.files, name, mostExisting)
		if err != nil || len(data) == 0 {
			continue
		}
		file := own.File{Path: name, Text: string(data), Made: g.earlier(name, data)}
		if file.Made != nil && file.Made.Whole && !file.Made.Kept {
			return
		}
		g.index = own.Into(g.index, file, paths(g.repo.Files))
		t.Log(messages.LogInfo, "kept the order and the notes of "+name+"; --fresh ignores it")
		return
	}
}

// earlier gives what the llms.json beside the file says that a run wrote; nil if there is none.
func (g *generation) earlier(name string, data []byte) *own.Made {
	last := documentOf(g.files, path.Join(path.Dir(name), nameJSON))
	if last == nil {
		return nil
	}
	made := &own.Made{Notes: make(map[string]string)}
	made.Whole = slices.ContainsFunc(last.Artifacts, func(a render.Artifact) bool {
		return a.Name == nameTxt && a.SHA256 == messages.Digest(string(data))
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
