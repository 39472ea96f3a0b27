package llmstxt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

func (g *generation) write(ctx context.Context, t *actors.TaskContext) error {
	dir, base := g.folder()
	out, err := openOut(g.input.Out, dir)
	if err != nil {
		return err
	}
	defer out.Close()
	n, err := g.prepareGraph(out)
	if err != nil {
		return err
	}
	if n += sweep(out, ".", base+"-llms"); n > 0 {
		t.Log(messages.LogInfo, fmt.Sprintf("removed %s that earlier runs did not finish", count(n, "file")))
	}
	files, err := g.artifacts(ctx, t)
	if err != nil {
		return err
	}
	var written []cachedFile
	for _, f := range files {
		sum, err := g.writeFile(ctx, t, out, dir, fileOf(base, f.name), f)
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", f.name, reason(err))
		}
		written = append(written, cachedFile{Name: f.name, SHA256: sum})
	}
	g.removeStale(t, out, written)
	result := g.result(dir)
	g.keep(ctx, t, result, written, func(name string) (io.ReadCloser, error) { return out.Open(fileOf(base, name)) })
	t.Summarize("files in " + dir)
	return t.Result(result, result.Degraded)
}

// writeFile checks the file as it is written; one that does not pass never gets its name.
func (g *generation) writeFile(
	ctx context.Context, t *actors.TaskContext, out *os.Root, dir, name string, f artifact,
) (sha256Hex string, err error) {
	sum, check := sha256.New(), f.check()
	size := new(counter)
	err = place(out, name, t.RunID(), func(w io.Writer) error {
		if err := f.render(io.MultiWriter(w, sum, check, size)); err != nil {
			return err
		}
		return errors.Join(context.Cause(ctx), check.verdict())
	})
	if err != nil {
		return "", err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	said := messages.Artifact{Name: f.name, Path: path.Join(dir, name), Bytes: int64(*size), SHA256: digest}
	return digest, t.Emit(messages.ArtifactWritten{Artifact: said}, fmt.Sprintf("%s written, %d bytes", f.name, *size))
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func (g *generation) keep(ctx context.Context, t *actors.TaskContext, result Result, files []cachedFile, open opener) {
	key := g.key(ctx)
	if key == "" || g.hit != nil || g.other != "" { // the key is of the model that was asked
		return
	}
	if err := g.cache.keep(key, result, files, open); err != nil {
		t.Log(messages.LogWarn, "the result is not cached: "+reason(err).Error())
	}
}

func (g *generation) result(dir string) Result {
	if g.hit != nil {
		result := g.hit.Result
		result.Cached, result.Folder = true, dir
		return result
	}
	o, packages := g.repo.Origin, 0
	if g.graph != nil {
		packages = g.graph.Stats.Packages
	}
	d := g.document // as its strings are fit to be shown: they come from the repository
	return Result{Title: d.Title, Summary: d.Summary, Folder: dir, Files: len(g.repo.Files),
		Links: links(g.index), Symbols: symbols(g.index), Packages: packages, Dropped: g.dropped, Commit: o.Commit, Remote: o.Remote,
		Model: d.Options.Model, Degraded: d.Degraded, Cause: g.degraded}
}
