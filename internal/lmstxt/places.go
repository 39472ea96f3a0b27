package lmstxt

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

const (
	graphName = "repo.graph.json"
	forceName = "repo.force.json"
)

// isGraph reports whether a file belongs to a repository's graph: graph/repo.graph.json, graph/repo.force.json or
// graph/nodes/<id>.md, in the repository's folder.
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

// place returns the path of an artifact of generate in the folder of its repository.
func place(dir, artifact string) string {
	if in := path.Join(dir, "graph", artifact); isGraph(in) {
		return in
	}
	return path.Join(dir, strings.TrimLeft(path.Base(dir), ".")+"-"+artifact)
}

// spelling is one meaning of a repository's name: a host and a path on it, or, if host is "", a local folder.
type spelling struct{ host, path string }

// key is the same for all spellings of one repository.
func (s spelling) key() string {
	if s.host == "" {
		return s.path
	}
	return "//" + strings.ToLower(s.host+"/"+s.path)
}

// folder returns the folder that holds the repository's files.
func (s spelling) folder() string {
	if s.host == "" {
		return path.Join("local", path.Base(filepath.ToSlash(s.path)))
	}
	return s.path
}

// spellings returns everything that the name may mean. "owner/repo" may be a repository on GitHub or a folder.
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

// plain removes slashes at both ends, and ".git".
func plain(name string) string { return strings.TrimSuffix(strings.Trim(name, "/"), ".git") }
