// Package citation finds the marks with which an answer cites its sources.
// The marks are [name], [^name], {{CITE:name}} and, if the model was given numbers, [1] and [^1].
//
// Links, indices, boxes and code do not count. A mark that names no source is told apart, because its reader may have
// nothing to find there.
package citation
