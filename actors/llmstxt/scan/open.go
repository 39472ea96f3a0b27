package scan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile gives at most limit bytes of a kept file, and whether that is all of
// it. Links and whatever else is no regular file are refused with an error that
// wraps [fs.ErrInvalid], even where a link stays in the folder. Between blocks it
// heeds ctx and returns its cause.
func ReadFile(ctx context.Context, files fs.FS, path string, limit int64) (data []byte, whole bool, err error) {
	info, err := fs.Lstat(files, path)
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, irregular(path)
	}
	f, err := files.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	// The name may have become a link since Lstat.
	if opened, err := f.Stat(); err != nil || !same(info, opened) {
		return nil, false, irregular(path)
	}
	return readBlocks(ctx, f, limit, info.Size())
}

// same tells whether both are one file. Only a folder of the operating system can have changed in between.
func same(before, opened fs.FileInfo) bool {
	return opened.Mode().IsRegular() && (before.Sys() == nil || os.SameFile(before, opened))
}

func irregular(path string) error {
	return fmt.Errorf("%s is not a regular file: %w", path, fs.ErrInvalid)
}

func readBlocks(ctx context.Context, r io.Reader, limit, size int64) ([]byte, bool, error) {
	const block = 256 << 10
	var b bytes.Buffer
	b.Grow(int(min(limit, size)) + bytes.MinRead)
	for int64(b.Len()) < limit {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		n, err := io.CopyN(&b, r, min(block, limit-int64(b.Len())))
		if err == io.EOF || n == 0 && err == nil {
			return b.Bytes(), true, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	n, _ := io.CopyN(io.Discard, r, 1)
	return b.Bytes(), n == 0, nil
}
