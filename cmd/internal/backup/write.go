package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/regular"
)

// About is what a backup says of itself in its first file.
type About struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the lastword that made it
	Made    time.Time `json:"made"`
}

const (
	format    = 1
	aboutFile = "backup.json"
)

// The folders in a backup.
const (
	State = "state"
	Files = "files"
)

// Writer writes a backup.
type Writer struct {
	zip *gzip.Writer
	tar *tar.Writer
	// Count is how many files there are by the folder in the backup, and Bytes their size.
	Count map[string]int
	Bytes int64
}

// NewWriter begins a backup.
func NewWriter(w io.Writer, about About) (*Writer, error) {
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	about.Format = format
	text, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	b := &Writer{zip: zip, tar: tar.NewWriter(zip), Count: map[string]int{}}
	return b, b.put(&tar.Header{Name: aboutFile, Mode: 0o600, Size: int64(len(text)), ModTime: about.Made}, bytes.NewReader(text))
}

func (b *Writer) put(h *tar.Header, r io.Reader) error {
	if err := b.tar.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.CopyN(b.tar, r, h.Size)
	return err
}

// Add adds the files of a folder that leaveOut does not name, below the folder in the backup. A file that grows is as long
// as when Add opens it; one that goes meanwhile, and what is no file, are left out.
func (b *Writer) Add(ctx context.Context, folder, dir string, leaveOut func(name string) bool) error {
	root, err := regular.Root(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && d.Type().IsRegular() && !leaveOut(name) && !strings.HasSuffix(name, atomicfile.Suffix):
			err = b.file(folder, root, name)
		case err == nil && d.IsDir() && name != ".":
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				err = b.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path.Join(folder, name) + "/",
					Mode: int64(info.Mode().Perm() | 0o700), ModTime: info.ModTime()})
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// file adds as many bytes as the file has when it is opened. If it becomes shorter meanwhile, that is an error.
func (b *Writer) file(folder string, root *os.Root, name string) error {
	f, info, err := regular.OpenIn(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	b.Count[folder]++
	b.Bytes += info.Size()
	return b.put(&tar.Header{Name: path.Join(folder, name), Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime()}, f)
}

// Close ends the backup.
func (b *Writer) Close() error { return errors.Join(b.tar.Close(), b.zip.Close()) }
