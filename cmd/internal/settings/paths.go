package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// ReadsCurrent is the annotation of commands that may read the current folder: "always", or "by default" if they have
// no arguments.
const ReadsCurrent = "lastword_reads_current"

// foldersRead returns the local folders that the command is about to read. A command with --repository also reads the
// repository around a file.
func foldersRead(cmd *cobra.Command, args []string) (folders []string) {
	if when := cmd.Annotations[ReadsCurrent]; when == "always" || when == "by default" && len(args) == 0 {
		return []string{"."}
	}
	around := cmd.Flags().Lookup("repository")
	for _, path := range args {
		path = Real(strings.TrimPrefix(path, "file://"))
		switch info, err := os.Stat(path); {
		case err == nil && info.IsDir():
			folders = append(folders, path)
		case err == nil && around != nil:
			folders = append(folders, filepath.Dir(path))
		}
	}
	if around != nil && around.Changed {
		folders = append(folders, around.Value.String())
	}
	return folders
}

// belongs reports whether the folder is in one of the folders that are read, or in the same work tree.
func belongs(folder string, reading []string) bool {
	return slices.ContainsFunc(reading, func(path string) bool { return Inside(Real(folder), RepositoryOf(path)) })
}

// RepositoryOf returns the top of the folder's work tree, or the folder itself if it is in none.
func RepositoryOf(folder string) string {
	folder = Real(folder)
	for top := folder; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return top
		}
		if top == filepath.Dir(top) {
			return folder
		}
	}
}

// Inside reports whether the path is the folder or below it. Pass both through [Real] first.
func Inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// Real returns the absolute path without symbolic links.
func Real(path string) string {
	path = Absolute(path)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// Absolute returns the absolute path, or the path itself if the current folder is unknown.
func Absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
