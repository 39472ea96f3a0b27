package trust

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
)

// Path returns the entries of a PATH that helpers are looked for in, and get: none is relative or of the project.
func Path(path string, env environment.Variables) string {
	entries := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		return !filepath.IsAbs(dir) || OfProject(dir, env)
	})
	return strings.Join(entries, string(os.PathListSeparator))
}

// Command returns the absolute path of a helper's command, which starts in the folder. It returns a name that is nowhere
// unchanged.
func Command(name, folder, path string) string {
	switch {
	case filepath.IsAbs(name):
		return name
	case filepath.Base(name) != name:
		return filepath.Join(folder, name)
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found
		}
	}
	return name
}

// Relative returns the first argument that names a file relative to the folder in which the command starts, or "".
func Relative(command string, args []string) string {
	// To containers most arguments with a slash are images.
	images := slices.Contains([]string{"docker", "podman", "nerdctl"}, strings.TrimSuffix(filepath.Base(command), ".exe"))
	for _, argument := range args {
		value := argument
		if strings.HasPrefix(argument, "-") {
			_, value, _ = strings.Cut(argument, "=")
		}
		if relative(value, images) {
			return argument
		}
	}
	return ""
}

func relative(value string, image bool) bool {
	slashed := filepath.ToSlash(value)
	first, _, deep := strings.Cut(slashed, "/")
	switch {
	case value == "" || filepath.IsAbs(value) || first == "" || strings.Contains(value, "://"):
		return false
	case first == "." || first == "..":
		return true
	}
	if _, err := os.Lstat(value); err == nil {
		return true
	}
	return deep && !image && !strings.ContainsAny(value, "@ \n\"'{}<>|*:,") && !strings.Contains(first[1:], ".")
}
