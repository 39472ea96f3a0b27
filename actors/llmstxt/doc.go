// Package llmstxt makes llms.txt and the files beside it for a repository: an [fs.FS] in, files out. It knows no run,
// asks no model, and writes nothing by itself.
//
// The entrance is [Read]: it reads what there is (package repository/scan). [Repository.Analyze] then finds what
// belongs into the files (packages rank, own and graph), and [Analysis.Files] gives the files (packages render and
// check). What a model says of the repository may come in between: [Analysis.Material] is what to show it, and
// [Analysis.Describe] takes its answer (package insight). The same repository gives the same bytes.
package llmstxt
