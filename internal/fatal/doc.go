// Package fatal ends tests, and reads their cases from files. It imports nothing of this module, so that the tests of every
// package can use it.
package fatal
