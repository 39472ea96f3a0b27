// Package code reads what the text of a source file shows without a parser: the comment that it begins with, what it
// imports, and marks by which tests, copies and private files are told.
package code
