// Package ignore reads ignore files in the syntax of git and says what they leave out.
//
// [Rules] are those of one file and of all files above it: the innermost file that has something to say decides, and
// within it the last pattern that matches. A pattern is matched against a name or path itself, never against the
// folders above it; whoever walks a tree does not enter what is left out.
//
// The work for one match is bounded: see [Rules.With]. That for all matches is where the rules begin with [Bounded].
package ignore
