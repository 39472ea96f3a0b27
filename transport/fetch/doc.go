// Package fetch reads one document by its URL, within bounds and from addresses that were checked.
package fetch
