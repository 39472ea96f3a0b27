package artifact

import (
	"context"
	"io"
	"slices"

	"github.com/seed889630bf/lastword/actors"
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
	File Location `json:"file"`
}

// Location identifies an artifact.
type Location struct {
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
		text := fileText{File: Location{in.Run, found.Name, found.Bytes, found.SHA256}}
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
