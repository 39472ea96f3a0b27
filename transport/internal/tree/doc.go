// Package tree provides a read-only file system in memory.
//
// [Tree.File] and [Tree.Symlink] add entries to a [Tree]. Names may come from strangers: a path that is invalid, or
// that conflicts with an existing name, is an error and changes nothing. Parent folders are created as needed. Names
// are compared by bytes, so names that differ only in case are different.
//
// A file has a name, a size, and a function that returns its content. Symbolic links are listed, and [Tree.ReadLink]
// returns their target, but they are never followed: opening a link, or a name below it, is an error.
//
// After the last entry was added, any number of goroutines may read the tree.
package tree
