// Package checks implements the command check, which finds errors in llms.txt files and tells whether they are out of
// date.
package checks
