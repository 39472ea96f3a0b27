package lmstxt

import "path"

// places are where an artifact of the job may be, given the folder of its repository.
func places(dir, artifact string) []string {
	return []string{path.Join(dir, path.Base(dir)+"-"+artifact), path.Join(dir, "graph", artifact)}
}
