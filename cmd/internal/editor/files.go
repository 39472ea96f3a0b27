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

	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/acp"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
)

// files gives the model access to the files of a session's folder. If the editor supports it, unsaved changes in the
// editor take precedence over the disk.
type files struct {
	root *os.Root
	*acp.Session
	agent *agent
}

// patience is how long an editor may take to return a file.
const patience = 10 * time.Second

// tools returns the tools that list and search files on disk, and that read and write files through the editor. unasked
// allows writes without asking.
func (f *files) tools(unasked bool) []tool.Tool {
	disk, shown := tool.Repository(confined.FS(f.root)), tool.Repository(f)
	for i, t := range shown {
		if t.Name == "read_file" {
			disk[i] = t
		}
	}
	about := func(name, description string) tool.Tool {
		return tool.Tool{Name: name, Description: description, Access: tool.Write, InOrder: true, Named: unasked, Idempotent: name == writes,
			Origin: settings.Real(f.Folder)} // an approval holds for this folder alone
	}
	return append(disk,
		tool.TaskFunc(about(writes, "Writes a text file of the repository, new or whole."),
			func(ctx context.Context, c *tool.Call, in writing) (string, error) { return f.change(ctx, c, in.edit) }),
		tool.TaskFunc(about(edits, "Replaces a text in a file of the repository. It must occur there once."),
			func(ctx context.Context, c *tool.Call, in replacing) (string, error) {
				return f.change(ctx, c, in.edit)
			}))
}

// Open opens a file with the content that the editor has.
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
		return file, nil // for example, the file is not text
	}
	return buffer{file, strings.NewReader(text)}, nil
}

// buffer is a file with the editor's content.
type buffer struct {
	fs.File
	text io.Reader
}

func (b buffer) Read(p []byte) (int, error) { return b.text.Read(p) }

// Names of the tools that change files.
const (
	writes = "write_file"
	edits  = "edit_file"
)

// writing is the input of write_file.
type writing struct {
	Path string `json:"path" jsonschema:"the file, such as src/main.go"`
	Text string `json:"text" jsonschema:"all of the file"`
}

// replacing is the input of edit_file.
type replacing struct {
	Path string `json:"path" jsonschema:"the file, such as src/main.go"`
	Old  string `json:"old" jsonschema:"the text to replace, with enough around it to occur once"`
	New  string `json:"new" jsonschema:"what takes its place"`
}

// edit returns the file's name and its text before and after.
func (in writing) edit(old func(string) (*string, error)) (string, acp.Edit, error) {
	name, err := inside(in.Path)
	if err != nil {
		return "", acp.Edit{}, err
	}
	before, err := old(name)
	return name, acp.Edit{Old: before, New: in.Text}, err
}

// edit returns the file's name and its text before and after. The old text must occur exactly once, so that no other
// place changes.
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

// inside converts a path from a model to a name below the folder. Errors: invalid_input for paths outside.
func inside(name string) (string, error) {
	clean := path.Clean(strings.TrimLeft(name, "/"))
	return clean, confined.Name(clean)
}

func (f *files) at(name string) string { return filepath.Join(f.Folder, filepath.FromSlash(name)) }

// now returns the current content of a file, including changes that the editor has not saved. It is nil if there is no
// file.
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
		return nil, messages.LimitExceeded("%s has more than %d bytes", name, tool.MaxArtifact)
	}
	return new(string(data)), nil
}

// preview returns the change that a call is about to make to a file, or nil.
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

// changed returns the change that a call has made to a file, and forgets it.
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

// change changes a file, and stores the change for the editor.
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

// write writes a file through the editor if it can, so that the user sees and can undo it. Otherwise it writes to the
// disk.
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
