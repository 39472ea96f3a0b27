// Package fetch reads one document from a URL, with a size limit and from checked addresses only.
package fetch
