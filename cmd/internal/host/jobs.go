package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/guardian"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/internal/artifact"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision/fault"
)

// catalog defines the jobs of a server, or of plans at a terminal, and holds what their runs share.
type catalog struct {
	*Checked
	*outputs
	mcpTools      *toolbox.Box
	wrapped       *wrapped // nil without --wrap
	finder        *ModelFinder
	conversations conversations
	// inside gives the programs of commands access to the server, as command.Config.Inside; may be nil.
	inside   func(path string, t *actors.TaskContext, may func(messages.Request) error) (variables []string, end func())
	guardian *guardian.Guardian                        // starts commands; may be nil
	added    *marks[map[messages.RunID]addedCallbacks] // nil without callbacks
}

// newCatalog returns the catalog of a server with these tools of MCP servers. store saves files; both may be nil.
func (c *Checked) newCatalog(mcpTools *toolbox.Box, store *store.Store) *catalog {
	endpoint := c.endpoint
	if c.faults != nil {
		endpoint.Around = func(inner http.RoundTripper) http.RoundTripper { return faultyModel{inner} }
	}
	return &catalog{Checked: c, mcpTools: mcpTools, finder: &ModelFinder{Endpoint: endpoint},
		outputs: &outputs{quota: quota{out: c.Out, limit: int64(c.MaxOutEach)}, store: store}}
}

// close closes the connections to model servers and MCP servers.
func (c *catalog) close() {
	c.finder.Close()
	c.mcpTools.Close()
	c.wrapped.close()
	c.guardian.Close()
}

// jobs returns the jobs that callers can start.
func (c *catalog) jobs() []actors.Definition {
	steps := c.steps()
	jobs := append(slices.Clip(steps.Jobs), earlier(plan.Define(steps), "caller"))
	if c.file != nil {
		jobs = append(jobs, c.file.Listed(c.commandConfig()))
	}
	for i := range jobs {
		jobs[i].Limits.StallMS = cmp.Or(jobs[i].Limits.StallMS, Milliseconds(c.endpoint.StallTimeout()))
	}
	return jobs
}

// steps returns the configuration for the steps of plans. They may do everything that the caller of the plan may do.
func (c *catalog) steps() plan.Config {
	generating := generate.Config{Open: c.Read.Open, RemoteOnly: c.Read.RemoteOnly, Limits: llmstxt.Limits(c.Read.Limits), Folder: c.place,
		Model: c.finder.Find, DefaultModel: c.model, Secrets: c.program.Secrets, Version: build.This().Exact(), Spend: c.spend}
	if !c.noCache {
		generating.Cache = c.Env().CacheFolder()
	}
	runs := func(principal string) plan.Runs { return ownRuns{c.program, principal} }
	state := func(ctx context.Context, id messages.RunID, principal string) (messages.State, error) {
		return runs(principal).State(ctx, id)
	}
	folder := func(principal string) (string, error) { return c.place(principal, "") }
	more := append(c.agents(), c.commands()...)
	if c.wrapped != nil {
		more = append(more, c.wrapped.define())
	}
	return plan.Config{Runs: runs, Read: artifact.Read(state, c.artifact), Write: c.shared(artifact.Write(folder, c.spend)),
		Jobs: append([]actors.Definition{c.shared(earlier(generate.Define(generating), "home")), c.prompt(),
			earlier(c.chat(), "home")}, more...)}
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
func (o *outputs) spend(ctx context.Context, principal string, bytes int) error {
	if fault.Hit(ctx, fault.DiskFull) != nil {
		return fmt.Errorf("injected: %w", syscall.ENOSPC)
	}
	return o.take(homeOf(principal), int64(bytes))
}

// place returns the folder for a principal's run: out below the principal's folder, which is below the root. It must
// not contain symbolic links.
func (o *outputs) place(principal, out string) (string, error) {
	below := path.Join(".", homeOf(principal), out)
	if err := o.keepPrivate(homeOf(principal)); err != nil {
		return "", messages.InvalidInput("the server's output folder cannot be used: %v", exit.Reason(err))
	}
	root, err := regular.Root(o.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return filepath.Join(o.out, filepath.FromSlash(below)), nil
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
	return filepath.Join(o.out, filepath.FromSlash(below)), nil
}

// keepPrivate makes the folder of a caller, and takes it from others if they may read it: what is made in it is private,
// too. Without tokens there is none.
func (o *outputs) keepPrivate(home string) error {
	if home == "" {
		return nil
	}
	root, err := confined.MakeRoot(o.out)
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
func (c *Checked) inputName(text string) string {
	named, err := source.Locate(text, c.Read.RemoteOnly)
	if err != nil {
		return ""
	}
	return named.String()
}

// folders returns the folders, below the output folder, that may hold the files of a repository. It does not use the
// network; if a URL contains a ref and a folder, it tries all ways to split them.
func (c *Checked) folders(ctx context.Context, text string) (folders []string) {
	named, err := source.Locate(text, c.Read.RemoteOnly)
	switch {
	case err != nil:
		return nil
	case named.Kind == source.Git:
		var dirs []string
		for rest := named.Rest; rest != ""; _, rest, _ = strings.Cut(rest, "/") {
			dirs = append(dirs, rest)
		}
		for _, dir := range append(dirs, named.Dir) {
			m := &source.Repository{Remote: named.URL, Folder: dir}
			folders = append(folders, foldersOf(m, named.Path)...)
		}
	case named.Kind == source.Folder:
		if m, err := c.Read.Open(ctx, named); err == nil {
			folders = append(folders, foldersOf(m, named.Path)...)
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
