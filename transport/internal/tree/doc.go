// Package tree holds files in memory as a read-only file system.
//
// [Tree.File] and [Tree.Symlink] add to a [Tree]. Names may come from anyone: an invalid path, or one that
// contradicts an existing name, is an error and changes nothing. Folders are made for what they contain. Names are
// compared by bytes, so that names which differ only in case are both kept.
//
// A file is its name, its size and a function that returns its contents. Symbolic links are listed and
// [Tree.ReadLink] returns their target, but they are never followed: to open one, or a name below it, is an error.
//
// Many goroutines may read a tree after the last name was added.
package tree
