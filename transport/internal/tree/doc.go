// Package tree holds files in memory as a read-only file system.
//
// A [Tree] is filled with [Tree.File] and [Tree.Symlink], whose names may come
// from anyone: a name that is no valid path, or that contradicts one already
// there, is refused with an error and changes nothing. Folders come into being
// with what they hold. Names are compared byte by byte, so that those which
// differ by case alone are both kept.
//
// Contents stay where they are until they are read: a file is its name, its
// size and a function. Symbolic links are listed, and [Tree.ReadLink] tells
// their target, but nothing ever follows them: to open one, or a name below
// it, is an error.
//
// A tree may be read by many goroutines once the last name is in it.
package tree
