// Package llmstxt makes llms.txt and the files beside it for a repository: an [fs.FS] in, files out. It knows nothing
// of runs, asks no model, and writes nothing by itself. Equal repositories give equal bytes.
//
// Start with [Read], which reads the files. [Repository.Analyze] then decides what belongs into the output, and
// [Analysis.Files] returns the files. [Parse] reads an llms.txt, and finds what is wrong with it.
//
// A model's description may come in between: [Analysis.Material] returns what to show the model, [Analysis.Clean] keeps
// the lines of its [Answer] that may go into the files, and [Analysis.Describe] puts them in. The purpose replaces a
// poor summary, and notes go to links that have none.
package llmstxt
