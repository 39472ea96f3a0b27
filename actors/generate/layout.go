package generate

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/address"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/messages"
)

// Layout is the arrangement and naming of the files below Input.Out.
type Layout string

// The layouts.
const (
	// LayoutHost is <host>/<owner>/<name>/llms.txt, and local/<name>/llms.txt for a repository without a remote.
	LayoutHost Layout = ""
	// LayoutFlat is llms.txt in Out itself.
	LayoutFlat Layout = "flat"
	// LayoutLmstxt is <owner>/<name>/<name>-llms.txt, as the tools lmstxt_* promise.
	LayoutLmstxt Layout = "lmstxt"

	layoutDefault = "host" // as callers spell it
)

// Folders lists the folders for the material's files, slash-separated, relative to the output folder. The second one
// is used if the first belongs to another repository. source is the folder or archive on this machine, or "".
func (m *Material) Folders(layout Layout, source string) []string {
	if layout == LayoutFlat {
		return []string{"."}
	}
	o := m.Origin
	if o.Owner == "" {
		dir := "local/" + fileName(m.Name)
		if source == "" {
			return []string{dir}
		}
		return []string{dir, dir + "-" + messages.Digest(realPath(source))[:8]}
	}
	dir := visible(o.Owner) + "/" + visible(o.Repo)
	if layout == LayoutHost {
		dir = fileName(cmp.Or(o.Host, "local")) + "/" + dir
	}
	for part := range strings.FieldsFuncSeq(o.Prefix, func(r rune) bool { return r == '/' }) {
		dir += "/" + fileName(part)
	}
	return []string{dir}
}

// place is where the files of a run go.
type place struct {
	*generation
	material *Material
	out      string
}

func (g *generation) place(m *Material, out string) place { return place{g, m, out} }

func (p place) folders() []string {
	if p.config.File != "" {
		return []string{"."}
	}
	return p.material.Folders(p.input.Layout, p.at.Path)
}

// stem returns the beginning of the text files' names.
func (p place) stem() string {
	if p.config.File != "" {
		return p.config.File
	}
	if p.input.Layout != LayoutLmstxt {
		return "llms"
	}
	o := p.material.Origin
	name := cmp.Or(o.Repo, p.material.Name)
	if o.Owner != "" && o.Prefix != "" {
		name = path.Base(o.Prefix)
	}
	return fileName(name) + "-llms"
}

// Folders of the graph, relative to that of the repository.
const (
	graphFolder = "graph"
	pagesFolder = "graph/nodes"
)

// fileOf returns the path of an artifact in the repository's folder.
func (p place) fileOf(artifact string) string {
	switch {
	case p.config.File != "":
		return p.config.File
	case llmstxt.OfGraph(artifact):
		return path.Join(graphFolder, artifact)
	}
	return p.stem() + strings.TrimPrefix(artifact, "llms")
}

// visible returns a folder name that is not hidden, for a repository such as .github.
func visible(name string) string {
	if rest, hidden := strings.CutPrefix(name, "."); hidden && strings.Trim(rest, ".") != "" {
		return "_" + rest
	}
	return name
}

// fileName makes a name safe for the beginning of a file name.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, name)
	if safe = strings.TrimLeft(safe, "."); safe == "" {
		return "repository"
	}
	return safe
}

// realPath resolves links where it can.
func realPath(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}

// isOutput returns a function that reports whether this job writes the file, or a temporary file for it. Such files
// are not read, so that a second run into the repository gives the same result.
func (p place) isOutput() func(scan.File) bool {
	if p.at.Kind != address.Folder {
		return func(scan.File) bool { return false }
	}
	var outputs, pages []string
	for _, dir := range p.folders() {
		inside, err := filepath.Rel(realPath(p.at.Path), filepath.Join(realPath(p.out), filepath.FromSlash(dir)))
		if err != nil {
			continue
		}
		inside = filepath.ToSlash(inside)
		for _, name := range []string{llmstxt.NameTxt, llmstxt.NameFull, llmstxt.NameCtx, llmstxt.NameJSON} {
			outputs = append(outputs, path.Join(inside, p.fileOf(name)))
		}
		outputs = append(outputs, path.Join(inside, graphFolder, llmstxt.NameGraph),
			path.Join(inside, graphFolder, llmstxt.NameForce))
		pages = append(pages, path.Join(inside, pagesFolder))
	}
	return func(f scan.File) bool {
		folder, name := path.Split(f.Path)
		if temporary, ok := strings.CutSuffix(name, atomicfile.Suffix); ok && name[0] == '.' {
			name = strings.TrimSuffix(temporary[1:], path.Ext(temporary))
		}
		return slices.Contains(outputs, folder+name) ||
			path.Ext(name) == ".md" && slices.Contains(pages, path.Clean(folder))
	}
}
