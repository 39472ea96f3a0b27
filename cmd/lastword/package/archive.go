package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// file is an entry of an archive. It holds what is at the path, or else the text; a name that ends in a slash is a folder.
type file struct {
	name string
	path string
	text string
	mode fs.FileMode
	uid  int // the group has the same number
}

func (f file) read() ([]byte, error) {
	if f.path == "" {
		return []byte(f.text), nil
	}
	return os.ReadFile(f.path)
}

// archive packs the program and what lies beside it, as .zip for Windows, in a folder of the archive's name.
func (r *release) archive(t target) error {
	name := "lastword-" + r.version + "-" + t.String()
	files := []file{{name: name + "/" + t.program(), path: r.binaries[t], mode: 0o755}}
	for _, f := range r.share {
		f.name = name + "/" + f.name
		files = append(files, f)
	}
	if t.os == "windows" {
		return r.create(name+".zip", func(w io.Writer) error { return zipped(w, files, r.at) })
	}
	return r.create(name+".tar.gz", func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := tarred(z, files, r.at); err != nil {
			return err
		}
		return z.Close()
	})
}

// tarred writes a tar that is the same for the same files: in their order, and with one time for all.
func tarred(w io.Writer, files []file, at time.Time) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		data, err := f.read()
		if err != nil {
			return err
		}
		h := &tar.Header{Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(data)), Uid: f.uid, Gid: f.uid, ModTime: at, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if f.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	return t.Close()
}

// zipped is tarred for a zip.
func zipped(w io.Writer, files []file, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		data, err := f.read()
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		to, err := z.CreateHeader(h)
		if err == nil {
			_, err = to.Write(data)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}
