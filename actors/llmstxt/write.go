package llmstxt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/check"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/messages"
)

func (g *generation) write(ctx context.Context, t *actors.TaskContext) error {
	source, err := os.OpenRoot(g.input.Repository)
	if err != nil {
		return err
	}
	defer source.Close()
	dir, base := folder(g.repo)
	out, err := openOut(g.input.Out, dir)
	if err != nil {
		return err
	}
	defer out.Close()
	if n := sweep(out, base+"-llms"); n > 0 {
		t.Log(messages.LogInfo, fmt.Sprintf("removed %s that earlier runs did not finish", count(n, "file")))
	}
	for _, f := range g.files(ctx, source) {
		if err := g.writeFile(ctx, t, out, path.Join(dir, base+"-"+f.name), f); err != nil {
			return fmt.Errorf("cannot write %s: %w", f.name, reason(err))
		}
	}
	t.Summarize("files in " + dir)
	return t.Result(g.result(dir), false)
}

func (g *generation) writeFile(ctx context.Context, t *actors.TaskContext, out *os.Root, name string, f file) error {
	data, err := f.bytes()
	if err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := place(out, path.Base(name), t.RunID(), data); err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	artifact := messages.Artifact{Name: f.name, Path: name, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	return t.Emit(messages.ArtifactWritten{Artifact: artifact}, fmt.Sprintf("%s written, %d bytes", f.name, len(data)))
}

func (g *generation) result(dir string) Result {
	return Result{Title: g.index.Title, Summary: g.index.Summary, Folder: dir, Files: len(g.repo.Files),
		Links: links(g.index), Commit: g.repo.Origin.Commit, Remote: g.repo.Origin.Remote}
}

// files lists what was asked for, llms.txt first.
func (g *generation) files(ctx context.Context, source *os.Root) []file {
	files := []file{{"llms.txt", func(w io.Writer) error { return render.Txt(w, g.index) }, checkTxt}}
	if g.input.Full {
		files = append(files, file{"llms-full.txt", func(w io.Writer) error {
			return render.Full(ctx, w, source.FS(), g.index, render.Bounds{})
		}, nil})
	}
	if g.input.Ctx {
		files = append(files, file{"llms-ctx.txt", func(w io.Writer) error {
			return render.Ctx(ctx, w, source.FS(), g.index, render.Bounds{})
		}, checkXML})
	}
	return files
}

// file is an artifact to write: how it is rendered and what its bytes must pass before they get their name.
type file struct {
	name   string
	render func(w io.Writer) error
	check  func(data []byte) error // nil for a form without rules
}

func (f file) bytes() ([]byte, error) {
	var buf bytes.Buffer
	if err := f.render(&buf); err != nil {
		return nil, err
	}
	if f.check != nil {
		if err := f.check(buf.Bytes()); err != nil {
			return nil, err
		}
	}
	return buf.Bytes(), nil
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
