// Package own keeps what maintainers wrote in the llms.txt that their repository has: their title, summary, remarks,
// sections, order and notes come first, and what the analysis found beside them fills what the file lacks.
package own
