package editor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/actors/confined"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/acp"
)

// files are those of a session's folder. What the editor has open counts, where the editor gives it.
type files struct {
	root *os.Root
	*acp.Session
	agent *agent
}

// patience bounds how long an editor may take for a file.
const patience = 10 * time.Second

// tools list and search the files on the disk, and read and write them with the editor: unasked or not.
func (f *files) tools(unasked bool) []tool.Tool {
	disk, shown := tool.Repository(confined.FS(f.root)), tool.Repository(f)
	for i, t := range shown {
		if t.Name == "read_file" {
			disk[i] = t
		}
	}
	about := func(name, description string) tool.Tool {
		return tool.Tool{Name: name, Description: description, Access: tool.Write, InOrder: true, Named: unasked, Idempotent: name == writes}
	}
	return append(disk,
		tool.TaskFunc(about(writes, "Writes a text file of the repository, new or whole."),
			func(ctx context.Context, c *tool.Call, in writing) (string, error) { return f.change(ctx, c, in.edit) }),
		tool.TaskFunc(about(edits, "Replaces a text in a file of the repository. It must occur there once."),
			func(ctx context.Context, c *tool.Call, in replacing) (string, error) {
				return f.change(ctx, c, in.edit)
			}))
}

// Open opens a file as the editor has it.
func (f *files) Open(name string) (fs.File, error) {
	file, err := confined.FS(f.root).Open(name)
	if err != nil || !f.Reads {
		return file, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return file, err
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	text, err := f.ReadFile(ctx, f.at(name))
	if err != nil {
		return file, nil // such as a file that is no text: the disk has it
	}
	return buffer{file, strings.NewReader(text)}, nil
}

// buffer is a file with what the editor has of it.
type buffer struct {
	fs.File
	text io.Reader
}

func (b buffer) Read(p []byte) (int, error) { return b.text.Read(p) }

// The tools that change a file.
const (
	writes = "write_file"
	edits  = "edit_file"
)

type writing struct {
	Path string `json:"path" jsonschema:"the file, such as src/main.go"`
	Text string `json:"text" jsonschema:"all of the file"`
}

type replacing struct {
	Path string `json:"path" jsonschema:"the file, such as src/main.go"`
	Old  string `json:"old" jsonschema:"the text to replace, with enough around it to occur once"`
	New  string `json:"new" jsonschema:"what takes its place"`
}

func (in writing) edit(old func(string) (*string, error)) (string, acp.Edit, error) {
	name, err := inside(in.Path)
	if err != nil {
		return "", acp.Edit{}, err
	}
	before, err := old(name)
	return name, acp.Edit{Old: before, New: in.Text}, err
}

func (in replacing) edit(old func(string) (*string, error)) (string, acp.Edit, error) {
	name, err := inside(in.Path)
	if err != nil {
		return "", acp.Edit{}, err
	}
	before, err := old(name)
	switch {
	case err != nil:
		return name, acp.Edit{}, err
	case before == nil:
		return name, acp.Edit{}, messages.InvalidInput("there is no %s; write_file makes it", name)
	}
	if n := strings.Count(*before, in.Old); in.Old == "" || n != 1 {
		return name, acp.Edit{}, messages.InvalidInput("the old text occurs %d times in %s; give one that occurs once", n, name)
	}
	return name, acp.Edit{Old: before, New: strings.Replace(*before, in.Old, in.New, 1)}, nil
}

// inside is the name of a path as models write it.
func inside(name string) (string, error) {
	clean := path.Clean(strings.TrimLeft(name, "/"))
	return clean, confined.Name(clean)
}

func (f *files) at(name string) string { return filepath.Join(f.Folder, filepath.FromSlash(name)) }

// now is what a file holds: for the editor, with what is not saved. It is nil where there is none.
func (f *files) now(name string) (*string, error) {
	file, err := f.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, tool.MaxArtifact+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > tool.MaxArtifact:
		return nil, messages.Errorf(messages.CauseLimitExceeded, "%s has more than %d bytes", name, tool.MaxArtifact)
	}
	return new(string(data)), nil
}

// preview is what a call is about to make of a file, or nil.
func (a *agent) preview(s *acp.Session, name string, arguments json.RawMessage) *acp.Edit {
	a.mu.Lock()
	one := a.open[s.ID]
	a.mu.Unlock()
	var edit interface {
		edit(old func(string) (*string, error)) (string, acp.Edit, error)
	}
	switch name {
	case writes:
		edit = new(writing)
	case edits:
		edit = new(replacing)
	}
	if one == nil || edit == nil || json.Unmarshal(arguments, edit) != nil {
		return nil
	}
	file, e, err := edit.edit(one.files.now)
	if err != nil {
		return nil
	}
	e.Path = one.files.at(file)
	return &e
}

// changed returns what a call has made of a file, once.
func (a *agent) changed(run messages.RunID, call string) *acp.Edit {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := string(run) + "/" + call
	e, ok := a.edits[id]
	if !ok {
		return nil
	}
	delete(a.edits, id)
	return &e
}

// change changes a file, and tells the editor how at the end of the call.
func (f *files) change(ctx context.Context, c *tool.Call, edit func(old func(string) (*string, error)) (string, acp.Edit, error)) (
	string, error) {
	name, e, err := edit(f.now)
	if err != nil {
		return "", err
	}
	e.Path = f.at(name)
	if err = f.write(ctx, name, e.New); err != nil {
		return "", err
	}
	f.agent.mu.Lock()
	defer f.agent.mu.Unlock()
	f.agent.edits[c.Key] = e
	return name + " is written", nil
}

func (f *files) write(ctx context.Context, name, text string) error {
	dir, err := confined.Make(f.root, path.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	if f.Writes {
		return f.WriteFile(ctx, f.at(name), text)
	}
	mode := fs.FileMode(0o644)
	if info, err := dir.Stat(path.Base(name)); err == nil {
		mode = info.Mode().Perm()
	}
	return confined.Write(f.root, name, mode, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
