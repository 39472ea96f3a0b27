package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Reader is an open backup that is whole.
type Reader struct {
	file *os.File
	About
	Count map[string]int // of its files, by the folder in the backup
}

// Open reads the backup to its end. The error says that it is none, or damaged.
func Open(name string) (*Reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	b := &Reader{file: f, Count: map[string]int{}}
	err = b.each(func(folder, _ string, h *tar.Header, _ io.Reader) error {
		if h.Typeflag == tar.TypeReg {
			b.Count[folder]++
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s %w; nothing was restored", name, err), f.Close())
	}
	return b, nil
}

// Close closes the backup.
func (b *Reader) Close() error { return b.file.Close() }

var (
	errDamaged = errors.New("is damaged or not whole")
	errOther   = errors.New("is no backup that this lastword knows")
)

// each calls do for each file and folder, which is below folder, and reads the file to its end.
func (b *Reader) each(do func(folder, name string, h *tar.Header, r io.Reader) error) error {
	if _, err := b.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	zip, err := gzip.NewReader(b.file)
	if err != nil {
		return errOther
	}
	in := tar.NewReader(zip)
	first, err := in.Next()
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	if first.Name != aboutFile || json.NewDecoder(in).Decode(&b.About) != nil || b.Format != format {
		return errOther
	}
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		folder, name, _ := strings.Cut(strings.TrimSuffix(h.Name, "/"), "/")
		if !filepath.IsLocal(name) || folder != State && folder != Files || h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir {
			return fmt.Errorf("%w: it has %q", errOther, h.Name)
		}
		if err := do(folder, name, h, in); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, zip); err != nil { // its checksum
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}

// Restore writes the files into folders that are empty or not there, by the folder in the backup. If it fails, it removes
// what it has written.
func (b *Reader) Restore(ctx context.Context, into map[string]string) (err error) {
	roots := map[string]*os.Root{}
	defer func() {
		for _, root := range roots {
			if err != nil {
				err = errors.Join(err, clear(root))
			}
			root.Close()
		}
	}()
	for folder, dir := range into {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if entries, err := os.ReadDir(dir); err != nil {
			return err
		} else if len(entries) > 0 {
			return fmt.Errorf("%s is not empty; restore writes over nothing: choose another folder", dir)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		roots[folder] = root
	}
	return b.each(func(folder, name string, h *tar.Header, r io.Reader) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if h.Typeflag == tar.TypeDir {
			return roots[folder].Mkdir(name, fs.FileMode(h.Mode).Perm())
		}
		f, err := roots[folder].OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(h.Mode).Perm())
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Sync(), f.Close())
	})
}

func clear(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		err = errors.Join(err, root.RemoveAll(e.Name()))
	}
	return err
}
