package lmstxt

import (
	"net/url"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// fileOf returns the path of the file that a run of generate wrote. For other jobs it returns "".
func fileOf(run messages.State, a messages.Artifact) string {
	if run.Queued == nil || run.Queued.Job != generateJob || a.Path == "" {
		return ""
	}
	return path.Join(inputOf(run).Out, a.Path)
}

// artifactOf returns the run and the artifact that a resource shows.
func artifactOf(uri string) (id messages.RunID, name string, ok bool) {
	plain, err := url.PathUnescape(uri)
	rest, ok := strings.CutPrefix(plain, runScheme)
	run, name, whole := strings.Cut(rest, "/")
	return messages.RunID(run), name, err == nil && ok && whole
}

// filesOf returns the paths, below the caller's folder, that a resource may show.
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
