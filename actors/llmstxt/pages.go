package llmstxt

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/inorder"
	"github.com/seed889630bf/lastword/messages"
)

const (
	together = 64 // pages are written before their folder is synced
	writers  = 4  // write pages at a time; each waits for the disk
)

// pagesAhead is how many pages the list begins with, and may be written together.
func pagesAhead(files []artifact) int {
	n := 0
	for n < min(len(files), together) && graph.IsPage(files[n].name) {
		n++
	}
	return n
}

// page is a rendered and checked page.
type page struct {
	name string // in the folder of pages
	text bytes.Buffer
}

// writePages renders and checks the pages one after the other, then writes them at the same time.
func (g *generation) writePages(
	ctx context.Context, t *actors.TaskContext, out *folder, files []artifact,
) ([]messages.Artifact, error) {
	pagesRoot, err := out.OpenRoot(pagesFolder)
	if err != nil {
		return nil, err
	}
	defer pagesRoot.Close()
	said, pages := make([]messages.Artifact, len(files)), make([]page, len(files))
	for i, f := range files {
		pages[i].name = path.Base(f.name)
		if said[i], err = g.checked(&pages[i].text, f); err != nil {
			return nil, err
		}
		said[i].Path = path.Join(out.dir, pagesFolder, pages[i].name)
	}
	for _, err := range inorder.Each(ctx, t.Go, writers, len(pages), func(ctx context.Context) inorder.Worker[string] {
		return pageWriter{ctx, pagesRoot, pages}
	}) {
		if err != nil {
			return nil, err
		}
	}
	return said, nil
}

// pageWriter writes pages to their folder.
type pageWriter struct {
	ctx    context.Context
	folder *os.Root
	pages  []page
}

// Make leaves a page that is already there unchanged: writing it again would cost as much as a new one.
func (w pageWriter) Make(i int) (name string, err error) {
	p := &w.pages[i]
	if holds(w.folder, p.name, p.text.Bytes()) {
		return p.name, nil
	}
	return p.name, atomicfile.Write(w.folder, p.name, 0o644, func(to io.Writer) error {
		_, err := to.Write(p.text.Bytes())
		return errors.Join(context.Cause(w.ctx), err)
	})
}

func (w pageWriter) Close() {}

// holds reports whether the folder has a regular file with that text.
func holds(folder *os.Root, name string, text []byte) bool {
	info, err := folder.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
		return false
	}
	there, err := readRegular(folder, name)
	return err == nil && bytes.Equal(there, text)
}
