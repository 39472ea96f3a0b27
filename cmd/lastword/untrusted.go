package main

import (
	"os"
	"path/filepath"
	"slices"
)

// belongs says whether the folder is a part of what is being read: it lies in it, or in the same work tree.
func belongs(folder string, reading []string) bool {
	return slices.ContainsFunc(reading, func(path string) bool { return inside(real(folder), repositoryOf(path)) })
}

// repositoryOf is the top of the work tree that the path lies in, else the path's folder. What is not on this machine
// has none.
func repositoryOf(path string) string {
	folder := real(path)
	info, err := os.Stat(folder)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	for top := folder; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return top
		}
		if top == filepath.Dir(top) {
			return folder
		}
	}
}

func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return folder != "" && err == nil && filepath.IsLocal(rel)
}

// real is the path without symbolic links.
func real(path string) string {
	path = absolute(path)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}
