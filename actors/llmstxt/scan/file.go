package scan

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// file keeps the named file or leaves it out.
func (w *walker) file(at []string) {
	name := at[len(at)-1]
	if len(w.repo.Files) >= w.limits.Files {
		w.leave(OverFiles, at, false, 0)
		return
	}
	if isBinaryName(name) {
		w.leave(Binary, at, false, 0)
		return
	}
	head, size, err := w.look(nameOf(at))
	switch {
	case err != nil:
		w.leave(Unreadable, at, false, 0)
	case size > w.limits.FileBytes:
		w.leave(TooLarge, at, false, size)
	case !isText(head, size):
		w.leave(Binary, at, false, size)
	case w.bytes+size > w.limits.TotalBytes:
		w.leave(OverBytes, at, false, size)
	default:
		w.bytes += size
		w.repo.Files = append(w.repo.Files, describe(at, size, head))
	}
}

// look gives the file's first bytes, valid until the next call, and its size.
func (w *walker) look(name string) ([]byte, int64, error) {
	f, err := w.files.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is no longer a regular file", name)
	}
	if info.Size() > w.limits.FileBytes {
		return nil, info.Size(), nil
	}
	n, err := io.ReadFull(f, w.head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, err
	}
	return w.head[:n], info.Size(), nil
}

func describe(at []string, size int64, head []byte) File {
	name := at[len(at)-1]
	f := File{
		Path: strings.Join(at, "/"), Size: size, Language: Language(name),
		Kind: kindOf(at), Place: placeOf(at),
	}
	if isGenerated(name, head) {
		f.Place = Generated
	}
	if f.Language == "Go" && (f.Place == Product || f.Place == Example) {
		f.Package, f.Imports = goHead(head)
	}
	return f
}
