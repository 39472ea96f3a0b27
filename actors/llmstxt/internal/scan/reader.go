package scan

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"

	"github.com/seed889630bf/lastword/internal/confined"
)

// Reader reads kept files one after the other. It keeps the folder of the last one open, so reading in the order of
// paths costs least. It is for one goroutine at a time.
type Reader struct {
	files  fs.FS
	folder string // the folder that is kept open
	held   *confined.Tree
	buf    bytes.Buffer // content of the last read
}

// NewReader returns a reader of the files. Close it after use.
func NewReader(files fs.FS) *Reader { return &Reader{files: files} }

// Close closes the folder that is kept open.
func (r *Reader) Close() {
	if r.held != nil {
		r.held.Root.Close()
		r.held = nil
	}
}

// Read returns a kept file as text: valid UTF-8 without a byte order mark, with lines that end in "\n". It reads at
// most limit bytes of the file; the text may have fewer or more. whole reports whether that is the complete file.
// Links and irregular files are refused with an error that wraps [fs.ErrInvalid], even links within the folder.
// If ctx is done, it returns its cause. The text is valid until the next call, and must not be changed.
func (r *Reader) Read(ctx context.Context, name string, limit int64) (text []byte, whole bool, err error) {
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	f, size, err := r.open(name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	r.buf.Reset()
	r.buf.Grow(int(min(max(size, 0), limit)) + bytes.MinRead) // the file may have another size meanwhile
	n, err := r.buf.ReadFrom(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, false, err
	}
	data, whole := r.buf.Bytes()[:min(n, limit)], n <= limit
	head := data[:min(len(data), HeadBytes)]
	return sniff(head, whole && len(head) == len(data)).decode(data, whole), whole, nil
}

// open opens a file that is not a link.
func (r *Reader) open(name string) (fs.File, int64, error) {
	files, base := r.in(name)
	if _, ok := files.(confined.Tree); !ok { // a rooted file system follows no link by itself
		if info, err := fs.Lstat(files, base); err == nil && !info.Mode().IsRegular() {
			return nil, 0, confined.Irregular(name)
		}
	}
	f, info, err := confined.Regular(files, base)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// in returns the file's name in its folder, which is kept open.
func (r *Reader) in(name string) (fs.FS, string) {
	top, ok := r.files.(confined.Tree)
	folder, base := path.Split(name)
	if !ok || folder == "" {
		return r.files, name
	}
	if r.held == nil || r.folder != folder {
		r.Close()
		root, err := confined.Folder(top.Root, path.Clean(folder))
		if err != nil {
			return r.files, name
		}
		r.held, r.folder = new(confined.TreeOf(root)), folder
	}
	return *r.held, base
}
