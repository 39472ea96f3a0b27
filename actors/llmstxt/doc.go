// Package llmstxt is the generate job: it reads a repository's folder and writes llms.txt, llms-full.txt and
// llms-ctx.txt for it, with no model unless one is asked for.
//
// Its three tasks are fetch (package scan: what the folder holds), analyze (package rank: what belongs into the files)
// and write (package render, checked by package check before a file gets its final name). The same folder gives the
// same bytes. Files appear under their final names whole and synced, or not at all.
package llmstxt
