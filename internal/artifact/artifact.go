package artifact

import (
	"cmp"
	"context"
	"io"
	"path"
	"slices"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/messages"
)

// readInput is the input of the job read.
type readInput struct {
	Run  messages.RunID `json:"run"`
	Name string         `json:"name"`
}

// fileText is the result of the job read. For a file that is too long for a result it has only File, with which the next
// step finds the file.
type fileText struct {
	Text string   `json:"text,omitempty"`
	File location `json:"file"`
}

// location identifies an artifact.
type location struct {
	Run    messages.RunID `json:"run"`
	Name   string         `json:"name"`
	Bytes  int64          `json:"bytes"`
	SHA256 string         `json:"sha256"`
}

// longestText bounds the text in a result, in bytes.
const longestText = messages.MaxEventBytes / 4

// Read returns the definition of the job read. state finds a run that the principal may read, and open opens an
// artifact of it.
func Read(state func(ctx context.Context, run messages.RunID, principal string) (messages.State, error),
	open func(context.Context, messages.State, messages.Artifact) (io.ReadSeekCloser, error)) actors.Definition {
	return actors.Func("read", func(ctx context.Context, t *actors.TaskContext, in readInput) (fileText, error) {
		run, err := state(ctx, in.Run, t.Principal())
		if err != nil {
			return fileText{}, err
		}
		k := slices.IndexFunc(run.Artifacts, func(a messages.Artifact) bool { return a.Name == in.Name })
		if k < 0 {
			return fileText{}, messages.Errorf(messages.CodeNotFound, "the run %s wrote no %s", in.Run, in.Name)
		}
		found := run.Artifacts[k]
		text := fileText{File: location{in.Run, found.Name, found.Bytes, found.SHA256}}
		if found.Bytes > longestText {
			return text, nil
		}
		f, err := open(ctx, run, found)
		if err != nil {
			return fileText{}, err
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, longestText))
		text.Text = string(data)
		return text, err
	})
}

// written is the input of the job write, as its run shows it.
type written struct {
	Name string `json:"name"`
	text string
}

// Write returns the definition of the job write. It writes below the folder of its principal. Before
// it writes, it calls spend, unless nil, with the number of bytes.
func Write(folder func(principal string) (string, error), spend func(ctx context.Context, principal string, bytes int) error) actors.Definition {
	return actors.Definition{Name: "write", New: actors.Typed(func(in struct{ Name, Text string }) (actors.Job, error) {
		name := path.Clean(in.Name)
		if err := confined.Name(name); err != nil || name == "." {
			return actors.Job{}, cmp.Or(err, error(messages.InvalidInput("the file needs a name")))
		}
		w := written{name, in.Text}
		work := func(ctx context.Context, t *actors.TaskContext) error {
			if spend != nil {
				if err := spend(ctx, t.Principal(), len(w.text)); err != nil {
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
	})}
}

// save writes the file atomically.
func (w written) save(folder string) error {
	root, err := confined.MakeRoot(cmp.Or(folder, "."))
	if err != nil {
		return err
	}
	defer root.Close()
	return confined.Write(root, w.Name, 0o644, func(to io.Writer) error {
		_, err := io.WriteString(to, w.text)
		return err
	})
}
