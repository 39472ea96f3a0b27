// Package tokenfile edits the file of tokens that lastword serve reads.
package tokenfile
