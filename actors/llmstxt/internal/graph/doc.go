// Package graph describes a repository as packages and their imports.
//
// [Build] makes a [Graph] from the files of package scan and the survey of package rank. A package is a folder of Go
// files; a Python package, or a module outside of packages; a folder with a manifest, together with its src; or any
// other folder of sources. Tests, examples and folders for tools are left out. Imports from outside the repository
// are leaves: modules, named as in their ecosystem. Standard libraries are left out.
//
// A node's id is derived from its path alone: "/" becomes ".", "." becomes "~", the root is "root", and the id of
// something outside begins with "ext~" and its ecosystem. Characters other than letters, digits, "-", "_", "@" and
// "+" become "_". In this case, and if the name would be too long, reserved on some system, or equal to another but
// for case, eight digits of the path's SHA-256 follow. So an id can be part of a file name and of a URL.
//
// Imports are found line by line; package resolve determines what they mean. What cannot be determined makes no edge.
// Equal repositories give equal bytes.
package graph
