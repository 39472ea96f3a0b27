// Package prose distinguishes sentences about something from other text of a repository, and shortens them to one or
// two. It supports scripts without spaces between words. [Summary] does so for the comments of all languages.
package prose
