package llmstxt

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
	"github.com/seed889630bf/lastword/messages"
)

const (
	together = 64 // pages before their folder is synced
	writers  = 4  // of pages at a time, for each waits for its disk
)

// pagesAhead is how many of the first files are pages to write together.
func pagesAhead(files []artifact) int {
	n := 0
	for n < min(len(files), together) && graph.IsPage(files[n].name) {
		n++
	}
	return n
}

// page is one that is rendered and checked.
type page struct {
	name string // in the folder of pages
	text bytes.Buffer
}

// writePages renders and checks the pages one after the other, and gives them their names all at once.
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
	return said, errors.Join(context.Cause(ctx), writeAllPages(t, pagesRoot, pages))
}

// writeAllPages returns when all writers have, whatever they came to.
func writeAllPages(t *actors.TaskContext, folder *os.Root, pages []page) error {
	n := min(writers, len(pages))
	ended := make(chan error, n)
	for first := range n {
		t.Go(func(ctx context.Context) error {
			err := errors.New("a writer ended too soon") // unless it says otherwise
			defer func() { ended <- err }()
			err = writeEachPage(ctx, t.RunID(), folder, pages, first, n)
			return nil
		})
	}
	var all error
	for range n {
		all = errors.Join(all, <-ended)
	}
	return all
}

// writeEachPage places every step-th page from first on. One that is there as it should be is left: to write it again
// costs the disk as much as to write it anew.
func writeEachPage(ctx context.Context, run messages.RunID, folder *os.Root, pages []page, first, step int) error {
	b := bufio.NewWriter(nil)
	for i := first; i < len(pages); i += step {
		p := &pages[i]
		if holds(folder, p.name, p.text.Bytes()) {
			continue
		}
		err := writeAtomically(folder, p.name, run, b, func(w io.Writer) error {
			_, err := w.Write(p.text.Bytes())
			return errors.Join(context.Cause(ctx), err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// holds reports whether the folder has the file, no link, with that text.
func holds(folder *os.Root, name string, text []byte) bool {
	info, err := folder.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
		return false
	}
	there, err := readRegular(folder, name)
	return err == nil && bytes.Equal(there, text)
}
