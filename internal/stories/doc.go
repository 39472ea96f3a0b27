// Package stories has the logs of whole runs, one for each thing that a reader in another protocol's format must get
// right. A [Teller] is a runtime that plays them.
package stories
