package generate

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// write is the task that writes the files, and caches the result.
func (g *generation) write(
	ctx context.Context, t *actors.TaskContext, got fetched, about *llmstxt.Analysis, by consulted,
) error {
	out, err := g.place(got.material, got.out).openFolder(ctx, t)
	if err != nil {
		return err
	}
	defer out.Close()
	_ = confined.Remove(out.Root, out.fileOf(llmstxt.NameTxt)+partialSuffix) // shown while the model was asked
	n, err := out.sweep()
	if err != nil {
		return err
	}
	if n > 0 {
		t.Log(messages.LogInfo, fmt.Sprintf("removed %s left by unfinished runs", words.Count(n, "file")))
	}
	w := &writer{t: t, out: out, spend: g.spend(ctx, t.Principal())}
	if got.hit != nil {
		if _, err := w.writeFiles(ctx, got.hit.files()); err != nil {
			return err
		}
		result := got.hit.Result
		result.Cached, result.Folder = true, out.dir
		return end(t, result)
	}
	files, err := about.Files(ctx, g.output(out, by), caller(t))
	if err != nil {
		return err
	}
	list := files.List
	if g.config.File != "" {
		list = list[:1]
	}
	written, err := w.writeFiles(ctx, list)
	if err != nil {
		return err
	}
	if found := about.Secrets(); len(found) > 0 {
		t.Log(messages.LogWarn, fmt.Sprintf("redacted %s, such as %s", words.Count(len(found), "secret"),
			found[0]))
	}
	if counts := files.Counts(); counts != nil && g.cache.folder != "" {
		logUncached(t, "the numbers of tokens are", g.cache.write(countsFile, counts))
	}
	result := g.result(out.dir, about, files, written)
	// the key contains the model that was requested
	if key := g.key(ctx, got.material); key != "" && by.cause == "" && by.other == "" {
		logUncached(t, "the result is", g.cache.keep(key, result, written, func(name string) ([]byte, error) {
			return readRegular(out.Root, out.fileOf(name))
		}))
	}
	return end(t, result)
}

// spend returns the function to call before bytes of the principal's run are written.
func (g *generation) spend(ctx context.Context, principal string) func(bytes int) error {
	if g.config.Spend == nil {
		return func(int) error { return nil }
	}
	return func(bytes int) error { return g.config.Spend(ctx, principal, bytes) }
}

func end(t *actors.TaskContext, result Result) error {
	t.Summarize("files in " + result.Folder)
	return t.Result(result, result.Degraded)
}

// output returns what the files contain about the run.
func (g *generation) output(out *folder, by consulted) llmstxt.Output {
	o := llmstxt.Output{Tool: llmstxt.Tool{Name: "lastword", Version: g.config.Version}, Model: g.input.Model,
		Degraded: by.cause != "", Cause: string(by.cause),
		Counts: func() []byte { return g.cache.read(countsFile) },
		Clean:  func(w io.Writer) io.WriteCloser { return g.config.Secrets.Document(w) }}
	if g.at.Path != "" {
		o.Way = relativeURL(out.path, g.at.Path)
	}
	if by.model != nil {
		o.Model = by.name()
	}
	return o
}

// writer writes the files of a run into their folder.
type writer struct {
	t     *actors.TaskContext
	out   *folder
	spend func(bytes int) error
}

// made is a file that was written, or rendered for writing.
type made struct {
	llmstxt.Written
	bytes int64
}

// writeFiles writes the files, and emits artifact.written once the folder of a file is synced. Pages are synced in groups,
// because there may be thousands.
func (w *writer) writeFiles(ctx context.Context, files []llmstxt.File) (written []llmstxt.Artifact, err error) {
	tell := func(all ...made) error {
		if err := w.tellWritten(all); err != nil {
			return err
		}
		for _, m := range all {
			written = append(written, m.Artifact)
		}
		w.t.Progress(int64(len(written)), int64(len(files)), "files")
		return nil
	}
	for len(written) < len(files) {
		group := nextGroup(files[len(written):])
		if group[0].Name == llmstxt.NameJSON { // it is the last file, and lists the others
			w.out.removeStale(w.t, written)
		}
		if llmstxt.IsPage(group[0].Name) {
			all, err := w.writePages(ctx, group)
			if err != nil {
				return nil, fmt.Errorf("cannot write %s: %w", group[0].Name, reason(err))
			}
			if err := tell(all...); err != nil {
				return nil, err
			}
			continue
		}
		if err := w.writeSideBySide(ctx, group, tell); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// writeSideBySide writes files concurrently. Each gets its final name once the one before it was announced, so a run
// that fails or is cancelled leaves the first files.
func (w *writer) writeSideBySide(ctx context.Context, files []llmstxt.File, tell func(all ...made) error) error {
	turns := make([]chan struct{}, len(files)+1)
	for i := range turns {
		turns[i] = make(chan struct{})
	}
	close(turns[0])
	all := make([]made, len(files))
	ready := w.each(ctx, len(files), len(files), func(ctx context.Context, i int) (err error) {
		all[i], err = w.writeFile(ctx, files[i], turns[i])
		return err
	})
	for i, err := range ready {
		if err == nil {
			err = tell(all[i])
		}
		if err != nil {
			return err
		}
		close(turns[i+1])
	}
	return nil
}

// each calls do for the numbers below n, in goroutines of the task, and yields them in order until the first error, or
// the cause of ctx. When the loop ends, the context of do ends, and each waits for what still runs.
func (w *writer) each(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		var working sync.WaitGroup
		defer working.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		done := make([]chan error, n)
		for i := range done {
			done[i] = make(chan error, 1)
		}
		for first := range min(workers, n) {
			working.Add(1)
			w.t.Go(func(context.Context) error {
				defer working.Done()
				for i := first; i < n && ctx.Err() == nil; i += workers {
					done[i] <- do(ctx, i)
				}
				return nil
			})
		}
		for i := range done {
			var err error
			select {
			case err = <-done[i]:
			case <-ctx.Done():
				err = context.Cause(ctx)
			}
			if !yield(i, err) || err != nil {
				return
			}
		}
	}
}

// tellWritten announces files that are on disk. It first reports what is missing in them.
func (w *writer) tellWritten(all []made) error {
	for _, m := range all {
		if paths := m.Dropped; len(paths) > 0 {
			shown := paths[:min(len(paths), 5)]
			w.t.Log(messages.LogWarn, fmt.Sprintf("%s: dropped %s to keep the budget, such as %s",
				m.Name, words.Count(len(paths), "file"), strings.Join(shown, ", ")))
		}
	}
	for _, m := range all {
		a := messages.Artifact{Name: m.Name, Path: path.Join(w.out.dir, w.out.fileOf(m.Name)), Bytes: m.bytes,
			SHA256: m.SHA256}
		if err := w.t.Emit(messages.ArtifactWritten{Artifact: a}, fmt.Sprintf("%s written, %d bytes", a.Name,
			a.Bytes)); err != nil {
			return err
		}
		if a.Bytes > partialBytes {
			_ = confined.Remove(w.out.Root, w.out.fileOf(m.Name)+partialSuffix) // pages and cached files have none
		}
	}
	return nil
}

// writeFile gives the file its final name when its turn comes, and never if the file fails its check.
func (w *writer) writeFile(ctx context.Context, f llmstxt.File, turn <-chan struct{}) (m made, err error) {
	err = confined.Write(w.out.Root, w.out.fileOf(f.Name), 0o644, func(to io.Writer) error {
		b := bufio.NewWriterSize(&partial{writer: w, to: to, name: f.Name}, partialBytes)
		if m, err = w.render(b, f); err != nil {
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
		return made{}, fmt.Errorf("cannot write %s: %w", f.Name, reason(err))
	}
	return m, nil
}

// partialBytes is the length from which on a file has a readable first part while it is written.
const partialBytes = 256 << 10

// partialSuffix follows the name of a file that has only the first part of another one.
const partialSuffix = ".partial"

// partial shows readers the first part of a long file, in another file. What is written first is at least
// partialBytes long if more follows.
type partial struct {
	*writer
	to    io.Writer
	name  string
	first []byte // what was written first; nil after the second Write
	next  bool
}

// Write passes on the data.
func (p *partial) Write(data []byte) (int, error) {
	if text := p.first[:bytes.LastIndexByte(p.first, '\n')+1]; len(text) > 0 {
		if err := p.writer.show(p.name, text); err != nil {
			return 0, err
		}
	}
	p.first = nil
	if !p.next {
		p.first, p.next = bytes.Clone(data), true
	}
	return p.to.Write(data)
}

// show writes the file of the first part, and announces it.
func (w *writer) show(name string, text []byte) error {
	file := w.out.fileOf(name) + partialSuffix
	if err := confined.Write(w.out.Root, file, 0o644, func(to io.Writer) error { _, err := to.Write(text); return err }); err != nil {
		return err
	}
	a := messages.Artifact{Name: name, Path: path.Join(w.out.dir, file), Bytes: int64(len(text)), SHA256: messages.Digest(string(text)), Partial: true}
	return w.t.Emit(messages.ArtifactPartial{Artifact: a}, fmt.Sprintf("%s has %d bytes so far", a.Name, a.Bytes))
}

// render writes the text. Its bytes are accounted for first.
func (w *writer) render(to io.Writer, f llmstxt.File) (m made, err error) {
	size := &counter{spend: w.spend}
	m.Written, err = f.Write(io.MultiWriter(size, to))
	m.bytes = size.bytes
	return m, err
}

// counter accounts for bytes before they are written.
type counter struct {
	bytes int64
	spend func(bytes int) error
}

func (c *counter) Write(p []byte) (int, error) {
	if err := c.spend(len(p)); err != nil {
		return 0, err
	}
	c.bytes += int64(len(p))
	return len(p), nil
}

const (
	mostTogether = 64 // number of files that are written before their folder is synced
	writers      = 4  // number of pages written at the same time; each waits for the disk
)

// nextGroup returns the first files that may be written as one group: pages, llms.json alone, or others.
func nextGroup(files []llmstxt.File) []llmstxt.File {
	kind := func(f llmstxt.File) string {
		switch {
		case llmstxt.IsPage(f.Name):
			return pagesFolder
		case f.Name == llmstxt.NameJSON:
			return llmstxt.NameJSON
		}
		return ""
	}
	n := 1
	for n < min(len(files), mostTogether) && kind(files[n]) == kind(files[0]) {
		n++
	}
	return files[:n]
}

// writePages renders and checks the pages one after the other, and then writes them concurrently.
func (w *writer) writePages(ctx context.Context, files []llmstxt.File) ([]made, error) {
	into, err := confined.Folder(w.out.Root, pagesFolder)
	if err != nil {
		return nil, err
	}
	defer into.Close()
	all, texts := make([]made, len(files)), make([]bytes.Buffer, len(files))
	for i, f := range files {
		if all[i], err = w.render(&texts[i], f); err != nil {
			return nil, err
		}
	}
	write := func(_ context.Context, i int) error {
		return writePage(into, path.Base(files[i].Name), texts[i].String())
	}
	for _, err := range w.each(ctx, writers, len(files), write) {
		if err != nil {
			return nil, err
		}
	}
	return all, atomicfile.SyncFolder(into, ".")
}

// writePage leaves an identical existing page alone, because writing it again would cost as much as a new one.
func writePage(folder *os.Root, name, text string) error {
	info, err := folder.Lstat(name)
	if err == nil && info.Mode().IsRegular() && info.Size() == int64(len(text)) {
		if there, err := readRegular(folder, name); err == nil && string(there) == text {
			return nil
		}
	}
	return atomicfile.WriteText(folder, name, confined.Within(folder, 0o644), text)
}
