package lmstxt

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

const (
	generateTool = "generate"
	generateJob  = "generate"
)

// isPage reports whether the artifact is the page of one package. A graph can have thousands of them.
func isPage(a messages.Artifact) bool { return strings.Contains(a.Name, "/") }

// rootName is the earlier server's name for its root folder.
const rootName = "artifacts"

// local returns a folder relative to the root, which the earlier server named "./artifacts".
func local(dir string) (string, error) {
	clean, below := strings.CutPrefix(path.Clean(filepath.ToSlash(dir)), rootName+"/")
	if clean == "." || clean == rootName && !below {
		return "", nil
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", messages.InvalidInput("the folder %s is not below your folder on the server; "+
			"give a relative path without ..", dir)
	}
	return clean, nil
}

// local is also able to map an absolute path, if callers are shown those.
func (d *door) local(dir string) (string, error) {
	if d.shown != "" && filepath.IsAbs(dir) {
		if below, err := filepath.Rel(d.shown, dir); err == nil && filepath.IsLocal(below) {
			return local(path.Join(rootName, filepath.ToSlash(below)))
		}
	}
	return local(dir)
}
