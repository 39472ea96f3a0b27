package scan

import (
	"context"
	"io/fs"
	"path"
)

// Reader reads kept files one after the other, as [ReadFile] does. It holds the
// folder of the last one open, so files in the order of their paths cost least.
// It is for one goroutine at a time.
type Reader struct {
	files  fs.FS
	folder string // that is held open
	held   *rooted
}

// NewReader returns a reader of the files. It must be closed.
func NewReader(files fs.FS) *Reader { return &Reader{files: files} }

// Close lets go of the folder.
func (r *Reader) Close() {
	if r.held != nil {
		r.held.root.Close()
		r.held = nil
	}
}

// Read is [ReadFile] that may use buf for what it returns, whatever buf holds.
func (r *Reader) Read(ctx context.Context, name string, limit int64, buf []byte) (data []byte, whole bool, err error) {
	files, base := r.in(name)
	return readFile(ctx, files, base, limit, buf)
}

// in gives the file's name in the folder that is held open for it.
func (r *Reader) in(name string) (fs.FS, string) {
	top, ok := r.files.(rooted)
	folder, base := path.Split(name)
	if !ok || folder == "" {
		return r.files, name
	}
	if r.held == nil || r.folder != folder {
		r.Close()
		root, err := top.root.OpenRoot(path.Clean(folder))
		if err != nil {
			return r.files, name
		}
		r.held, r.folder = new(Folder(root).(rooted)), folder
	}
	return *r.held, base
}
