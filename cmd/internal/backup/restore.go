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
	"runtime"
	"strings"

	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// Reader is an open backup that is whole.
type Reader struct {
	file *os.File
	most int64 // bytes that it may unpack to
	About
	Count map[string]int // of its files, by the folder in the backup
}

// Open reads the backup to its end. The error says that it is none, or damaged.
func Open(name string) (*Reader, error) {
	f, _, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b := &Reader{file: f, most: mostSpare + mostTimes*info.Size(), Count: map[string]int{}}
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

// A backup may unpack to mostSpare bytes, and beyond to mostTimes its own size. Each file counts for leastFile bytes.
const (
	mostSpare = 64 << 20
	mostTimes = 100
	leastFile = 4096
	mostAbout = 64 << 10
)

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
	if first.Name != aboutFile || json.NewDecoder(io.LimitReader(in, mostAbout)).Decode(&b.About) != nil || b.Format != format {
		return errOther
	}
	for left := b.most; ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		folder, name, _ := strings.Cut(strings.TrimSuffix(h.Name, "/"), "/")
		if !filepath.IsLocal(name) || messages.CheckNames(name) != nil || folder != State && folder != Files || h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir {
			return fmt.Errorf("%w: it has %q", errOther, h.Name)
		}
		if left -= max(h.Size, leastFile); left < 0 {
			return fmt.Errorf("%w: it unpacks to more than %s", errOther, words.Size(b.most))
		}
		if err := do(folder, name, h, in); err != nil {
			return err
		}
	}
	n, err := io.Copy(io.Discard, io.LimitReader(zip, mostSpare)) // up to its checksum
	if n == mostSpare {
		err = errors.New("it goes on after its end")
	}
	if err != nil {
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
		if err := prepare(dir); err != nil {
			return err
		}
		root, err := regular.Root(dir)
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
			return roots[folder].Mkdir(name, 0o700)
		}
		f, err := roots[folder].OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Sync(), f.Close())
	})
}

// prepare makes the folder, or checks that it is empty and that nobody else may read it.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the folder %s cannot be made: %w; name another one with --state", dir, err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty; restore writes over nothing: choose another folder", dir)
	case !info.IsDir():
		return fmt.Errorf("%s is a link; name the folder itself", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others may read %s, and a backup has what callers wrote; run: chmod 700 %[1]s", dir)
	}
	return nil
}

func clear(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		err = errors.Join(err, root.RemoveAll(e.Name()))
	}
	return err
}
