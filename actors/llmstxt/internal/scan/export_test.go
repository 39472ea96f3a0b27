package scan

import (
	"context"
	"io/fs"
)

// ReadFile gives one file as a [Reader] does.
func ReadFile(ctx context.Context, files fs.FS, path string, limit int64) (data []byte, whole bool, err error) {
	return NewReader(files).Read(ctx, path, limit)
}
