// Package citation finds the marks with which an answer cites its sources.
// The marks are [name], [^name], {{CITE:name}} and, if the model was given numbers, [1] and [^1].
//
// A mark counts only if it names a source, so links, indices, boxes and code do not count.
package citation
