// Package fetch downloads one document from a URL, with a size limit, and only from addresses that the caller allows.
package fetch
