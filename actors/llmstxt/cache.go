package llmstxt

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

	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/redact"
)

// cacheEntries is how many results a cache keeps: those used last.
const cacheEntries = 64

// cache keeps results under a key made of everything that decides them. Any fault is a miss: the folder may be
// removed, full, or changed by others at any time.
type cache struct {
	folder  string
	secrets *redact.Secrets // a program that filled the cache may not have known them
}

// cached is a result with its files.
type cached struct {
	dir    *os.Root
	Result Result            `json:"result"`
	Files  []render.Artifact `json:"files"`
}

const cacheIndex = "result.json"

// key names everything that decides the result: the material, the input, the model and the program. "" is no key.
func (g *generation) key(ctx context.Context) string {
	if g.cache.folder == "" || g.material.Key == "" || g.degraded != "" {
		return ""
	}
	in := g.input
	in.Out, in.Layout, in.RequireModel = "", "", false
	if in.File != "" {
		in.File = nameTxt
	}
	if in.Model != "" {
		m, err := g.find(ctx)
		if err != nil {
			return ""
		}
		in.Model = m.Name
	}
	parts, err := json.Marshal([]any{g.config.Version, g.material.Key, in})
	if err != nil {
		return ""
	}
	return messages.Digest(string(parts))
}

// find returns the result under the key, or nil if any part of it is missing or damaged.
func (c cache) find(key string) *cached {
	if key == "" {
		return nil
	}
	all, err := os.OpenRoot(c.folder)
	if err != nil {
		return nil
	}
	defer all.Close()
	dir, err := all.OpenRoot(key + "/") // the slash asks for a folder: opening a pipe would not end
	if err != nil {
		return nil
	}
	entry := &cached{dir: dir}
	data, err := readRegular(dir, cacheIndex)
	if err != nil || json.Unmarshal(data, entry) != nil || c.hasSecret(data) || !entry.whole(c) {
		dir.Close()
		return nil
	}
	touch(all, key)
	return entry
}

// touch marks an entry as used. One that cannot be marked is dropped sooner.
func touch(all *os.Root, name string) {
	now := time.Now()
	_ = all.Chtimes(name, now, now)
}

// hasSecret reports whether the data contains a known secret.
func (c cache) hasSecret(data []byte) bool { return !bytes.Equal(c.secrets.Bytes(data), data) }

func (c *cached) whole(in cache) bool {
	for _, f := range c.Files {
		data, err := readRegular(c.dir, f.Name)
		if err != nil || messages.Digest(string(data)) != f.SHA256 || in.hasSecret(data) {
			return false
		}
	}
	return len(c.Files) > 0
}

// result finds the result of an earlier run under the key, if its files still pass today's checks.
func (c cache) result(key string) *cached {
	entry := c.find(key)
	if entry == nil || entry.valid() {
		return entry
	}
	entry.dir.Close()
	return nil
}

// valid checks the files as every artifact is checked.
func (c *cached) valid() bool {
	seen := map[string]bool{}
	for _, f := range c.Files {
		check := checkOf(f.Name)
		if check == nil || seen[f.Name] {
			return false
		}
		seen[f.Name] = true
		data, err := readRegular(c.dir, f.Name)
		judge := check()
		if _, refused := judge.Write(data); err != nil || refused != nil || judge.verdict() != nil {
			return false
		}
	}
	return true
}

func readRegular(dir *os.Root, name string) ([]byte, error) {
	return fs.ReadFile(scan.Folder(dir), name)
}

// opener opens an artifact by its name.
type opener func(name string) (io.ReadCloser, error)

// make opens the folder, which it makes if it is missing.
func (c cache) make() (*os.Root, error) {
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(c.folder)
}

// keep stores a result.
func (c cache) keep(key string, result Result, files []render.Artifact, open opener) error {
	all, err := c.make()
	if err != nil {
		return err
	}
	defer all.Close()
	making := "." + key + ".tmp"
	if err := errors.Join(all.RemoveAll(making), all.Mkdir(making, 0o700)); err != nil {
		return err
	}
	if err := fill(all, making, result, files, open); err != nil {
		return errors.Join(err, all.RemoveAll(making))
	}
	if err := errors.Join(all.RemoveAll(key), all.Rename(making, key)); err != nil {
		return err
	}
	return trim(all)
}

func fill(all *os.Root, name string, result Result, files []render.Artifact, open opener) error {
	dir, err := all.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, f := range files {
		if err := copyInto(dir, f.Name, open); err != nil {
			return err
		}
	}
	data, err := json.Marshal(cached{Result: result, Files: files})
	if err != nil {
		return err
	}
	return dir.WriteFile(cacheIndex, data, 0o600)
}

func copyInto(dir *os.Root, name string, open opener) error {
	from, err := open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := dir.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	to, err := dir.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
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
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(used(a), used(b)) })
	for _, e := range entries[:len(entries)-cacheEntries] {
		if err := all.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// countsFile holds the numbers of tokens that runs have counted. Its name changes with the encoding and the form.
const countsFile = "tokens-o200k-1"

// read gives a file beside the results, nil if it is missing or has a known secret.
func (c cache) read(name string) []byte {
	all, err := os.OpenRoot(c.folder)
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

// write keeps a file beside the results.
func (c cache) write(name string, data []byte) error {
	all, err := c.make()
	if err != nil {
		return err
	}
	defer all.Close()
	return errors.Join(atomicfile.WriteText(all, name, 0o600, string(data)), trim(all))
}
