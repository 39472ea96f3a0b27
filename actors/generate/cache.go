package generate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
)

// cacheEntries is how many results a cache keeps: those used last.
const cacheEntries = 64

// cache keeps results by a key of everything that determines them. Every fault counts as a miss, because the folder
// may be removed, full, or changed by others at any time.
type cache struct {
	folder  string
	secrets *redact.Secrets // the program that filled the cache may not have known them
}

// cached is a result with its files.
type cached struct {
	dir    *os.Root
	Result Result             `json:"result"`
	Files  []llmstxt.Artifact `json:"files"`
}

const cacheIndex = "result.json"

// key returns a key of everything that determines the result: the material, the input, the model and the program. ""
// means no key.
func (g *generation) key(ctx context.Context, m *source.Repository) string {
	if g.cache.folder == "" || m.Key == "" {
		return ""
	}
	in := g.input
	in.Out, in.Layout, in.NoCache, in.RequireModel = "", "", false, false
	if in.Model != "" {
		found, err := g.finder.find(ctx)
		if err != nil {
			return ""
		}
		in.Model = found.Name
	}
	return keyOf(g.config.Version, m.Key, g.config.Limits, g.config.File != "", in)
}

// answerKey returns a key of everything that determines a model's answer: the program, the model and the prompt.
// Folders without a commit have one too.
func (g *generation) answerKey(name string, m llmstxt.Material) string {
	system, user := m.Prompt("") // without the boundary, which is computed from the text
	return keyOf("answer", g.config.Version, name, system, user)
}

func keyOf(parts ...any) string {
	data, _ := json.Marshal(parts) // never fails for texts and numbers
	return messages.Digest(string(data))
}

// find returns the result of an earlier run under the key. It returns nil if any part is missing or damaged, or fails
// today's checks.
func (c cache) find(key string) *cached {
	if key == "" {
		return nil
	}
	all, err := regular.Root(c.folder)
	if err != nil {
		return nil
	}
	defer all.Close()
	dir, err := all.OpenRoot(key + "/") // the slash requires a folder: opening a pipe would block
	if err != nil {
		return nil
	}
	entry := &cached{dir: dir}
	data, err := readRegular(dir, cacheIndex)
	if err != nil || json.Unmarshal(data, entry) != nil || c.hasSecret(data) || !entry.isValid(c) {
		dir.Close()
		return nil
	}
	touch(all, key)
	return entry
}

// touch marks an entry as used. An entry that cannot be marked is dropped sooner.
func touch(all *os.Root, name string) {
	now := time.Now()
	_ = all.Chtimes(name, now, now)
}

// hasSecret reports whether the data contains a known secret.
func (c cache) hasSecret(data []byte) bool { return !bytes.Equal(c.secrets.Bytes(data), data) }

// isValid checks the files as every artifact is checked.
func (c *cached) isValid(in cache) bool {
	for _, f := range c.Files {
		data, err := c.read(f)
		check := llmstxt.CheckerOf(f.Name)
		if err != nil || check == nil || in.hasSecret(data) {
			return false
		}
		if _, err := check.Write(data); err != nil || check.Verdict() != nil {
			return false
		}
	}
	return len(c.Files) > 0
}

// read returns a file, unless it has changed since it was stored.
func (c *cached) read(f llmstxt.Artifact) ([]byte, error) {
	data, err := readRegular(c.dir, f.Name)
	if err == nil && messages.Digest(string(data)) != f.SHA256 {
		err = errors.New("the cached file has changed")
	}
	return data, err
}

func readRegular(dir *os.Root, name string) ([]byte, error) {
	return fs.ReadFile(confined.FS(dir), name)
}

// files lists the cached files.
func (c *cached) files() []llmstxt.File {
	var files []llmstxt.File
	for _, f := range c.Files {
		files = append(files, llmstxt.File{Name: f.Name, Write: func(w io.Writer) (llmstxt.Written, error) {
			data, err := c.read(f)
			if err == nil {
				_, err = w.Write(data)
			}
			return llmstxt.Written{Artifact: f}, err
		}})
	}
	return files
}

// make opens the folder, and makes it if it is missing.
func (c cache) make() (*os.Root, error) {
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return nil, err
	}
	return regular.Root(c.folder)
}

// keep stores a result. read returns the content of a file by name.
func (c cache) keep(
	key string, result Result, files []llmstxt.Artifact, read func(name string) ([]byte, error),
) error {
	all, err := c.make()
	if err != nil {
		return err
	}
	defer all.Close()
	if err := errors.Join(all.RemoveAll(key), all.Mkdir(key, 0o700)); err != nil {
		return err
	}
	for _, f := range files {
		name := path.Join(key, f.Name)
		data, err := read(f.Name)
		err = errors.Join(err, all.MkdirAll(path.Dir(name), 0o700), all.WriteFile(name, data, 0o600))
		if err != nil {
			return errors.Join(err, all.RemoveAll(key))
		}
	}
	index, err := json.Marshal(cached{Result: result, Files: files}) // last: without the index there is no result
	if err != nil {
		return err
	}
	return errors.Join(all.WriteFile(path.Join(key, cacheIndex), index, 0o600), trim(all))
}

// trim removes the least recently used results.
func trim(all *os.Root) error {
	entries, err := fs.ReadDir(all.FS(), ".")
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == countsFile })
	if err != nil || len(entries) <= cacheEntries {
		return err
	}
	used := func(e fs.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	stable.Sort(entries, func(a, b fs.DirEntry) int { return cmp.Compare(used(a), used(b)) })
	for _, e := range entries[:len(entries)-cacheEntries] {
		if err := all.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// countsFile holds token counts of earlier runs. Its name changes with the encoding and the format.
const countsFile = "tokens-o200k-1"

// read returns a file beside the results. It returns nil if there is no cache, or if the file is missing or contains
// a known secret.
func (c cache) read(name string) []byte {
	all, err := regular.Root(c.folder)
	if err != nil {
		return nil
	}
	defer all.Close()
	data, err := readRegular(all, name)
	if err != nil || c.hasSecret(data) {
		return nil
	}
	touch(all, name)
	return data
}

// logUncached logs that something could not be cached, if err is not nil.
func logUncached(t *actors.TaskContext, what string, err error) {
	if err != nil {
		t.Log(messages.LogWarn, what+" not cached: "+reason(err).Error())
	}
}

// write keeps a file beside the results.
func (c cache) write(name string, data []byte) error {
	all, err := c.make()
	if err != nil {
		return err
	}
	defer all.Close()
	return errors.Join(atomicfile.WriteText(all, name, 0o600, string(data)), trim(all))
}
