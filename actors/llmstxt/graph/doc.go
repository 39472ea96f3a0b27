// Package graph shows a repository as packages and what they import.
//
// [Build] makes a [Graph] of what package scan found and package rank surveyed. A package is a folder of Go files; a
// Python package, or a module that is in none; a folder with a manifest, which has what lies in its src as well; and
// any other folder of sources. Tests, examples and folders for tools are left out. What is imported and is not in the
// repository is a leaf: a module, as its ecosystem names it. Standard libraries are left out.
//
// A node's id is made of its path alone: "/" becomes ".", "." becomes "~", the root is "root", and what lies outside
// begins with "ext~" and its ecosystem. Other characters than letters, digits, "-", "_", "@" and "+" become "_";
// then, and where the name would be too long, taken without regard to case, or one that some system reserves, eight
// digits of the path's SHA-256 follow. So an id can be part of a file's name and of a URL as it is.
//
// Imports are found by lines; package resolve says what they mean. What cannot be told makes no edge. The same
// repository gives the same bytes.
package graph
