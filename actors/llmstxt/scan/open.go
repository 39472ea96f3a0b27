package scan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile gives a kept file as text: valid UTF-8 without a byte order mark,
// with lines that end in "\n". At most limit bytes of the file are read, of
// which there may be fewer or more in UTF-8; whole says whether these are all.
// Links and whatever else is no regular file are refused with an error that
// wraps [fs.ErrInvalid], even where a link stays in the folder. Between blocks
// it heeds ctx and returns its cause.
func ReadFile(ctx context.Context, files fs.FS, path string, limit int64) (data []byte, whole bool, err error) {
	info, err := fs.Lstat(files, path)
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, irregular(path)
	}
	f, opened, err := openRegular(files, path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	// The name may have become a link since Lstat.
	if !same(info, opened) {
		return nil, false, irregular(path)
	}
	data, whole, err = readBlocks(ctx, f, limit, info.Size())
	if err != nil {
		return nil, false, err
	}
	head := data[:min(len(data), HeadBytes)]
	return sniff(head, whole && len(head) == len(data)).decode(data, whole), whole, nil
}

// same tells whether both are one file. Only a folder of the operating system can have changed in between.
func same(before, opened fs.FileInfo) bool {
	return before.Sys() == nil || os.SameFile(before, opened)
}

func irregular(path string) error {
	return fmt.Errorf("%s is not a regular file: %w", path, fs.ErrInvalid)
}

// readBlocks takes size for a hint: the file may grow or shrink while it is read.
func readBlocks(ctx context.Context, r io.Reader, limit, size int64) ([]byte, bool, error) {
	const block = 256 << 10
	var b bytes.Buffer
	b.Grow(int(max(min(limit, size), 0)) + bytes.MinRead)
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
