package conversation

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

// Open returns the Store of a folder, and makes the folder if needed. Each conversation is a file that only its user
// may read. The Store starts no more than most conversations, unless most is 0.
func Open(dir string, most int) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, own := range []string{filepath.Dir(dir), dir} {
		if err := confined.Private(own); err != nil {
			return nil, err
		}
	}
	root, err := regular.Root(dir)
	if err != nil {
		return nil, err
	}
	return &Store{folder{root, most}}, nil
}

// folder implements place with a file for each conversation.
type folder struct {
	root *os.Root
	most int
}

const suffix = ".jsonl"

// fileOf returns the name of a conversation's file. A capital letter is "=" and the small one, because some file systems
// take one for the other.
func fileOf(id string) string {
	return capital.ReplaceAllStringFunc(id, func(c string) string { return "=" + strings.ToLower(c) }) + suffix
}

// idOf returns the id of the conversation in a file, or "" for another file.
func idOf(file string) string {
	id := marked.ReplaceAllStringFunc(strings.TrimSuffix(file, suffix), func(c string) string { return strings.ToUpper(c[1:]) })
	if CheckID(id) != nil || fileOf(id) != file {
		return ""
	}
	return id
}

var capital, marked = regexp.MustCompile(`[A-Z]`), regexp.MustCompile(`=[a-z]`)

// open implements place. A conversation that exists opens even if there are too many.
func (f folder) open(id string, create bool) (journal, error) {
	how := os.O_RDWR | os.O_APPEND
	if create {
		if err := f.full(id); err != nil {
			return nil, err
		}
		how |= os.O_CREATE
	}
	file, err := f.root.OpenFile(fileOf(id), how, 0o600)
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil, nil
	}
	return fileLog{file}, err
}

// full returns why no conversation with that id may begin, or nil.
func (f folder) full(id string) error {
	if _, err := f.root.Lstat(fileOf(id)); f.most == 0 || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ids, err := f.ids()
	if err == nil {
		err = full(len(ids), f.most)
	}
	return err
}

// full returns why no conversation beside so many may begin, or nil.
func full(have, most int) error {
	if have < most {
		return nil
	}
	return messages.LimitExceeded("there are %d conversations, and no more are kept; go on with one, or have some deleted", have)
}

// ids lists the conversations. Folders, and files with other names, do not count.
func (f folder) ids() (ids []string, err error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	for _, e := range entries {
		if id := idOf(e.Name()); id != "" && e.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	return ids, err
}

func (f folder) remove(id string) error { return f.root.Remove(fileOf(id)) }

// fileLog implements journal with a file.
type fileLog struct{ file *os.File }

func (l fileLog) after(bytes int64) ([]byte, error) {
	info, err := l.file.Stat()
	if err != nil || info.Size() <= bytes {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(l.file, bytes, info.Size()-bytes))
}

// append writes the line in one call, so that lines of two processes never mix. It first ends a line that was cut
// off.
func (l fileLog) append(line []byte) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	line = append(line, '\n')
	var last [1]byte
	if size := info.Size(); size > 0 {
		if _, err := l.file.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	_, err = l.file.Write(line)
	return err
}

func (l fileLog) hold() bool   { return atomicfile.TryLock(l.file) == nil }
func (l fileLog) sync() error  { return l.file.Sync() }
func (l fileLog) Close() error { return l.file.Close() }
