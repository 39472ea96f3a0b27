// Package ignore reads ignore files in the syntax of git, and decides which paths they exclude.
//
// [Rules] come from a file and from all files above it. The innermost file with a matching pattern decides, and in
// it the last matching pattern. A pattern is matched against a name or path itself, never against the folders above
// it, because a walker does not enter an excluded folder.
//
// The work for one match is bounded: see [Rules.With]. The work for all matches is bounded if the rules start with
// [Bounded].
package ignore
