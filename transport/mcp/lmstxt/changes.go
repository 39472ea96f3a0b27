package lmstxt

import (
	"net/url"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// fileOf is the file that a run of generate wrote. Where other jobs write is not known here.
func fileOf(run messages.State, a messages.Artifact) string {
	if run.Queued == nil || run.Queued.Job != generateJob || a.Path == "" {
		return ""
	}
	return path.Join(inputOf(run).Out, a.Path)
}

// artifactOf is the artifact of a run that the resource is.
func artifactOf(uri string) (id messages.RunID, name string, ok bool) {
	plain, err := url.PathUnescape(uri)
	rest, ok := strings.CutPrefix(plain, runScheme)
	run, name, whole := strings.Cut(rest, "/")
	return messages.RunID(run), name, err == nil && ok && whole
}

// filesOf are the files below the caller's folder that the resource may be.
func filesOf(uri string) []string {
	plain, err := url.PathUnescape(uri)
	if err != nil {
		return nil
	}
	for _, scheme := range []string{artifactScheme, graphScheme} {
		if name, ok := strings.CutPrefix(plain, scheme); ok {
			return []string{path.Clean(name)}
		}
	}
	rest, ok := strings.CutPrefix(plain, nodeScheme)
	repo, node, whole := strings.Cut(rest, "/graph/nodes/")
	if !ok || !whole {
		return nil
	}
	var files []string
	for _, dir := range folders(repo) {
		files = append(files, place(dir, "nodes/"+node+".md"))
	}
	return files
}
