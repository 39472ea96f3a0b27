package artifact

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/messages"
)

// written is the input of the job write, as its run shows it.
type written struct {
	Name string `json:"name"`
	text string
}

// Write defines the job write. It writes below the folder of its principal; spend, which may be nil, is called before
// with the bytes.
func Write(folder func(principal string) (string, error), spend func(principal string, bytes int) error) actors.Definition {
	return actors.Definition{Name: "write", New: func(input json.RawMessage) (actors.Job, error) {
		var in struct{ Name, Text string }
		if err := json.Unmarshal(input, &in); err != nil {
			return actors.Job{}, messages.InvalidInput("write needs texts: %v", err)
		}
		name := path.Clean(in.Name)
		if !filepath.IsLocal(filepath.FromSlash(name)) || name == "." {
			return actors.Job{}, messages.InvalidInput(
				"the file %q is not below the output folder; give a relative path without ..", in.Name)
		}
		w := written{name, in.Text}
		work := func(_ context.Context, t *actors.TaskContext) error {
			if spend != nil {
				if err := spend(t.Principal(), len(w.text)); err != nil {
					return err
				}
			}
			below, err := folder(t.Principal())
			if err != nil {
				return err
			}
			if err := w.save(below); err != nil {
				return err
			}
			a := messages.Artifact{Name: w.Name, Path: w.Name, Bytes: int64(len(w.text)), SHA256: messages.Digest(w.text)}
			if err := t.Emit(messages.ArtifactWritten{Artifact: a}, "wrote "+w.Name); err != nil {
				return err
			}
			return t.Result(map[string]any{"name": a.Name, "bytes": a.Bytes}, false)
		}
		return actors.Job{Name: "write", Input: w, Tasks: []actors.Task{{Name: "write", Run: work}}}, nil
	}}
}

// save writes the file so that nobody ever sees a part of it.
func (w written) save(folder string) error {
	folder = cmp.Or(folder, ".")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(w.Name)), 0o755); err != nil {
		return err
	}
	if err := atomicfile.WriteText(root, w.Name, 0o644, w.text); err != nil {
		return err
	}
	return atomicfile.SyncFolder(root, path.Dir(w.Name))
}
