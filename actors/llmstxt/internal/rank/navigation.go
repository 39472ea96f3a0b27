package rank

import (
	"path"
	"strings"
)

// pageAt returns the page that a text in a file of the folder refers to, or "".
func (r *ranking) pageAt(dir, target string) string {
	target, _, _ = strings.Cut(target, "#")
	target, _, _ = strings.Cut(target, "?")
	if _, below, remote := strings.Cut(target, "://"); remote {
		dir = "."
		_, target, _ = strings.Cut(below, "/")
	}
	for _, p := range []string{path.Join(dir, target), strings.TrimLeft(path.Clean("/"+target), "/")} {
		if x := r.at[p]; x != nil && x.class == classPage && target != "" {
			return p
		}
	}
	return ""
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
