package scan

import (
	"cmp"
	"slices"
)

// Repository is the content of a folder.
type Repository struct {
	Name   string // base name of the folder, without the "@version" of a module cache
	Files  []File // sorted by path
	Left   []Left // what was left out, sorted by reason
	Origin Origin // set by callers; Read leaves it zero
}

// File is one text file of the repository.
type File struct {
	Path     string // slash separated, relative to the root, valid UTF-8
	Size     int64  // bytes
	Language string // "" if neither the name nor a "#!" line tells
	Kind     Kind
	Place    Place
	Package  string   // Go only: name in the package clause; "" if that is beyond HeadBytes
	Imports  []string // Go only; not for tests and generated files
}

// Kind says what a file is.
type Kind uint8

const (
	Other Kind = iota
	Document
	Source
	Manifest // go.mod, package.json and their like
	Config   // of builds, tools, services and the product itself
)

// Place says what a file is for.
type Place uint8

const (
	Product Place = iota
	Example
	Test      // tests and their data
	Meta      // folders for tools: .github and every other dot folder
	Generated // written by a program; includes lock files and minified files
)

// Reason says why something was left out.
type Reason string

const (
	Ignored    Reason = "ignored"         // by a .gitignore or .lastwordignore
	VCS        Reason = "version control" // .git and its like
	Vendored   Reason = "vendored"
	Binary     Reason = "binary"
	Secret     Reason = "may hold secrets"
	Symlink    Reason = "symlink"             // within the root, so its target is read anyway
	Escape     Reason = "symlink out of root" // refused
	Irregular  Reason = "not a regular file"
	Unreadable Reason = "unreadable"
	BadName    Reason = "name is not UTF-8"
	TooLarge   Reason = "larger than the file limit"
	TooDeep    Reason = "deeper than the depth limit"
	OverFiles  Reason = "over the limit of files"
	OverBytes  Reason = "over the limit of bytes"
)

// Left counts what was left out for one reason. A folder counts once, whatever it contains, because it was not
// entered.
type Left struct {
	Reason  Reason
	Files   int
	Folders int
	Bytes   int64  // of the files whose size was read
	First   string // path of the first one in walking order
}

func sortLeft(left map[Reason]*Left) []Left {
	var list []Left
	for _, l := range left {
		list = append(list, *l)
	}
	slices.SortStableFunc(list, func(a, b Left) int { return cmp.Compare(a.Reason, b.Reason) })
	return list
}
