// Package document reads YAML and JSON that people write, and reports what does not fit a JSON Schema with line and
// column.
package document
