// Package rank chooses what of a scanned repository belongs in an llms.txt.
//
// [Build] turns a [scan.Repository] into an [Index]: title, one-line summary
// with the place it was taken from, facts, and sections of links. Everything in
// it is quoted from the repository: summaries from the README's first real
// prose, notes from the first sentence of a page, a package comment or a
// docstring. Nothing is made up; a link for which the repository has no
// sentence has no note.
//
// The order is total and depends on the files alone: the README first, guides
// before reference, shallow before deep, Go packages by how many others import
// them, names last. Tests, their data, generated files and dot folders are
// never linked.
package rank
