package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/messages"
)

// MaxArtifact bounds an artifact, in bytes.
const MaxArtifact = 16 << 20

// Artifacts returns tools that write the run's artifacts, which are files below the folder, and list and read them.
// A file that is written anew keeps what it was under NAME.1 and so on. The folder is the run's own, so that they
// have the access of tools that only read.
func Artifacts(folder *os.Root) []Tool {
	a, r := artifacts{folder}, repository{folder.FS()}
	about := func(name, description string) Tool {
		return Tool{Name: name, Description: description, Access: Read, InOrder: true,
			Idempotent: name != "append_artifact"}
	}
	return []Tool{
		TaskFunc(about("write_artifact", "Writes a file for the user. A .json file must be JSON."), a.write),
		TaskFunc(about("append_artifact", "Appends to a file for the user, or makes it."), a.append),
		Func(about("list_artifacts", "Lists the files for the user in a folder."), r.list),
		Func(about("read_artifact", "Reads lines of a file for the user."), r.read),
	}
}

type artifacts struct{ folder *os.Root }

type writing struct {
	Name string `json:"name" jsonschema:"such as notes/today.md"`
	Text string `json:"text"`
}

type appending struct {
	writing
	Last bool `json:"last,omitempty" jsonschema:"the file is complete now"`
}

// check makes the folder of the file.
func (a artifacts) check(in writing) error {
	if !fs.ValidPath(in.Name) || strings.HasPrefix(in.Name, ".") || strings.Contains(in.Name, "/.") {
		return messages.InvalidInput("%q cannot be the name of a file; give one such as notes/today.md", in.Name)
	}
	return a.folder.MkdirAll(path.Dir(in.Name), 0o755)
}

func (a artifacts) write(_ context.Context, c *Call, in writing) (string, error) {
	if err := a.check(in); err != nil {
		return "", err
	}
	if path.Ext(in.Name) == ".json" && !json.Valid([]byte(in.Text)) {
		return "", messages.InvalidInput("the text is not JSON, as %s must be", in.Name)
	}
	old, err := a.folder.ReadFile(in.Name)
	switch {
	case err == nil && string(old) != in.Text:
		err = a.keep(c, in.Name, old)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err == nil {
		err = atomicfile.WriteText(a.folder, in.Name, 0o644, in.Text)
	}
	if err != nil {
		return "", err
	}
	return a.written(c, in.Name, []byte(in.Text), false)
}

// keep gives the old file the first name of a version that is free.
func (a artifacts) keep(c *Call, name string, old []byte) error {
	for n := 1; ; n++ {
		version := fmt.Sprintf("%s.%d", name, n)
		if _, err := a.folder.Lstat(version); err == nil {
			continue
		}
		if err := a.folder.Rename(name, version); err != nil {
			return err
		}
		_, err := a.written(c, version, old, false)
		return err
	}
}

func (a artifacts) extend(name, text string) error {
	f, err := a.folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.WriteString(text); err != nil {
		return err
	}
	return f.Sync()
}

func (a artifacts) append(_ context.Context, c *Call, in appending) (string, error) {
	if err := a.check(in.writing); err != nil {
		return "", err
	}
	if info, err := a.folder.Stat(in.Name); err == nil && info.Size()+int64(len(in.Text)) > MaxArtifact {
		return "", messages.Errorf(messages.Code(messages.CauseLimitExceeded), "%s would have more than %d bytes; "+
			"go on in another file", in.Name, MaxArtifact)
	}
	if err := a.extend(in.Name, in.Text); err != nil {
		return "", err
	}
	whole, err := a.folder.ReadFile(in.Name)
	if err != nil {
		return "", err
	}
	return a.written(c, in.Name, whole, !in.Last)
}

func (a artifacts) written(c *Call, name string, content []byte, partial bool) (string, error) {
	sum := sha256.Sum256(content)
	is := messages.Artifact{Name: name, Path: name, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:]),
		Partial: partial}
	said := fmt.Sprintf("%s has %d bytes", name, len(content))
	if partial {
		return said, c.Task.Emit(messages.ArtifactPartial{Artifact: is}, said)
	}
	return said, c.Task.Emit(messages.ArtifactWritten{Artifact: is}, said)
}
