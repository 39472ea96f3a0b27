// Package generate is the job that reads a repository and writes llms.txt, llms-full.txt, llms-ctx.txt and llms.json for
// it, with no model unless one is asked for. What the files hold is package llmstxt's.
//
// Its tasks are fetch (the caller's [Open], then what there is is read), analyze (what belongs into the files) and write
// (each file is checked before it gets its final name). With a model, configure finds it before analyze, and understand
// asks it after. The same repository gives the same bytes; only llms.json names the local folder that it was made of.
// Files appear under their final names whole and synced, or not at all. The results for fetched repositories are
// cached, as are token counts of any text.
package generate
