package resolve

import (
	"slices"
	"strings"
)

// mostCoordinates bounds the dependencies that each import is compared with.
const mostCoordinates = 500

// coordinate is a dependency with its names in Maven.
type coordinate struct {
	name     string   // group:artifact, as in the manifest
	group    []string // parts of the group
	artifact []string // words of the artifact's name, at least one
	path     string   // the artifact's words between slashes
}

// coordinate adds a dependency if its name is one of Maven's.
func (r *Resolver) coordinate(name string) {
	group, artifact, _ := strings.Cut(name, ":")
	words := strings.FieldsFunc(artifact, func(c rune) bool { return strings.ContainsRune("-_.", c) })
	if group != "" && len(words) > 0 && len(r.coordinates) < mostCoordinates {
		r.coordinates = append(r.coordinates, coordinate{name, strings.Split(group, "."), words,
			"/" + strings.Join(words, "/") + "/"})
	}
}

// Points of a kinship.
const (
	kinName   = 2000 // for each word of the artifact's name, if the import contains all of it
	kinGroup  = 1000 // for each part of the group that the import begins with
	kinTop    = 500  // the import begins with the last part of the group
	kinWord   = 10   // for each word of the artifact's name in the import
	kinFacade = 1    // for the artifact of a group that others are written against
)

// kinship rates how likely the import belongs to the dependency; 0 means that nothing suggests it. The import begins
// with the group, or with its last part (okhttp3). Or it contains the artifact's name below the first two parts of
// the group, if the group has more than one (com/google/gson of com.google.code.gson:gson).
func (c *coordinate) kinship(spec string, parts []string) int {
	rest, n, shared := parts, 0, 0
	for shared < min(len(c.group), len(parts)) && c.group[shared] == parts[shared] {
		shared++
	}
	named := (shared > 1 || len(c.group) == 1) && strings.Contains("/"+spec+"/", c.path)
	switch {
	case shared == len(c.group):
		rest, n = parts[shared:], shared*kinGroup
	case c.group[len(c.group)-1] == parts[0]:
		n = kinTop
	case !named:
		return 0
	}
	if named {
		n += len(c.artifact) * kinName
	}
	for _, word := range c.artifact {
		if slices.Contains(rest, word) {
			n += kinWord
		}
	}
	if last := c.artifact[len(c.artifact)-1]; last == c.group[len(c.group)-1] || last == "api" || last == "core" {
		n += kinFacade
	}
	return n
}

// maven finds the dependency that an import belongs to, if one is more likely than all others.
func (r *Resolver) maven(spec string) Target {
	if t, known := r.byImport[spec]; known {
		return t
	}
	var found Target
	most, parts := 0, strings.Split(spec, "/")
	for i := range r.coordinates {
		switch n := r.coordinates[i].kinship(spec, parts); {
		case n > most:
			most, found = n, Target{Name: r.coordinates[i].name, Ecosystem: "maven"}
		case n == most:
			found = Target{}
		}
	}
	if folder := r.byName[plain("maven", found.Name)]; folder != "" {
		found = Target{Path: folder}
	}
	r.byImport[spec] = found
	return found
}
