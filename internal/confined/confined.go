package confined

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"unicode"

	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

// shortGit matches the short names that Windows may give to .git.
var shortGit = regexp.MustCompile(`^(?i:git~[0-9]+)$`)

// Name refuses a slash-separated name with an invalid_input error if it leaves the folder, if this system
// does not allow it, if a part of it begins with a dot, as .git and .env do, or if it has an invisible character.
func Name(name string) error {
	if !fs.ValidPath(name) {
		return messages.InvalidInput("%q is not below the folder; give a relative name such as docs/guide.md", name)
	}
	if name == "." {
		return nil
	}
	if _, err := filepath.Localize(name); err != nil { // on Windows, a backslash could lead into a hidden folder
		return messages.InvalidInput("this system does not allow the name %q; give a name such as docs/guide.md", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part[0] == '.', shortGit.MatchString(part):
			return messages.InvalidInput("%q is hidden; give a name without a part that begins with a dot", name)
		case strings.ContainsFunc(part, func(r rune) bool { return !unicode.IsPrint(r) }):
			return messages.InvalidInput("%q has an invisible character; give a name without it", name)
		}
	}
	return nil
}

// Open opens a file or a folder for reading.
func Open(root *os.Root, name string) (*os.File, error) { return OpenFile(root, name, os.O_RDONLY, 0) }

// OpenFile opens a file as [os.Root.OpenFile] does.
func OpenFile(root *os.Root, name string, flag int, mode fs.FileMode) (*os.File, error) {
	if err := Name(name); err != nil {
		return nil, err
	}
	return File(root, name, flag, mode)
}

// File is [OpenFile] for any name: it does not apply [Name].
func File(root *os.Root, name string, flag int, mode fs.FileMode) (*os.File, error) {
	dir, base := root, name
	if strings.Contains(name, "/") || name == "" {
		var err error
		if dir, base, err = split(root, name); err != nil {
			return nil, err
		}
		defer dir.Close()
	} else if _, err := filepath.Localize(name); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	seen, err := dir.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		flag |= os.O_EXCL // a file that appears meanwhile is not followed
	case err != nil:
		return nil, err
	case !seen.Mode().IsRegular() && !seen.IsDir():
		return nil, refusal(name, seen)
	}
	f, err := dir.OpenFile(base, flag|syscall.O_NONBLOCK, Within(dir, mode)) // the file may have become a pipe
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || seen != nil && !os.SameFile(seen, info) {
		return nil, errors.Join(refusal(name, seen), err, f.Close())
	}
	return f, nil
}

// Folder opens the folder dir below root.
func Folder(root *os.Root, dir string) (*os.Root, error) { return walk(root, dir, enter) }

// Make is [Folder] that also makes missing folders, and syncs their parents. It applies [Name].
func Make(root *os.Root, dir string) (*os.Root, error) {
	if err := Name(dir); err != nil {
		return nil, err
	}
	return walk(root, dir, makeStep)
}

// makeStep is enter for a folder that may be missing: it makes the folder, and syncs the one around it.
func makeStep(current *os.Root, part string) (*os.Root, error) {
	switch err := current.Mkdir(part, Within(current, 0o755)); {
	case err == nil:
		if err := atomicfile.SyncFolder(current, "."); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	return enter(current, part)
}

// MakeRoot makes and opens a folder that the user names. Neither it nor any folder between the working directory and
// it may be a link, since a link may have come with a repository.
func MakeRoot(name string) (*os.Root, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	from, rest := filepath.Split(name)
	if here, err := os.Getwd(); err == nil {
		if below, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(below) {
			from, rest = here, below
		}
	}
	if err := makeAll(from); err != nil {
		return nil, err
	}
	root, err := regular.Root(from)
	if err != nil || rest == "" {
		return root, err
	}
	defer root.Close()
	return walk(root, filepath.ToSlash(rest), makeStep)
}

// makeAll makes a folder and those above it.
func makeAll(name string) error {
	above := filepath.Dir(name)
	if _, err := os.Stat(name); err == nil || above == name {
		return err
	}
	if err := makeAll(above); err != nil {
		return err
	}
	root, err := regular.Root(above)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(filepath.Base(name), Within(root, 0o755)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Within returns the mode without what the folder keeps from others: what is made in a private folder is private.
func Within(dir *os.Root, mode fs.FileMode) fs.FileMode {
	info, err := dir.Stat(".")
	if err != nil {
		return mode & 0o700
	}
	return mode & (0o700 | info.Mode().Perm())
}

// Write writes a file as [atomicfile.Write] does, and makes its folder. It replaces a link of that name. The file is
// on disk when Write returns.
func Write(root *os.Root, name string, mode fs.FileMode, fill func(w io.Writer) error) error {
	if err := Name(name); err != nil {
		return err
	}
	dir, err := Make(root, path.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := atomicfile.Write(dir, path.Base(name), Within(dir, mode), fill); err != nil {
		return err
	}
	return atomicfile.SyncFolder(dir, ".")
}

// Remove removes a file or an empty folder.
func Remove(root *os.Root, name string) error {
	dir, base, err := split(root, name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(base)
}

// Files is an [fs.FS] that reads below a root by the rules of [Open].
type Files struct{ root *os.Root }

// FS returns the Files of a root.
func FS(root *os.Root) Files { return Files{root} }

func (f Files) Open(name string) (fs.File, error) {
	file, err := Open(f.root, name)
	if err != nil {
		return nil, err // a nil *os.File is not a nil fs.File
	}
	return file, nil
}

// Close closes the root.
func (f Files) Close() error { return f.root.Close() }

// split opens the folder that contains the name.
func split(root *os.Root, name string) (dir *os.Root, base string, err error) {
	if _, err := filepath.Localize(name); err != nil {
		return nil, "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	dir, err = Folder(root, path.Dir(name))
	return dir, path.Base(name), err
}

// walk opens one folder after the other with step.
func walk(root *os.Root, dir string, step func(current *os.Root, part string) (*os.Root, error)) (*os.Root, error) {
	current, err := root.OpenRoot(".")
	if err != nil || dir == "." {
		return current, err
	}
	for part := range strings.SplitSeq(dir, "/") {
		next, err := step(current, part)
		current.Close()
		if err != nil {
			return nil, err
		}
		current = next
	}
	return current, nil
}

// enter opens a folder that is not a link, even if it becomes one meanwhile.
func enter(current *os.Root, part string) (*os.Root, error) {
	seen, err := current.Lstat(part)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, refusal(part, seen)
	}
	sub, err := current.OpenRoot(part + "/") // the slash requires a folder: opening a pipe would block
	if err != nil {
		return nil, err
	}
	if info, err := sub.Stat("."); err != nil || !os.SameFile(seen, info) {
		return nil, errors.Join(refusal(part, seen), err, sub.Close())
	}
	return sub, nil
}

// refused is an error of the caller, which is also [fs.ErrInvalid].
type refused struct{ err *messages.Error }

func (r refused) Error() string   { return r.err.Message }
func (r refused) Unwrap() []error { return []error{r.err, fs.ErrInvalid} }

// refusal returns the error for a name that is not of the kind asked for. seen is what Lstat said of it, or nil.
func refusal(name string, seen fs.FileInfo) error {
	say := func(format string) error { return refused{messages.InvalidInput(format, name)} }
	switch {
	case seen != nil && seen.Mode()&fs.ModeSymlink != 0:
		return say("%q is a link, and links are not followed; give the name of what it leads to")
	case seen != nil && seen.Mode().IsRegular():
		return say("%q is not a folder")
	}
	return say("%q is neither a file nor a folder, or it was replaced meanwhile")
}

// Private returns an error if others could put files into the folder: a link, a folder of another user, or one that
// everybody may write to.
func Private(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return refusal(dir, info)
	case isOthers(info):
		return refused{messages.InvalidInput("others may write the folder %s; give one of your own, or run chmod o-w", dir)}
	}
	return nil
}

// WriteDurable is [atomicfile.WriteText] for a folder without an os.Root. The file survives a power cut.
func WriteDurable(folder, name string, mode fs.FileMode, text string) error {
	dir, err := regular.Root(folder)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := atomicfile.WriteText(dir, name, mode, text); err != nil {
		return err
	}
	return atomicfile.SyncFolder(dir, ".")
}
