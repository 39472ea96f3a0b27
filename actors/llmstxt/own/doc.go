// Package own merges the llms.txt that maintainers keep in their repository into the index. Their title, summary,
// remarks, sections, order and notes take precedence; the analysis fills what the file lacks.
package own
