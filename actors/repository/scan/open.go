package scan

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// readFile gives the file's first bytes as they are.
func readFile(
	ctx context.Context, files fs.FS, name string, limit int64, buf []byte,
) (data []byte, whole bool, err error) {
	info, err := fs.Lstat(files, name)
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, irregular(name)
	}
	f, opened, err := OpenRegular(files, name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if !same(info, opened) { // the name may have become a link
		return nil, false, irregular(name)
	}
	return readAll(ctx, f, limit, info.Size(), buf)
}

// same tells whether both are one file. Only a folder of the operating system can have changed in between.
func same(before, opened fs.FileInfo) bool {
	return before.Sys() == nil || os.SameFile(before, opened)
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
