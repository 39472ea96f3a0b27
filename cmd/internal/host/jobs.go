package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/confined"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/address"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/plan"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/repository"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/lmstxt"
)

// jobs are the jobs that callers can start.
func (h *Options) jobs() []actors.Definition {
	return []actors.Definition{{Name: generate.Name, New: h.generate}, h.prompt(), h.chat(), {Name: plan.Name, New: h.plan}}
}

// generateInput is the input of generate in a server's run: Out is below Home, the caller's folder, which is below
// the root.
type generateInput struct {
	generate.Input
	Home    string `json:"home,omitempty"`
	NoCache bool   `json:"no_cache,omitempty"`
}

// generate makes the job from what prepareGenerate returned. The run writes below the caller's folder, and its events
// name the folder as the caller does: callers need not know where the server writes.
func (h *Options) generate(input json.RawMessage) (actors.Job, error) {
	var in generateInput
	if err := decode(input, &in); err != nil {
		return actors.Job{}, err
	}
	called := in.Out
	folder, err := h.place(in.Home, in.Out)
	if err != nil {
		return actors.Job{}, err
	}
	in.Out = folder
	with := generate.Config{Open: h.Read.Open, Model: h.finder.Find, Secrets: h.Secrets, Version: ThisBuild().Exact(),
		Spend: h.quota.of(in.Home)}
	if !h.noCache && !in.NoCache {
		with.Cache = h.program.Env.CacheFolder()
	}
	job, err := generate.Job(in.Input, with)
	if err != nil {
		return actors.Job{}, err
	}
	in.Input = job.Input.(generate.Input)
	in.Out = called
	job.Input = in // another node makes the same job from it
	return h.shared(job), nil
}

// place is the folder of a run: out below home, which is below the root. No link leads there.
func (h *Options) place(home, out string) (string, error) {
	below := path.Join(".", home, filepath.ToSlash(out))
	if err := confined.Name(path.Clean(filepath.ToSlash(out))); err != nil {
		return "", exit.Invalid("the output folder cannot be used: %v", err)
	}
	root, err := os.OpenRoot(h.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return filepath.Join(h.Out, filepath.FromSlash(below)), nil
	case err != nil:
		return "", exit.Invalid("the server's output folder cannot be opened: %v", exit.Reason(err))
	}
	defer root.Close()
	switch folder, err := confined.Folder(root, below); {
	case err == nil:
		folder.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return "", exit.Invalid("the output folder %q cannot be used: %v", out, exit.Reason(err))
	}
	return filepath.Join(h.Out, filepath.FromSlash(below)), nil
}

// prepareGenerate makes the job's input from a call's arguments: with the caller's folder, the server's limits, and
// the server's model for a caller who asks for any.
func (h *Options) prepareGenerate(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	var a lmstxt.Arguments
	if err := decode(arguments, &a); err != nil {
		return nil, err
	}
	repository, err := h.repository(a.Repository, a.Subfolder)
	if err != nil {
		return nil, err
	}
	in := generateInput{NoCache: a.NoCache, Input: h.limits, Home: homeOf(auth.From(ctx).Name)}
	in.Repository, in.Out = repository, a.Out
	format, _ := a.Format.Int64() // none is the job's default
	in.Full, in.Ctx, in.Graph, in.Format = a.Full, a.Ctx, a.Graph, render.Format(format)
	in.Layout, in.LinkStyle, in.BaseURL, in.SizeBudget = generate.Layout(a.Layout), a.LinkStyle, a.LinkBase, a.SizeBudget
	in.Ref, in.TokenBudget, in.BudgetFail, in.CountTokens = a.Ref, a.TokenBudget, a.BudgetFail, a.CountTokens
	in.Secrets, in.Fresh = a.Secrets, a.Fresh
	in.Model, in.RequireModel = a.Model, a.RequireModel
	if in.Model == generate.AutoModel {
		in.Model = cmp.Or(h.model, generate.AutoModel)
	}
	return json.Marshal(in)
}

// repository is the address of the repository, or of a part of it. If the server reads nothing of this machine, it
// does not even look whether a local path exists.
func (h *Options) repository(text, subfolder string) (string, error) {
	there := func(path string) bool { _, err := os.Stat(path); return err == nil }
	if h.Read.RemoteOnly {
		there = nil
	}
	at, err := address.Parse(text, there)
	switch {
	case err != nil && there == nil && !strings.Contains(text, "://"):
		return "", repository.ErrLocal()
	case err != nil:
		return "", err
	case subfolder != "":
		return partOf(at, path.Clean(filepath.ToSlash(subfolder)))
	case strings.Contains(text, "://"):
		return text, nil // the URL of an archive may end in a signature, which String leaves out
	}
	return at.String(), nil
}

// located is the repository that a caller names, as in the inputs of runs.
func (h *Options) located(text string) (input string, at address.Address, err error) {
	spelled, err := h.repository(text, "")
	if err != nil {
		return "", at, err
	}
	return generate.Located(spelled)
}

// inputName is the repository's name in the inputs of runs, or "" for a wrong name.
func (h *Options) inputName(text string) string {
	input, _, err := h.located(text)
	if err != nil {
		return ""
	}
	return input
}

// folders are where below the output folder the files of the repository may be. The network is not asked, so that of
// a ref and a folder after it each may be the first.
func (h *Options) folders(ctx context.Context, text string) (folders []string) {
	_, at, err := h.located(text)
	switch {
	case err != nil:
		return nil
	case at.Kind == address.Git:
		var dirs []string
		for rest := at.Rest; rest != ""; _, rest, _ = strings.Cut(rest, "/") {
			dirs = append(dirs, rest)
		}
		for _, dir := range append(dirs, at.Dir) {
			m := &generate.Material{Origin: scan.ParseOrigin(at.URL, "", dir)}
			folders = append(folders, foldersOf(m, at.Path)...)
		}
	case at.Kind == address.Folder:
		if m, err := h.Read.Open(ctx, at); err == nil {
			folders = append(folders, foldersOf(m, at.Path)...)
		}
	}
	return folders
}

// foldersOf lists the folders that may have the files of the material. A folder that only this repository uses is
// first.
func foldersOf(m *generate.Material, source string) (all []string) {
	for _, layout := range []generate.Layout{generate.LayoutLmstxt, generate.LayoutHost} {
		dirs := m.Folders(layout, source)
		slices.Reverse(dirs)
		all = append(all, dirs...)
	}
	return all
}

func partOf(at address.Address, folder string) (string, error) {
	switch {
	case at.Kind == address.Archive:
		return "", exit.Invalid("a part of an archive cannot be read; leave the subfolder out")
	case at.Kind == address.Folder:
		at.Path = filepath.Join(at.Path, filepath.FromSlash(folder))
		if info, err := os.Stat(at.Path); err != nil || !info.IsDir() {
			return "", exit.Invalid("the repository has no folder %q", folder)
		}
	case at.Rest != "":
		at.Rest += "/" + folder
	default:
		at.Dir = folder
	}
	return at.String(), nil
}

// homeOf is the principal's folder below the root. It is a safe file name, and differs from every other principal's
// even on file systems that ignore case. Without tokens it is the root itself.
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

func decode(arguments json.RawMessage, in any) error {
	if err := json.Unmarshal(arguments, in); err != nil {
		return exit.Invalid("the arguments cannot be read: %v", err)
	}
	return nil
}
