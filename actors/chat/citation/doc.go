// Package citation finds the marks by which an answer cites its sources, while the answer is still being written:
// [name], [^name], {{CITE:name}} and, if the model was given numbers, [1] and [^1].
//
// A mark counts only if it names a source, so that links, indices, boxes and code are none. [Finder] holds no text
// back: it reports a mark when the byte after it has come.
package citation
