package scan

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/seed889630bf/lastword/actors/confined"
)

// Reader reads kept files one after the other. It keeps the folder of the last one open, so reading in the order of
// paths costs least. It is for one goroutine at a time.
type Reader struct {
	files  fs.FS
	folder string // the folder that is kept open
	held   *rooted
	buf    []byte // content of the last read
}

// NewReader returns a reader of the files. Close it after use.
func NewReader(files fs.FS) *Reader { return &Reader{files: files} }

// Close closes the folder that is kept open.
func (r *Reader) Close() {
	if r.held != nil {
		r.held.root.Close()
		r.held = nil
	}
}

// Read returns a kept file as text: valid UTF-8 without a byte order mark, with lines that end in "\n". It reads at
// most limit bytes of the file; the text may have fewer or more. whole reports whether that is the complete file.
// Links and irregular files are refused with an error that wraps [fs.ErrInvalid], even links within the folder.
// Between blocks it checks ctx, and returns its cause. The text is valid until the next call, and must not be
// changed.
func (r *Reader) Read(ctx context.Context, name string, limit int64) (text []byte, whole bool, err error) {
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	files, base := r.in(name)
	data, whole, err := readFile(ctx, files, base, limit, r.buf)
	if err != nil {
		return nil, false, err
	}
	if cap(data) > cap(r.buf) {
		r.buf = data[:0]
	}
	head := data[:min(len(data), HeadBytes)]
	return sniff(head, whole && len(head) == len(data)).decode(data, whole), whole, nil
}

// in returns the file's name in its folder, which is kept open.
func (r *Reader) in(name string) (fs.FS, string) {
	top, ok := r.files.(rooted)
	folder, base := path.Split(name)
	if !ok || folder == "" {
		return r.files, name
	}
	if r.held == nil || r.folder != folder {
		r.Close()
		root, err := confined.Folder(top.root, path.Clean(folder))
		if err != nil {
			return r.files, name
		}
		r.held, r.folder = new(Folder(root).(rooted)), folder
	}
	return *r.held, base
}

// readFile returns the file's first bytes, unchanged.
func readFile(
	ctx context.Context, files fs.FS, name string, limit int64, buf []byte,
) (data []byte, whole bool, err error) {
	if _, ok := files.(rooted); !ok { // a rooted file system follows no link by itself
		info, err := fs.Lstat(files, name)
		if err != nil {
			return nil, false, err
		}
		if !info.Mode().IsRegular() {
			return nil, false, irregular(name)
		}
	}
	f, opened, err := OpenRegular(files, name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	return readAll(ctx, f, limit, opened.Size(), buf)
}

func irregular(path string) error {
	return fmt.Errorf("%s is not a regular file: %w", path, fs.ErrInvalid)
}

// readAll uses size only as a hint, because the file may grow or shrink while it is read.
func readAll(ctx context.Context, f io.Reader, limit, size int64, buf []byte) (data []byte, whole bool, err error) {
	const block = 256 << 10
	if room := min(max(size, 0), limit) + 1; int64(cap(buf)) < room {
		buf = make([]byte, 0, room+room/4)
	}
	buf = buf[:0]
	for int64(len(buf)) <= limit {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := f.Read(buf[len(buf):min(cap(buf), len(buf)+block)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf[:min(int64(len(buf)), limit)], int64(len(buf)) <= limit, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	return buf[:limit], false, nil
}
