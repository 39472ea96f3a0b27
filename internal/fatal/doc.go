// Package fatal ends tests. It imports nothing of this module, so that the tests of every package can use it.
package fatal
