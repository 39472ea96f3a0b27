package lmstxt

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	graphName = "repo.graph.json"
	forceName = "repo.force.json"
)

// isGraph reports whether a file belongs to a repository's graph: graph/repo.graph.json, graph/repo.force.json or
// graph/nodes/<id>.md, below the folder of the repository.
func isGraph(name string) bool {
	dir, base := path.Split(path.Clean(name))
	switch dir = path.Clean(dir); {
	case base == graphName || base == forceName:
		return path.Base(dir) == "graph"
	case path.Ext(base) == ".md":
		return path.Base(dir) == "nodes" && path.Base(path.Dir(dir)) == "graph"
	}
	return false
}

// place is where an artifact of the job lies, given the folder of its repository.
func place(dir, artifact string) string {
	if in := path.Join(dir, "graph", artifact); isGraph(in) {
		return in
	}
	return path.Join(dir, strings.TrimLeft(path.Base(dir), ".")+"-"+artifact)
}

// spelling is what the name of a repository may mean: a host and a path there, or else a folder on this machine.
type spelling struct{ host, path string }

// key is what two spellings of one repository have in common.
func (s spelling) key() string {
	if s.host == "" {
		return s.path
	}
	return "//" + strings.ToLower(s.host+"/"+s.path)
}

// folder is where the files of the repository are.
func (s spelling) folder() string {
	if s.host == "" {
		return path.Join("local", path.Base(filepath.ToSlash(s.path)))
	}
	return s.path
}

// spellings are what the name may mean. Owner/repo is one on GitHub as well as a folder.
func spellings(repository string) []spelling {
	if rest, ok := strings.CutPrefix(repository, "git@"); ok {
		host, name, _ := strings.Cut(rest, ":")
		return []spelling{{host, plain(name)}}
	}
	if strings.Contains(repository, "://") {
		if u, err := url.Parse(repository); err == nil && u.Host != "" {
			return []spelling{{u.Host, plain(u.Path)}}
		}
	}
	var all []spelling
	if name, err := filepath.Abs(repository); err == nil {
		all = append(all, spelling{path: name})
	}
	if strings.Count(repository, "/") == 1 && !strings.HasPrefix(repository, ".") {
		all = append(all, spelling{"github.com", plain(repository)})
	}
	return all
}

func plain(name string) string { return strings.TrimSuffix(strings.Trim(name, "/"), ".git") }

// isSame reports whether two names may be of one repository.
func isSame(a, b string) bool {
	other := spellings(b)
	return slices.ContainsFunc(spellings(a), func(s spelling) bool {
		return slices.ContainsFunc(other, func(o spelling) bool { return o.key() == s.key() })
	})
}
