// Package python reads Python.
package python
