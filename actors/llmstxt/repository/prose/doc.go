// Package prose tells sentences about something from the other text of a repository, and cuts them to one or two. It
// knows the scripts that put no spaces between words.
package prose
