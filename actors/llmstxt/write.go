package llmstxt

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/tokens"
	"github.com/seed889630bf/lastword/messages"
)

func (g *generation) write(ctx context.Context, t *actors.TaskContext) error {
	out, err := g.openFolder(ctx, t)
	if err != nil {
		return err
	}
	defer out.Close()
	n, err := g.prepareGraph(out.Root)
	if err != nil {
		return err
	}
	if n += atomicfile.Sweep(out.Root, ".", g.stem()); n > 0 {
		t.Log(messages.LogInfo, fmt.Sprintf("removed %s left by unfinished runs", prose.Count(n, "file")))
	}
	files, err := g.artifacts(ctx, t, out)
	if err != nil {
		return err
	}
	written, err := g.writeFiles(ctx, t, out, files)
	if err != nil {
		return err
	}
	if found := g.secrets.Findings(); len(found) > 0 {
		t.Log(messages.LogWarn, fmt.Sprintf("redacted %s, such as %s", prose.Count(len(found), "secret"), place(found[0])))
	}
	if counts := g.tokens.Bytes(); counts != nil && g.cache.folder != "" {
		if err := g.cache.write(countsFile, counts); err != nil {
			t.Log(messages.LogWarn, "the numbers of tokens are not cached: "+reason(err).Error())
		}
	}
	result := g.result(out.dir)
	g.keep(ctx, t, result, written, func(name string) (io.ReadCloser, error) { return out.Open(g.fileOf(name)) })
	t.Summarize("files in " + out.dir)
	return t.Result(result, result.Degraded)
}

// writeFiles emits artifact.written once the folder of a file is synced. Pages, of which there may be thousands, are
// synced in groups.
func (g *generation) writeFiles(
	ctx context.Context, t *actors.TaskContext, out *folder, files []artifact,
) (written []render.Artifact, err error) {
	b := bufio.NewWriterSize(nil, 256<<10)
	for done := 0; done < len(files); {
		f := files[done]
		if f.name == nameJSON { // it is the last, and names the others
			g.report(written)
			g.removeStale(t, out, written)
		}
		said := make([]messages.Artifact, 1)
		if n := pagesAhead(files[done:]); n > 0 {
			said, err = g.writePages(ctx, t, out, files[done:done+n])
		} else {
			said[0], err = g.writeFile(ctx, t, out, b, f)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", f.name, reason(err))
		}
		if err := tellWritten(t, out.Root, path.Dir(g.fileOf(f.name)), said); err != nil {
			return nil, err
		}
		for _, a := range said {
			written = append(written, render.Artifact{Name: a.Name, SHA256: a.SHA256, Tokens: g.tokens.artifacts[a.Name]})
		}
		done += len(said)
		t.Progress(int64(done), int64(len(files)), "files")
	}
	return written, nil
}

func tellWritten(t *actors.TaskContext, out *os.Root, folder string, files []messages.Artifact) error {
	if err := atomicfile.SyncFolder(out, folder); err != nil {
		return fmt.Errorf("cannot write %s: %w", files[0].Name, reason(err))
	}
	for _, a := range files {
		if err := t.Emit(messages.ArtifactWritten{Artifact: a}, fmt.Sprintf("%s written, %d bytes", a.Name,
			a.Bytes)); err != nil {
			return err
		}
	}
	return nil
}

// writeFile checks the file while it writes it. A file that fails the check never gets its final name.
func (g *generation) writeFile(
	ctx context.Context, t *actors.TaskContext, out *folder, b *bufio.Writer, f artifact,
) (said messages.Artifact, err error) {
	name := g.fileOf(f.name)
	err = atomicfile.Write(out.Root, name, 0o644, func(w io.Writer) error {
		b.Reset(w)
		said, err = g.checked(b, f)
		return cmp.Or(context.Cause(ctx), err, b.Flush())
	})
	said.Path = path.Join(out.dir, name)
	return said, err
}

// checked renders the file without secrets, checks it, and returns its size and digest.
func (g *generation) checked(w io.Writer, f artifact) (messages.Artifact, error) {
	sum, check, size := sha256.New(), f.check(), &counter{spend: g.config.Spend}
	to, count := io.MultiWriter(size, w, sum, check), &tokens.Counter{Counts: &g.tokens.Counts}
	if g.input.CountTokens {
		to = io.MultiWriter(to, count)
	}
	clean := g.config.Secrets.Document(to)
	if err := errors.Join(f.render(clean), clean.Close()); err != nil {
		return messages.Artifact{}, err
	}
	if g.input.CountTokens {
		g.tokens.artifacts[f.name] = count.Count()
	}
	said := messages.Artifact{Name: f.name, Bytes: size.bytes, SHA256: hex.EncodeToString(sum.Sum(nil))}
	return said, check.verdict()
}

// counter counts bytes before they are written.
type counter struct {
	bytes int64
	spend func(bytes int) error
}

func (c *counter) Write(p []byte) (int, error) {
	if c.spend != nil {
		if err := c.spend(len(p)); err != nil {
			return 0, err
		}
	}
	c.bytes += int64(len(p))
	return len(p), nil
}

func (g *generation) keep(
	ctx context.Context, t *actors.TaskContext, result Result, files []render.Artifact, open opener,
) {
	key := g.key(ctx)
	if key == "" || g.hit != nil || g.other != "" { // the key names the model that was asked
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
	d := g.document // its strings are safe to show, though they come from the repository
	s := g.config.Secrets
	return Result{Title: s.Text(d.Title), Summary: s.Text(d.Summary), Folder: dir, Files: len(g.repo.Files),
		Links: links(g.index), Symbols: symbols(g.index), Packages: packages, Dropped: g.dropped,
		TokenBudget: d.Options.TokenBudget, Secrets: len(g.secrets.Findings()), Tokens: g.tokens.artifacts[nameFull],
		Commit: o.Commit, Remote: o.Remote, Model: d.Options.Model, Degraded: d.Degraded, Cause: g.degraded}
}
