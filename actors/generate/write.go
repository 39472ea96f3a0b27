package generate

import (
	"bufio"
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
	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/inorder"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/tokens"
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
		logUncached(t, "the numbers of tokens are", g.cache.write(countsFile, counts))
	}
	result := g.result(out.dir)
	if key := g.key(ctx); key != "" && g.hit == nil && g.other == "" { // the key names the model that was asked
		logUncached(t, "the result is", g.cache.keep(key, result, written, func(name string) ([]byte, error) {
			return readRegular(out.Root, g.fileOf(name))
		}))
	}
	t.Summarize("files in " + out.dir)
	return t.Result(result, result.Degraded)
}

// writeFiles emits artifact.written once the folder of a file is synced. Pages, of which there may be thousands, are
// synced in groups.
func (g *generation) writeFiles(
	ctx context.Context, t *actors.TaskContext, out *folder, files []artifact,
) (written []render.Artifact, err error) {
	tell := func(said ...messages.Artifact) error {
		for _, a := range said {
			g.tellDropped(t, a.Name)
		}
		if err := tellWritten(t, out.Root, path.Dir(g.fileOf(said[0].Name)), said); err != nil {
			return err
		}
		for _, a := range said {
			written = append(written, render.Artifact{Name: a.Name, SHA256: a.SHA256, Tokens: g.tokensOf(a.Name)})
		}
		t.Progress(int64(len(written)), int64(len(files)), "files")
		return nil
	}
	for len(written) < len(files) {
		group := together(files[len(written):])
		if group[0].name == nameJSON { // it is the last, and names the others
			g.report(written)
			g.removeStale(t, out, written)
		}
		if graph.IsPage(group[0].name) {
			said, err := g.writePages(ctx, t, out, group)
			if err != nil {
				return nil, fmt.Errorf("cannot write %s: %w", group[0].name, reason(err))
			}
			if err := tell(said...); err != nil {
				return nil, err
			}
			continue
		}
		if err := g.writeSideBySide(ctx, t, out, group, tell); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// writeSideBySide gives a file its name once the one before it is told: of a run that fails or is cancelled, the first
// files are there.
func (g *generation) writeSideBySide(ctx context.Context, t *actors.TaskContext, out *folder, files []artifact,
	tell func(said ...messages.Artifact) error) error {
	turns := make([]chan struct{}, len(files)+1)
	for i := range turns {
		turns[i] = make(chan struct{})
	}
	close(turns[0])
	writer := func(ctx context.Context) (write func(i int) (messages.Artifact, error), done func()) {
		return func(i int) (messages.Artifact, error) { return g.writeFile(ctx, out, files[i], turns[i]) }, func() {}
	}
	i := 0
	for said, err := range inorder.Each(ctx, t.Go, len(files), len(files), writer) {
		if err != nil {
			return err
		}
		if err := tell(said); err != nil {
			return err
		}
		i++
		close(turns[i])
	}
	return nil
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

// writeFile checks the file while it writes it. It gets its final name in its turn, and never if it fails the check.
func (g *generation) writeFile(
	ctx context.Context, out *folder, f artifact, turn <-chan struct{},
) (said messages.Artifact, err error) {
	name := g.fileOf(f.name)
	err = atomicfile.Write(out.Root, name, 0o644, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 256<<10)
		if said, err = g.checked(b, f); err != nil {
			return err
		}
		if err := b.Flush(); err != nil {
			return err
		}
		select {
		case <-turn:
		case <-ctx.Done():
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return messages.Artifact{}, fmt.Errorf("cannot write %s: %w", f.name, reason(err))
	}
	said.Path = path.Join(out.dir, name)
	return said, nil
}

// checked renders the file without secrets, checks it, and returns its size and digest.
func (g *generation) checked(w io.Writer, f artifact) (messages.Artifact, error) {
	sum, check, size := sha256.New(), checkOf(f.name), &counter{spend: g.config.Spend}
	to, count := io.MultiWriter(size, w, sum, check), &tokens.Counter{Counts: &g.tokens.Counts}
	if g.input.CountTokens {
		to = io.MultiWriter(to, count)
	}
	clean := g.config.Secrets.Document(to)
	if err := errors.Join(f.render(clean), clean.Close()); err != nil {
		return messages.Artifact{}, err
	}
	if g.input.CountTokens {
		g.mu.Lock()
		defer g.mu.Unlock()
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
	links, symbols := count(g.index)
	return Result{Title: s.Text(d.Title), Summary: s.Text(d.Summary), Folder: dir, Files: len(g.repo.Files),
		Links: links, Symbols: symbols, Packages: packages, Dropped: len(d.Dropped),
		TokenBudget: d.Options.TokenBudget, Secrets: len(g.secrets.Findings()), Tokens: g.tokensOf(nameFull),
		Commit: o.Commit, Remote: o.Remote, Model: d.Options.Model, Degraded: d.Degraded, Cause: g.degraded}
}
