// Package page reads documents: a page's own description, the features of its lines, and what it names. It knows
// nothing of the repository, and ranks nothing.
package page
