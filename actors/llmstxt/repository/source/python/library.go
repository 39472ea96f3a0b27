package python

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed library.txt
var libraryText string

var library = strings.Fields(libraryText)

// IsLibrary knows the modules of Python's standard library, 3.8 to 3.14.
func IsLibrary(name string) bool {
	return strings.HasPrefix(name, "_") || slices.Contains(library, name)
}
