package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/seed889630bf/lastword/messages"
)

// artifact opens an artifact of a run where it was written. The file must be the one that the run wrote: a later run of
// the same repository writes to the same place.
func (h *hosting) artifact(ctx context.Context, run messages.State, a messages.Artifact) (
	io.ReadSeekCloser, error) {
	root, err := os.OpenRoot(h.out)
	if err != nil {
		return nil, goneArtifact(run, a)
	}
	defer root.Close()
	f, err := root.Open(h.whereIs(run, a))
	if err != nil {
		return nil, goneArtifact(run, a)
	}
	if err := same(ctx, f, a); err != nil {
		f.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, goneArtifact(run, a)
	}
	return f, nil
}

// whereIs is the artifact's path below the root. A run whose input says nothing of a folder wrote to the root itself.
func (h *hosting) whereIs(run messages.State, artifact messages.Artifact) string {
	var in struct {
		Out string `json:"out"`
	}
	if run.Queued != nil {
		_ = json.Unmarshal(run.Queued.Input, &in) // of a job of another kind
	}
	if rel, err := filepath.Rel(h.out, in.Out); err == nil && filepath.IsAbs(in.Out) {
		in.Out = filepath.ToSlash(rel)
	}
	return filepath.FromSlash(path.Join(in.Out, artifact.Path))
}

var errOther = errors.New("the file is another")

// same reads the file once and leaves it at its beginning. A file that is replaced meanwhile stays what it was for
// those who have it open.
func same(ctx context.Context, f *os.File, artifact messages.Artifact) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != artifact.Bytes {
		return errors.Join(err, errOther)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, readerOf(ctx, f)); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != artifact.SHA256 {
		return errOther
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

func goneArtifact(run messages.State, artifact messages.Artifact) error {
	return messages.Errorf(messages.CodeNotFound,
		"the file %s of run %s is gone, or a later run has written another in its place; start the run again to have it",
		artifact.Name, run.RunID)
}

// readerOf reads until ctx is done.
func readerOf(ctx context.Context, r io.Reader) io.Reader {
	return reader(func(p []byte) (int, error) {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// callersFolder opens what the files of whoever calls are below.
func (h *hosting) callersFolder(ctx context.Context) (*os.Root, error) {
	folder := filepath.Join(h.out, filepath.FromSlash(callersPart(ctx)))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, messages.Errorf(messages.CodeUnavailable, "the server's output folder cannot be made: %v", reason(err))
	}
	return os.OpenRoot(folder)
}
