// Package stories has the logs of whole runs, one for each thing that a reader in another system's format must get
// right, and a [Teller], which is a runtime that tells them.
package stories
