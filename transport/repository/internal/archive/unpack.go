package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/seed889630bf/lastword/messages"
)

// tar reads all entries. If packed is set, r is a decompressor, which must be read to its end to verify the checksum.
func (k *keeper) tar(r *bufio.Reader, packed bool) error {
	if err := k.checkTar(r); err != nil {
		return err
	}
	entries := tar.NewReader(r)
	for {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return err
		}
		if err := k.tarEntry(entries, h); err != nil {
			return err
		}
	}
	if !packed {
		return nil
	}
	_, err := io.Copy(io.Discard, r)
	return err
}

// checkTar tells a compressed tar from another compressed file.
func (k *keeper) checkTar(r *bufio.Reader) error {
	head, err := r.Peek(block)
	if len(head) < block && err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !isTar(head) {
		return messages.InvalidInput("this is a compressed file, but no tar archive is in it")
	}
	return nil
}

// tarEntry adds an entry to the tree. The global header of an archive that git wrote names the commit.
func (k *keeper) tarEntry(r io.Reader, h *tar.Header) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return nil
	case tar.TypeXGlobalHeader:
		k.setCommit(h.PAXRecords["comment"])
		return nil
	}
	name, err := k.path(h.Name)
	if err != nil || name == "" {
		return err
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		return k.tarFile(r, name, h.Size)
	case tar.TypeSymlink:
		k.link(name, h.Linkname)
	default:
		k.skipped.Special++
	}
	return nil
}

// tarFile adds a file, or counts it as too large without reading it. The budget is charged before memory is allocated.
func (k *keeper) tarFile(r io.Reader, name string, size int64) error {
	if size > k.FileBytes {
		k.large(name, size)
		return nil
	}
	if err := k.keep(size); err != nil {
		return err
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return err
	}
	k.file(name, data)
	return nil
}

const (
	inMemory    = 16 << 20 // a larger zip from a URL is stored in a temporary file
	perEntry    = 128      // average size of a file's entry in the zip directory
	directory   = 1 << 20  // size of a zip directory that is always allowed
	isEncrypted = 1        // bit in an entry's flags
)

// zip reads the whole archive first, because a zip's directory is at its end.
func (k *keeper) zip(r io.Reader, w *wire) error {
	at, drop, err := spool(r, w)
	if err != nil {
		return err
	}
	defer drop()
	bounded := &directoryReader{ReaderAt: at, left: directory + perEntry*int64(k.Files), files: k.Files}
	z, err := zip.NewReader(bounded, w.done)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	bounded.open = true
	k.setCommit(z.Comment)
	for _, f := range z.File {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if err := k.zipEntry(f); err != nil {
			return err
		}
	}
	return nil
}

// directoryReader limits the memory for entries, since a zip need not declare their number. The limit applies until
// open is set.
type directoryReader struct {
	io.ReaderAt
	left  int64
	files int  // the limit, for the error
	open  bool // the directory was read, so the limit does not apply any more
}

// ReadAt fails when a directory takes more bytes than the limit on entries allows. package zip itself has no such
// limit.
func (r *directoryReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	if r.open {
		return n, err
	}
	if r.left -= int64(n); r.left < 0 {
		return 0, tooMany(r.files)
	}
	return n, err
}

// zipEntry adds an entry to the tree. The target of a symbolic link is its content.
func (k *keeper) zipEntry(f *zip.File) error {
	mode := f.Mode()
	if mode.IsDir() {
		return nil
	}
	name, err := k.path(f.Name)
	if err != nil || name == "" {
		return err
	}
	switch {
	case mode.Type() != 0 && mode.Type() != fs.ModeSymlink:
		k.skipped.Special++
		return nil
	case f.UncompressedSize64 > uint64(k.FileBytes):
		k.large(name, int64(min(f.UncompressedSize64, 1<<62)))
		return nil
	}
	if err := k.keep(int64(f.UncompressedSize64)); err != nil {
		return err
	}
	data, err := inflate(f)
	switch {
	case err != nil:
		k.skipped.Broken++
	case mode.Type() == fs.ModeSymlink:
		k.link(name, string(data))
	default:
		k.file(name, data)
	}
	return nil
}

// inflate reads an entry, which must have exactly the declared size.
func inflate(f *zip.File) ([]byte, error) {
	if f.Flags&isEncrypted != 0 {
		return nil, zip.ErrAlgorithm
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	data := make([]byte, f.UncompressedSize64)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) { // reading to the end verifies the checksum
		return nil, zip.ErrFormat
	}
	return data, nil
}

// spool gives random access to all of r. drop releases it.
func spool(r io.Reader, w *wire) (at io.ReaderAt, drop func(), err error) {
	if w.in.file != nil {
		_, err := io.Copy(io.Discard, r)
		return w.in.file, func() {}, err
	}
	var memory bytes.Buffer
	if _, err = io.CopyN(&memory, r, inMemory); errors.Is(err, io.EOF) {
		return bytes.NewReader(memory.Bytes()), func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return spoolFile(io.MultiReader(&memory, r))
}

// spoolFile writes r to a temporary file. The file is removed at once if the operating system allows that, else by
// drop.
func spoolFile(r io.Reader) (at io.ReaderAt, drop func(), err error) {
	file, err := os.CreateTemp("", "lastword-*.zip")
	if err != nil {
		return nil, nil, fmt.Errorf("make a temporary file for the archive: %w", err)
	}
	unlinked := os.Remove(file.Name()) == nil
	drop = func() {
		_ = file.Close()
		if !unlinked {
			_ = os.Remove(file.Name())
		}
	}
	if _, err := io.Copy(file, r); err != nil {
		drop()
		return nil, nil, err
	}
	return file, drop, nil
}
