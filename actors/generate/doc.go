// Package generate is the job that reads a repository and writes llms.txt, llms-full.txt, llms-ctx.txt and llms.json
// for it. It uses a model only if asked to. Package llmstxt defines what the files contain.
//
// Its tasks are fetch (calls Open of the [Config] and reads the files), analyze (chooses what belongs into the output)
// and write (checks each file before it gets its final name). With a model, the task configure finds it before
// analyze, and understand asks it after. Equal repositories give equal bytes; only llms.json names the local folder
// that it was made from. Files appear under their final names whole and synced, or not at all. Results for fetched
// repositories are cached, and so are token counts of any text.
package generate
