// Package page reads documents: what a page says of itself, what its lines show, and what it names. It knows no
// repository, and ranks nothing.
package page
