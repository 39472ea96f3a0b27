package repository

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

// settled is how long nothing must change before a change is reported, because editors and git write many files at
// once.
const settled = 300 * time.Millisecond

// Watcher waits for changes in those folders of a repository that are read.
type Watcher struct {
	folders *fsnotify.Watcher
	ignored func(name string) bool
}

// Watch starts to watch a folder. It ignores files for whose names ignored returns true.
func Watch(ctx context.Context, top string, ignored func(name string) bool) (*Watcher, error) {
	root, err := regular.Root(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var names []string
	switch repo, err := llmstxt.Read(ctx, confined.TreeOf(root), llmstxt.Source{}, llmstxt.Options{}, llmstxt.Caller{}); {
	case err == nil:
		names = repo.Paths()
	case messages.CodeOf(err) != messages.CauseInvalidInput: // an empty folder may get files
		return nil, err
	}
	folders := map[string]bool{".": true}
	for _, name := range names {
		for dir := path.Dir(name); !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	for dir := range folders {
		if err := watcher.Add(filepath.Join(top, filepath.FromSlash(dir))); err != nil {
			return nil, errors.Join(fmt.Errorf("cannot watch %s: %w", dir, err), watcher.Close())
		}
	}
	return &Watcher{watcher, ignored}, nil
}

// Wait returns after something has changed and the changes have settled, or when ctx is done.
func (w *Watcher) Wait(ctx context.Context) error {
	quiet := time.NewTimer(settled)
	quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-quiet.C:
			return nil
		case e := <-w.folders.Events:
			if !e.Has(fsnotify.Chmod) && !w.ignored(e.Name) {
				quiet.Reset(settled)
			}
		case err := <-w.folders.Errors:
			return fmt.Errorf("cannot watch: %w", err)
		}
	}
}

// Close ends the watch.
func (w *Watcher) Close() error { return w.folders.Close() }
