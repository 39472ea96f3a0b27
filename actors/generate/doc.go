// Package generate is the job that reads a repository and writes llms.txt, llms-full.txt, llms-ctx.txt and
// llms.json for it, with no model unless one is asked for.
//
// Its tasks are fetch (the caller's [Open], then package scan: what there is), analyze (package rank: what belongs
// into the files) and write (package render; each file is checked before it gets its final name). With a model,
// configure finds it before analyze, and understand asks it after (package insight). The same repository gives the
// same bytes; only llms.json names the local folder that it was made of. Files appear under their final names whole
// and synced, or not at all. The results for fetched repositories are cached, as are token counts of any text.
package generate
