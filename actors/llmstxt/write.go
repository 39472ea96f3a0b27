package llmstxt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed889630bf/lastword/actors/llmstxt/check"
	"github.com/seed889630bf/lastword/messages"
)

type writer = io.Writer

// file is an artifact to write: how it is rendered and what its bytes must pass before they get their name.
type file struct {
	name   string
	render func(w writer) error
	check  func(data []byte) error
}

// openOut opens the folder dir below out, making both.
func openOut(out, dir string) (*os.Root, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, invalid("cannot make the output folder: %v", err)
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, invalid("cannot open the output folder: %v", err)
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
		return nil, err
	}
	return root.OpenRoot(filepath.FromSlash(dir))
}

// put renders into memory, checks, and gives the bytes their final name: written to a temporary file, synced, renamed,
// the folder synced. A crash at any point leaves the old file or the new one under the name, and at worst a hidden
// temporary file.
func put(ctx context.Context, dir *os.Root, name string, run messages.RunID, render func(writer) error,
	valid func([]byte) error) (messages.Artifact, error) {
	var buf bytes.Buffer
	if err := render(&buf); err != nil {
		return messages.Artifact{}, err
	}
	if valid != nil {
		if err := valid(buf.Bytes()); err != nil {
			return messages.Artifact{}, err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return messages.Artifact{}, err
	}
	sum := sha256.Sum256(buf.Bytes())
	artifact := messages.Artifact{Bytes: int64(buf.Len()), SHA256: hex.EncodeToString(sum[:])}
	temporary := "." + name + "." + string(run) + ".tmp"
	if err := place(dir, temporary, name, buf.Bytes()); err != nil {
		return messages.Artifact{}, errors.Join(err, dir.Remove(temporary))
	}
	return artifact, nil
}

func place(dir *os.Root, temporary, name string, data []byte) error {
	f, err := dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := dir.Rename(temporary, name); err != nil {
		return err
	}
	return syncFolder(dir)
}

func syncFolder(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func checkTxt(data []byte) error {
	if _, problems := check.Parse(string(data)); len(problems) > 0 {
		return fmt.Errorf("not a valid llms.txt: %v", problems[0])
	}
	return nil
}

func checkXML(data []byte) error {
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.RawToken(); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("not well-formed: %w", err)
		}
	}
}
