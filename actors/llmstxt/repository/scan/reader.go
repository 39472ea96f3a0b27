package scan

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/seed889630bf/lastword/actors/confined"
)

// Reader reads kept files one after the other. It holds the folder of the last one open, so files in the order of
// their paths cost least. It is for one goroutine at a time.
type Reader struct {
	files  fs.FS
	memory *Memory
	folder string // that is held open
	held   *rooted
	buf    []byte // holds what was read last
}

// NewReader returns a reader of the files. It must be closed.
func NewReader(files fs.FS) *Reader {
	if m, ok := files.(*Memory); ok {
		return &Reader{files: m.files, memory: m}
	}
	return &Reader{files: files}
}

// Close lets go of the folder.
func (r *Reader) Close() {
	if r.held != nil {
		r.held.root.Close()
		r.held = nil
	}
}

// Read gives a kept file as text: valid UTF-8 without a byte order mark, with lines that end in "\n". At most limit
// bytes of the file are read, of which there may be fewer or more in UTF-8; whole says whether these are all. Links
// and whatever else is no regular file are refused with an error that wraps [fs.ErrInvalid], even where a link stays
// in the folder. Between blocks it heeds ctx and returns its cause. The text is valid until the next call, and must
// not be changed.
func (r *Reader) Read(ctx context.Context, name string, limit int64) (text []byte, whole bool, err error) {
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	known, remembered := r.memory.record(name)
	data, whole := known.data, true
	if !remembered {
		if data, whole, err = r.first(ctx, name, max(limit, r.memory.ahead())); err != nil {
			return nil, false, err
		}
	}
	if int64(len(data)) > limit {
		data, whole = data[:limit], false
	}
	head := data[:min(len(data), HeadBytes)]
	return sniff(head, whole && len(head) == len(data)).decode(data, whole), whole, nil
}

// Shown gives what show makes of a file's text, which it gets as Read gives it. If that is the same, the memory keeps
// that in mind: so all readers of the same files must give the same show.
func (r *Reader) Shown(
	ctx context.Context, name string, limit int64, show func(text []byte) []byte,
) (shown []byte, err error) {
	text, whole, err := r.Read(ctx, name, limit)
	if known, _ := r.memory.record(name); err != nil || whole && known.plain {
		return text, err
	}
	shown = show(text)
	if whole && len(shown) == len(text) && (len(text) == 0 || &shown[0] == &text[0]) {
		r.memory.mark(name)
	}
	return shown, nil
}

// first reads a file that the memory does not have.
func (r *Reader) first(ctx context.Context, name string, limit int64) (data []byte, whole bool, err error) {
	files, base := r.in(name)
	data, whole, err = readFile(ctx, files, base, limit, r.buf)
	if cap(data) > cap(r.buf) {
		r.buf = data[:0]
	}
	if whole {
		data = r.memory.keep(name, data, memoryBytes)
	}
	return data, whole, err
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
		root, err := confined.Folder(top.root, path.Clean(folder))
		if err != nil {
			return r.files, name
		}
		r.held, r.folder = new(Folder(root).(rooted)), folder
	}
	return *r.held, base
}

// readFile gives the file's first bytes as they are.
func readFile(
	ctx context.Context, files fs.FS, name string, limit int64, buf []byte,
) (data []byte, whole bool, err error) {
	if _, ok := files.(rooted); !ok { // which follows no link by itself
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

// readAll takes size for a hint: the file may grow or shrink while it is read.
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
