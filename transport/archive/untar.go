package archive

import (
	"archive/tar"
	"errors"
	"io"
)

// tar reads all entries. If packed is set, r is a decompressor, which must be read to its end to verify the checksum.
func (k *keeper) tar(r io.Reader, packed bool) error {
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
func (k *keeper) checkTar(r io.Reader) error {
	head, err := r.(peeker).Peek(block)
	if len(head) < block && err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !isTar(head) {
		return invalid("this is a compressed file, but no tar archive is in it")
	}
	return nil
}

type peeker interface{ Peek(n int) ([]byte, error) }

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
