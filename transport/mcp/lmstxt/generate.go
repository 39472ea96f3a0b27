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

// result is what is read of the job's.
type result struct {
	Cause messages.Code `json:"degraded_cause"`
}

// isPage reports whether the artifact is the page of one package. There may be thousands of them.
func isPage(a messages.Artifact) bool { return strings.Contains(a.Name, "/") }

// rootName is how the earlier server named its root.
const rootName = "artifacts"

// local is a folder as the earlier server named them: relative to its root, which "./artifacts" is.
func local(dir string) (string, error) {
	clean := path.Clean(filepath.ToSlash(dir))
	if dir == "" || clean == rootName {
		return "", nil
	}
	clean = strings.TrimPrefix(clean, rootName+"/")
	if clean == "." {
		return "", nil
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", messages.InvalidInput("the folder %s is not below your folder on the server; "+
			"give a relative path without ..", dir)
	}
	return clean, nil
}

// local also knows folders by their whole paths, where callers are told these.
func (d *door) local(dir string) (string, error) {
	if d.shown != "" && filepath.IsAbs(dir) {
		if below, err := filepath.Rel(d.shown, dir); err == nil && filepath.IsLocal(below) {
			return local(path.Join(rootName, filepath.ToSlash(below)))
		}
	}
	return local(dir)
}
