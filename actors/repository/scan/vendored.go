package scan

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// isVendored knows the folders that tools fill.
func isVendored(name string) bool {
	return is("vendored folder", strings.ToLower(name)) ||
		prose.EndsWithAny(name, ".egg-info", ".dist-info", ".xcassets")
}

// isForeign tells a folder by what it holds: the marks of tools, and a licence of its own where the folder above is one
// for the code of others.
func isForeign(at string, entries []entry) bool {
	others := is("foreign folder", strings.ToLower(path.Base(path.Dir(at))))
	return slices.ContainsFunc(entries, func(e entry) bool {
		return e.mode.IsRegular() && (is("vendored mark", e.name) || others && isLicence(e.name))
	})
}

func isLicence(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	stem, _, _ = strings.Cut(stem, "-")
	return stem == "LICENSE" || stem == "LICENCE" || stem == "COPYING" || stem == "UNLICENSE"
}
