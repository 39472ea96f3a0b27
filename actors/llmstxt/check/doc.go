// Package check reads an llms.txt strictly.
//
// [Parse] gives the document and every [Problem] it found: where the text leaves the format, and where it is within
// it but is known to be lost or misread by the parsers in use. A text without problems reads the same in all of them.
// The package knows nothing of how our own files are made.
package check
