package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/messages"
)

// MaxArtifact bounds the size of an artifact, in bytes.
const MaxArtifact = 16 << 20

// Artifacts returns tools that write, list and read the run's artifacts, which are files below the folder. When a
// file is written again, its old content is kept under NAME.1 and so on. If the folder is empty it is the run's own:
// what the tools read is no text of strangers, and unless attended, writing needs no approval.
func Artifacts(folder *os.Root, attended bool) ([]Tool, error) {
	there, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return nil, err
	}
	a, r, own := artifacts{folder}, repository{confined.FS(folder)}, len(there) == 0
	about := func(name, description string, access Access) Tool {
		outside := access == Read && !own
		if own && !attended {
			access = Read
		}
		return Tool{Name: name, Description: description, Access: access, InOrder: true,
			Idempotent: name != "append_artifact", Outside: outside}
	}
	return []Tool{
		TaskFunc(about("write_artifact", "Writes a file for the user. A .json file must be JSON.", Write), a.write),
		TaskFunc(about("append_artifact", "Appends to a file for the user, or makes it.", Write), a.append),
		Func(about("list_artifacts", "Lists the files for the user in a folder.", Read), r.list),
		Func(about("read_artifact", "Reads lines of a file for the user.", Read), r.read),
	}, nil
}

// artifacts are the tools on a folder.
type artifacts struct{ folder *os.Root }

type writing struct {
	Name string `json:"name" jsonschema:"such as notes/today.md"`
	Text string `json:"text"`
}

type appending struct {
	writing
	Last bool `json:"last,omitempty" jsonschema:"the file is complete now"`
}

// write replaces the file. The old text is kept in another one, so that no call of a model destroys data.
func (a artifacts) write(_ context.Context, c *Call, in writing) (string, error) {
	if path.Ext(in.Name) == ".json" && !json.Valid([]byte(in.Text)) {
		return "", messages.InvalidInput("the text is not JSON, as %s must be", in.Name)
	}
	old, err := a.whole(in.Name)
	switch {
	case err == nil && string(old) != in.Text:
		err = a.keep(c, in.Name, old)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err == nil {
		err = confined.Write(a.folder, in.Name, 0o644, func(w io.Writer) error {
			_, err := io.WriteString(w, in.Text)
			return err
		})
	}
	if err != nil {
		return "", err
	}
	return a.written(c, in.Name, []byte(in.Text), false)
}

// whole returns the content of a file that is not larger than an artifact may be.
func (a artifacts) whole(name string) ([]byte, error) {
	f, err := confined.Open(a.folder, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxArtifact+1))
	if err == nil && len(data) > MaxArtifact {
		err = tooLarge(name)
	}
	return data, err
}

func tooLarge(name string) error {
	return messages.LimitExceeded("%s would have more than %d bytes; go on in another file",
		name, MaxArtifact)
}

// keep renames the old file to the first free name of a version.
func (a artifacts) keep(c *Call, name string, old []byte) error {
	folder, base := path.Split(name)
	dir, err := confined.Folder(a.folder, path.Clean(folder))
	if err != nil {
		return err
	}
	defer dir.Close()
	for n := 1; ; n++ {
		version := fmt.Sprintf("%s.%d", base, n)
		if _, err := dir.Lstat(version); err == nil {
			continue
		}
		if err := dir.Rename(base, version); err != nil {
			return err
		}
		_, err := a.written(c, folder+version, old, false)
		return err
	}
}

func (a artifacts) append(_ context.Context, c *Call, in appending) (string, error) {
	content, err := a.extend(in.Name, in.Text)
	if err != nil {
		return "", err
	}
	return a.written(c, in.Name, content, !in.Last)
}

// extend returns the content of the file with the text appended.
func (a artifacts) extend(name, text string) ([]byte, error) {
	if err := confined.Name(name); err != nil {
		return nil, err
	}
	dir, err := confined.Make(a.folder, path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := confined.OpenFile(dir, path.Base(name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxArtifact+1))
	switch {
	case err != nil:
		return nil, err
	case len(content)+len(text) > MaxArtifact:
		return nil, tooLarge(name)
	}
	if _, err = f.WriteString(text); err != nil {
		return nil, err
	}
	return append(content, text...), f.Sync()
}

// written emits the event of a file, partial or whole, and returns the words that tell the model the same.
func (a artifacts) written(c *Call, name string, content []byte, partial bool) (string, error) {
	sum := sha256.Sum256(content)
	is := messages.Artifact{Name: name, Path: name, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:]),
		Partial: partial}
	reply := fmt.Sprintf("%s has %d bytes", name, len(content))
	if partial {
		return reply, c.Task.Emit(messages.ArtifactPartial{Artifact: is}, reply)
	}
	return reply, c.Task.Emit(messages.ArtifactWritten{Artifact: is}, reply)
}
