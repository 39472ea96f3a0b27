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

// IsCLibrary reports whether the name is a header of the C library that projects often have their own version of.
func IsCLibrary(name string) bool {
	switch name {
	case "assert.h", "ctype.h", "errno.h", "limits.h", "locale.h", "math.h", "setjmp.h", "signal.h", "stdarg.h",
		"stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "strings.h", "time.h", "unistd.h", "poll.h",
		"endian.h", "stdbool.h", "inttypes.h":
		return true
	}
	return false
}

// CFolders returns the folders of a C file's headers: its own, and those for headers.
func CFolders(file, unit string) []string {
	return []string{path.Dir(file), path.Join(unit, "include"), unit, path.Join(unit, "src"), "include", ".", "src"}
}
