// Package llmstxt makes llms.txt and the files beside it for a repository: an [fs.FS] in, files out. It knows nothing
// of runs, asks no model, and writes nothing by itself.
//
// Start with [Read], which reads the files (package repository/scan). [Repository.Analyze] then decides what belongs
// into the output (packages rank, own and graph), and [Analysis.Files] returns the files (packages render and check).
// A model's description may come in between: [Analysis.Material] returns what to show the model, and
// [Analysis.Describe] takes its answer (package insight). Equal repositories give equal bytes.
package llmstxt
