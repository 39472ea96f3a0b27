// Package fatal ends tests, reads their cases from files, and packs what they keep up to date. It imports nothing of this module, so that the tests of every
// package can use it.
package fatal
