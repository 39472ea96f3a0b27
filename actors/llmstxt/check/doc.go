// Package check validates llms.txt files strictly.
//
// [Parse] returns the document and every [Problem]: where the text violates the format, and where it conforms but is
// known to be lost or misread by parsers in use. All of them read a text without problems in the same way. The
// package shares no code with the one that writes our own files.
package check
