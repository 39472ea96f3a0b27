package scan

import (
	"path"
	"slices"
	"strings"
)

// isVendored recognizes the folders that tools fill.
func isVendored(name string) bool {
	return is("vendored folder", strings.ToLower(name)) || endsAs("vendored end", name)
}

// isForeign recognizes a folder by its content: marks of tools, or a licence of its own in a folder for foreign code.
func isForeign(at string, entries []entry) bool {
	others := is("foreign folder", strings.ToLower(path.Base(path.Dir(at))))
	return slices.ContainsFunc(entries, func(e entry) bool {
		return e.mode.IsRegular() && (is("vendored mark", e.name) || others && isLicence(e.name))
	})
}

func isLicence(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	stem, _, _ = strings.Cut(stem, "-")
	return is("licence", stem)
}
