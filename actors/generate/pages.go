package generate

import (
	"bytes"
	"context"
	"os"
	"path"

	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/actors/confined"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/inorder"
)

const (
	mostTogether = 64 // number of files that are written before their folder is synced
	writers      = 4  // number of pages written at the same time; each waits for the disk
)

// nextGroup returns the first files that may be written as one group: pages, llms.json alone, or others.
func nextGroup(files []llmstxt.File) []llmstxt.File {
	kind := func(f llmstxt.File) string {
		switch {
		case graph.IsPage(f.Name):
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
	write := func(context.Context) (write func(i int) (string, error), done func()) {
		return func(i int) (string, error) {
			name := path.Base(files[i].Name)
			return name, writePage(into, name, texts[i].String())
		}, func() {}
	}
	for _, err := range inorder.Each(ctx, w.t.Go, writers, len(files), write) {
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
	return atomicfile.WriteText(folder, name, 0o644, text)
}
