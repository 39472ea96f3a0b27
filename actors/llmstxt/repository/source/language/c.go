package language

import (
	"path"
	"strings"
)

// Includes reads "#include" lines.
func Includes(line string) []string {
	if rest, ok := strings.CutPrefix(line, "#"); ok && strings.HasPrefix(strings.TrimSpace(rest), "include") {
		return []string{between(rest, `"<`, `">`)}
	}
	return nil
}

// CFolders returns the folders of a C file's headers: its own, and those for headers.
func CFolders(file, unit string) []string {
	return []string{path.Dir(file), path.Join(unit, "include"), unit, path.Join(unit, "src"), "include", ".", "src"}
}
