package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/artifact"
	"github.com/seed889630bf/lastword/actors/confined"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/plan"
	"github.com/seed889630bf/lastword/actors/regular"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/source"
	"github.com/seed889630bf/lastword/supervision/fault"
)

// jobs returns the jobs that callers can start.
func (h *Options) jobs() []actors.Definition {
	steps := h.steps()
	jobs := append(slices.Clip(steps.Jobs), earlier(plan.Define(steps), "caller"))
	if h.file != nil {
		jobs = append(jobs, h.file.Listed(h.commandConfig()))
	}
	for i := range jobs {
		if jobs[i].Limits.StallMS == 0 {
			jobs[i].Limits.StallMS = Milliseconds(h.finder.Endpoint.StallTimeout())
		}
	}
	return jobs
}

// steps returns the configuration for the steps of plans. They may do everything that the caller of the plan may do.
func (h *Options) steps() plan.Config {
	generating := generate.Config{Open: h.Read.Open, RemoteOnly: h.Read.RemoteOnly, Limits: llmstxt.Limits(h.Read.Limits), Folder: h.place,
		Model: h.finder.Find, DefaultModel: h.model, Secrets: h.Secrets, Version: build.This().Exact(), Spend: h.spend}
	if !h.noCache {
		generating.Cache = h.program.Env.CacheFolder()
	}
	runs := func(principal string) plan.Runs { return ownRuns{h.program, principal} }
	state := func(ctx context.Context, id messages.RunID, principal string) (messages.State, error) {
		return runs(principal).State(ctx, id)
	}
	folder := func(principal string) (string, error) { return h.place(principal, "") }
	return plan.Config{Runs: runs, Read: artifact.Read(state, h.artifact), Write: h.shared(artifact.Write(folder, h.spend)),
		Jobs: append([]actors.Definition{h.shared(earlier(generate.Define(generating), "home")), h.prompt(),
			earlier(h.chat(), "home")}, h.commands()...)}
}

// earlier also makes the job from inputs in logs from before 0.1.0, where a member named the principal.
func earlier(d actors.Definition, member string) actors.Definition {
	make := d.New
	d.New = func(input json.RawMessage) (actors.Job, error) {
		var members map[string]json.RawMessage
		if json.Unmarshal(input, &members) == nil && members[member] != nil {
			delete(members, member)
			input, _ = json.Marshal(members) // of raw JSON
		}
		return make(input)
	}
	return d
}

// spend counts bytes that a run of the principal is about to write. Errors: limit_exceeded.
func (h *Options) spend(ctx context.Context, principal string, bytes int) error {
	if fault.Hit(ctx, fault.DiskFull) != nil {
		return fmt.Errorf("injected: %w", syscall.ENOSPC)
	}
	return h.quota.take(homeOf(principal), int64(bytes))
}

// place returns the folder for a principal's run: out below the principal's folder, which is below the root. It must
// not contain symbolic links.
func (h *Options) place(principal, out string) (string, error) {
	below := path.Join(".", homeOf(principal), out)
	if err := h.keepPrivate(homeOf(principal)); err != nil {
		return "", messages.InvalidInput("the server's output folder cannot be used: %v", exit.Reason(err))
	}
	root, err := regular.Root(h.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return filepath.Join(h.Out, filepath.FromSlash(below)), nil
	case err != nil:
		return "", messages.InvalidInput("the server's output folder cannot be opened: %v", exit.Reason(err))
	}
	defer root.Close()
	switch folder, err := confined.Folder(root, below); {
	case err == nil:
		folder.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return "", messages.InvalidInput("the output folder %q cannot be used: %v", out, exit.Reason(err))
	}
	return filepath.Join(h.Out, filepath.FromSlash(below)), nil
}

// keepPrivate makes the folder of a caller, and takes it from others if they may read it: what is made in it is private,
// too. Without tokens there is none.
func (h *Options) keepPrivate(home string) error {
	if home == "" {
		return nil
	}
	root, err := confined.MakeRoot(h.Out)
	if err != nil {
		return nil // the run says why when it writes
	}
	defer root.Close()
	_ = root.Mkdir(home, 0o700) // if it is not there
	info, err := root.Lstat(home)
	if err != nil || !info.IsDir() || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return root.Chmod(home, 0o700)
}

// inputName returns the name of a repository in the inputs of runs, or "" if the name is invalid.
func (h *Options) inputName(text string) string {
	at, err := source.Locate(text, h.Read.RemoteOnly)
	if err != nil {
		return ""
	}
	return at.String()
}

// folders returns the folders, below the output folder, that may hold the files of a repository. It does not use the
// network; if a URL contains a ref and a folder, it tries all ways to split them.
func (h *Options) folders(ctx context.Context, text string) (folders []string) {
	at, err := source.Locate(text, h.Read.RemoteOnly)
	switch {
	case err != nil:
		return nil
	case at.Kind == source.Git:
		var dirs []string
		for rest := at.Rest; rest != ""; _, rest, _ = strings.Cut(rest, "/") {
			dirs = append(dirs, rest)
		}
		for _, dir := range append(dirs, at.Dir) {
			m := &source.Repository{Remote: at.URL, Folder: dir}
			folders = append(folders, foldersOf(m, at.Path)...)
		}
	case at.Kind == source.Folder:
		if m, err := h.Read.Open(ctx, at); err == nil {
			folders = append(folders, foldersOf(m, at.Path)...)
		}
	}
	return folders
}

// foldersOf returns the folders that may hold the files of the material. A folder that only this repository uses comes
// first.
func foldersOf(m *source.Repository, path string) (all []string) {
	for _, layout := range []generate.Layout{generate.LayoutLmstxt, generate.LayoutHost} {
		dirs := generate.Folders(m, layout, path)
		slices.Reverse(dirs)
		all = append(all, dirs...)
	}
	return all
}

// homeOf returns the name of the principal's folder below the root. It is a safe file name, and different for all
// principals even on file systems that ignore case. Without tokens it is "", the root itself.
func homeOf(principal string) string {
	plain := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' }
	if !strings.ContainsFunc(principal, func(r rune) bool { return !plain(r) }) {
		return principal
	}
	safe := strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '_'
	}, strings.ToLower(principal))
	return safe + "." + messages.Digest(principal)[:12]
}
